"""What planning asks of the world, and how that ends: the plan.md that a planner edited, and a plan in a file of the user's."""

from typing import ClassVar

from flyball.core.model.effects import Effect
from flyball.core.model.outcomes import Outcome
from flyball.core.model.task import Commit, Source
from flyball.core.workflows.plan.sources.marking import MarkChange
from flyball.core.workflows.plan.sources.values import ImportedPlan


class ReadDraft(Effect, frozen=True, omit_defaults=True, tag="read_draft"):
    """Read a file as a planner's turn left it, from the tree that was saved then."""

    commit: Commit
    path: str


class DraftRead(Outcome, frozen=True, omit_defaults=True, tag="draft.read"):
    """What the file held; empty where there was none."""

    text: str = ""


class ReadPlan(Effect, frozen=True, omit_defaults=True, tag="read_plan"):
    """Read the source of a plan as it is now; where it still is what was `seen`, only that is told."""

    users_files: ClassVar[bool] = True
    source: Source
    seen: str = ""
    parallel_stories: bool = False


class MarkEntries(Effect, frozen=True, omit_defaults=True, tag="mark_entries"):
    """Have entries marked as `changes` want, if the source still is what was `seen`; marks that stand already are left alone."""

    users_files: ClassVar[bool] = True
    source: Source
    seen: str
    changes: tuple[MarkChange, ...]


class PlanRead(Outcome, frozen=True, omit_defaults=True, tag="plan.read"):
    """The source of a plan as it was; without a `plan` it had not changed."""

    sha256: str
    plan: ImportedPlan | None = None


class EntriesMarked(Outcome, frozen=True, omit_defaults=True, tag="entries.marked"):
    """The marks stand as asked; the source has this hash now. `notes` say what could not be vouched for."""

    sha256: str
    notes: tuple[str, ...] = ()
