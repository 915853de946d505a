"""A scripted world for plans: subtasks add their ids to the tree of their lane, and trees are merged like sets of ids."""

from collections.abc import Callable

from msgspec.structs import replace
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.core.claims.values import Claim, Rejection
from flyball.core.model.effects import Integrate, Measure, RunAgent
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Commit, Item, Settings, Task
from flyball.core.workflows.plan.grammar import render

SUBTASKS = (
    Item("1.1", "lay out the package", files=("pkg/__init__.py",), acceptance=("it imports",), kind="scaffold"),
    Item("2.1", "read orders", files=("pkg/orders.py",), acceptance=("orders are read",), depends_on=("1.1",)),
    Item("2.2", "read prices", files=("pkg/prices.py",), acceptance=("prices are read",), depends_on=("1.1",)),
    Item("2.3", "print a bill", files=("pkg/bill.py",), acceptance=("a bill is printed",), depends_on=("2.1", "2.2")),
    Item("2.4", "describe it", files=("README.md",), acceptance=("the README names all parts",)),
)
PLAN_TEXT = f"# Plan\n\n## Tasks\n\n{render(SUBTASKS)}\n"
PLANNED = Claim(status="complete", exit_signal=True, plan=PLAN_TEXT, source="report-file")


def rejecting(**reasons: str) -> Claim:
    """A review that rejects the named subtasks (`2_1="why"`) and approves every other one by its id."""
    rejected = {id_.replace("_", "."): why for id_, why in reasons.items()}
    numbers = (f"{phase}.{number}" for phase in range(1, 4) for number in range(1, 10))
    return Claim(
        verdict="fail",
        approved=tuple(id_ for id_ in numbers if id_ not in rejected),
        rejected=tuple(Rejection(id_, why) for id_, why in rejected.items()),
        source="report-file",
    )


def a_plan_task(items: tuple[Item, ...] | None = None, **settings: object) -> Task:
    """A task with a request alone; with `items`, one whose document is the plan."""
    model = a_task(items=())
    chosen: Settings = replace(model.settings, **settings)
    document = "" if items is None else f"# Plan\n\n{render(items)}\n"
    return replace(model, workflow="plan", request="print bills", document=document, settings=chosen)


class Team(World):
    """Everybody does as asked at once, unless `say` answers for a turn, `red` names a tree or `meet` a conflict."""

    def __init__(self, *, plan: Claim = PLANNED) -> None:
        super().__init__(self.work, self.look)
        self.plan = plan
        self.say: Callable[[RunAgent, State], TurnEnded | Claim | None] = lambda _turn, _state: None
        self.red: Callable[[frozenset[str]], tuple[str, ...]] = lambda _parts: ()
        self.meet: Callable[[Integrate], Conflicted | None] = lambda _effect: None
        self.together = 0

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        self.together = max(self.together, sum(isinstance(e, RunAgent) for e in state.open.values()))
        said = self.say(turn, state)
        if isinstance(said, TurnEnded):
            return said
        if turn.copy:
            return ok(said or APPROVED)
        if turn.role == "planner":
            return ok(said or self.plan)
        self.trees[turn.lane] = joined({*parts(self.trees[turn.lane]), turn.item, f"{turn.item}@{turn.turn}"})
        return ok(said or DONE)

    def look(self, measure: Measure, _state: State) -> Measurement:
        tree = self.saved.get(measure.candidate, self.trees[measure.lane])
        return suite(measure.candidate, tree, failing=self.red(parts(tree)))

    def integrate(self, effect: Integrate) -> Integrated | Conflicted | NothingToIntegrate:
        met = self.meet(effect)
        if met is not None:
            return met
        mine = parts(self.saved[effect.commit]) - parts(self.saved[effect.base])
        theirs = parts(self.saved[effect.onto])
        if mine <= theirs:
            return NothingToIntegrate()
        commit = Commit(f"{effect.onto}+{effect.commit}")
        self.saved[commit] = joined(mine | theirs)
        return Integrated(commit, self.saved[commit])


def parts(tree: str) -> frozenset[str]:
    return frozenset(tree.split("+")[1:])


def joined(names: set[str] | frozenset[str]) -> str:
    return "+".join(("tree-0", *sorted(names)))


def ids(tree: str) -> list[str]:
    """The subtasks whose work is in a tree."""
    return sorted(part for part in parts(tree) if "@" not in part)


def simulated(world: World, task: Task | None = None) -> Simulator:
    return Simulator(world, task or a_plan_task(), "GATHER")
