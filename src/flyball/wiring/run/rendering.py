"""Keeps `.loop/NNN-slug/` in step with the journal, for people in the repository and for agents in their tree."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from flyball import __version__
from flyball.core.fold.evolve import evolve
from flyball.core.model.events import Event, SessionStarted
from flyball.core.model.naming import LOOP
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.core.workflows.registry import works_on_issues
from flyball.documents.governed import govern, release
from flyball.documents.loop_folder import LoopFolder
from flyball.projections.files.loop_files import STATUS_LOG, VERDICT, phase_status, render, shows
from flyball.projections.pages.summary import Known, Place
from flyball.projections.views.situation import AT_WORK
from flyball.projections.views.standing import final_stop
from flyball.wiring.presence import lock_of
from flyball.wiring.site import Site


def catch_up(site: Site, state: State) -> None:
    """Render a task nobody works on: whoever stopped it may have been killed before it could."""
    task = state.task
    Rendering(site, task.id, site.workspace(task).root).catch_up(state)


class Rendering:
    """A listener of the loop, beside its view; what it writes can always be rendered again."""

    def __init__(self, site: Site, task: TaskId, tree: Path) -> None:
        self._site = site
        self._task = task
        self._index: tuple[int, int] | None = None
        self._tracked: Collection[str] = ()
        self._folders = {
            root: LoopFolder(
                root,
                task,
                memory=site.home.rendered_record(task).with_suffix(f".{n}.json"),
                shared=root == tree,
                tracked=self._tracked_now if root == site.repository.root else tuple,
            )
            for n, root in enumerate(dict.fromkeys((site.repository.root, tree)))
        }
        self._tree = tree
        self._stale = False
        self._history = site.view(task).history

    def __call__(self, event: Event, state: State) -> None:
        if not shows(event):
            return
        if isinstance(event.fact, SessionStarted):
            self.catch_up(state)
            return
        self._stale = True
        block = phase_status(state, event)
        if block:
            for folder in self._present():
                folder.append(STATUS_LOG, block, whole=self._log)

    def settle(self, state: State) -> None:
        """Render what the events since the last time changed: one burst of them is shown once."""
        if self._stale:
            self._stale = False
            self._render(state)

    def _render(self, state: State) -> None:
        files = render(state, self._history)
        if state.task.settings.report_html and "report.md" in files:
            from flyball.markup.report_file import html_report  # noqa: PLC0415 - few write it, and templates load slowly

            place = Place(self._site.home.name, self._site.repository.root.name)
            known = Known(place, state, self._history, (), AT_WORK, state.now)
            files["report.html"] = html_report(known, __version__)
        # A planner may be editing the plan, or has edited it and nobody has read it yet.
        turn = state.main.turn
        kept = {"plan.md"} if turn is not None and turn.effect.purpose == "plan" else set()
        for root, folder in self._folders.items():
            if root.is_dir():
                folder.render({name: text for name, text in files.items() if root != self._tree or name not in kept})
        self._govern(state, files[VERDICT])

    def _govern(self, state: State, verdict: str) -> None:
        """Tell hooks whose tree this is; they are an offer, so what cannot be written is left out."""
        home, root = str(self._site.home.home), self._site.repository.root
        own = {self._tree} - {root}
        # A folder of issues is the user's, and lies in their tree wherever it is worked on.
        trees = own | ({root} if works_on_issues(state.task.workflow) else set())
        for tree in trees:
            with suppress(OSError):
                if final_stop(state) is not None:
                    release(home, str(tree), self._task)
                else:
                    lock = str(lock_of(self._site, self._task))
                    govern(home, str(tree), self._task, verdict=verdict, lock=lock)

    def catch_up(self, state: State) -> None:
        """Write what an earlier process was ended before it could write, or what was deleted since."""
        self._render(state)
        # When something happened last that has a block in the status log.
        judged = [judgement.at for judgement in self._history.judgements[-1:]]
        stopped = [at for at, _ in self._history.stops[-1:]]
        logged = max((*judged, *stopped), default=None)
        for folder in self._present():
            if logged is not None and logged.isoformat() not in folder.end_of(STATUS_LOG):
                *_, last = self._blocks()
                folder.append(STATUS_LOG, last, whole=self._log)

    def _tracked_now(self) -> Collection[str]:
        """What the user's index holds of the task's folder; asked for again only when the index has changed."""
        repository = self._site.repository
        try:
            facts = (repository.git_dir / "index").stat()
        except OSError:
            return ()
        seen = (facts.st_mtime_ns, facts.st_ino)
        if seen != self._index:
            self._index, self._tracked = seen, repository.tracked_files(f"{LOOP}/{self._task}")
        return self._tracked

    def _present(self) -> list[LoopFolder]:
        return [folder for root, folder in self._folders.items() if root.is_dir()]

    def _log(self) -> str:
        return "".join(self._blocks())

    def _blocks(self) -> Iterator[str]:
        """Every block of the status log, made anew; it takes a second fold, so only a log that lacks something is worth it."""
        state: State | None = None
        for event in self._site.journal.read(self._task):
            state = evolve(state, event)
            block = phase_status(state, event)
            if block:
                yield block
