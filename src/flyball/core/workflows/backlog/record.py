"""What the `backlog` workflow remembers of a task."""

import msgspec

from flyball.core.health.history import History
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Record, State
from flyball.core.workflows.backlog.effects import BacklogRead
from flyball.core.workflows.backlog.facts import Evaluated, ItemSettled, Reviewed


class BacklogRecord(Record, frozen=True, omit_defaults=True):
    """What is known of a backlog that is being worked through.

    `seen` is forgotten with every edit, so that nothing is decided upon what was read before it; `batches` is the monitor's
    history of whole items, which stages do not begin anew; `stale` counts edits refused in a row on the very same files.
    """

    seen: BacklogRead | None = None
    reads: int = 0
    cycle: int = 0
    idle_cycles: int = 0
    previous: str = ""
    reviews: dict[str, Reviewed] = msgspec.field(default_factory=dict)
    passed: bool = False
    settled: ItemSettled | None = None
    evaluated: Evaluated | None = None
    evaluations: int = 0
    completed: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    forgiven: tuple[str, ...] = ()
    rejections: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    proven: Measurement | None = None
    batches: History = History()
    stale: int = 0
    stale_files: dict[str, str] = msgspec.field(default_factory=dict)


EMPTY = BacklogRecord()


def record_of(state: State) -> BacklogRecord:
    """The record of a backlog task; an empty one of any other."""
    return state.record if isinstance(state.record, BacklogRecord) else EMPTY
