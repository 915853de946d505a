"""What the evaluator says of a `.work/` folder as it stands, and by which settings: read and decided, nothing written.

The Stop hook waits for this, so it imports no more than reading and deciding need.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from flyball.core.claims.reviews import VALIDATORS, EvaluateSettings, Validation
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.selection import is_called
from flyball.core.workflows.backlog.session_state import count_failures, reset
from flyball.core.workflows.backlog.values import Build, Evaluation, Gates, Situation
from flyball.documents.work_folder import SYSTEM, WorkFolder

if TYPE_CHECKING:
    from pathlib import Path


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


class EvaluationAnswer(msgspec.Struct, frozen=True):
    situation: Situation
    evaluation: Evaluation


def evaluate_backlog(
    folder: WorkFolder, given: Given, validations: tuple[Validation, ...] = (), validators: tuple[str, ...] = VALIDATORS
) -> EvaluationAnswer:
    """Evaluate a backlog together with what was typed and what validators said; `validators` must all have said something."""
    read = folder.read()
    known = read.state.session
    limit = known.max_cycles if given.max_cycles is None else given.max_cycles
    typed = msgspec.structs.replace(known, focus=given.focus or known.focus, max_cycles=limit)
    session = count_failures(read.state, typed, validations)
    warnings = list(read.warnings)
    if given.focus and not any(is_called(issue, given.focus) for issue in read.backlog.issues):
        warnings.append(f"the focus {given.focus} is in no issue file")
    lacking = [kind for kind in VALIDATORS if kind not in validators]
    if lacking:
        warnings.append(f"evaluate.validators does not require: {', '.join(lacking)}")
    situation = Situation(
        backlog=read.backlog,
        validations=validations,
        session=reset(session) if given.reset else session,
        errors=tuple(dict.fromkeys((*given.errors, *read.state.errors))),
        warnings=tuple(warnings),
        unrecoverable=given.unrecoverable or (read.state.unrecoverable and not given.reset),
        build=given.build,
        gates=given.gates,
        environment=(SYSTEM,),
        validators=validators,
    )
    return EvaluationAnswer(situation, evaluate(situation))


def evaluate_settings(root: str | os.PathLike[str]) -> EvaluateSettings:
    """`[evaluate]` of the nearest configuration from `root` up to its repository.

    It runs nothing, so it is taken without trust, and every answer says what it leaves out. The Stop hook asks too: where no
    file can hold settings, nothing is imported that reads one.
    """
    folder = os.path.realpath(root)
    while True:
        if _may_hold_settings(folder):
            from pathlib import Path  # noqa: PLC0415 - see above

            from flyball.config import file as config_file  # noqa: PLC0415 - see above

            known = config_file.read(Path(folder))
            if known is not None:
                return EvaluateSettings(**known.evaluate)
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return EvaluateSettings()
        folder = above


def _may_hold_settings(folder: str) -> bool:
    """Whether there is a file of flyball's own, or one of the whole project that may have settings of flyball among others."""
    if os.path.exists(os.path.join(folder, "flyball.toml")):
        return True
    try:
        with open(os.path.join(folder, "pyproject.toml"), "rb") as shared:
            return b"flyball" in shared.read()
    except OSError:
        return False
