"""One controller for one task: leases, adapters, driver, signals."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from flyball import __version__, process
from flyball.clock import system_clock
from flyball.core.claims.values import MAX_PLAN
from flyball.core.model.events import Fact, SessionStarted, WorkspaceRemoved
from flyball.core.model.state import State
from flyball.core.model.task import Settings, Task, TaskId
from flyball.core.text.scrubbing import decode
from flyball.core.workflows.backlog.effects import EditBacklog, ReadBacklog
from flyball.core.workflows.plan.effects import DraftRead, ReadDraft
from flyball.core.workflows.plan.sources.effects import MarkEntries, ReadPlan
from flyball.core.workflows.track.effects import CheckAnswers, EditTrack, MeasureTrack, ReadTrack
from flyball.documents.backlog_folder import BacklogFolders
from flyball.documents.track_documents import TrackDocuments
from flyball.engine.driver import Driver, Listener
from flyball.engine.performer import Performer
from flyball.folders import users_environments
from flyball.measures.evaluators.offered import offered
from flyball.measures.gates.commands import cleaned
from flyball.measures.gates.outside import outside_environments
from flyball.measures.measurer import TreeMeasurer
from flyball.ports import Confine, People, Refusal, Watch
from flyball.wiring.memory import RepositoryMemory
from flyball.wiring.run.agents import agents_of, hiding_logins, known_secrets
from flyball.wiring.run.environments import Environments
from flyball.wiring.run.github import GitHub
from flyball.wiring.run.holding import Holding, holding
from flyball.wiring.run.rendering import Rendering
from flyball.wiring.run.scm_version import with_version
from flyball.wiring.run.track_evaluators import TrackEvaluators
from flyball.wiring.run.trackers import PlanSources
from flyball.wiring.site import Site
from flyball.workspace.repository import Repository
from flyball.workspace.sandbox import Confined, Unavailable, Unconfined, available, secret_paths
from flyball.workspace.workspace import GitWorkspace

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_WORD_S = 0.3
"""Signals that come within this time are one: who signals a process group reaches the controller twice, through its front too."""


class SandboxMissing(Refusal):
    """The task wants a sandbox and this machine has none that works."""


class Controller:
    """Holds a task's leases while it runs it; a second one is told who holds them."""

    def __init__(
        self,
        site: Site,
        task: TaskId,
        *,
        environment: Mapping[str, str],
        people: People,
        notify: Watch,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._site = site
        self._task = task
        self._environment = environment
        self._people = people
        self._notify = notify
        self._listeners = listeners

    def run(self, *said: Fact) -> State:
        """Take the task up, with what was said on the command line, and drive it until it stops."""
        task = self._site.state(self._task).task
        with holding(self._site, task) as held:
            self._site.journal.hide(known_secrets(task, self._environment, self._site.repository.root))
            dossier = self._site.dossier(self._task)
            workspace = self._site.workspace(task, self._environment)
            if dossier.state.prepared is not None:
                self._note_if_gone(workspace, held)
                workspace.prepare()
                dossier = self._site.dossier(self._task)
            rendering = Rendering(self._site, self._task, workspace.root)
            driver = Driver(
                self._task,
                epoch=held.lease.epoch,
                journal=self._site.journal,
                inbox=self._site.journal,
                clock=system_clock,
                perform=self._performer(task, workspace, held),
                make_stop=process.StopFlag,
                known=dossier.state,
                listeners=(dossier.heard, rendering, *self._listeners),
                settled=rendering.settle,
                check=held.lease.check,
            )
            return asyncio.run(_driven(driver, self._task, said, self._notify))

    def _note_if_gone(self, workspace: GitWorkspace, held: Holding) -> None:
        """Put it down before the checkout is made again that what set-up installed there is gone with it."""
        if not workspace.is_made:
            gone = WorkspaceRemoved("found")
            self._site.journal.append(self._task, [gone], epoch=held.lease.epoch, at=system_clock.now())

    def _performer(self, task: Task, workspace: GitWorkspace, held: Holding) -> Performer:
        settings, home = task.settings, self._site.home
        confine = confinement(self._site, settings, workspace, self._environment)
        private = hiding_logins(confine, self._environment)
        building = with_version(self._environment, self._site.repository, self._site.repository.require_commit())
        agents = agents_of(
            task,
            confine=confine,
            environment=self._environment,
            root=self._site.repository.root,
            hold_fds=held.locks,
            secrets=known_secrets(task, self._environment, self._site.repository.root),
        )
        backlogs = BacklogFolders(self._site.repository.root)
        plans = PlanSources(self._site.repository.root, self._environment)
        cards = offered().cards
        tracks = TrackDocuments(self._site.repository.root, cards, tell=partial(self._notify, "waiting"))
        evaluators = TrackEvaluators(
            self._site.repository.root,
            workspace,
            private,
            settings,
            folder=home.task(self._task) / "evaluation",
            cache=home.folder / "tools",
            environment=self._environment,
            notify=self._notify,
            cards=cards,
        )
        return Performer(
            task,
            workspace=workspace,
            agents=agents,
            measurer=TreeMeasurer(
                directory=home.gate_tree(self._task),
                repository=self._site.repository.root,
                confine=private,
                blobs=self._site.blobs,
                environment=building,
                nonce=system_clock.nonce,
                hold_fds=held.locks,
                outside=partial(outside_environments, environment=building),
            ),
            people=self._people,
            setup=Environments(
                settings,
                confine=private,
                environment=cleaned(building),
                hold_fds=held.locks,
                root=self._site.repository.root,
                own=workspace.root,
            ),
            clock=system_clock,
            folder=home.task(self._task),
            notify=self._notify,
            others={
                ReadBacklog: backlogs.read,
                EditBacklog: backlogs.edit,
                ReadPlan: plans.read,
                MarkEntries: plans.mark,
                ReadDraft: lambda effect: _draft(workspace, effect),
                ReadTrack: tracks.read,
                EditTrack: tracks.edit,
                CheckAnswers: evaluators.check,
            },
            stoppable={MeasureTrack: evaluators.measure},
            pull_requests=GitHub(self._site, self._task, self._environment),
            recall=RepositoryMemory(self._site.journal, workspace).recall,
        )


def _draft(workspace: GitWorkspace, effect: ReadDraft) -> DraftRead:
    """A planner's own file, from the tree that was saved after its turn."""
    raw = workspace.read_file(effect.commit, effect.path)
    return DraftRead(decode(raw[:MAX_PLAN]) if raw else "")


async def _driven(driver: Driver, task: TaskId, said: Sequence[Fact], notify: Watch) -> State:
    """Run with signals turned into an interrupt; the second one ends the process at once, still resumable."""
    loop = asyncio.get_running_loop()
    seen: list[float] = []

    def on_signal(number: int) -> None:
        if seen and system_clock.monotonic() - seen[0] < ONE_WORD_S:
            return
        if seen:
            process.kill_captured()
            with suppress(OSError):
                os.write(2, f"ended at once; go on with: flyball resume {task}\n".encode())
            os._exit(130)
        seen.append(system_clock.monotonic())
        again = "press Ctrl-C again" if number == signal.SIGINT else "a second signal is needed"
        notify("stopping", f"stopping: what is under way is ended and saved; {again} to end at once")
        driver.interrupt(f"interrupted by {signal.Signals(number).name}")

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    started = SessionStarted(os.getpid(), os.uname().nodename, __version__)
    try:
        return await driver.run(started, *said)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


def confinement(site: Site, settings: Settings, workspace: GitWorkspace, environment: Mapping[str, str]) -> Confine:
    """How this task's commands are confined."""
    if settings.sandbox == "none":
        return Unconfined()
    program = available()
    if isinstance(program, Unavailable):
        raise SandboxMissing(f"{program.reason}. Or run without one: --sandbox none")
    root = site.repository.root
    user = Path(environment.get("HOME", "/")).expanduser()
    return Confined(
        program,
        root,
        hidden=(*secret_paths(user), site.home.home),
        programs=program_folders(environment),
        git_dirs=workspace.git_dirs,
        nested=workspace.guard_nested,
        environments=lent_environments(site.repository, settings.environment_folders),
        environment_names=settings.environment_folders,
        copies=workspace.environment_copies,
        network=settings.network,
    )


def lent_environments(repository: Repository, names: Sequence[str]) -> tuple[str, ...]:
    """The user's installed dependencies: what git tracks is no such thing, whatever it is called."""
    found = users_environments(repository.root, names)
    return tuple(name for name in found if not repository.tracked(name))


def program_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where programs and their libraries lie: this Python, this package, and the folders of PATH."""
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[3]]
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(entry)
        if folder.is_absolute() and folder.is_dir():
            found.append(folder.parent if folder.name in {"bin", "Scripts", ".bin"} else folder)
    return tuple(found)
