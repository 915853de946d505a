"""Doing one effect in the world: the bridge from the core's vocabulary to the adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.effects import (
    Ask,
    EditBacklog,
    Effect,
    Integrate,
    Measure,
    OpenPullRequest,
    Prepare,
    PutBack,
    ReadBacklog,
    Restore,
    RunAgent,
    Save,
)
from flyball.core.naming import LOOP
from flyball.core.outcomes import (
    Answered,
    Conflicted,
    Failed,
    Integrated,
    Interrupted,
    Measured,
    Mended,
    Outcome,
    Prepared,
    Restored,
    Saved,
    TurnEnded,
    Unanswered,
)
from flyball.core.state import State
from flyball.core.task import Commit
from flyball.ports import (
    Agent,
    Backlogs,
    Clock,
    Measurer,
    Notify,
    People,
    PullRequests,
    Refusal,
    Setup,
    Stop,
    Workspace,
)


class Performer:
    """Performs effects of one task with the adapters it was given."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        agents: Mapping[str, Agent],
        measurer: Measurer,
        people: People,
        setup: Setup,
        clock: Clock,
        folder: Path,
        notify: Notify,
        backlogs: Backlogs,
        pull_requests: PullRequests,
    ) -> None:
        self._workspace = workspace
        self._agents = agents
        self._measurer = measurer
        self._people = people
        self._setup = setup
        self._clock = clock
        self._folder = folder
        self._notify = notify
        self._backlogs = backlogs
        self._pull_requests = pull_requests
        self._table: dict[type, Callable[[Any, State, Stop], Outcome]] = {
            Prepare: self._prepare,
            RunAgent: self._run_agent,
            Measure: self._measure,
            Save: self._save,
            Restore: self._restore,
            PutBack: self._put_back,
            Integrate: self._integrate,
            OpenPullRequest: lambda effect, state, _stop: self._pull_requests.open(effect, state),
            ReadBacklog: lambda effect, _state, _stop: self._backlogs.read(effect),
            EditBacklog: lambda effect, _state, _stop: self._backlogs.edit(effect),
            Ask: self._ask,
        }

    def __call__(self, effect: Effect, state: State, stop: Stop) -> Outcome:
        try:
            return self._table[type(effect)](effect, state, stop)
        except (Refusal, OSError) as error:
            if stop.is_set():
                return Interrupted(str(error))
            return Failed(f"{effect.id}: {error}")

    def _begun_at(self, effect: Effect, state: State) -> datetime:
        """When the effect was first begun: what it writes is dated so, and doing it again gives the same."""
        opened = state.open.get(effect.id)
        return opened.begun_at if opened else state.now

    def _prepare(self, effect: Prepare, state: State, stop: Stop) -> Outcome:
        notes = self._workspace.prepare()
        at = self._begun_at(effect, state)
        started = self._workspace.start(at)
        since = self._workspace.tip if state.prepared is not None else Commit(started.commit)
        failed = self._setup(self._workspace.root, self._folder / "setup", stop)
        if failed:
            return Interrupted(failed) if stop.is_set() else Failed(f"setup failed: {failed}")
        left = self._workspace.leave_out(since, at) if state.task.settings.setup else ()
        self._workspace.set_aside()
        space, said = self._workspace, (*notes, *started.notes)
        return Prepared(Commit(started.commit), started.tree, space.branch, said, space.onto, left)

    def _run_agent(self, effect: RunAgent, state: State, stop: Stop) -> Outcome:
        agent = self._agents.get(effect.agent)
        if agent is None:
            return TurnEnded("not_installed", f"no agent {effect.agent!r} is configured")
        opened = state.open.get(effect.id)
        folder = self._folder / "turns" / f"{effect.turn:04d}-{opened.attempt if opened else 1}"
        tree = self._workspace.copy(effect.copy, effect.commit or state.head) if effect.copy else self._workspace.root
        ended = agent.turn(effect, tree=tree, folder=folder, nonce=self._clock.nonce(), stop=stop, notify=self._notify)
        if not effect.copy:
            return ended
        edited = self._workspace.discard(effect.copy)
        if not edited:
            return ended
        note = f"edits in the disposable copy were discarded: {', '.join(edited[:10])}"
        return msgspec.structs.replace(ended, detail=f"{ended.detail}; {note}".strip("; "))

    def _measure(self, effect: Measure, state: State, stop: Stop) -> Outcome:
        began = self._clock.monotonic()
        folder = self._folder / "measures" / effect.id.replace("/", "-")
        measurement = self._measurer.measure(
            msgspec.structs.replace(effect, consented=self._still_consented(effect, state)),
            settings=state.task.settings,
            workspace=self._workspace,
            folder=folder,
            stop=stop,
            notify=self._notify,
        )
        if stop.is_set():
            return Interrupted("the measurement was broken off")
        return Measured(measurement, round(self._clock.monotonic() - began, 3))

    def _still_consented(self, effect: Measure, state: State) -> tuple[str, ...]:
        """The paths that are in the candidate what was looked at when the change was allowed."""
        read = self._workspace.read_file
        return tuple(
            path
            for path in effect.consented
            if path in state.consented and read(effect.candidate, path) == read(state.consented[path], path)
        )

    def _save(self, effect: Save, state: State, _stop: Stop) -> Outcome:
        at = self._begun_at(effect, state)
        if effect.accepted:
            tree = effect.tree or self._with_loop_files(effect, at)
            parent = effect.squash_onto or effect.parent
            kept = self._workspace.accept(effect.label, effect.message, at, tree=tree, parent=parent)
            notes = (*kept.notes, *self._publish(kept.commit))
            return Saved(Commit(kept.commit), kept.tree, effect.label, accepted=True, notes=notes)
        kept = self._workspace.snapshot(effect.label, effect.message, at)
        return Saved(Commit(kept.commit), kept.tree, effect.label, notes=tuple(kept.notes))

    def _with_loop_files(self, effect: Save, at: datetime) -> str:
        """The accepted tree with what flyball wrote into `.loop/`: nothing else in the workspace was measured."""
        now = self._workspace.snapshot(f"{effect.label}-tree", effect.message, at)
        changed = [path for _, path in self._workspace.changed(effect.parent, Commit(now.commit))]
        own = [path for path in changed if path.startswith(f"{LOOP}/")]
        if len(own) == len(changed):
            return now.tree
        return self._workspace.overlay(effect.parent, dict.fromkeys(own, Commit(now.commit)))

    def _publish(self, commit: str) -> tuple[str, ...]:
        """Let the branch follow; a branch somebody else uses is a note here and a conflict only at the end."""
        try:
            self._workspace.publish(commit)
        except Refusal as error:
            return (str(error),)
        return ()

    def _restore(self, effect: Restore, _state: State, _stop: Stop) -> Outcome:
        notes = self._workspace.restore(effect.to)
        return Restored(effect.to, self._workspace.tree_of(effect.to), notes=tuple(notes))

    def _put_back(self, effect: PutBack, state: State, _stop: Stop) -> Outcome:
        space = self._workspace
        tree = space.overlay(Commit(effect.tree), dict.fromkeys(effect.allowed, effect.candidate))
        at = self._begun_at(effect, state)
        kept = space.accept(effect.label, effect.message, at, tree=tree, parent=effect.candidate)
        return Mended(Commit(kept.commit), kept.tree, effect.label, effect.paths, tuple(kept.notes))

    def _integrate(self, effect: Integrate, _state: State, _stop: Stop) -> Outcome:
        try:
            self._workspace.publish(effect.commit)
            notes = (self._workspace.push(),) if effect.push else ()
        except Refusal as error:
            return Conflicted(detail=str(error))
        return Integrated(effect.commit, self._workspace.branch, notes)

    def _ask(self, effect: Ask, state: State, stop: Stop) -> Outcome:
        answer = self._people.ask(state.task, effect.question, stop)
        if answer is not None:
            return Answered(answer)
        if stop.is_set():
            return Interrupted("the question was withdrawn")
        if effect.question.default is not None:
            return Answered(effect.question.default, "default")
        return Unanswered()
