"""Conflict markers that a lane's work would save: half of somebody's merge, which no gate need notice."""

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Trick
from flyball.core.model.task import MAIN
from flyball.measures.sources import text_of
from flyball.ports import Trees

_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")


def conflict_markers(request: Measure, workspace: Trees) -> tuple[Trick, ...]:
    """New lines of a lane's candidate that begin as git's markers do; a file that had such lines before may have them."""
    if request.lane == MAIN or request.kind == "baseline":
        return ()
    changed = [path for status, path in workspace.changed_files(request.accepted, request.candidate) if status != "D"]
    found = []
    for path in changed:
        marker = first_marker(workspace.read_file(request.candidate, path) or b"")
        if marker is not None and first_marker(workspace.read_file(request.accepted, path) or b"") is None:
            number, line = marker
            found.append(Trick("conflict-markers", path, f"line {number} is a conflict marker: {text_of(line)[:60]}"))
    return tuple(found)


def first_marker(content: bytes) -> tuple[int, bytes] | None:
    """The first marker and its line; none in a binary file."""
    if b"\0" in content or not any(marker in content for marker in _MARKERS):
        return None
    lines = enumerate(content.split(b"\n"), 1)
    return next(((number, line) for number, line in lines if line.startswith(_MARKERS)), None)
