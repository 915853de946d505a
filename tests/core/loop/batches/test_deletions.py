"""A subtask that deletes a file it had not declared: a person is asked, and where nobody is there the reviewer is told."""

import pytest
from tests.core.workflows.plan.world import Team, a_plan_task, simulated

from flyball.core.model.batch_events import SubtaskIntegrated
from flyball.core.model.effects import Integrate
from flyball.core.model.events import QuestionClosed, UndeclaredEditsFound
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate


class Deleting(Team):
    """The first work on 2.1 deletes a file of others."""

    deleting = ""

    def integrate(self, effect: Integrate) -> Integrated | Conflicted | NothingToIntegrate:
        made = super().integrate(effect)
        if not isinstance(made, Integrated) or effect.work != "2.1" or self.deleting not in {"", effect.commit}:
            return made
        self.deleting = effect.commit
        return Integrated(made.commit, made.tree, (("D", "pkg/old.py"), ("M", "pkg/orders.py")), 2)


def test_nobody_is_there_so_the_file_goes_and_the_reviewer_is_told() -> None:
    simulator = simulated(Deleting(), a_plan_task())
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    (closed,) = (f for f in simulator.of(QuestionClosed) if isinstance(f, QuestionClosed))
    assert (closed.name, closed.answer) == ("deletes-2.1", "delete")
    (found,) = (f for f in simulator.of(UndeclaredEditsFound) if isinstance(f, UndeclaredEditsFound))
    assert (found.item, found.deleted) == ("2.1", ("pkg/old.py",))
    review = next(t for t in simulator.turns if t.role == "reviewer" and "pkg/old.py" in t.prompt)
    assert "2.1: pkg/old.py" in review.prompt


@pytest.mark.parametrize("answer", ["delete", "keep"])
def test_a_person_decides_whether_the_file_goes(answer: str) -> None:
    world = Deleting()
    world.answer = lambda ask, _: answer if ask.question.name == "deletes-2.1" else ask.question.default
    simulator = simulated(world, a_plan_task())
    assert simulator.run().decision == "DONE"
    results = [f for f in simulator.of(SubtaskIntegrated) if isinstance(f, SubtaskIntegrated) and f.item == "2.1"]
    assert [f.result for f in results] == (["integrated"] if answer == "delete" else ["red", "integrated"])
    if answer == "keep":
        assert results[0].detail == "it deletes pkg/old.py, which is to stay"
        again = next(t for t in simulator.turns if t.item == "2.1" and t.role == "fixer")
        assert "pkg/old.py, which is to stay" in again.prompt
