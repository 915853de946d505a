"""The one loop with real asyncio and threads, a scripted world and a journal in memory."""

import asyncio
import threading
from datetime import UTC, datetime

import pytest
from tests.journal.memory_journal import MemoryJournal
from tests.support.simulator import World, a_task, suite

from flyball.clock import SystemClock
from flyball.core.claims.values import Claim
from flyball.core.fold.evolve import fold
from flyball.core.model.effects import Effect, RunAgent
from flyball.core.model.events import Begun, Ended, Event, SessionStarted, TaskOpened, TaskStopped
from flyball.core.model.outcomes import Interrupted, Outcome, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Task, TaskId
from flyball.engine.driver import Driver
from flyball.journal.records import Holder, task_scope
from flyball.ports import Perform, Stop
from flyball.process import StopFlag

STARTED = SessionStarted(1, "here", "0")
AT = datetime(2026, 1, 5, tzinfo=UTC)


class Bench:
    """A journal with one opened task, and drivers for it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.journal = MemoryJournal()
        record = self.journal.open_task("it-works", workflow="tdd", title="it works", at=AT, opening=self.opening)
        self.id = record.id
        self.epoch = self.take()

    @staticmethod
    def opening(task: TaskId) -> list[TaskOpened]:
        model = a_task()
        return [TaskOpened(Task(task, "tdd", model.request, model.settings, AT, items=model.items), "RED")]

    def take(self) -> int:
        return self.journal.next_epoch(task_scope(self.id), Holder(1, "here", AT))

    def driver(self, perform: Perform | None = None) -> Driver:
        return Driver(
            self.id,
            epoch=self.epoch,
            journal=self.journal,
            inbox=self.journal,
            clock=SystemClock(),
            perform=perform or (lambda effect, _stop: self.play(effect)),
            make_stop=StopFlag,
        )

    def play(self, effect: Effect) -> Outcome:
        """What the world makes of an effect, which it may look at the whole state for."""
        state = fold(self.events)
        assert state is not None
        return self.world.perform(effect, state)

    @property
    def events(self) -> list[Event]:
        return list(self.journal.read(self.id))


def lazy() -> World:
    return World(lambda _t, _s: TurnEnded("ok", claim=Claim()), lambda m, _s: suite(m.candidate, "tree-0"))


@pytest.mark.req("C5")
def test_every_step_is_in_the_journal_and_the_state_is_its_fold() -> None:
    bench = Bench(lazy())
    driver = bench.driver()
    state = asyncio.run(driver.run(STARTED))
    assert state.decision == "BLOCKED"
    begun = [e.fact.effect.id for e in bench.events if isinstance(e.fact, Begun)]
    ended = [e.fact.id for e in bench.events if isinstance(e.fact, Ended)]
    assert begun == ended


@pytest.mark.req("C60")
def test_an_interrupt_ends_the_turn_records_it_and_can_be_resumed() -> None:
    bench = Bench(lazy())
    under_way = threading.Event()

    def perform(effect: Effect, stop: Stop) -> Outcome:
        if isinstance(effect, RunAgent):
            under_way.set()
            while not stop.is_set():
                threading.Event().wait(0.01)
            return Interrupted("stopped")
        return bench.play(effect)

    driver = bench.driver(perform)

    async def interrupted() -> State:
        running = asyncio.ensure_future(driver.run(STARTED))
        await asyncio.to_thread(under_way.wait)
        driver.interrupt("SIGINT")
        return await running

    state = asyncio.run(interrupted())
    assert state.stopped is not None
    assert state.stopped.kind == "interrupted"
    assert state.open == {}
    again = asyncio.run(bench.driver().run(STARTED))
    assert again.decision == "BLOCKED"
    assert again.turns > state.turns


@pytest.mark.req("C61")
def test_a_turn_under_way_when_the_controller_died_is_interrupted_and_everything_else_begun_again() -> None:
    bench = Bench(lazy())

    class Died(BaseException):
        pass

    def perform(effect: Effect, _stop: Stop) -> Outcome:
        if isinstance(effect, RunAgent):
            raise Died
        return bench.play(effect)

    with pytest.raises(Died):
        asyncio.run(bench.driver(perform).run(STARTED))
    last = bench.events[-1].fact
    assert isinstance(last, Begun)
    state = asyncio.run(bench.driver().run(STARTED))
    kinds = [type(e.fact.outcome) for e in bench.events if isinstance(e.fact, Ended) and e.fact.id == last.effect.id]
    assert kinds == [Interrupted]
    assert state.decision == "BLOCKED"


def test_a_person_may_pause_and_abort_from_another_process() -> None:
    bench = Bench(lazy())
    bench.journal.post(bench.id, "pause", at=AT)
    state = asyncio.run(bench.driver().run(STARTED))
    assert state.stopped is not None
    assert state.stopped.kind == "paused"
    assert state.turns == 0
    bench.journal.post(bench.id, "abort", at=AT)
    state = asyncio.run(bench.driver().run(STARTED))
    assert state.stopped is not None
    assert state.stopped.kind == "aborted"
    assert bench.journal.pending(bench.id) == []


def test_an_answer_given_elsewhere_ends_the_question_on_this_screen() -> None:
    bench = Bench(lazy())
    asked = threading.Event()

    def perform(effect: Effect, stop: Stop) -> Outcome:
        if effect.id.startswith("ask/"):
            asked.set()
            while not stop.is_set():
                threading.Event().wait(0.01)
            return Interrupted("withdrawn")
        return bench.play(effect)

    async def answered() -> State:
        running = asyncio.ensure_future(bench.driver(perform).run(STARTED))
        await asyncio.to_thread(asked.wait)
        bench.journal.post(bench.id, "answer", text="abort", question="ask/1", at=AT)
        return await running

    state = asyncio.run(answered())
    assert state.stopped is not None
    assert state.stopped.kind == "aborted"
    assert isinstance(bench.events[-1].fact, TaskStopped)


@pytest.mark.req("C65")
def test_an_internal_error_leaves_the_task_halted_with_its_reason_and_can_be_resumed() -> None:
    bench = Bench(lazy())

    def perform(effect: Effect, _stop: Stop) -> Outcome:
        if isinstance(effect, RunAgent):
            raise ZeroDivisionError("by nothing")
        return bench.play(effect)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(bench.driver(perform).run(STARTED))
    last = bench.events[-1].fact
    assert isinstance(last, TaskStopped)
    assert (last.kind, last.reason) == ("error", "internal error: ZeroDivisionError: by nothing")
    assert asyncio.run(bench.driver().run(STARTED)).decision == "BLOCKED"
