"""The one loop: decide, perform, append, fold.

Effects run in threads of their own; their outcomes, people's words and timers all come back as facts, and after each append the
state is decided upon again. Nothing is believed before it is in the journal.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from flyball import faults
from flyball.core.decide import begin, decide
from flyball.core.fold.evolve import evolve, fold
from flyball.core.model.effects import Ask, Effect, Wait
from flyball.core.model.events import Begun, Ended, Event, Fact, SessionStarted, TaskStopped
from flyball.core.model.outcomes import Interrupted, Outcome, Waited
from flyball.core.model.state import State
from flyball.core.model.task import EffectId, TaskId
from flyball.engine.inbox import take_word
from flyball.engine.recovery import reconcile_open_effects
from flyball.ports import Clock, Inbox, Journal, Perform, Stop

INBOX_INTERVAL = 0.2

Listener = Callable[[Event, State], None]


class LoopStuck(Exception):
    """Nothing is under way and nothing comes next: a workflow has a hole."""


class Driver(msgspec.Struct):
    """Runs one task until it stops.

    `known` is what was read of it before, if anything was. Listeners hear of every event; `settled` is called when all that follows from one was decided, before what was begun
    is started and when the loop stops.
    """

    task: TaskId
    epoch: int
    journal: Journal
    inbox: Inbox
    clock: Clock
    perform: Perform
    make_stop: Callable[[], Stop]
    known: State | None = None
    listeners: Sequence[Listener] = ()
    settled: Callable[[State], None] = lambda _: None
    _running: dict[asyncio.Task[Outcome], EffectId] = {}
    _stops: dict[EffectId, Stop] = {}
    _interrupted: str = ""
    _wake: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    _threads: ThreadPoolExecutor = msgspec.field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=16, thread_name_prefix="effect")
    )

    @property
    def state(self) -> State:
        assert self.known is not None
        return self.known

    def interrupt(self, reason: str) -> None:
        """End what is under way, save, stop; safe to call from a signal handler of the event loop."""
        self._interrupted = reason
        for stop in self._stops.values():
            stop.set(reason)
        self._wake.set()

    async def run(self, started: SessionStarted, *said: Fact) -> State:
        """Take the task up, with what was said on the way in, and go on until it stops; the state it stopped in."""
        after = self.known.seq if self.known else 0
        self.known = fold(self.journal.read(self.task, after), self.known)
        try:
            self._append(started, *said)
            for fact in reconcile_open_effects(self.state):
                self._append(fact)
                if isinstance(fact, Begun):
                    self._start(fact.effect)
            await self._loop()
        except Exception as error:
            self._halt(error)
            raise
        finally:
            for stop in self._stops.values():
                stop.set("the controller ends")
            for running in self._running:
                running.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
            self._threads.shutdown(wait=True, cancel_futures=True)
        return self.state

    def _halt(self, error: Exception) -> None:
        """Leave the reason of an internal error in the journal, where it can still be written."""
        if self.known is None or self.known.stopped is not None:
            return
        with contextlib.suppress(Exception):
            self._append(TaskStopped("error", f"internal error: {type(error).__name__}: {error}"))
            self.settled(self.state)

    async def _loop(self) -> None:
        while True:
            self._take_words()
            if self._interrupted and self.state.stopped is None:
                await self._end_all()
                self._append(TaskStopped("interrupted", self._interrupted))
            if self.state.stopped is not None:
                await self._end_all()
                self.settled(self.state)
                return
            following = decide(self.state)
            if following.facts:
                self._append(*following.facts)
                continue
            for effect in following.effects:
                begun = begin(self.state, effect, self.clock.now())
                self._append(begun)
                self._start(begun.effect)
            if following.effects:
                continue
            if not self._running:
                stages = ", ".join(lane.stage for lane in self.state.lanes.values())
                raise LoopStuck(f"{self.task} in {stages}: nothing is under way and nothing comes next")
            self.settled(self.state)
            await self._next_outcome()

    def _append(self, *facts: Fact, taking: Sequence[int] = ()) -> None:
        events = self.journal.append(self.task, facts, epoch=self.epoch, at=self.clock.now(), taking=taking)
        for event in events:
            self.known = evolve(self.known, event)
            for listener in self.listeners:
                listener(event, self.known)

    def _start(self, effect: Effect) -> None:
        stop = self.make_stop()
        self._stops[effect.id] = stop
        running = asyncio.ensure_future(self._outcome(effect, stop))
        self._running[running] = effect.id

    async def _outcome(self, effect: Effect, stop: Stop) -> Outcome:
        if not isinstance(effect, Wait):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self.perform, effect, stop)
        while (left := (effect.until - self.clock.now()).total_seconds()) > 0:
            if stop.is_set():
                return Interrupted("the wait was broken off")
            await asyncio.sleep(min(left, INBOX_INTERVAL))
        return Waited()

    async def _next_outcome(self) -> None:
        """Wait for an outcome, a word or a signal, whichever is first; append what came."""
        woken_up = asyncio.ensure_future(self._wake.wait())
        done, _ = await asyncio.wait(
            {*self._running, woken_up}, timeout=INBOX_INTERVAL, return_when=asyncio.FIRST_COMPLETED
        )
        woken_up.cancel()
        self._wake.clear()
        for finished in [t for t in self._running if t in done]:
            self._finish(finished)

    def _finish(self, finished: asyncio.Task[Outcome]) -> None:
        key = self._running.pop(finished)
        self._stops.pop(key, None)
        outcome = finished.result()
        effect = self.state.open.get(key)
        if effect is not None:
            faults.point("engine.outcome.known")
            self._append(Ended(key, outcome, effect.attempt))

    def _take_words(self) -> None:
        for word in self.inbox.pending(self.task):
            self._append(*take_word(self.state, word), taking=[word.id])
        for key, stop in self._stops.items():
            if key not in self.state.open:
                stop.set("no longer wanted")

    async def _end_all(self) -> None:
        """End everything under way; a turn that was ended so is recorded as interrupted, waits and questions stay open."""
        for stop in self._stops.values():
            stop.set("the loop stops")
        for running in list(self._running):
            if isinstance(self.state.open.get(self._running[running]), Wait):
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running
                self._running.pop(running)
        while self._running:
            done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            for finished in done:
                if isinstance(self.state.open.get(self._running[finished]), Ask):
                    self._running.pop(finished)
                else:
                    self._finish(finished)
