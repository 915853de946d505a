"""What the evaluator says of a `.work/` folder as it stands: read and decided, nothing written.

The Stop hook waits for this, so it imports no more than reading and deciding need.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from flyball.core.claims.reviews import VALIDATORS, Validation
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.selection import is_called
from flyball.core.workflows.backlog.session_state import count_failures, reset
from flyball.core.workflows.backlog.values import Backlog, Build, Evaluation, Gates, Session, Situation
from flyball.documents.work_folder import WorkFolder

if TYPE_CHECKING:
    from pathlib import Path

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


class EvaluationAnswer(msgspec.Struct, frozen=True):
    """The answer, with the situation it answers."""

    situation: Situation
    evaluation: Evaluation


def weigh(
    folder: WorkFolder, given: Given, validations: tuple[Validation, ...] = (), validators: tuple[str, ...] = VALIDATORS
) -> EvaluationAnswer:
    """Evaluate a backlog together with what was typed and what validators said; `validators` must all have said something."""
    read = folder.read()
    session = count_failures(read.state, _session(read.state.session, given), validations)
    session = reset(session) if given.reset else session
    situation = Situation(
        backlog=read.backlog,
        validations=validations,
        session=session,
        errors=given.errors,
        warnings=(*read.warnings, *_unknown_focus(read.backlog, given.focus), *_not_required(validators)),
        unrecoverable=given.unrecoverable,
        build=given.build,
        gates=given.gates,
        environment=(_SYSTEMS.get(sys.platform, sys.platform),),
        validators=validators,
    )
    return EvaluationAnswer(situation, evaluate(situation))


def _session(session: Session, given: Given) -> Session:
    limit = session.max_cycles if given.max_cycles is None else given.max_cycles
    return msgspec.structs.replace(session, focus=given.focus or session.focus, max_cycles=limit)


def _not_required(validators: tuple[str, ...]) -> tuple[str, ...]:
    lacking = [kind for kind in VALIDATORS if kind not in validators]
    return (f"evaluate.validators does not require: {', '.join(lacking)}",) if lacking else ()


def _unknown_focus(backlog: Backlog, focus: str) -> tuple[str, ...]:
    if not focus or any(is_called(issue, focus) for issue in backlog.issues):
        return ()
    return (f"the focus {focus} is in no issue file",)
