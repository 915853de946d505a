"""What every workflow must do, as tests: subclass `WorkflowSuite` in a pytest module and give it a fixture named `workflow`.

The world is simulated, so the whole suite takes seconds. A workflow whose turns need more than a changed tree and a signal
overrides `world`; one whose task begins with more than a request overrides `task`.
"""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.decide import decide
from flyball.core.fold.evolve import evolve
from flyball.core.loop.workflow import Workflow
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Begun, Event, Judged, Moved, SessionStarted
from flyball.core.model.measurement import Check, Files, Measurement, Quality
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Limits, Task
from flyball.core.vocabulary import event_type
from flyball.core.workflows.registry import WORKFLOWS
from flyball.engine.recovery import reconcile_open_effects
from flyball.testing.simulator import APPROVED, DONE, NEW, Simulator, World, a_task, ok, suite

REJECTED = Claim(
    verdict="fail", exit_signal=True, findings=(Finding("major", "it leaks", "a.py", 3),), source="report-file"
)
SILENT = Claim(source="report-file")
STEPS = 4000


class Obliging(World):
    """Every turn changes the tree and signals, every reviewer approves, every measurement is as its kind wants it.

    `reviews` are what reviewers say first, `claim` is what working turns say; `green` is whether the gates pass.
    """

    def __init__(self, *reviews: Claim, claim: Claim = DONE, green: bool = True) -> None:
        super().__init__(self.work, self.look)
        self.reviews = list(reviews)
        self.claim = claim
        self.green = green
        self.worked = False

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        if turn.copy:
            return ok(self.reviews.pop(0) if self.reviews else APPROVED)
        self.trees[turn.lane] = f"tree-{turn.turn}"
        self.worked = True
        return ok(self.claim)

    def look(self, measure: Measure, _state: State) -> Measurement:
        tree = self.saved.get(measure.candidate, self.tree)
        if measure.kind == "baseline":
            return suite(measure.candidate, tree)
        if measure.kind == "red":
            red = suite(measure.candidate, tree, failing=(NEW.id,), total=6)
            return replace(red, new_tests=(NEW,) if self.worked and self.green else ())
        found = suite(measure.candidate, tree, total=6, failing=() if self.green else ("t::fails",))
        checks = (Check("tests pass", "pass", True),) if measure.kind == "qa" else ()
        return replace(found, files=Files(documents=3, decision_records=1), quality=Quality(), checks=checks)


class WorkflowSuite:
    """Stages, both gates, protected paths, rejections, kills and folding."""

    @pytest.fixture(autouse=True)
    def _register(self, workflow: Workflow, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(WORKFLOWS, workflow.name, workflow)

    def world(self, *reviews: Claim, claim: Claim = DONE, green: bool = True) -> World:
        """What the task is played in; override it for a workflow that needs more."""
        return Obliging(*reviews, claim=claim, green=green)

    def task(self, workflow: Workflow) -> Task:
        """What is played; override it for a workflow that needs more than a request and a criterion."""
        return replace(a_task(), workflow=workflow.name)

    def simulator(self, workflow: Workflow, world: World, **limits: int) -> Simulator:
        task = self.task(workflow)
        if limits:
            task = replace(task, settings=replace(task.settings, limits=Limits(**limits)))
        return Simulator(world, task, workflow.stages[0])

    def test_a_task_is_done_and_every_stage_is_reached(self, workflow: Workflow) -> None:
        simulator = self.simulator(workflow, self.world())
        state = simulator.run(STEPS)
        assert state.decision == "DONE", state.stopped
        visited = {workflow.stages[0], *(move.stage for move in _moves(simulator))}
        assert visited == set(workflow.stages)
        assert {turn.role for turn in simulator.turns} <= set(workflow.roles)

    def test_each_fact_of_its_own_has_a_line_on_screens(self, workflow: Workflow) -> None:
        """What a workflow records and no screen shows, nobody can follow."""
        assert [fact.__name__ for fact in workflow.facts if fact not in workflow.lines] == []

    @pytest.mark.parametrize("claim", [DONE, SILENT, Claim()], ids=["lies", "reports nothing", "says nothing"])
    def test_it_ends_in_a_world_that_never_gets_better(self, workflow: Workflow, claim: Claim) -> None:
        state = self.simulator(workflow, self.world(claim=claim, green=False)).run(STEPS)
        assert state.decision != "DONE"

    @pytest.mark.parametrize("kind", ["crashed", "killed", "timed_out", "denied"])
    def test_it_ends_when_no_turn_ends_well(self, workflow: Workflow, kind: str) -> None:
        world = self.world()
        world.turn = lambda _turn, _state: TurnEnded(kind, detail="it broke")  # type: ignore[arg-type]
        assert self.simulator(workflow, world, max_turns=40).run(STEPS).decision != "DONE"

    def test_it_ends_when_every_review_rejects(self, workflow: Workflow) -> None:
        if not _reviewing(workflow):
            pytest.skip("nobody reviews in this workflow")
        state = self.simulator(workflow, self.world(*[REJECTED] * 200), max_turns=100).run(STEPS)
        assert state.decision != "DONE", "C51: what is always rejected is never done"

    @pytest.mark.parametrize(
        ("claim", "green"), [(DONE, False), (Claim(), True)], ids=["the gate fails", "nobody signals"]
    )
    def test_no_stage_with_a_gate_is_left_by_one_of_the_two_alone(
        self, workflow: Workflow, claim: Claim, green: bool
    ) -> None:
        simulator = self.simulator(workflow, self.world(claim=claim, green=green), max_turns=30)
        simulator.run(STEPS)
        assert simulator.of(Judged), "C40: a turn was judged"
        assert left_too_early(simulator) == [], "C40: gate and signal of the same iteration, or a person's word"

    def test_what_is_measured_names_what_was_accepted(self, workflow: Workflow) -> None:
        simulator = self.simulator(workflow, self.world())
        simulator.run(STEPS)
        wanted = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Measure)]
        assert [m for m in wanted if m.kind != "baseline"], "C42: something was measured"
        told = "C42: protected paths are taken from what was accepted"
        assert all(m.accepted and m.base == "base" for m in wanted), told
        writers = [turn for turn in simulator.turns if not turn.copy]
        reviews = [turn for turn in simulator.turns if turn.role in _reviewing(workflow)]
        assert writers
        assert all(turn.copy for turn in reviews), "who reviews works on a copy that is thrown away"

    def test_a_rejection_leads_back_to_work_and_is_told(self, workflow: Workflow) -> None:
        if not _reviewing(workflow):
            pytest.skip("nobody reviews in this workflow")
        simulator = self.simulator(workflow, self.world(REJECTED))
        state = simulator.run(STEPS)
        assert state.decision == "DONE", state.stopped
        turns = simulator.turns
        first = next(number for number, turn in enumerate(turns) if turn.copy)
        after = [turn for turn in turns[first + 1 :] if not turn.copy]
        assert any("it leaks" in turn.prompt for turn in after), "C51: the findings reach the next turn"
        last_write = max(number for number, turn in enumerate(turns) if not turn.copy and turn.role == after[0].role)
        assert any(turn.copy for turn in turns[last_write + 1 :]), "C51: what was changed is reviewed again"

    def test_a_kill_between_any_two_appends_loses_and_doubles_nothing(self, workflow: Workflow) -> None:
        whole = self.simulator(workflow, self.world())
        whole.run(STEPS)
        place = 1
        while place < len(whole.events) - 1:
            killed = self.simulator(workflow, self.world())
            while len(killed.events) <= place and killed.known.stopped is None:
                killed.step()
            place = len(killed.events)  # facts of one append are all there or none
            state = fold(killed.events)
            assert state == killed.known, f"killed after event {place}"
            killed.state = state
            killed.append(SessionStarted(2, "simulated", "0"), *reconcile_open_effects(state))
            ended = killed.run(STEPS)
            assert ended.decision == "DONE", f"killed after event {place}: {ended.stopped}"
            assert [m.stage for m in _moves(killed)] == [m.stage for m in _moves(whole)], f"killed after event {place}"

    def test_folding_what_was_stored_gives_the_same_state_and_the_same_decision(self, workflow: Workflow) -> None:
        simulator = self.simulator(workflow, self.world())
        decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(event_type())
        ends: list[int] = []
        while simulator.known.stopped is None:
            simulator.step()
            ends.append(len(simulator.events))
        stored = [decoder.decode(msgspec.json.encode(event)) for event in simulator.events]
        assert stored == simulator.events
        assert fold(stored) == simulator.known
        for place in ends[::5]:  # facts of one append are all there or none, so nothing is decided between them
            assert decide(fold(stored[:place])) == decide(fold(simulator.events[:place]))


def fold(events: list[Event]) -> State:
    """The state that events lead to."""
    state: State | None = None
    for event in events:
        state = evolve(state, event)
    assert state is not None
    return state


def _moves(simulator: Simulator) -> list[Moved]:
    return [fact for fact in simulator.of(Moved) if isinstance(fact, Moved)]


def _reviewing(workflow: Workflow) -> set[str]:
    return {card.name for card in workflow.cards if card.reviews}


def left_too_early(simulator: Simulator) -> list[str]:
    """The stages that were left although the last verdict on them had not both gates; a rejection and a person's word may."""
    verdicts: dict[str, Judged] = {}
    found = []
    for fact in (event.fact for event in simulator.events):
        if isinstance(fact, Judged):
            verdicts[fact.lane] = fact
        elif isinstance(fact, Moved):
            judged = verdicts.pop(fact.lane, None)
            early = judged is not None and not (judged.gate_1.held and judged.gate_2) and not judged.rejected
            if early and not (fact.forced or judged is None or judged.batch):
                found.append(f"{fact.previous}: {fact.reason}")
    return found
