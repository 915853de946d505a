"""One evaluation of a `.work/` folder or of a situation given whole: gathered, decided, and written down before it is told."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec

from flyball.core.backlog import Backlog, Build, Evaluation, Gates, Session, Situation, Validation
from flyball.core.evaluator import evaluate
from flyball.core.json_place import line_of
from flyball.core.selection import is_called
from flyball.core.session_state import counted, reset
from flyball.core.strict_json import JsonUnreadable, read_json
from flyball.core.validation_summary import NoSummary, consistent, read_validations
from flyball.documents.errors import EvaluationInputInvalid
from flyball.documents.work_folder import WorkFolder, find_root
from flyball.ports import Clock

MAX_INPUT = 256 * 1024 * 1024
_PATH = re.compile(r"\$[.\[][\w.\[\]]*")
_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows", "cygwin": "windows"}


class Given(msgspec.Struct, frozen=True):
    """What was typed: everything an evaluation needs that `.work/` does not hold."""

    validations: tuple[Path, ...] = ()
    build: Build = "unknown"
    gates: Gates = "unknown"
    errors: tuple[str, ...] = ()
    unrecoverable: bool = False
    max_cycles: int | None = None
    focus: str = ""
    reset: bool = False


class Evaluated(msgspec.Struct, frozen=True):
    """The answer, with the situation it answers."""

    situation: Situation
    evaluation: Evaluation


def evaluate_folder(root: Path | None, given: Given, clock: Clock, *, write: bool) -> Evaluated:
    """Evaluate the backlog below `root`; the decision is on disk when this returns, unless nothing is to be written."""
    validations = tuple(each for path in given.validations for each in _validations(path))
    folder = WorkFolder(root or find_root(Path.cwd()))
    read = folder.read()
    session = counted(read.state, _session(read.state.session, given), validations)
    session = reset(session) if given.reset else session
    situation = Situation(
        backlog=read.backlog,
        validations=validations,
        session=session,
        errors=given.errors,
        warnings=(*read.warnings, *_unknown_focus(read.backlog, given.focus)),
        unrecoverable=given.unrecoverable,
        build=given.build,
        gates=given.gates,
        environment=(_SYSTEMS.get(sys.platform, sys.platform),),
    )
    evaluation = evaluate(situation)
    if write:
        folder.record(session, evaluation, at=f"{clock.now():%Y-%m-%dT%H:%M:%SZ}")
    return Evaluated(situation, evaluation)


def _session(session: Session, given: Given) -> Session:
    limit = session.max_cycles if given.max_cycles is None else given.max_cycles
    return msgspec.structs.replace(session, focus=given.focus or session.focus, max_cycles=limit)


def _unknown_focus(backlog: Backlog, focus: str) -> tuple[str, ...]:
    if not focus or any(is_called(issue, focus) for issue in backlog.issues):
        return ()
    return (f"the focus {focus} is in no issue file",)


def evaluate_input(raw: bytes, name: str) -> Evaluated:
    """Evaluate a situation given as one JSON object; nothing is read or written besides."""
    try:
        situation = read_json(raw, Situation)
    except JsonUnreadable as error:
        line = error.line or _line(raw, str(error))
        raise EvaluationInputInvalid(
            f"{name}{f', line {line}' if line else ''}: {error}; expected a situation as one JSON object, as docs/reference/evaluate.md describes it."
        ) from error
    validations = tuple(consistent(each) for each in situation.validations)
    situation = msgspec.structs.replace(situation, validations=validations)
    return Evaluated(situation, evaluate(situation))


def _line(raw: bytes, problem: str) -> int:
    """The line of what is wrong, by the path a problem names; of a text that ends too early its last."""
    path = _PATH.search(problem)
    if path is not None:
        return line_of(raw.decode("utf-8", "replace"), path[0])
    return len(raw.splitlines()) if "truncated" in problem else 0


def _validations(path: Path) -> tuple[Validation, ...]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise EvaluationInputInvalid(
            f"{path} cannot be read ({error.strerror}); expected a validator's summary or report."
        ) from error
    read = read_validations(raw.decode("utf-8", "replace"), path.name)
    if isinstance(read, NoSummary):
        line = f", line {read.line}" if read.line else ""
        raise EvaluationInputInvalid(f"{path}{line}: {read.message}.")
    return read
