"""The adapters of one run: who performs each effect, and with what."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from flyball.clock import system_clock
from flyball.core.claims.values import MAX_PLAN
from flyball.core.model.effects import CountDay
from flyball.core.model.task import Task
from flyball.core.text.scrubbing import decode
from flyball.core.workflows.backlog.effects import EditBacklog, ReadBacklog
from flyball.core.workflows.plan.effects import DraftRead, MarkEntries, ReadDraft, ReadPlan
from flyball.core.workflows.track.effects import CheckAnswers, EditTrack, MeasureTrack, ReadTrack
from flyball.documents.backlog_folder import BacklogFolders
from flyball.documents.loop_folder import LoopFolder
from flyball.documents.track_documents import TrackDocuments
from flyball.engine.performer import Performer
from flyball.journal.blobs import FileBlobs
from flyball.measures.evaluators.offered import find_evaluators
from flyball.measures.gates.commands import clean_environment
from flyball.measures.gates.outside import outside_environments
from flyball.measures.kept import KeptBaselines
from flyball.measures.measurer import TreeMeasurer, main_folder
from flyball.ports import People, Watch
from flyball.wiring.memory import RepositoryMemory
from flyball.wiring.run.agents import agents_of, hiding_logins, known_secrets
from flyball.wiring.run.confining import confinement
from flyball.wiring.run.environments import Environments
from flyball.wiring.run.github import GitHub
from flyball.wiring.run.kept_answers import KeptAnswers
from flyball.wiring.run.scm_version import with_version
from flyball.wiring.run.track_evaluators import TrackEvaluators
from flyball.wiring.run.track_measuring import TrackMeasuring
from flyball.wiring.run.trackers import PlanSources
from flyball.wiring.site import Site
from flyball.wiring.spending import count_day
from flyball.workspace.workspace import GitWorkspace


class Adapters:
    """What one run of a task works with. Gates and set-up see no login of an agent's, and a version that tags would tell."""

    def __init__(
        self,
        site: Site,
        task: Task,
        workspace: GitWorkspace,
        environment: Mapping[str, str],
        notify: Watch,
        locks: tuple[int, ...],
    ) -> None:
        self._site, self._task, self._workspace = site, task, workspace
        self._environment, self._notify, self._locks = environment, notify, locks
        self._root = site.repository.root
        self._confine = confinement(site, task.settings, workspace, environment)
        self._private = hiding_logins(self._confine, environment)
        self._building = with_version(environment, site.repository)

    def performer(self, people: People) -> Performer:
        task, backlogs = self._task, BacklogFolders(self._root)
        plans = PlanSources(self._root, self._environment)
        cards = find_evaluators().cards
        tracks = TrackDocuments(self._root, cards, tell=partial(self._notify, "waiting"))
        measuring = TrackMeasuring(
            self._site,
            self._workspace,
            self._private,
            task.settings,
            self._site.home.task(task.id) / "evaluation",
            self._environment,
            self._notify,
        )
        evaluators = TrackEvaluators(measuring, cards)
        return Performer(
            task,
            workspace=self._workspace,
            agents=agents_of(
                task,
                confine=self._confine,
                environment=self._environment,
                root=self._root,
                hold_fds=self._locks,
                secrets=known_secrets(task, self._environment, self._root),
            ),
            measurer=self._measurer(),
            people=KeptAnswers(people, self._site.home.folder / "answers"),
            setup=self._environments(),
            clock=system_clock,
            folder=self._site.home.task(task.id),
            notify=self._notify,
            others={
                ReadBacklog: backlogs.read,
                EditBacklog: backlogs.edit,
                ReadPlan: plans.read,
                MarkEntries: plans.mark,
                ReadDraft: self._draft,
                ReadTrack: tracks.read,
                CheckAnswers: evaluators.check,
                CountDay: lambda _effect: count_day(self._site.home.home, system_clock.now()),
            },
            stoppable={EditTrack: tracks.edit, MeasureTrack: evaluators.measure},
            pull_requests=GitHub(self._site, task.id, self._environment),
            recall=RepositoryMemory(self._site.journal, self._workspace).recall,
            give_context=self._give_context,
        )

    def _give_context(self, tree: Path) -> None:
        """Put the task's context.md into the tree of a lane or a reviewer; the task's own tree has it rendered."""
        task, own = self._task.id, self._workspace.root
        if tree != own:
            page = LoopFolder(own, task, memory=self._site.home.rendered_record(task)).path / "context.md"
            text = page.read_text(encoding="utf-8") if page.is_file() else ""
            LoopFolder(tree, task, memory=self._site.home.rendered_record(task), shared=True).put("context.md", text)

    def _measurer(self) -> TreeMeasurer:
        home, blobs = self._site.home, FileBlobs(self._site.home.blobs)
        return TreeMeasurer(
            directory=home.gate_tree(self._task.id),
            repository=self._root,
            confine=self._private,
            blobs=blobs,
            environment=self._building,
            nonce=system_clock.nonce,
            hold_fds=self._locks,
            outside=partial(outside_environments, environment=self._building),
            baselines=KeptBaselines(home.baselines, blobs, system_clock.now, f"task {self._task.id}"),
        )

    def _environments(self) -> Environments:
        return Environments(
            self._task.settings,
            confine=self._private,
            environment=clean_environment(self._building),
            hold_fds=self._locks,
            root=self._root,
            own=self._workspace.root,
            gates=main_folder(self._site.home.gate_tree(self._task.id)),
        )

    def _draft(self, effect: ReadDraft) -> DraftRead:
        """A planner's own file, from the tree that was saved after its turn."""
        raw = self._workspace.read_file(effect.commit, effect.path)
        return DraftRead(decode(raw[:MAX_PLAN]) if raw else "")
