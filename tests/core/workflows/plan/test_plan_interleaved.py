"""The `plan` workflow in any order of endings, with kills between appends, rejections, conflicts and red gates."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from tests.core.watched import Watched
from tests.core.workflows.plan.world import Team, a_plan_task, ids, parts, simulated
from tests.support.simulator import Simulator

from flyball.core.claims.values import Claim, Rejection
from flyball.core.model.batch_events import BatchEnded, BatchReviewed, LaneOpened, SubtaskIntegrated
from flyball.core.model.effects import Integrate, RunAgent
from flyball.core.model.events import Begun, ItemChanged, PersonSpoke
from flyball.core.model.outcomes import Conflicted, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Item
from flyball.core.workflows.plan.grammar import render

KILLS, REJECTIONS, CONFLICTS, CRASHES = 0.02, 0.15, 0.15, 0.05
TROUBLES = 6


def a_plan(dice: random.Random) -> tuple[Item, ...]:
    """Some subtasks that depend on earlier ones and share files now and then."""
    made: list[Item] = []
    for number in range(1, dice.randrange(4, 8)):
        before = [item.id for item in made]
        needs = tuple(dice.sample(before, min(len(before), dice.choice((0, 0, 1, 2)))))
        files = tuple(dice.sample(("a.py", "b.py", "c.py", "d.py", "e.py"), dice.choice((0, 1, 1, 2))))
        kind = "scaffold" if number == 1 and dice.random() < 0.5 else ""
        made.append(Item(f"1.{number}", f"part {number}", files=files, depends_on=needs, acceptance=("x",), kind=kind))
    return tuple(made)


class Troubled(Team):
    """A bounded number of rejections, conflicts and crashes, by a die of its own."""

    def __init__(self, dice: random.Random, items: tuple[Item, ...]) -> None:
        super().__init__(plan=Claim(status="complete", plan=render(items), source="report-file"))
        self.dice = dice
        self.left = TROUBLES
        self.say = self.trouble
        self.meet = self.clash

    def strikes(self, chance: float) -> bool:
        if self.left and self.dice.random() < chance:
            self.left -= 1
            return True
        return False

    def trouble(self, turn: RunAgent, state: State) -> TurnEnded | Claim | None:
        if not turn.copy and self.strikes(CRASHES):
            return TurnEnded("crashed", "exit 1")
        batch = state.batches.current
        if turn.role != "reviewer" or turn.lane != "main" or batch is None or not self.strikes(REJECTIONS):
            return None
        taken = [each.item for each in batch.taken]
        named = self.dice.sample(taken, self.dice.randrange(1, len(taken) + 1))
        reasons = tuple(Rejection(item, f"turn {turn.turn} dislikes {item}") for item in named)
        rest = tuple(item for item in taken if item not in named)
        return Claim(verdict="fail", approved=rest, rejected=reasons, source="report-file")

    def clash(self, effect: Integrate) -> Conflicted | None:
        return Conflicted(("a.py",), effect.id) if self.strikes(CONFLICTS) else None


def unearned_ticks(simulator: Simulator) -> list[str]:
    """Subtasks that were ticked although the review or the gates had not passed on the tree that was integrated."""
    integrated: dict[str, str] = {}
    approved: set[str] = set()
    found = []
    for fact in (event.fact for event in simulator.events):
        match fact:
            case BatchEnded():
                integrated, approved = {}, set()
            case SubtaskIntegrated():
                integrated[fact.item] = fact.result
            case BatchReviewed():
                approved |= set(fact.approved)
            case ItemChanged(id_, "completed"):
                if id_ not in approved or integrated.get(id_) not in {"integrated", "empty"}:
                    found.append(id_)
    return found


@pytest.mark.req("O30", "O31", "C61")
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(start, start + 30), marks=[pytest.mark.slow] if start >= 60 else [])
        for start in range(0, 120, 30)
    ],
    ids=str,
)
def test_in_any_order_and_with_any_kill_nothing_is_lost_doubled_or_ticked_unearned(seeds: range) -> None:
    for seed in seeds:
        dice = random.Random(seed)
        items = a_plan(dice)
        world = Troubled(random.Random(seed + 1), items)
        task = a_plan_task(items, parallel=dice.choice((1, 2, 3, 5)))
        simulator = Watched(world, task, "GATHER", dice=dice, kills=KILLS)
        state = simulator.run(9000)
        while state.decision == "BLOCKED":  # three rejections in a row are put to a person
            simulator.append(PersonSpoke("reset"))
            state = simulator.run(9000)
        assert state.decision == "DONE", (seed, state.stopped)
        assert ids(world.saved[state.main.head]) == [item.id for item in items], seed
        assert list(state.lanes) == ["main"], seed
        ticks = Counter(
            f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "completed"
        )
        assert ticks == Counter(item.id for item in items), (seed, ticks)
        assert unearned_ticks(simulator) == [], seed
        openings = Counter(f.lane for f in simulator.of(LaneOpened) if isinstance(f, LaneOpened))
        begun = Counter((f.effect.id, f.effect.attempt) for f in simulator.of(Begun) if isinstance(f, Begun))
        for (key, attempt), times in begun.items():
            assert times <= max(openings.get(key.partition("/")[0], 1), 1), (seed, key, attempt)
        accepted = [c for c in state.checkpoints if c.accepted and c.lane == "main"]
        for older, newer in pairwise(accepted):
            assert parts(older.tree) <= parts(newer.tree) or newer.label.startswith("rollback"), seed


def test_the_watch_sees_a_tick_that_nobody_earned() -> None:
    simulator = simulated(Team())
    while not simulator.known.items:
        simulator.step()
    simulator.append(ItemChanged("2.2", "completed"))
    assert unearned_ticks(simulator) == ["2.2"]
