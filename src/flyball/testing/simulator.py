"""The whole loop without a world: `decide` and `evolve` driven by a scripted one, at a clock of its own.

Effects are begun as they are asked for and end one after another, in any order; a wait moves the clock instead of passing time. Every
fact goes through the codec, so that what is simulated is what would be stored.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from flyball.core.claims.values import Claim
from flyball.core.decide import begin, decide
from flyball.core.fold.evolve import evolve
from flyball.core.memory.recalling import recall
from flyball.core.memory.validity import Tree
from flyball.core.model import effects as fx, outcomes as out
from flyball.core.model.events import Begun, Ended, Event, Fact, SessionStarted, TaskOpened
from flyball.core.model.learnings import Learnings
from flyball.core.model.measurement import Counts, GateResult, Measurement, NewTest
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, AgentChoice, Commit, Gate, Item, Settings, Task, TaskId
from flyball.core.vocabulary import fact_type
from flyball.core.workflows.registry import WORKFLOWS

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STEP = timedelta(seconds=1)
NO_CLAIM = Claim()
DONE = Claim(exit_signal=True, status="complete", source="report-file")
APPROVED = Claim(exit_signal=True, status="complete", verdict="pass", source="report-file")
NEW = NewTest("tests/test_new.py::test_ac_1", "tests/test_new.py", "failing", "assertion", criteria=("AC-1",))


@functools.cache
def _facts(_workflows: tuple[str, ...]) -> msgspec.json.Decoder[Fact]:
    """The reader of all facts there are: those of workflows that were registered since it was last made, too."""
    return msgspec.json.Decoder(fact_type())


def a_task(*, settings: Settings | None = None, items: tuple[Item, ...] = (Item("AC-1", "it works"),)) -> Task:
    """A small task of the tdd workflow."""
    chosen = settings or Settings(gates=(Gate("test", "pytest"),), roles={"default": AgentChoice("scripted")})
    return Task(TaskId("001-it-works"), "tdd", "make it work", chosen, START, items=items)


class EveryFile:
    """A tree that has every file, each as it always was."""

    def exists(self, path: str) -> bool:
        return bool(path)

    def text(self, path: str) -> str | None:
        return path

    def text_then(self, _commit: str, path: str) -> str | None:
        return path


class World:
    """A world that does what it is told: override `turn` and `measure`, or give functions. Each lane has a tree of its own."""

    def __init__(
        self,
        turn: Callable[[fx.RunAgent, State], out.TurnEnded],
        measure: Callable[[fx.Measure, State], Measurement],
        answer: Callable[[fx.Ask, State], str | None] | None = None,
    ) -> None:
        self.turn = turn
        self.measure = measure
        self.answer = answer or (lambda ask, _state: ask.question.default)
        self.trees = {MAIN: "tree-0"}
        self.saved: dict[str, str] = {"base": "tree-0"}
        self.others: dict[str, Learnings] = {}
        self.files: Tree = EveryFile()

    @property
    def tree(self) -> str:
        return self.trees[MAIN]

    @tree.setter
    def tree(self, tree: str) -> None:
        self.trees[MAIN] = tree

    def perform(self, effect: fx.Effect, state: State) -> out.Outcome:  # noqa: C901, PLR0912 - one short case for each effect
        match effect:
            case fx.Prepare():
                return out.Prepared(Commit("base"), "tree-0", "flyball/001-it-works")
            case fx.OpenLane():
                self.trees[effect.lane] = self.saved[effect.base]
                return out.WorkspaceOpened(self.saved[effect.base])
            case fx.CloseLane():
                self.trees.pop(effect.lane, None)
                return out.WorkspaceClosed()
            case fx.RunAgent():
                return self.turn(effect, state)
            case fx.Measure():
                return out.Measured(self.measure(effect, state))
            case fx.Save() | fx.PutBack():
                return self._keep(effect)
            case fx.Restore():
                self.trees[effect.lane] = self.saved[effect.to]
                return out.Restored(effect.to, self.saved[effect.to])
            case fx.Integrate():
                return self.integrate(effect)
            case fx.Deliver():
                return out.Delivered(effect.commit, "flyball/001-it-works")
            case fx.OpenPullRequest():
                return out.PullRequested(f"https://example.org/{effect.branch}")
            case fx.Recall():
                return self.recall(effect, state)
            case fx.Wait():
                return out.Waited()
            case fx.Ask():
                text = self.answer(effect, state)
                return out.Unanswered() if text is None else out.Answered(text)
        return self.perform_own(effect)

    def perform_own(self, effect: fx.Effect) -> out.Outcome:
        """Override it for a workflow with effects of its own."""
        raise AssertionError(f"this world cannot perform {effect}: override perform_own")

    def recall(self, effect: fx.Recall, state: State) -> out.Recalled:
        """What the task itself has learnt and other tasks told here, in a tree that has every file."""
        return recall(effect, state.task.id, {**self.others, state.task.id: state.learnings}, self.files)

    def integrate(self, effect: fx.Integrate) -> out.Integrated | out.Conflicted | out.NothingToIntegrate:
        """Both trees together; override it for a conflict."""
        mine, theirs = self.saved[effect.commit], self.saved[effect.onto]
        if mine in {self.saved[effect.base], theirs}:
            return out.NothingToIntegrate()
        commit = Commit(f"{effect.onto}+{effect.commit}")
        self.saved[commit] = f"{theirs}+{mine}"
        return out.Integrated(commit, self.saved[commit])

    def _keep(self, effect: fx.Save | fx.PutBack) -> out.Saved | out.Mended:
        if effect.tree:
            self.trees[effect.lane] = effect.tree
        commit = Commit(f"{effect.label}@{effect.id}")
        tree = self.saved[commit] = self.trees[effect.lane]
        if isinstance(effect, fx.PutBack):
            return out.Mended(commit, tree, effect.label, effect.paths)
        return out.Saved(commit, tree, effect.label, effect.accepted)


class Simulator:
    """One task in a scripted world; `pick` says which of the effects under way ends next."""

    def __init__(
        self,
        world: World,
        task: Task | None = None,
        stage: str = "RED",
        pick: Callable[[list[fx.Effect]], fx.Effect] = lambda under_way: under_way[0],
    ) -> None:
        self.world = world
        self.pick = pick
        self.now = START
        self.events: list[Event] = []
        self.state: State | None = None
        self.append(TaskOpened(task or a_task(), stage))
        self.append(SessionStarted(1, "simulated", "0"))

    @property
    def known(self) -> State:
        assert self.state is not None
        return self.state

    def append(self, *facts: Fact) -> None:
        for fact in facts:
            stored = _facts(tuple(WORKFLOWS)).decode(msgspec.json.encode(fact))
            event = Event(len(self.events) + 1, self.now, 1, stored)
            self.events.append(event)
            self.state = evolve(self.state, event)

    def run(self, steps: int = 4000) -> State:
        """Go on until the loop stops."""
        for _ in range(steps):
            if self.known.stopped is not None:
                return self.known
            self.step()
        stages = {lane.name: lane.stage for lane in self.known.lanes.values()}
        raise AssertionError(f"the loop did not stop within {steps} steps; its lanes are in {stages}")

    def step(self) -> None:
        """Record, or begin, or let something end: as the driver does, one at a time."""
        following = decide(self.known)
        if following.facts:
            self.append(*following.facts)
        elif following.effects:
            for effect in following.effects:
                self.append(begin(self.known, effect, self.now))
        else:
            under_way = list(self.known.open.values())
            assert under_way, f"nothing is under way and nothing comes next in {self.known.main.stage}"
            self.end(self.pick(under_way))

    def end(self, effect: fx.Effect) -> None:
        """The world does what was begun."""
        self.now = max(self.now, effect.until) if isinstance(effect, fx.Wait) else self.now + STEP
        self.append(Ended(effect.id, self.world.perform(effect, self.known), effect.attempt))

    def of(self, kind: type[Fact]) -> list[Fact]:
        """All facts of one kind, in order."""
        return [e.fact for e in self.events if isinstance(e.fact, kind)]

    @property
    def turns(self) -> list[fx.RunAgent]:
        return [
            e.fact.effect for e in self.events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, fx.RunAgent)
        ]


def suite(
    candidate: str, tree: str, *, failing: tuple[str, ...] = (), total: int = 5, green_runs: int = 0
) -> Measurement:
    """A measurement of a suite of `total` tests of which some fail."""
    counts = Counts(total=total, passing=total - len(failing), failing=len(failing))
    gate = GateResult("test", "pytest", passed=not failing, exit_code=int(bool(failing)), counts=counts)
    runs = green_runs or (0 if failing else 2)
    return Measurement(candidate, tree, (gate,), counts, failing=failing, green_runs=runs)


def ok(claim: Claim = NO_CLAIM, **more: object) -> out.TurnEnded:
    """A turn that ended well, whatever it claims."""
    return out.TurnEnded("ok", claim=claim, **more)  # type: ignore[arg-type]
