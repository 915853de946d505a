"""A subtask that changes a protected file with consent: its work is integrated, and the change is told as what it is."""

import pytest
from msgspec.structs import replace
from tests.core.workflows.plan.world import Team, a_plan_task, parts, simulated
from tests.support.simulator import DONE, Simulator, ok

from flyball.core.claims.values import ProtectedChange
from flyball.core.model.batch_events import SubtaskIntegrated
from flyball.core.model.effects import Ask, Integrate, Measure, RunAgent
from flyball.core.model.events import QuestionClosed, UndeclaredEditsFound
from flyball.core.model.measurement import Measurement, Trick
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate, TurnEnded
from flyball.core.model.state import State

WANTED = ProtectedChange("pytest.ini", "a marker is missing")
TRICK = Trick("test-config-changed", "pytest.ini", "test or CI configuration was changed")


class Asking(Team):
    """The work on one subtask changes or deletes pytest.ini and asks for consent; without it the change is a trick."""

    def __init__(self, item: str, status: str = "M") -> None:
        super().__init__()
        self.item = item
        self.status = status
        self.answer = lambda ask, _: self.reply(ask)

    def reply(self, ask: Ask) -> str | None:
        return "allow" if ask.question.name == "protected-change" else ask.question.default

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        done = super().work(turn, state)
        return ok(replace(DONE, protected_changes=(WANTED,))) if turn.item == self.item and not turn.copy else done

    def look(self, measure: Measure, state: State) -> Measurement:
        seen = super().look(measure, state)
        is_new = self.item in parts(seen.tree) - parts(self.saved[measure.accepted])
        return replace(seen, tricks=(TRICK,)) if is_new and TRICK.path not in measure.consented else seen

    def integrate(self, effect: Integrate) -> Integrated | Conflicted | NothingToIntegrate:
        made = super().integrate(effect)
        if not isinstance(made, Integrated) or effect.work != self.item:
            return made
        return replace(made, changed=((self.status, "pytest.ini"), ("M", "pkg/other.py")))


def run(world: Asking) -> Simulator:
    simulator = simulated(world, a_plan_task(attended=True))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    return simulator


@pytest.mark.parametrize("item", ["2.1", "2.2"])
def test_work_with_a_consented_change_is_integrated_before_and_after_others(item: str) -> None:
    pieces = [f for f in run(Asking(item)).of(SubtaskIntegrated) if isinstance(f, SubtaskIntegrated)]
    assert {piece.result for piece in pieces} == {"integrated"}, [(p.item, p.detail) for p in pieces]


@pytest.mark.parametrize("status", ["M", "D"])
def test_the_change_is_told_as_consented_and_nobody_is_asked_about_it_again(status: str) -> None:
    simulator = run(Asking("2.2", status))
    (found,) = (f for f in simulator.of(UndeclaredEditsFound) if isinstance(f, UndeclaredEditsFound))
    assert (found.protected, found.also_changed, found.deleted) == (("pytest.ini",), ("pkg/other.py",), ())
    closed = [f.name for f in simulator.of(QuestionClosed) if isinstance(f, QuestionClosed)]
    assert closed == ["protected-change"]
    review = next(t for t in simulator.turns if t.role == "reviewer" and "pkg/other.py" in t.prompt)
    assert "2.2: pkg/other.py, pytest.ini" in review.prompt


def test_a_protected_file_does_not_become_a_file_of_the_item_that_changed_it() -> None:
    item = next(item for item in run(Asking("2.2")).known.items if item.id == "2.2")
    assert item.files == ("pkg/prices.py", "pkg/other.py")
