"""A session of another loop is taken up at its stage, by consent alone, and with a baseline of flyball's own."""

import json
from typing import Any

import pytest
from tests.faults.world import BRANCH, PROGRAMS, TASK, World, check_journal

from flyball.core.model.effects import Measure
from flyball.core.model.events import Begun, Moved, TaskOpened

pytestmark = [pytest.mark.slow, pytest.mark.req("C69")]
ID = "0b9f3f7e-8a51-4f0e-9a53-2f0f4f1f7a11"


def session(world: World, **changed: Any) -> None:
    """RED was left behind in the other loop: its test is committed, and fails."""
    world.agent = f"sh {PROGRAMS / 'attentive_agent.sh'}"
    world.write("PRP.md", "# Greet the world\n\n### Acceptance Criteria\n- [ ] greets the world\n")
    world.write("tests/ac_1.t", '# AC-1\n[ "$(cat out_1.txt 2>&1)" = "1" ]\n')
    world.git("add", "PRP.md", "tests")
    world.git("commit", "-q", "-m", "Begun elsewhere", "PRP.md", "tests")
    state = {
        "session_id": ID, "prp_file": "PRP.md", "started_at": "2026-02-01T12:00:00Z", "current_phase": "GREEN",
        "current_iteration": 3, "status": "paused", "phases_completed": ["RED"], "total_agent_calls": 12,
        "error_history": [{"error": "x"}, {"error": "y"}], **changed,
    }  # fmt: skip
    world.write(".prp-session/loop-state.json", json.dumps(state))
    breaker = {"state": "HALF_OPEN", "no_progress_count": 1, "same_error_count": 2}
    world.write(".prp-session/circuit-breaker.json", json.dumps(breaker))


def first_stage(world: World) -> str:
    opened = world.events()[0].fact
    assert isinstance(opened, TaskOpened)
    return opened.stage


def run(world: World, source: str, *words: str) -> tuple[int, str]:
    """Nothing but the session says which workflow it needs."""
    arguments = world.run_arguments(*words)
    arguments[2:5] = [source]
    return world.flyball(*arguments)


@pytest.mark.parametrize("source", [".prp-session", ".prp-session/loop-state.json"])
def test_the_task_begins_at_the_stage_of_the_session_with_a_measured_baseline(world: World, source: str) -> None:
    session(world)
    kept = {path: path.read_bytes() for path in (world.repository / ".prp-session").iterdir()}
    code, said = run(world, source)
    assert code == 0, said
    shown = f"session {ID} (paused) on PRP.md: GREEN, iteration 3, 12 agent calls, 2 errors, breaker HALF_OPEN"
    assert shown in said
    events = world.events()
    stages = [event.fact.previous for event in events if isinstance(event.fact, Moved)]
    assert stages == ["GREEN", "REFACTOR", "DOCUMENT", "QA"]
    measured = [e.fact.effect for e in events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Measure)]
    assert measured[0].kind == "baseline"
    assert world.git("show", f"{BRANCH}:out_1.txt") == "1", "what failed at the baseline was the work, and not excused"
    assert "not verified here: RED" in world.flyball("report", TASK)[1]
    assert {path: path.read_bytes() for path in (world.repository / ".prp-session").iterdir()} == kept
    check_journal(events)


def test_an_agent_that_does_nothing_is_not_done_though_the_failure_was_there_before(world: World) -> None:
    session(world)
    world.agent = "true"
    code, said = run(world, ".prp-session")
    assert code != 0, said
    assert world.state().main.stage == "GREEN"
    judged = world.state().main.loop.judged
    assert judged is None or not judged.gate_1.held


@pytest.mark.parametrize(("workflow", "stage"), [("tdd", "RED"), ("quick", "IMPLEMENT")])
def test_without_consent_it_is_named_and_the_task_begins_at_the_beginning(
    world: World, workflow: str, stage: str
) -> None:
    session(world, current_phase="QA")
    _, said = run(world, "PRP.md", "--workflow", workflow, "--max-turns", "1")
    assert "the session is not continued; to continue it: flyball run --from" in said
    assert first_stage(world) == stage


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"current_phase": "SHIP"}, "current_phase is 'SHIP'; expected one of RED, GREEN, REFACTOR, DOCUMENT, QA"),
        ({"status": "aborted"}, "status is 'aborted'; expected one of"),
        ({"status": "completed"}, "that session is finished. Start a new task from its document: flyball run --from"),
        ({"session_id": None}, "session_id is missing; expected a text"),
        ({"started_at": "2999-01-01T00:00:00Z"}, "lies in the future"),
        ({"started_at": "yesterday"}, "expected a time such as"),
        ({"current_iteration": -1}, "current_iteration is -1; expected a number from 0"),
        ({"prp_file": "gone.md"}, "gone.md, which is not there"),
    ],
)
def test_a_session_that_cannot_be_taken_up_is_refused_by_name_and_nothing_is_opened(
    world: World, changed: dict[str, Any], told: str
) -> None:
    session(world, **changed)
    code, said = run(world, ".prp-session")
    assert code == 2
    assert told in said
    assert world.events() == []


def test_a_file_that_is_no_json_is_refused_and_kept(world: World) -> None:
    session(world)
    world.write(".prp-session/loop-state.json", '{"session_id": ')
    code, said = run(world, ".prp-session")
    assert code == 2
    assert "loop-state.json is not JSON" in said
    assert (world.repository / ".prp-session/loop-state.json").read_text() == '{"session_id": '


def test_every_phase_can_be_begun_at_qa_too(world: World) -> None:
    session(world, current_phase="QA", status="halted")
    _, said = run(world, ".prp-session")
    assert first_stage(world) == "QA", said
