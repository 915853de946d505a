"""The monitor is one: workflows, breaker and foreign loops are served by the same code, and nothing is detected twice."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.support.simulator import Honest, Simulator, World, ok, suite

import flyball
from flyball.core.health.history import History
from flyball.core.health.monitor import follow
from flyball.core.model.events import Judged, Moved

CORE = Path(flyball.__file__).parent / "core"


def stuck() -> Simulator:
    """An agent that works on, and whose failure stays the same."""
    world = World(lambda _t, _s: ok(), lambda m, _s: suite(m.candidate, world.tree))

    def work(turn, _state):
        world.tree = f"attempt-{turn.turn}"
        return ok()

    world.turn = work
    simulator = Simulator(world)
    simulator.run()
    return simulator


def judged(simulator: Simulator) -> list[Judged]:
    return [fact for fact in simulator.of(Judged) if isinstance(fact, Judged)]


@pytest.mark.req("M5")
@pytest.mark.parametrize("simulator", [stuck, lambda: Simulator(Honest())], ids=["stuck", "honest"])
def test_in_tdd_the_batch_is_the_stage_and_the_review_its_gate(simulator):
    simulator = simulator()
    simulator.run()
    assert judged(simulator)
    for fact in judged(simulator):
        seen = fact.observation
        assert seen.batch == (fact.stage,)
        assert seen.passed == ((fact.stage,) if fact.gate_1.held else ())
        assert set(seen.failed) == (set() if fact.gate_1.held else {fact.stage})
        assert seen.reviewed
        assert seen.pass_rate is None or 0 <= seen.pass_rate <= 1


@pytest.mark.req("M5")
def test_what_a_workflow_recorded_is_what_a_foreign_loop_would_have_been_told():
    simulator = stuck()
    history, compared = History(), 0
    for event in simulator.events:
        if isinstance(event.fact, Moved):
            history = History()
        elif isinstance(event.fact, Judged):
            history, verdict = follow(history, event.fact.observation)
            assert verdict == event.fact.verdict
            compared += 1
    assert compared >= 4
    assert simulator.state is not None
    assert history == simulator.state.main.loop.history


def test_the_breaker_counts_the_failure_the_monitor_saw_and_signs_none_itself():
    for fact in judged(stuck()):
        assert fact.breaker.error in {"", fact.observation.fine}
    imported = {
        alias.name
        for node in ast.walk(ast.parse((CORE / "health" / "breaker.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported.isdisjoint({"signature", "observe", "assess", "follow"})


def test_the_breaker_opens_only_where_the_monitor_has_no_remedy_left():
    facts = judged(stuck())
    assert facts[-1].breaker.state == "OPEN"
    assert {fact.breaker.state for fact in facts if fact.rung} == {"CLOSED"}
    assert [fact.breaker.state for fact in facts].count("OPEN") == 1
    assert sum(bool(fact.rung) for fact in facts) >= 2
