"""Acting on a task without a controller: its leases, its journal, its folder, for one short deed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from flyball.clock import system_clock
from flyball.core.decide import begin
from flyball.core.fold.evolve import evolve
from flyball.core.model.effects import Ask, Effect, Save
from flyball.core.model.events import Ended, Event, Fact
from flyball.core.model.outcomes import Interrupted, Outcome, Saved
from flyball.core.model.state import State
from flyball.core.model.task import Commit, EffectId, TaskId
from flyball.journal.leases import Lease
from flyball.wiring.run.holding import hold_task
from flyball.wiring.run.rendering import Rendering
from flyball.wiring.site import Site
from flyball.workspace.workspace import GitWorkspace


class ManualSession:
    """Holds a task for one deed: what it appends is folded and rendered as the loop would do it."""

    def __init__(self, site: Site, lease: Lease, task: TaskId, workspace: GitWorkspace) -> None:
        self._site = site
        self._lease = lease
        self._task = task
        self._view = site.view(task)
        self.workspace = workspace
        tree = workspace.root if workspace.root.is_dir() else site.repository.root
        self._rendering = Rendering(site, task, tree)

    @property
    def state(self) -> State:
        return self._view.state

    def append(self, *facts: Fact, taking: Sequence[int] = ()) -> list[Event]:
        events = self._site.journal.append(
            self._task, facts, epoch=self._lease.epoch, at=system_clock.now(), taking=taking
        )
        for event in events:
            self._view.take_in(event, evolve(self.state, event))
            self._rendering(event, self.state)
        self._rendering.settle(self.state)
        return events

    def perform(self, effect: Effect, do: Callable[[datetime], Outcome], *before: Fact) -> Outcome:
        """One effect as the loop knows it: begun, done, ended. `before` goes into the journal together with the beginning.

        What is done is dated with the time it was begun at.
        """
        at = system_clock.now()
        begun = begin(self.state, effect, at)
        self.append(*before, begun)
        outcome = do(at)
        self.append(Ended(effect.id, outcome, begun.effect.attempt))
        return outcome

    def snapshot(self, label: str, message: str, *before: Fact) -> Saved:
        save = Save(EffectId(f"save/{label}"), label=label, message=message, parent=self.state.main.head)

        def do(at: datetime) -> Outcome:
            kept = self.workspace.snapshot(label, message, at)
            return Saved(Commit(kept.commit), kept.tree, label, notes=kept.notes)

        saved = self.perform(save, do, *before)
        assert isinstance(saved, Saved)
        return saved

    def interrupt_all(self, detail: str) -> None:
        """Account for what a controller that is gone left under way; questions stay open."""
        for effect in list(self.state.open.values()):
            if not isinstance(effect, Ask):
                self.append(Ended(effect.id, Interrupted(detail), effect.attempt))


@contextmanager
def manual_session(site: Site, task: TaskId) -> Iterator[ManualSession]:
    opened = site.state(task).task
    with hold_task(site, opened) as held:
        yield ManualSession(site, held.lease, task, site.workspace(opened))
