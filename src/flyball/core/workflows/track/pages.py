"""Reading a track's documents and having them changed: what was read stands until an edit, and an edit is made once.

The documents are the user's and are edited in the user's tree; the branch never touches them.
"""

from flyball.core.loop import questions
from flyball.core.loop.step import NOTHING, ComesFirst, first, perform
from flyball.core.model.effects import Option, Question
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId
from flyball.core.text.quantities import plural
from flyball.core.workflows.track.effects import Edit, EditTrack, ReadTrack, TrackEdited, TrackRead
from flyball.core.workflows.track.record import record_of

STALE_THAT_BLOCK = 5
_PAGES = ("tracks.md", "index.md", "decision-log.md", "archive", "archives")


def folder(state: State) -> str:
    return state.task.source.path if state.task.source else ""


def protected_paths(state: State) -> tuple[str, ...]:
    """What no agent changes: the track's own folder and the pages of all tracks, which code writes, and archives."""
    above = folder(state).rpartition("/tracks/")[0]
    return (folder(state), *(f"{above}/{name}" for name in _PAGES if above))


def read(state: State) -> TrackRead:
    known = record_of(state)
    if known.seen is not None:
        return known.seen
    # An edit that a new session makes again must have ended: what is read beside it may be neither old nor new.
    if any(isinstance(effect, ReadTrack | EditTrack) for effect in state.open.values()):
        raise ComesFirst(NOTHING)
    raise ComesFirst(perform(ReadTrack(EffectId(f"read/track-{known.reads + 1}"), path=folder(state))))


def edit(state: State, lane: Lane, name: str, *edits: Edit) -> None:
    """Have edits made, once in a stay; what somebody else changed meanwhile is read again first."""
    key = EffectId(f"edit/{name}")
    if isinstance(lane.outcomes.get(key), TrackEdited) or not edits:
        return
    if key in state.open:
        raise ComesFirst(NOTHING)
    found = read(state)
    if record_of(state).stale >= STALE_THAT_BLOCK:
        # Put again on resuming: whoever wrote there may have stopped.
        options = (Option("reset", "try again"), Option("abort", "end the task"))
        told = plural(record_of(state).stale, "time")
        text = f"The documents in {folder(state)} changed {told} while flyball was about to write them. Who else writes there?"
        first(questions.put(state, lane, Question("track-contended", text, options, again=True)))
    raise ComesFirst(perform(EditTrack(key, path=folder(state), seen=found.files, edits=edits)))
