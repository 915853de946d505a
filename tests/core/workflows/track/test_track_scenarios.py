"""What may go wrong with a track, and what it does side by side, in a scripted world."""

import pytest
from msgspec.structs import replace
from tests.core.workflows.track.test_track_simulated import Team, a_track, edits, played, stages
from tests.support.simulator import Simulator
from tests.support.track_in_memory import PAGE, TrackInMemory, failing, passing

from flyball.core.evaluation.choosing import Chosen
from flyball.core.model.effects import Ask, Effect, Measure, RunAgent, Save
from flyball.core.model.events import Begun, PersonSpoke, SessionStarted
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Outcome, Saved, TurnEnded
from flyball.core.model.state import State
from flyball.core.workflows.track.effects import AnswersChecked, CheckAnswers, CompleteTrack, TrackMeasured
from flyball.core.workflows.track.facts import TaskTicked, TrackEvaluated
from flyball.core.workflows.track.plan_text import with_box

LOGIC = (Chosen("business-logic", ("word: pricing",)), Chosen("code-quality", ("word: implement",)))
APART = PAGE.replace(" <!-- deps: 1.1 -->", "")
SAME = APART.replace("`send.py`", "`form.py`")


@pytest.mark.req("D40")
@pytest.mark.parametrize(("page", "most"), [(APART, 2), (PAGE, 1), (SAME, 1)], ids=["apart", "waits", "same file"])
def test_tasks_run_side_by_side_where_their_order_and_their_files_allow(page: str, most: int) -> None:
    simulator, _ = played(TrackInMemory(page))
    together = 0
    while simulator.known.stopped is None:
        simulator.step()
        together = max(together, sum(isinstance(each, RunAgent) for each in simulator.known.open.values()))
    assert (simulator.known.decision, together) == ("DONE", most)


@pytest.mark.req("D40")
def test_an_attended_track_asks_when_its_fixes_are_spent_and_goes_on_as_told() -> None:
    task = a_track()
    task = replace(task, settings=replace(task.settings, attended=True))
    track = TrackInMemory(PAGE, *[failing(f"defect {n}") for n in range(6)])
    asked: list[str] = []

    def answer(ask: Ask, _state: State) -> str | None:
        asked.append(ask.question.name)
        return "reset"

    world = Team()
    world.track, world.answer = track, answer
    state = Simulator(world, task, "PLAN").run()
    assert asked == ["fixes-spent"]
    assert state.decision == "DONE"


class Garbling(TrackInMemory):
    """The first answer of a judge cannot be read."""

    heard = False

    def perform(self, effect: Effect) -> Outcome:
        if self.heard or not isinstance(effect, CheckAnswers):
            return super().perform(effect)
        self.heard = True
        return AnswersChecked(unusable={"business-logic": "its answer holds no block"})


@pytest.mark.req("D25")
def test_a_judge_that_answers_garbage_fails_its_evaluator_with_the_reason_and_no_other() -> None:
    track = Garbling(chosen=LOGIC)
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    first, second = (f.evaluation for f in simulator.of(TrackEvaluated) if isinstance(f, TrackEvaluated))
    assert [(each.name, each.verdict) for each in first.evaluators] == [
        ("business-logic", "FAIL"),
        ("code-quality", "PASS"),
    ]
    assert "its answer holds no block" in first.fix_actions[0].text
    assert second.verdict == "PASS"


@pytest.mark.req("D25", "D30")
def test_nobody_is_asked_to_judge_for_an_evaluator_that_broke() -> None:
    measured = replace(passing(LOGIC), broken={"business-logic": "it did not answer: time limit"})
    simulator, _ = played(TrackInMemory(PAGE, replace(measured, passes={}), chosen=LOGIC))
    simulator.run()
    first = next(f.evaluation for f in simulator.of(TrackEvaluated) if isinstance(f, TrackEvaluated))
    assert "it did not answer: time limit" in first.fix_actions[0].text
    assert first.verdict == "FAIL"
    assert sum(turn.role == "eval-business-logic" for turn in simulator.turns) == 1, "only in the second evaluation"


@pytest.mark.req("D40")
def test_no_agent_changes_the_tracks_own_pages_or_an_archive() -> None:
    simulator, _ = played(TrackInMemory(PAGE, failing("it leaks"), sync=True))
    assert simulator.run().decision == "DONE"
    measured = [
        e.fact.effect for e in simulator.events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Measure)
    ]
    working = [each for each in measured if each.kind == "green"]
    assert {"FIX", "BUSINESS_SYNC"} <= {turn.stage for turn in simulator.turns}
    wanted = {"conductor/tracks/form_20261117", "conductor/archive", "conductor/tracks.md", "conductor/decision-log.md"}
    assert working
    assert all(wanted <= set(each.kept) for each in working)


@pytest.mark.req("D40")
@pytest.mark.parametrize(("tasks", "failures", "wanted"), [(3, 1, True), (3, 0, False), (2, 1, False)])
def test_a_retrospective_is_written_after_fixes_on_three_tasks_or_more(tasks: int, failures: int, wanted: bool) -> None:
    page = PAGE + ("- [ ] Task 1.3: print it\n  - Acceptance: it prints\n" if tasks > 2 else "")
    track = TrackInMemory(page, *[failing("it leaks")] * failures)
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    (closing,) = edits(track, CompleteTrack)
    assert bool(closing.retrospective) == wanted
    if wanted:
        assert "evaluations: 2, of which 1 failed" in closing.retrospective
        assert "- cycle 1: did FIX" in closing.retrospective


class FailingBefore(Team):
    """The branch begins with a test that fails."""

    def look(self, measure: Measure, _state: State) -> Measurement:
        found = super().look(measure, _state)
        return replace(found, failing=("t::old",)) if measure.kind == "baseline" else found


@pytest.mark.req("D40")
def test_a_box_that_a_person_ticked_on_a_branch_that_is_not_green_is_not_taken() -> None:
    world = FailingBefore()
    world.track = TrackInMemory()
    simulator = Simulator(world, a_track(), "PLAN")
    while "EXECUTE" not in stages(simulator):
        simulator.step()
    world.track.plan = with_box(world.track.plan, "1.2", "x")
    simulator.append(SessionStarted(2, "simulated", "0"))
    while not simulator.of(TaskTicked):
        simulator.step()
    (ticked,) = (f for f in simulator.of(TaskTicked) if isinstance(f, TaskTicked))
    assert not ticked.verified
    state = simulator.run()
    assert state.decision == "DONE"
    assert "1.2" in {turn.item for turn in simulator.turns}, "it is worked on"
    assert state.stopped is not None
    assert state.stopped.reason.startswith(
        "gates and evaluators passed; 2 tasks done; ticked by a person, not verified: 1.2"
    )


class Idle(Team):
    """Fixers change nothing, and say that they did."""

    def perform(self, effect: Effect, state: State) -> Outcome:
        """A tree that is its parent's is no new commit, as with git."""
        if isinstance(effect, Save) and effect.accepted and self.saved.get(effect.parent) == effect.tree:
            return Saved(effect.parent, effect.tree, effect.label, accepted=True)
        return super().perform(effect, state)

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        tree = self.trees.get(turn.lane)
        ended = super().work(turn, state)
        if turn.role == "track-fixer" and tree is not None:
            self.trees[turn.lane] = tree
        return ended

    def look(self, measure: Measure, _state: State) -> Measurement:
        found = super().look(measure, _state)
        accepted = self.saved.get(measure.accepted)
        return replace(found, unchanged=measure.kind != "baseline" and accepted == found.tree)


@pytest.mark.req("D40", "D41")
def test_a_fix_that_changes_nothing_is_no_fix() -> None:
    world = Idle()
    world.track = TrackInMemory(PAGE, failing("it leaks"), failing("it leaks"))
    simulator = Simulator(world, a_track(), "PLAN")
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert stages(simulator).count("EVALUATE_EXECUTION") == 1


@pytest.mark.req("D25")
def test_a_track_whose_evaluator_broke_is_evaluated_anew_though_there_was_nothing_to_mend() -> None:
    broken = TrackMeasured(broken={"code-quality": "it did not answer: time limit"})
    world = Idle()
    world.track = TrackInMemory(PAGE, broken, broken)
    simulator = Simulator(world, a_track(), "PLAN")
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    told = [f for f in simulator.of(TrackEvaluated) if isinstance(f, TrackEvaluated)]
    assert [(f.number, f.evaluation.verdict, f.cycle) for f in told] == [(1, "FAIL", 1), (2, "FAIL", 2), (3, "PASS", 0)]


@pytest.mark.req("D40")
def test_what_a_fix_added_is_accepted_before_the_next() -> None:
    simulator, _ = played(TrackInMemory(PAGE, failing("one"), failing("two")))
    assert simulator.run().decision == "DONE"
    begun = [e.fact.effect for e in simulator.events if isinstance(e.fact, Begun)]
    accepted = [each.accepted for each in begun if isinstance(each, Measure) and each.lane == "main" and each.turn]
    assert accepted[-1].startswith("FIX@")
    assert accepted[-1] != accepted[-2]


@pytest.mark.req("D40")
def test_a_plan_of_the_users_that_cannot_be_worked_goes_to_a_planner_with_what_is_wrong_by_line() -> None:
    simulator, _ = played(TrackInMemory(PAGE.replace("deps: 1.1", "deps: 9.9")))
    assert simulator.run().decision == "DONE"
    first, second = simulator.turns[:2]
    assert (first.role, second.role) == ("track-planner", "plan-evaluator")
    assert "line 7: task 1.2 depends on 9.9, which is no task" in first.prompt


@pytest.mark.req("D40")
@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("FIX", "what the evaluation found was skipped by a person"),
        ("EVALUATE_EXECUTION", "the evaluation was skipped by a person"),
    ],
)
def test_a_track_that_a_person_closed_without_its_evaluation_is_not_said_to_have_passed(stage: str, said: str) -> None:
    track = TrackInMemory(PAGE, *[failing("it leaks")] * 9)
    simulator, _ = played(track)
    while simulator.known.main.stage != stage:
        simulator.step()
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert state.decision == "DONE"
    assert state.stopped is not None
    assert state.stopped.reason.startswith(f"finished with stages skipped by a person, not verified: {stage}")
    (closing,) = edits(track, CompleteTrack)
    assert closing.summary == f"2 tasks done, {said}"
