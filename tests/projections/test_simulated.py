"""Every projection at every event of loops that the real core drove."""

import json

import msgspec
import pytest
from tests.support.simulator import Simulator, World, suite

from flyball.core.claims.status_block import parse
from flyball.core.claims.status_fields import StatusBlock
from flyball.core.claims.values import Claim
from flyball.core.fold.evolve import evolve
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.measurement import Measurement, NewTest
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.projections.files.loop_files import phase_status, render
from flyball.projections.history.recording import shows
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.banner import banner
from flyball.projections.views.lines import json_line, line
from flyball.projections.views.status import status

NEW = NewTest("tests/test_new.py::test_ac_1", "tests/test_new.py", "failing", "assertion", criteria=("AC-1",))
DONE = Claim(exit_signal=True, status="complete", summary="all done")


def red_then_nothing(measure: Measure, _state: State) -> Measurement:
    """RED is left at once; afterwards the same test fails for ever."""
    if measure.kind == "baseline":
        return suite(measure.candidate, "tree-0")
    measured = suite(measure.candidate, "tree-1", failing=(NEW.id,), total=6)
    return msgspec.structs.replace(measured, new_tests=(NEW,))


def stuck() -> Simulator:
    return Simulator(World(lambda _turn, _state: TurnEnded("ok", claim=DONE), red_then_nothing))


def crashing() -> Simulator:
    return Simulator(World(lambda _turn, _state: TurnEnded("crashed", detail="exit 139"), red_then_nothing))


def limited_once() -> Simulator:
    hits: list[int] = []

    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        hits.append(effect.turn)
        return TurnEnded("usage_limit", detail="come back") if len(hits) == 1 else TurnEnded("ok", claim=DONE)

    return Simulator(World(turn, red_then_nothing))


@pytest.mark.req("C5")
@pytest.mark.parametrize("build", [stuck, crashing, limited_once])
def test_every_screen_can_be_drawn_after_every_event_and_only_shown_events_change_the_files(build):
    simulator = build()
    assert simulator.run().decision == "BLOCKED"
    chronicle = TaskHistory()
    state: State | None = None
    before: dict[str, str] = {}
    for event in simulator.events:
        state = evolve(state, event)
        chronicle.add(event)
        files = render(state, chronicle)
        assert shows(event) or files == before, event
        before = files
        assert len(files["loop-state.md"].splitlines()) <= 50
        assert json.loads(msgspec.json.encode(status(state, chronicle)))["task"] == state.task.id
        assert "\nChoose one:\n" in banner(state, chronicle)
        assert "\n" not in (line(event, state) or "")
        assert json.loads(json_line(event))
        block = phase_status(state, event)
        assert block is None or isinstance(parse(block), StatusBlock)


def test_a_stuck_loop_ends_with_its_reason_on_every_screen():
    simulator = stuck()
    state = simulator.run()
    chronicle = TaskHistory(simulator.events)
    shown = status(state, chronicle)
    files = render(state, chronicle)
    assert shown.state == "BLOCKED"
    assert [q.name for q in shown.questions] == ["breaker"]
    assert shown.false_claims == state.false_claims > 0
    assert json.loads(files["loop-state.json"])["status"] == "halted"
    assert json.loads(files["circuit-breaker.json"])["state"] == "OPEN"
    assert "Blocked: a person is needed" in files["report.md"]
    assert f"flyball reset {state.task.id}" in files["report.md"]
