"""What the `track` workflow itself records: plans and what was said of them, evaluations, documents brought up to date."""

from typing import Literal

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.evaluation.verdict import TrackEvaluation
from flyball.core.model.events import Fact


class TrackPlanned(Fact, frozen=True, omit_defaults=True, tag="track.planned"):
    """There is a plan of that version: the page as it was found, or `draft`, which code has still to write.

    With `problems` it is none: its author must mend them.
    """

    by: Literal["document", "planner", "person"]
    version: int
    turn: int = 0
    draft: str = ""
    problems: tuple[str, ...] = ()


class TrackPlanEvaluated(Fact, frozen=True, omit_defaults=True, tag="track.plan.evaluated"):
    """The plan was looked at: worked to, or sent back with findings. `checks` are those of code, by name."""

    approved: bool
    by: Literal["code", "evaluator", "person"]
    turn: int = 0
    checks: dict[str, bool] = msgspec.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


class TaskTicked(Fact, frozen=True, omit_defaults=True, tag="track.task.ticked"):
    """A person ticked a task's box: taken where the gates hold on the branch, else not verified and still to be done."""

    item: str
    verified: bool


class TrackEvaluated(Fact, frozen=True, omit_defaults=True, tag="track.evaluated"):
    """Evaluators and structural checks together: PASS, or FAIL with everything that is to be mended in the fix cycle of that number.

    The number is one that no fix phase of the plan has yet, whoever wrote those that stand there.
    """

    number: int
    evaluation: TrackEvaluation
    cycle: int = 0


class TrackFixed(Fact, frozen=True, omit_defaults=True, tag="track.fixed"):
    cycle: int
    turn: int
    summary: str


class BusinessSynced(Fact, frozen=True, omit_defaults=True, tag="track.business.synced"):
    turn: int
    documents: tuple[str, ...]
    summary: str


FACTS: tuple[type[Fact], ...] = (
    TrackPlanned,
    TrackPlanEvaluated,
    TaskTicked,
    TrackEvaluated,
    TrackFixed,
    BusinessSynced,
)
