"""Doing one effect in the world: the bridge from the core's vocabulary to the adapters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.model.effects import (
    Ask,
    CloseLane,
    Deliver,
    Effect,
    Integrate,
    Measure,
    OpenLane,
    OpenPullRequest,
    Prepare,
    PutBack,
    Recall,
    Restore,
    RunAgent,
    Save,
)
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import (
    Answered,
    Delivered,
    Failed,
    Interrupted,
    Measured,
    Mended,
    Outcome,
    Prepared,
    Recalled,
    Restored,
    Saved,
    TurnEnded,
    Unanswered,
    Undelivered,
    WorkspaceClosed,
    WorkspaceOpened,
)
from flyball.core.model.task import MAIN, Commit, Task
from flyball.ports import (
    Agent,
    Clock,
    Measurer,
    Notify,
    People,
    PullRequests,
    Refusal,
    Setup,
    Stop,
    Watch,
    Workspace,
)

_LOOK_AGAIN_S = 0.1
"""While another measurement is under way, how soon to look whether this one is still wanted."""


class Performer:
    """Performs effects of one task with the adapters it was given; `others` perform those of a workflow's own, `stoppable` such that take long, `recall` knows learnings."""

    def __init__(
        self,
        task: Task,
        *,
        workspace: Workspace,
        agents: Mapping[str, Agent],
        measurer: Measurer,
        people: People,
        setup: Setup,
        clock: Clock,
        folder: Path,
        notify: Watch,
        others: Mapping[type[Effect], Callable[[Any], Outcome]],
        stoppable: Mapping[type[Effect], Callable[[Any, Stop], Outcome]] | None = None,
        pull_requests: PullRequests,
        recall: Callable[[Recall], Recalled],
    ) -> None:
        self._task = task
        self._workspace = workspace
        self._agents = agents
        self._measurer = measurer
        self._people = people
        self._setup = setup
        self._clock = clock
        self._folder = folder
        self._notify = notify
        self._pull_requests = pull_requests
        self._measuring = threading.Lock()
        self._recall_learnings = recall
        self._table: dict[type, Callable[[Any, Stop], Outcome]] = {
            Prepare: self._prepare,
            OpenLane: self._open_lane,
            CloseLane: self._close_lane,
            Recall: self._recall,
            RunAgent: self._run_agent,
            Measure: self._measure,
            Save: self._save,
            Restore: self._restore,
            PutBack: self._put_back,
            Integrate: self._integrate,
            Deliver: self._deliver,
            OpenPullRequest: lambda effect, _stop: self._pull_requests.open(effect),
            Ask: self._ask,
            **{kind: _without_stop(perform) for kind, perform in others.items()},
            **(stoppable or {}),
        }

    def __call__(self, effect: Effect, stop: Stop) -> Outcome:
        try:
            return self._table[type(effect)](effect, stop)
        except (Refusal, OSError) as error:
            if stop.is_set():
                return Interrupted(str(error))
            return Failed(f"{effect.id}: {error}")

    def _lane(self, effect: Effect) -> Workspace:
        return self._workspace.lane(effect.lane)

    def _from(self, effect: Effect) -> Notify:
        """Tells whoever watches what is said in an effect's lane."""
        return lambda kind, line: self._notify(kind, line, effect.lane)

    def _prepare(self, effect: Prepare, stop: Stop) -> Outcome:
        space = self._workspace
        notes = space.prepare()
        started = space.start(effect.begun_at)
        since = space.tip if effect.again else Commit(started.commit)
        failed = self._setup(space.root, self._folder / "setup", stop)
        if failed:
            return Interrupted(failed) if stop.is_set() else Failed(f"setup failed: {failed}")
        left = space.leave_out(since, effect.begun_at) if self._task.settings.setup else ()
        space.set_aside()
        said = (*notes, *started.notes)
        return Prepared(Commit(started.commit), started.tree, space.branch, said, space.onto, left)

    def _open_lane(self, effect: OpenLane, stop: Stop) -> Outcome:
        settings = self._task.settings
        space = self._workspace.open_lane(
            effect.lane, effect.base, settings.environment_folders if settings.setup else ()
        )
        folder = self._folder / "setup" / "lanes" / space.root.parent.name
        failed = self._setup.for_lane(space.root, folder, stop, shares=effect.shares)
        if failed:
            return Interrupted(failed) if stop.is_set() else Failed(f"setup of lane {effect.lane} failed: {failed}")
        if settings.setup:
            space.leave_out(effect.base, effect.begun_at)
        space.set_aside()
        return WorkspaceOpened(space.tree_of(effect.base))

    def _close_lane(self, effect: CloseLane, _stop: Stop) -> Outcome:
        self._workspace.close_lane(effect.lane)
        return WorkspaceClosed()

    def _recall(self, effect: Recall, _stop: Stop) -> Outcome:
        """No turn waits for its memory: what cannot be recalled is a sentence in the outcome."""
        try:
            return self._recall_learnings(effect)
        except (Refusal, OSError) as error:
            return Recalled(problem=f"{effect.id}: {error}")

    def _run_agent(self, effect: RunAgent, stop: Stop) -> Outcome:
        agent = self._agents.get(effect.agent)
        if agent is None:
            return TurnEnded("not_installed", f"no agent {effect.agent!r} is configured")
        folder = self._folder / "turns" / f"{effect.turn:04d}-{effect.attempt}"
        space = self._lane(effect)
        tree = space.copy(effect.copy, effect.commit) if effect.copy else space.root
        nonce, notify = self._clock.nonce(), self._from(effect)
        ended = agent.turn(effect, tree=tree, folder=folder, nonce=nonce, stop=stop, notify=notify)
        if not effect.copy:
            return ended
        edited = space.discard(effect.copy)
        if not edited:
            return ended
        note = f"edits in the disposable copy were discarded: {', '.join(edited[:10])}"
        return msgspec.structs.replace(ended, detail=f"{ended.detail}; {note}".strip("; "))

    def _measure(self, effect: Measure, stop: Stop) -> Outcome:
        """One measurement at a time, unless the settings allow more: two at once take each other's time, ports and databases."""
        if self._task.settings.gates_side_by_side:
            return self._measured(effect, stop)
        while not self._measuring.acquire(timeout=_LOOK_AGAIN_S):
            if stop.is_set():
                return Interrupted("the measurement was broken off before it began")
        try:
            return self._measured(effect, stop)
        finally:
            self._measuring.release()

    def _measured(self, effect: Measure, stop: Stop) -> Outcome:
        began = self._clock.monotonic()
        folder = self._folder / "measures" / effect.id.replace("/", "-")
        space = self._lane(effect)
        measurement = self._measurer.measure(
            msgspec.structs.replace(effect, consented=_still_consented(effect, space)),
            settings=self._task.settings,
            workspace=space,
            folder=folder,
            stop=stop,
            notify=self._from(effect),
        )
        if stop.is_set():
            return Interrupted("the measurement was broken off")
        return Measured(measurement, round(self._clock.monotonic() - began, 3))

    def _save(self, effect: Save, _stop: Stop) -> Outcome:
        space, at = self._lane(effect), effect.begun_at
        if not effect.accepted:
            kept = space.snapshot(effect.label, effect.message, at)
            return Saved(Commit(kept.commit), kept.tree, effect.label, notes=tuple(kept.notes))
        tree = effect.tree or _with_loop_files(space, effect, at)
        parent = effect.squash_onto or effect.parent
        kept = space.accept(effect.label, effect.message, at, tree=tree, parent=parent)
        notes = (*kept.notes, *(_publish(space, kept.commit) if effect.lane == MAIN else ()))
        return Saved(Commit(kept.commit), kept.tree, effect.label, accepted=True, notes=notes)

    def _restore(self, effect: Restore, _stop: Stop) -> Outcome:
        space = self._lane(effect)
        notes = space.restore(effect.to)
        return Restored(effect.to, space.tree_of(effect.to), notes=tuple(notes))

    def _put_back(self, effect: PutBack, _stop: Stop) -> Outcome:
        space = self._lane(effect)
        tree = space.overlay(Commit(effect.tree), dict.fromkeys(effect.allowed, effect.candidate))
        kept = space.accept(effect.label, effect.message, effect.begun_at, tree=tree, parent=effect.candidate)
        return Mended(Commit(kept.commit), kept.tree, effect.label, effect.paths, tuple(kept.notes))

    def _integrate(self, effect: Integrate, _stop: Stop) -> Outcome:
        return self._workspace.lane(effect.work or effect.lane).integrate(
            effect.commit,
            base=effect.base,
            onto=effect.onto,
            message=effect.message,
            at=effect.begun_at,
            without=effect.without,
        )

    def _deliver(self, effect: Deliver, _stop: Stop) -> Outcome:
        try:
            self._workspace.publish(effect.commit)
            notes = (self._workspace.push(),) if effect.push else ()
        except Refusal as error:
            return Undelivered(str(error))
        return Delivered(effect.commit, self._workspace.branch, notes)

    def _ask(self, effect: Ask, stop: Stop) -> Outcome:
        answer = self._people.ask(self._task, effect.question, stop)
        if answer is not None:
            return Answered(answer)
        if stop.is_set():
            return Interrupted("the question was withdrawn")
        if effect.question.default is not None:
            return Answered(effect.question.default, "default")
        return Unanswered()


def _still_consented(effect: Measure, space: Workspace) -> dict[str, Commit]:
    """The paths that are in the candidate what was looked at when the change was allowed."""
    return {
        path: commit
        for path, commit in effect.consented.items()
        if space.read_file(effect.candidate, path) == space.read_file(commit, path)
    }


def _with_loop_files(space: Workspace, effect: Save, at: datetime) -> str:
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


def _without_stop(perform: Callable[[Any], Outcome]) -> Callable[[Any, Stop], Outcome]:
    return lambda effect, _stop: perform(effect)
