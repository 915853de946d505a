"""New files that are imported in place of an accepted one which is still there: what passes then is not what would be used."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec.structs import replace

from flyball.core.model.measurement import Trick
from flyball.measures.examination import Examination
from flyball.measures.found import Found
from flyball.measures.gates.running import GateRun
from flyball.measures.sources import is_loaded_unasked, is_script

_RAISES = {True: b"throw new Error('replaced by flyball');\n", False: b"raise RuntimeError('replaced by flyball')\n"}


def measure_twins(examination: Examination, found: Found) -> Found:
    """Accepted files with a new twin raise: if no accepted test fails by that, and some did on the base, these import the twin."""
    request = examination.request
    if request.kind in {"baseline", "red"} or not found.trial.green:
        return found
    twins = dict(_twins(examination))
    files = {first: _RAISES[is_script(first)] for first in twins}
    if not twins or any(_fails(run) for run in _runs(examination, files, on_base=False)):
        return found
    if not any(_fails(run) for run in _runs(examination, files, on_base=True)):
        return found
    first, new = next(iter(twins.items()))
    message = f"{first} was replaced by a file that raises: on the base accepted tests fail then, here all of them pass"
    tricks = (*found.tricks, Trick("wrong-tree", new, f"{message}, because they import {new} in its place"))
    return replace(found, tricks=tricks, green_runs=0, aiding={**found.aiding, **dict.fromkeys(twins.values())})


def _runs(examination: Examination, files: dict[str, bytes], *, on_base: bool) -> list[GateRun]:
    return [examination.run_planted(gate, files, on_base=on_base) for gate in examination.settings.gates]


def _fails(run: GateRun) -> bool:
    return not run.result.passed


def _twins(examination: Examination) -> Iterator[tuple[str, str]]:
    """Accepted modules that are still there, each with a new file that may be imported by the same name."""
    workspace, request = examination.workspace, examination.request
    files, old = frozenset(examination.index.files), frozenset(workspace.list_files(request.accepted))
    by_name: dict[str, list[str]] = {}
    for path in old & files:
        if not is_loaded_unasked(path, lambda each: workspace.read_file(request.accepted, each), ()):
            by_name.setdefault("".join(_module(path)[-1:]), []).append(path)
    for new in sorted(files - old - set(request.consented)):
        name = _module(new)
        for first in by_name.get(name[-1], ()) if name else ():
            if _is_twin(first, new):
                yield first, new


def _module(path: str) -> tuple[str, ...]:
    """The parts of the name that a source can be imported by; none for other files."""
    if not path.endswith((".py", ".so", ".pyd")) and not is_script(path):
        return ()
    *above, name = PurePosixPath(path).parts
    stem = name.partition(".")[0]
    return tuple(above) if stem in {"__init__", "index"} else (*above, stem)


def _is_twin(first: str, new: str) -> bool:
    one, other = _module(first), _module(new)
    if is_script(first) or is_script(new):
        return one == other and is_script(first) and is_script(new)
    short, long = sorted((one, other), key=len)
    return bool(short) and long[-len(short) :] == short
