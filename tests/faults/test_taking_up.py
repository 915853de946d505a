"""How `run` and `resume` end and are taken up again, in exit codes and for real: a limit, a pause, an abort, a document named twice."""

import subprocess
import sys

import pytest
from tests.faults.world import TASK, TDD_ITERATIONS, World, check_journal

pytestmark = pytest.mark.slow


def begun(world: World) -> None:
    """A task that stopped at a limit after its first turn."""
    code, said = world.flyball(*world.run_arguments("--max-turns", "1"))
    assert code == 4, said
    assert "turn limit reached (1 of 1)" in said


def tasks(world: World) -> list[str]:
    return sorted(path.name for path in (world.repository / ".loop").iterdir() if path.name[0].isdigit())


def asked(world: World, answers: str, *more: str) -> tuple[int, str]:
    """Run from the same document with somebody there who answers so."""
    words = [word for word in world.run_arguments(*more) if word != "--unattended"]
    done = subprocess.run(
        [sys.executable, "-m", "flyball", *words, "--attended"],
        cwd=world.repository,
        env=world.environment(),
        input=answers,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.req("C64")
def test_a_limit_exits_4_and_resume_takes_a_higher_one(world: World) -> None:
    begun(world)
    assert world.flyball("resume")[0] == 4
    assert world.state().turns == 1
    code, said = world.flyball("resume", "--max-turns", "50")
    assert (code, world.state().decision) == (0, "DONE"), said
    check_journal(world.events())


@pytest.mark.req("C64")
def test_running_again_from_an_unfinished_tasks_document_resumes_it_when_nobody_is_there(world: World) -> None:
    begun(world)
    code, said = world.flyball(*world.run_arguments("--max-turns", "50"))
    assert (code, world.state().decision, tasks(world)) == (0, "DONE", [TASK]), said


@pytest.mark.req("C62", "C64")
def test_a_finished_task_is_not_worked_again_and_new_opens_another(world: World) -> None:
    assert world.flyball(*world.run_arguments())[0] == 0
    turns = world.state().turns
    for words in (world.run_arguments(), ["resume", TASK]):
        code, said = world.flyball(*words)
        assert (code, world.state().turns) == (0, turns)
        assert f"{TASK} is finished" in said
    code, said = asked(world, "new\n")
    assert (code, f"{TASK} is finished" in said, "resume, new or abort?" in said) == (0, True, False)
    assert world.flyball(*world.run_arguments("--new", "--max-turns", "1"))[0] == 4
    assert tasks(world) == [TASK, "002-greet-the-world"]


@pytest.mark.req("C62")
def test_a_document_that_changed_under_an_unfinished_task_is_not_taken_for_the_old_one(world: World) -> None:
    begun(world)
    document = world.outside / "request.md"
    document.write_text(document.read_text() + "- [ ] greets the moon\n")
    code, said = world.flyball(*world.run_arguments("--max-turns", "50"))
    assert (code, world.state().turns) == (2, 1)
    assert f"flyball resume {TASK}" in said
    assert "--new" in said
    assert tasks(world) == [TASK]


@pytest.mark.req("C64")
@pytest.mark.parametrize(
    ("answer", "code", "turns", "known"),
    [
        ("abort\n", 0, 1, [TASK]),
        ("resume\n", 0, TDD_ITERATIONS, [TASK]),
        ("new\nyes\n", 4, 1, [TASK, "002-greet-the-world"]),
    ],
    ids=["abort", "resume", "new"],
)
def test_somebody_who_is_there_is_asked_whether_to_go_on(
    world: World, answer: str, code: int, turns: int, known: list[str]
) -> None:
    begun(world)
    most = "1" if answer.startswith("new") else "50"
    ended, said = asked(world, answer, "--max-turns", most)
    assert f"found {TASK} at GREEN, iteration 1" in said
    assert "resume, new or abort?" in said
    assert (ended, world.state().turns, tasks(world)) == (code, turns, known), said


def test_a_pause_lets_the_turn_end_exits_5_and_the_task_goes_on_when_it_is_resumed(world: World) -> None:
    go_on = world.outside / "go-on"
    process = world.begin(world.misbehave("hold", go_on))
    assert world.flyball("pause", TASK)[0] == 0
    go_on.touch()
    said = world.said(process)
    assert process.returncode == 5, said
    assert f"flyball resume {TASK}" in said
    assert world.orphans() == []
    world.finish(attempts=1)
    assert world.state().decision == "DONE"
    check_journal(world.events())


@pytest.mark.req("C65")
def test_an_abort_exits_3_then_and_whenever_the_task_is_taken_up(world: World) -> None:
    process = world.begin(world.misbehave("brood"))
    assert world.flyball("abort", TASK)[0] == 0
    said = world.said(process)
    assert process.returncode == 3, said
    stopped = world.state().stopped
    assert stopped is not None
    assert stopped.kind == "aborted"
    assert world.flyball("resume", TASK)[0] == 3
    assert '"halt_reason": "' in (world.loop / "loop-state.json").read_text()


def test_an_agent_that_is_not_there_exits_6_and_is_named(world: World) -> None:
    world.agent = str(world.outside / "no-such-agent")
    code, said = world.flyball(*world.run_arguments())
    assert code == 6, said
    assert "no-such-agent" in said
    assert not world.loop.exists(), "nothing is made before it is said"
