"""What makes a result worth less than it seems, though no gate and no claim failed."""

from __future__ import annotations

import msgspec

from flyball.core.model.state import State
from flyball.core.text.quantities import plural
from flyball.projections.history.reviews import reviews
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.standing import known_failing


class Weakness(msgspec.Struct, frozen=True):
    """One of them: its glyph, a word for its kind, and a sentence without its full stop."""

    glyph: str
    name: str
    text: str


def weaknesses(state: State, history: TaskHistory) -> tuple[Weakness, ...]:
    """Tests that failed before the task and still do, and work that nobody but its author reviewed."""
    still = known_failing(state, history)
    fail = "fails" if still == 1 else "fail"
    found = (
        [Weakness("rejected", "tests", f"{plural(still, 'test')} {fail} that failed before the task")] if still else []
    )
    found += [
        Weakness("skipped", "review", f"{each.stage}, turn {each.turn}, {each.role}: the author reviewed its own work")
        for each in reviews(history.turns, state.task.agents)
        if each.model == "same"
    ]
    return tuple(found)
