"""A backlog in hostile weather: whatever agents, people and kills do, no hole in the workflow opens and nothing is made up."""

import random

import pytest
from msgspec.structs import replace
from tests.core.workflows.backlog.test_backlog_simulated import FAIL, PASS, a_backlog
from tests.support.agreement import check_words
from tests.support.backlog_in_memory import BacklogInMemory
from tests.support.simulator import DONE, START, Simulator, World, ok, suite

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, ProposedIssue
from flyball.core.model.effects import Effect, Measure, RunAgent, Wait
from flyball.core.model.events import Begun, Ended, Judged, PersonSpoke, SessionStarted, Spoken, TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Commit
from flyball.core.workflows.backlog.facts import ItemSettled
from flyball.core.workflows.backlog.reviewing import KINDS
from flyball.core.workflows.backlog.values import Issue, Status
from flyball.engine.recovery import reconcile_open_effects

FILES = ("shortlist.md", "high.md", "medium.md", "backlog.md")
GRAVE = Claim(verdict="fail", findings=(Finding("critical", "open to all", "a.py"),), source="report-file")
STATUSES: tuple[Status, ...] = ("proposed", "proposed", "in-progress", "blocked", "won't-fix")
WORDS: tuple[Spoken, ...] = ("reset", "skip", "resume", "modify", "answer")


class Weather(World):
    """Agents, gates and people by dice."""

    def __init__(self, seed: int) -> None:
        super().__init__(self.work, self.look, lambda _ask, _state: None)
        self.dice = random.Random(seed)
        self.folder = BacklogInMemory(*(self._issue(number) for number in range(self.dice.randrange(5))))

    def _issue(self, number: int) -> Issue:
        status = self.dice.choice(STATUSES)
        tags = self.dice.choice(((), (), (), ("needs-input",)))
        return Issue(f"BUG-{number:03}@aaaaa{number}", f"bug {number}", status, self.dice.choice(FILES), tags=tags)

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        luck = self.dice.random()
        if luck < 0.05:
            return TurnEnded("crashed", "exit 1")
        if luck < 0.08:
            return TurnEnded("usage_limit", "later", reset_at=START)
        if turn.role in KINDS:
            more = (ProposedIssue(f"found {self.dice.randrange(4)}", priority="high"),) if luck > 0.9 else ()
            return ok(replace(self.dice.choice((PASS, PASS, PASS, PASS, FAIL, Claim(), GRAVE)), issues=more))
        if luck < 0.9:
            self.tree = f"tree-{turn.turn}"
        if luck > 0.8 and self.folder.issues:
            chosen = self.dice.choice(self.folder.issues)
            self.folder.change(chosen.id, status=self.dice.choice(("proposed", "in-progress", "blocked", "completed")))
        return ok(DONE if luck < 0.85 else Claim())

    def look(self, measure: Measure, _state: State) -> Measurement:
        failing = ("t",) if measure.kind != "baseline" and self.dice.random() < 0.2 else ()
        return suite(measure.candidate, self.saved.get(measure.candidate, self.tree), failing=failing)


class Mortal(Simulator):
    """A controller that may be killed after any effect was begun, before or after it was done."""

    def end(self, effect: Effect) -> None:
        assert isinstance(self.world, Weather)
        if isinstance(effect, Wait) or self.world.dice.random() > 0.04:
            super().end(effect)
            return
        if self.world.dice.random() < 0.5:
            self.world.perform(effect, self.known)
        self._wake()

    def _wake(self) -> None:
        self.append(SessionStarted(2, "simulated", "0"))
        assert self.state is not None
        for fact in reconcile_open_effects(self.state):
            self.append(fact)
            if isinstance(fact, Begun):
                self.append(Ended(fact.effect.id, self.world.perform(fact.effect, self.state), fact.effect.attempt))


def lived(seed: int) -> Mortal:
    world = Weather(seed)
    task = a_backlog(world, max_turns=60).known.task
    simulator = Mortal(world, task, "SELECT", pick=world.dice.choice)
    for _ in range(8):
        simulator.run(steps=3000)
        assert simulator.state is not None
        stopped = simulator.state.stopped
        assert stopped is not None
        assert stopped.kind != "error", (seed, stopped.reason)
        if stopped.kind != "blocked":
            break
        simulator.append(SessionStarted(3, "simulated", "0"), PersonSpoke(world.dice.choice(WORDS), "go on"))
        if simulator.state.stopped is not None:
            simulator.append(PersonSpoke("reset"))
    return simulator


@pytest.mark.req("E11", "E30", "M22")
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(start, start + 40), marks=[pytest.mark.slow] if start >= 40 else [])
        for start in range(0, 240, 40)
    ],
    ids=str,
)
def test_whatever_happens_the_loop_ends_and_says_only_what_is_so(seeds: range) -> None:
    ended: set[str] = set()
    for seed in seeds:
        simulator = lived(seed)
        state = simulator.state
        assert state is not None
        check_words(simulator.events)
        assert isinstance(simulator.world, World)
        folder = simulator.world.folder
        ended |= {e.fact.kind for e in simulator.events if isinstance(e.fact, TaskStopped)}
        if state.decision == "DONE":
            assert not [issue.id for issue in folder.issues if issue.is_open], seed
        over = [e.fact for e in simulator.events if isinstance(e.fact, ItemSettled)]
        settled = [fact for fact in over if fact.status == "completed"]
        withdrawn = [fact for fact in over if fact.status == "withdrawn"]
        passed = [e.fact for e in simulator.events if isinstance(e.fact, Judged) and e.fact.batch and e.fact.can_exit]
        accepted = [c.label for c in state.checkpoints if c.accepted]
        assert len(settled) + len(withdrawn) == len(passed), seed
        assert all(fact.id in accepted for fact in settled), seed
        assert len(folder.history) == len(set(folder.history)), seed
        assert state.main.head == Commit(next(c.commit for c in reversed(state.checkpoints) if c.accepted)), seed
    assert {"done", "blocked", "limit"} <= ended
