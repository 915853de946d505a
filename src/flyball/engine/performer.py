"""Doing one effect in the world: the bridge from the core's vocabulary to the adapters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.model import effects as fx, outcomes as out
from flyball.core.model.naming import LOOP
from flyball.core.model.task import MAIN, Commit, Task
from flyball.ports import Agent, Clock, Measurer, Notify, People, PullRequests, Refusal, Setup, Stop, Watch, Workspace

FILES_KEPT = 16
_LOOK_AGAIN_S = 0.1
"""While another measurement is under way, how soon to look whether this one is still wanted."""


class Performer(msgspec.Struct):
    """Performs effects of one task with the adapters it was given; `others` perform those of a workflow's own, `stoppable` such that take long, `recall` knows learnings."""

    task: Task
    workspace: Workspace
    agents: Mapping[str, Agent]
    measurer: Measurer
    people: People
    setup: Setup
    clock: Clock
    folder: Path
    notify: Watch
    others: Mapping[type[fx.Effect], Callable[[Any], out.Outcome]]
    pull_requests: PullRequests
    recall: Callable[[fx.Recall], out.Recalled]
    stoppable: Mapping[type[fx.Effect], Callable[[Any, Stop], out.Outcome]] = {}
    give_context: Callable[[Path], None] = lambda _tree: None
    _measuring: threading.Lock = msgspec.field(default_factory=threading.Lock)

    def _perform(self, effect: fx.Effect, stop: Stop) -> out.Outcome:
        table: dict[type, Callable[[Any, Stop], out.Outcome]] = {
            fx.Prepare: self._prepare,
            fx.OpenLane: self._open_lane,
            fx.CloseLane: self._close_lane,
            fx.Recall: self._recall,
            fx.RunAgent: self._run_agent,
            fx.Measure: self._measure,
            fx.Save: self._save,
            fx.Restore: self._restore,
            fx.PutBack: self._put_back,
            fx.Integrate: self._integrate,
            fx.Deliver: self._deliver,
            fx.OpenPullRequest: lambda effect, _stop: self.pull_requests.open(effect),
            fx.Ask: self._ask,
            **{kind: _without_stop(perform) for kind, perform in self.others.items()},
            **self.stoppable,
        }
        return table[type(effect)](effect, stop)

    def __call__(self, effect: fx.Effect, stop: Stop) -> out.Outcome:
        try:
            return self._perform(effect, stop)
        except (Refusal, OSError) as error:
            if stop.is_set():
                return out.Interrupted(str(error))
            return out.Failed(f"{effect.id}: {error}")

    def _lane(self, effect: fx.Effect) -> Workspace:
        return self.workspace.lane(effect.lane)

    def _from(self, effect: fx.Effect) -> Notify:
        return lambda kind, line: self.notify(kind, line, effect.lane)

    def _prepare(self, effect: fx.Prepare, stop: Stop) -> out.Outcome:
        space = self.workspace
        notes = space.prepare()
        since = space.tip if effect.again else space.base
        failed, again = self.setup(space.root, self.folder / "setup", stop)
        if failed:
            return out.Interrupted(failed) if stop.is_set() else out.Failed(f"setup failed: {failed}")
        left = space.leave_out(since, effect.begun_at) if self.task.settings.setup else ()
        space.set_aside()
        notes += (f"Set-up runs once more for the gates: {again}",) if again else ()
        return out.Prepared(space.base, space.tree_of(space.base), space.branch, notes, space.onto, left)

    def _open_lane(self, effect: fx.OpenLane, stop: Stop) -> out.Outcome:
        settings = self.task.settings
        space = self.workspace.open_lane(
            effect.lane, effect.base, settings.environment_folders if settings.setup else ()
        )
        folder = self.folder / "setup" / "lanes" / space.root.parent.name
        failed = self.setup.for_lane(space.root, folder, stop, shares=effect.shares)
        if failed:
            return (
                out.Interrupted(failed)
                if stop.is_set()
                else out.Failed(f"setup of lane {effect.lane} failed: {failed}")
            )
        if settings.setup:
            space.leave_out(effect.base, effect.begun_at)
        space.set_aside()
        return out.WorkspaceOpened(space.tree_of(effect.base))

    def _close_lane(self, effect: fx.CloseLane, _stop: Stop) -> out.Outcome:
        self.workspace.close_lane(effect.lane)
        return out.WorkspaceClosed()

    def _recall(self, effect: fx.Recall, _stop: Stop) -> out.Outcome:
        """No turn waits for its memory: what cannot be recalled is a sentence in the outcome."""
        try:
            return self.recall(effect)
        except (Refusal, OSError) as error:
            return out.Recalled(problem=f"{effect.id}: {error}")

    def _run_agent(self, effect: fx.RunAgent, stop: Stop) -> out.Outcome:
        agent = self.agents.get(effect.agent)
        if agent is None:
            return out.TurnEnded("not_installed", f"no agent {effect.agent!r} is configured")
        folder = self.folder / "turns" / f"{effect.turn:04d}-{effect.attempt}"
        space = self._lane(effect)
        tree = space.copy(effect.copy, effect.commit, effect.shown) if effect.copy else space.root
        if effect.shown and not effect.copy:
            space.show(effect.shown)
        self.give_context(tree)
        nonce, notify = self.clock.nonce(), self._from(effect)
        ended = agent.turn(effect, tree=tree, folder=folder, nonce=nonce, stop=stop, notify=notify)
        if not effect.copy:
            return ended
        if effect.shown:
            ended = _with_places(ended, effect, space)
        edited = space.discard(effect.copy)
        if not edited:
            return ended
        note = f"edits in the disposable copy were discarded: {', '.join(edited[:10])}"
        return replace(ended, detail=f"{ended.detail}; {note}".strip("; "))

    def _measure(self, effect: fx.Measure, stop: Stop) -> out.Outcome:
        """One measurement at a time, unless the settings allow more: two at once take each other's time, ports and databases."""
        if self.task.settings.gates_side_by_side:
            return self._measure_now(effect, stop)
        while not self._measuring.acquire(timeout=_LOOK_AGAIN_S):
            if stop.is_set():
                return out.Interrupted("the measurement was broken off before it began")
        try:
            return self._measure_now(effect, stop)
        finally:
            self._measuring.release()

    def _measure_now(self, effect: fx.Measure, stop: Stop) -> out.Outcome:
        began = self.clock.monotonic()
        folder = self.folder / "measures" / effect.id.replace("/", "-")
        space = self._lane(effect)
        measurement = self.measurer.measure(
            replace(effect, consented=_still_consented(effect, space)),
            settings=self.task.settings,
            workspace=space,
            folder=folder,
            stop=stop,
            notify=self._from(effect),
        )
        if stop.is_set():
            return out.Interrupted("the measurement was broken off")
        return out.Measured(measurement, round(self.clock.monotonic() - began, 3))

    def _save(self, effect: fx.Save, _stop: Stop) -> out.Outcome:
        space, at = self._lane(effect), effect.begun_at
        if not effect.accepted:
            kept = space.snapshot(effect.label, effect.message, at)
            commit = Commit(kept.commit)
            changed = [
                path for _, path in space.changed_files(Commit(f"{commit}^"), commit) if not path.startswith(f"{LOOP}/")
            ]
            return out.Saved(
                commit, kept.tree, effect.label, notes=tuple(kept.notes), files=tuple(changed[:FILES_KEPT])
            )
        tree = effect.tree or _with_loop_files(space, effect, at)
        parent = effect.squash_onto or effect.parent
        kept = space.accept(effect.label, effect.message, at, tree=tree, parent=parent)
        notes = (*kept.notes, *(_publish(space, kept.commit) if effect.lane == MAIN else ()))
        return out.Saved(Commit(kept.commit), kept.tree, effect.label, accepted=True, notes=notes)

    def _restore(self, effect: fx.Restore, _stop: Stop) -> out.Outcome:
        space = self._lane(effect)
        notes = space.restore(effect.to)
        return out.Restored(effect.to, space.tree_of(effect.to), notes=tuple(notes))

    def _put_back(self, effect: fx.PutBack, _stop: Stop) -> out.Outcome:
        space = self._lane(effect)
        tree = space.overlay(Commit(effect.tree), dict.fromkeys(effect.allowed, effect.candidate))
        kept = space.accept(effect.label, effect.message, effect.begun_at, tree=tree, parent=effect.candidate)
        return out.Mended(Commit(kept.commit), kept.tree, effect.label, effect.paths, tuple(kept.notes))

    def _integrate(self, effect: fx.Integrate, _stop: Stop) -> out.Outcome:
        return self.workspace.lane(effect.work or effect.lane).integrate(
            effect.commit,
            base=effect.base,
            onto=effect.onto,
            message=effect.message,
            at=effect.begun_at,
            without=effect.without,
        )

    def _deliver(self, effect: fx.Deliver, _stop: Stop) -> out.Outcome:
        try:
            self.workspace.publish(effect.commit)
            notes = (self.workspace.push(),) if effect.push else ()
        except Refusal as error:
            return out.Undelivered(str(error))
        return out.Delivered(effect.commit, self.workspace.branch, notes)

    def _ask(self, effect: fx.Ask, stop: Stop) -> out.Outcome:
        answer = self.people.ask(self.task, effect, stop)
        if answer is not None:
            return out.Answered(answer)
        if stop.is_set():
            return out.Interrupted("the question was withdrawn")
        if effect.question.default is not None:
            return out.Answered(effect.question.default, "default")
        return out.Unanswered()


def _with_places(ended: out.TurnEnded, effect: fx.RunAgent, space: Workspace) -> out.TurnEnded:
    """A reviewer's findings with what was measured of each: of one that cannot be looked up, nothing."""

    def place(found: Finding) -> Finding:
        try:
            return replace(found, stands=space.stands(found, effect.commit, effect.shown, effect.prompt))
        except (Refusal, OSError):
            return found

    return replace(ended, claim=replace(ended.claim, findings=tuple(map(place, ended.claim.findings))))


def _still_consented(effect: fx.Measure, space: Workspace) -> dict[str, Commit]:
    """The paths that are in the candidate what was looked at when the change was allowed."""
    return {
        path: commit
        for path, commit in effect.consented.items()
        if space.read_file(effect.candidate, path) == space.read_file(commit, path)
    }


def _with_loop_files(space: Workspace, effect: fx.Save, at: datetime) -> str:
    """The accepted tree with what flyball wrote into `.loop/`: nothing else in the workspace was measured."""
    now = space.snapshot(f"{effect.label}-tree", effect.message, at)
    changed = [path for _, path in space.changed_files(effect.parent, Commit(now.commit))]
    own = [path for path in changed if path.startswith(f"{LOOP}/")]
    if len(own) == len(changed):
        return now.tree
    return space.overlay(effect.parent, dict.fromkeys(own, Commit(now.commit)))


def _publish(space: Workspace, commit: str) -> tuple[str, ...]:
    """Let the branch follow; a branch somebody else uses is a note here and a conflict only at the end."""
    try:
        space.publish(commit)
    except Refusal as error:
        return (str(error),)
    return ()


def _without_stop(perform: Callable[[Any], out.Outcome]) -> Callable[[Any, Stop], out.Outcome]:
    return lambda effect, _stop: perform(effect)
