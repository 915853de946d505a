"""What the `plan` workflow itself records: plans and their reviews."""

from typing import Literal

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Rejection
from flyball.core.model.effects import Question
from flyball.core.model.events import Fact
from flyball.core.workflows.plan.sources.following import Matter


class PlanDrafted(Fact, frozen=True, omit_defaults=True, tag="plan.drafted"):
    """There is a plan, or one with `problems` that its author must mend."""

    by: Literal["planner", "document", "person"]
    turn: int = 0
    problems: tuple[str, ...] = ()


class PlanQuestioned(Fact, frozen=True, omit_defaults=True, tag="plan.questioned"):
    """The planner needs answers before it can plan."""

    turn: int
    questions: tuple[Question, ...]


class PlanReviewed(Fact, frozen=True, omit_defaults=True, tag="plan.reviewed"):
    """The plan is worked to, or revised: somebody looked at it, or it is the user's own `document`.

    `nobody` has agreed yet to a document that a person wants to see first.
    """

    approved: bool
    by: Literal["reviewer", "person", "document", "nobody"]
    turn: int = 0
    findings: tuple[Finding, ...] = ()


class FinalReviewed(Fact, frozen=True, omit_defaults=True, tag="plan.final.reviewed"):
    """The review of the whole goal: approved, or `reopened` and new subtasks are to be worked on."""

    turn: int
    approved: bool
    reopened: tuple[Rejection, ...] = ()
    findings: tuple[Finding, ...] = ()
    by: Literal["reviewer", "person"] = "reviewer"


class SourceSeen(Fact, frozen=True, omit_defaults=True, tag="plan.source.seen"):
    """The file of the user's that is the plan was read and taken in; `matters` are what a person is asked about it.

    `ticked` are entries taken as done since a person ticked them meanwhile, `unverified` those taken while the gates did not hold.
    """

    sha256: str
    matters: tuple[Matter, ...] = ()
    ticked: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()


class MatterSettled(Fact, frozen=True, omit_defaults=True, tag="plan.source.settled"):
    """A person said what they mean by a change of the file; without a matter it is read again.

    `taken`: its entries are done by a person's word alone, or left out.
    """

    matter: Matter | None = None
    taken: Literal["", "done", "dropped"] = ""


FACTS: tuple[type[Fact], ...] = (PlanDrafted, PlanQuestioned, PlanReviewed, FinalReviewed, SourceSeen, MatterSettled)
