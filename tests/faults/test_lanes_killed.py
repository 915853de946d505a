"""SIGKILL with several turns in flight: between appends, while lanes are opened, reset and closed, and in the middle of an integration.

Three subtasks are worked on side by side and all write into one file, so two of them meet a conflict and are made again. Each process of a
task is killed in its turn, at a named point or after so many appends; the last one ends the task as if nothing had happened.
"""

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.faults.world import PROGRAMS, World, check_journal

from flyball.core.fold.evolve import fold
from flyball.core.model.events import Begun, Event, ItemChanged
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.journal.sqlite import SqliteJournal

pytestmark = pytest.mark.slow

TASK = TaskId("001-three-parts")
PARTS = ("1.1", "1.2", "1.3")
SEED = 20261117
NAMED = (
    "checkout.inside:2",
    "integrate.merge.before:1",
    "integrate.commit.before:1",
    "lane.close.saved:1",
    "lane.reset.before:1",
    "lane.reset.after:1",
    "integrate.merge.before:2",
    "lane.close.saved:2",
)
"""In the order in which they come."""
RANDOM_KILLS = 10


class PlannedWorld(World):
    """A repository whose task is a plan of three subtasks, worked on three at a time."""

    def make(self) -> "PlannedWorld":
        super().make()
        self.agent = f"sh {PROGRAMS / 'tiny_lane_agent.sh'}"
        self.write("shared.txt", "begin\n")
        self.git("add", "shared.txt")
        self.git("commit", "-q", "-m", "Share", "shared.txt")
        lines = [f"- [ ] **{id_}** add part {id_} — Files: `part-{id_}.txt` | Acceptance: it is there" for id_ in PARTS]
        (self.outside / "request.md").write_text("# Three parts\n\n" + "\n".join(lines) + "\n")
        return self

    def step(self, kill: str) -> int:
        """One process, from the start or from where the last one was killed."""
        first = self.run_arguments("--workflow", "plan", "--parallel", "3")
        code, said = self.flyball(*(["resume"] if self.events() else first), kill=kill)
        assert code == -9 or (code == 0 and "DONE" in said) or (code == 0 and not self.processes()), said
        return code

    def events(self) -> list[Event]:
        journals = list(self.home.glob("repos/*/journal.sqlite"))
        if not journals:
            return []
        with SqliteJournal.open(journals[0]) as journal:
            return list(journal.read(TASK))

    def state(self) -> State:
        state = fold(self.events())
        assert state is not None
        return state


@pytest.fixture
def world(tmp_path: Path) -> PlannedWorld:
    return PlannedWorld(tmp_path / "world").make()


def check_whole(world: PlannedWorld) -> None:
    """Every subtask is on the branch once, nobody's files were touched, and nothing is left running."""
    state = world.state()
    assert state.decision == "DONE", state.stopped
    assert [(item.id, item.status) for item in state.items] == [(id_, "completed") for id_ in PARTS]
    branch = f"flyball/{TASK}"
    assert sorted(world.git("show", f"{branch}:shared.txt").splitlines()) == [*PARTS, "begin"]
    names = [name for name in world.git("ls-tree", "--name-only", branch).splitlines() if name.startswith("part-")]
    assert sorted(names) == [f"part-{id_}.txt" for id_ in PARTS]
    subjects = Counter(world.git("log", "--format=%s", f"main..{branch}").splitlines())
    assert [subjects[f"add part {id_}"] for id_ in PARTS] == [1, 1, 1], subjects
    events = world.events()
    check_journal(events)
    ticked = Counter(e.fact.id for e in events if isinstance(e.fact, ItemChanged) and e.fact.status == "completed")
    assert ticked == Counter(PARTS)
    assert not list((world.repository / ".git").rglob("*.lock"))
    world.git("fsck", "--strict", "--no-dangling")
    assert world.orphans() == []


def play(world: PlannedWorld, kills: list[str]) -> list[str]:
    """A task from its start to its end, with a kill in each process but the last; the kills that came."""
    belongings, came = world.belongings(), []
    for kill in (*kills, ""):
        known = world.events()
        killed = world.step(kill) == -9
        assert world.events()[: len(known)] == known, f"a fact that was acknowledged is gone after {kill}"
        came += [kill] if killed else []
        if not killed:
            break
    assert world.state().stopped is not None
    assert world.belongings() == belongings
    check_whole(world)
    return came


@pytest.mark.req("C61", "O30")
def test_a_kill_at_every_point_of_lanes_and_integration_loses_nothing_and_does_nothing_twice(
    world: PlannedWorld,
) -> None:
    assert play(world, list(NAMED)) == list(NAMED), "every kill came"


@pytest.mark.req("C61")
def test_kills_between_appends_with_several_turns_in_flight_change_nothing(world: PlannedWorld) -> None:
    chosen = random.Random(SEED)
    world.variables["TINY_NAP"] = "0.3"
    kills = [
        f"journal.append.{chosen.choice(('before', 'after'))}:{chosen.randrange(4, 30)}" for _ in range(RANDOM_KILLS)
    ]
    came = play(world, kills)
    assert len(came) >= 4
    turns = [
        e.fact.effect for e in world.events() if isinstance(e.fact, Begun) and e.fact.effect.id.startswith("turn/")
    ]
    assert len({turn.turn for turn in turns}) == len(turns), "no turn is made twice"
