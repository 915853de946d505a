"""What the `track` workflow remembers of a task."""

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.evaluation.verdict import TrackEvaluation
from flyball.core.model.state import Record, State
from flyball.core.workflows.track.effects import TrackRead


class TrackRecord(Record, frozen=True, omit_defaults=True):
    """`seen` are the documents as they were read since the last edit. `version` counts plans, `draft` is one that code has still to
    write. `fixes` counts evaluations that failed, `cycle` is the number of the last fix cycle, `counted` the count of the metadata when it was last read, and
    `granted` that count when a person last said to go on. `evaluated_in` is the visit of the last evaluation, `wished` is the round whose feedback, `phased` the cycle whose fixes stand in the plan. `checked` tells how the plan did in code's own checks. `mended` says what each cycle did, `commits` and `summaries` are those of
    accepted tasks, `discovered` the files that wishes changed, `boxed` the tasks whose boxes code ticked, `ticked` and `unverified` those a person did.
    """

    seen: TrackRead | None = None
    reads: int = 0
    stale: int = 0
    version: int = 0
    draft: str = ""
    problems: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    approved: bool = False
    revisions: int = 0
    checked: dict[str, bool] = msgspec.field(default_factory=dict)
    evaluations: int = 0
    evaluated_in: int = 0
    evaluation: TrackEvaluation | None = None
    fixes: int = 0
    cycle: int = 0
    counted: int = 0
    granted: int = 0
    wished: int = 0
    phased: int = 0
    mended: tuple[str, ...] = ()
    synced: tuple[str, ...] = ()
    pieces: dict[str, str] = msgspec.field(default_factory=dict)
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    summaries: dict[str, str] = msgspec.field(default_factory=dict)
    discovered: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    boxed: tuple[str, ...] = ()
    ticked: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()


EMPTY = TrackRecord()


def record_of(state: State) -> TrackRecord:
    """The record of a task of this workflow; an empty one of any other."""
    return state.record if isinstance(state.record, TrackRecord) else EMPTY
