"""What the `plan` workflow remembers of a task."""

from flyball.core.claims.findings import Finding
from flyball.core.model.state import Record, State
from flyball.core.workflows.plan.sources.following import Imported


class PlanRecord(Record, frozen=True, omit_defaults=True):
    """What is known of a plan: drafted, reviewed, agreed to, and why it is to be revised (`problems`, `findings`, `replan`).

    `answers` are those of a person, or defaults, to the planner's questions.
    """

    drafted: bool = False
    approved: bool = False
    agreed: bool = False
    drafts: int = 0
    rejections: int = 0
    clarified: int = 0
    problems: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    replan: tuple[str, ...] = ()
    scaffold_rejections: int = 0
    final_rounds: int = 0
    imported: Imported = Imported()


EMPTY = PlanRecord()


def record_of(state: State) -> PlanRecord:
    """The record of a task of this workflow; an empty one of any other."""
    return state.record if isinstance(state.record, PlanRecord) else EMPTY
