"""Real processes killed at every place that has a fault point, again while they recover, and at random times of a loop with pytest."""

import random
import re
import time
from pathlib import Path

import pytest
from tests.faults.world import TASK, TDD_ITERATIONS, Result, World, check_journal, check_repository

import flyball

pytestmark = pytest.mark.slow

SEED = 20260302
SHARES = 2
NAMES = sorted(
    name
    for file in Path(flyball.__file__).parent.rglob("?*/*.py")
    for name in re.findall(r'faults\.point\("([a-z_.]+)"\)', file.read_text())
)
ELSEWHERE = {
    "integrate.commit",
    "integrate.merge",
    "journal.post",
    "lane.close",
    "lane.reset",
    "restore.files",
    "work.history",
    "work.move",
    "work.write",
}
PLACES = sorted({name.rpartition(".")[0] for name in NAMES} - ELSEWHERE)
"""Where points are; in this loop nobody says a word, nothing is restored and there is no backlog: those have tests of their own."""
MOST_KILLS = 3
RANDOM_KILLS = 20


@pytest.mark.req("C61")
@pytest.mark.parametrize("share", range(SHARES))
def test_kills_at_every_place_and_kills_during_recovery_change_nothing(tmp_path: Path, share: int) -> None:
    plain = World(tmp_path / "plain", "quick").make()
    wanted, turns = play(plain, [])
    chosen = random.Random(SEED + share)
    for place in PLACES[share::SHARES]:
        name = chosen.choice([name for name in NAMES if name.rpartition(".")[0] == place])
        world = World(tmp_path / "world", "quick").make()
        again = [str(chosen.randrange(1, 60)) for _ in range(chosen.randrange(MOST_KILLS))]
        kills = [f"{name}:1", *again]
        try:
            result, used = play(world, kills)
            assert result.differs(wanted) == "", (name, again)
            assert turns <= used <= turns + len(kills), (name, again)
        finally:
            world.remove()


def play(world: World, kills: list[str], *flags: str) -> tuple[Result, int]:
    """One task from its start to its end, with a kill in each process but the last: its result and its turns.

    A kill at a named point must happen; one at a number may come too late.
    """
    belongings = world.belongings(files=not flags)
    for kill in (*kills, ""):
        expected = (0,) if not kill else (-9,) if ":" in kill else (0, -9)
        code, said = world.flyball(*(["resume"] if world.events() else world.run_arguments(*flags)), kill=kill)
        assert code in expected, said
    assert world.belongings(files=not flags) == belongings
    check_journal(world.events())
    check_repository(world)
    return Result.of(world), world.state().turns


@pytest.mark.req("C61")
@pytest.mark.parametrize("again", [True, False], ids=["made again", "left alone"])
@pytest.mark.parametrize(
    "kill", ["journal.append.after:2", "vault.refs.after:1", "restore.files.before:1", "restore.files.after:1"]
)
def test_a_rollback_that_was_killed_can_be_made_again_or_left_alone(world: World, kill: str, again: bool) -> None:
    process = world.begin(world.misbehave("brood"))
    process.kill()
    world.said(process)
    assert world.flyball("rollback", TASK, "--to", "start", kill=kill)[0] == -9
    if again:
        code, said = world.flyball("rollback", TASK, "--to", "start")
        assert code == 0, said
        assert not (world.tree / "partial.txt").exists()
    world.finish(attempts=1)
    assert (world.state().decision, world.state().iterations) == ("DONE", TDD_ITERATIONS)
    check_journal(world.events())
    check_repository(world)


@pytest.mark.req("C61")
@pytest.mark.parametrize("kill", ["journal.append.after:9", "vault.refs.before:5", "publish.branch.after:1"])
def test_the_installed_command_is_killed_and_resumed(world: World, kill: str) -> None:
    code, said = world.installed(*world.run_arguments(), kill=kill)
    assert code == -9, said
    assert f"killed at {kill.partition(':')[0]}" in said
    code, said = world.installed("resume")
    assert code == 0, said
    assert (world.state().decision, world.state().iterations) == ("DONE", TDD_ITERATIONS)
    check_journal(world.events())
    check_repository(world)


@pytest.mark.req("C61")
def test_twenty_kills_at_seeded_times_of_a_loop_with_pytest_change_nothing(tmp_path: Path) -> None:
    plain = World(tmp_path / "plain").make().speak_python()
    begun = time.monotonic()
    assert plain.flyball(*plain.run_arguments())[0] == 0
    lasting = time.monotonic() - begun
    wanted, turns = Result.of(plain), plain.state().turns
    chosen, kills = random.Random(SEED), 0
    for number in range(RANDOM_KILLS):
        world = World(tmp_path / f"world-{number}").make().speak_python()
        belongings, killed = world.belongings(), 0
        while kills < RANDOM_KILLS and killed_at(world, chosen.uniform(0.15, 0.45) * lasting):
            kills, killed = kills + 1, killed + 1
            assert world.orphans() == []
        if world.state().decision != "DONE":
            world.finish()
        assert Result.of(world).differs(wanted) == ""
        assert world.belongings() == belongings
        assert turns <= world.state().turns <= turns + killed
        check_journal(world.events())
        check_repository(world)
        if kills == RANDOM_KILLS:
            return


def killed_at(world: World, seconds: float) -> bool:
    """Go on with the task and kill the controller after so many seconds; False if it was done before."""
    process = world.start(*(["resume"] if world.events() else world.run_arguments()))
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    done = process.poll() is not None
    process.kill()
    said = world.said(process)
    assert not done or process.returncode == 0, said
    return not done
