"""What the facts of the `tdd` workflow add to what is known."""

from collections.abc import Callable
from typing import Any

from flyball.core.model.state import State
from flyball.core.workflows.tdd.facts import SessionImported


def _on_session_imported(state: State, fact: SessionImported) -> None:
    state.midway = fact.session.phase != "RED"


FOLDS: dict[type, Callable[[State, Any], None]] = {SessionImported: _on_session_imported}
