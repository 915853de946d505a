"""One evaluation of a `.work/` folder or of a situation given whole: gathered, decided, and written down before it is told."""

import re
from pathlib import Path

import msgspec

from flyball.core.claims.reviews import Validation
from flyball.core.claims.validation_summary import NoSummary, consistent, read_validations
from flyball.core.text.json_place import line_of
from flyball.core.text.strict_json import JsonUnreadable, read_json
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.values import Situation
from flyball.documents.errors import EvaluationInputInvalid
from flyball.documents.work_folder import WorkFolder, find_root
from flyball.ports import Clock
from flyball.wiring.tools.evaluation import EvaluationAnswer, Given, evaluate_backlog, evaluate_settings

MAX_INPUT = 256 * 1024 * 1024
_PATH = re.compile(r"\$[.\[][\w.\[\]]*")


def evaluate_folder(root: Path | None, given: Given, clock: Clock, *, write: bool) -> EvaluationAnswer:
    """Evaluate the backlog below `root`; the decision is on disk when this returns, unless nothing is to be written."""
    validations = tuple(each for path in given.validations for each in _validations(path))
    where = root or find_root(Path.cwd())
    settings = evaluate_settings(where)
    folder = WorkFolder(where, settings.ignore)
    evaluated = evaluate_backlog(folder, given, validations, settings.validators)
    if write:
        at = f"{clock.now():%Y-%m-%dT%H:%M:%SZ}"
        folder.record(evaluated.situation.session, evaluated.evaluation, at=at)
    return evaluated


def evaluate_input(raw: bytes, name: str) -> EvaluationAnswer:
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
    return EvaluationAnswer(situation, evaluate(situation))


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
