"""What `run` was asked for: the document, a session of another loop, the settings, and the task it may belong to; all settled before anything is written."""

import shlex
import sys
from pathlib import Path

import msgspec

from flyball.cli.screen.seat import Seat
from flyball.cli.support.exits import DONE, say
from flyball.cli.support.output import ask
from flyball.clock import system_clock
from flyball.config import file as config_file, trust
from flyball.config.home import RepositoryHome, environment
from flyball.config.settings import Configured, RunFlags, build, with_day_budgets, without_sandbox, workflow_of
from flyball.core.model.task import EffectId, Settings, TaskId
from flyball.core.text.quantities import plural
from flyball.core.workflows.registry import (
    DEFAULT,
    EARLIER_DEFAULT,
    WORKFLOWS,
    for_issues,
    for_plans,
    for_sessions,
    for_tracks,
    works_on_issues,
)
from flyball.core.workflows.tdd.prp_session import COMPLETED, PrpSession, describe_session
from flyball.core.workflows.track.effects import ReadTrack
from flyball.documents.loop_folder import check_foreign
from flyball.documents.plan_source import format_of_boxes, read_plan_source, recognise, with_note_on_boxes
from flyball.documents.prp_files import document_of, is_session, read_session, session_folder
from flyball.documents.source import SourceDocument, read_source
from flyball.documents.track_documents import TrackDocuments
from flyball.documents.track_folder import is_track_folder, read_track_source
from flyball.documents.work_folder import WORK
from flyball.documents.work_source import is_work_folder, read_work_source
from flyball.measures.evaluators.offered import find_evaluators
from flyball.ports import Refusal
from flyball.projections.views.standing import final_stop
from flyball.wiring.role_prompts import read_prompts
from flyball.wiring.run.readiness import require_ready
from flyball.wiring.run.track_measuring import require_tools
from flyball.wiring.run.trackers import read_tracker, tracker_source
from flyball.wiring.site import Site
from flyball.wiring.tasks.opening import tasks_asked, tasks_from
from flyball.wiring.tools.dispatching import choose_evaluators
from flyball.workspace.repository import Repository
from flyball.workspace.sandbox import Unavailable, available


class Start(msgspec.Struct, frozen=True):
    request: str
    source: Path | None
    new: bool = False
    estimate: bool = False
    seat: Seat = Seat()


class NothingAsked(Refusal):
    """`run` was given neither words nor a document."""


class SessionOver(Refusal):
    """There is nothing left of the session to take up."""


class SourceChanged(Refusal):
    """The document is not the one the unfinished task was opened from."""


def is_shown_to_person() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _has_terminal() -> bool:
    return sys.stdin.isatty() and is_shown_to_person()


def is_attended(root: Path, flags: RunFlags, settings: Settings) -> bool:
    """Whether somebody answers who goes on with a task: what is typed counts first, then the file, then who is there now."""
    file = config_file.read(root)
    named = (flags.attended, file.top.attended if file else None)
    return next((value for value in named if value is not None), settings.attended or _has_terminal())


def settle_order(
    repository: Repository, order: Start, flags: RunFlags, *, session: bool
) -> tuple[Configured, SourceDocument | None]:
    """What `run` is to do and with what; whatever is wrong with it is said before anything is written.

    What was typed comes first, then the repository, and last the machine: its sandbox, agents and programs.
    """
    file = config_file.read(repository.root)
    workflow = workflow_of(file, flags)
    if workflow == for_tracks() and order.source is None:
        raise NothingAsked("Name the track to work: flyball run --from conductor/tracks/NAME")
    if not order.request.strip() and order.source is None and not works_on_issues(workflow):
        raise NothingAsked('Say what is to be done: flyball run "…", or name a document: flyball run --from FILE')
    if session and not WORKFLOWS[workflow].takes_sessions:
        able = for_sessions()
        raise NothingAsked(
            f"A .prp-session needs the workflow {able}. Leave out --workflow, or pass --workflow {able}."
        )
    prompts = read_prompts(repository, file)
    configured = build(file, flags, terminal=_has_terminal(), prompts=prompts)
    limits = with_day_budgets(configured.settings.limits)
    configured = msgspec.structs.replace(
        configured, settings=msgspec.structs.replace(configured.settings, limits=limits)
    )
    source = _source(repository.root, order, configured)
    if source is not None and order.source is not None and flags.workflow is None:
        source = with_note_on_boxes(source, order.source, repository.root, workflow, for_plans())
    repository.require_commit()
    check_foreign(repository.root)
    trust.require(RepositoryHome.of(repository.common_dir, repository.root), file, flags, prompts)
    sandbox = available()
    if isinstance(sandbox, Unavailable):
        configured = without_sandbox(configured, sandbox.reason)
    require_ready(configured, environment(), repository.root)
    if workflow == for_tracks() and order.source is not None:
        chosen = choose_evaluators(str(order.source), repository.root).chosen
        require_tools(chosen, repository.root, environment(), file)
    return configured, source


def require_open_entries(source: SourceDocument, configured: Configured) -> None:
    left = [item for item in source.items if item.status != "completed"]
    if not left:
        raise NothingAsked(f"{source.source.path}: every entry is marked as done. Open one again, or add one.")
    if all(item.optional for item in left) and not configured.settings.optional_items:
        raise NothingAsked(f"{source.source.path}: only optional entries are open. To work on them, add: --optional")


def with_workflow(root: Path, order: Start, flags: RunFlags) -> RunFlags:
    """What `--from` names has a workflow of its own, unless one was typed; any other document is worked by the one configured."""
    if order.source is None or flags.workflow is not None:
        return flags
    if is_session(order.source):
        return msgspec.structs.replace(flags, workflow=for_sessions())
    if is_work_folder(order.source):
        return msgspec.structs.replace(flags, workflow=for_issues())
    if is_track_folder(order.source):
        return msgspec.structs.replace(flags, workflow=for_tracks())
    tracked = not order.source.exists() and tracker_source(str(order.source)) is not None
    if tracked or recognise(order.source, root) is not None:
        return msgspec.structs.replace(flags, workflow=for_plans())
    return flags


def _source(root: Path, order: Start, configured: Configured) -> SourceDocument | None:
    path = order.source
    if works_on_issues(configured.workflow):
        return read_work_source(path or root / WORK, root)
    if path is None:
        return None
    if configured.workflow == for_tracks():
        found = read_track_source(path, root)
        # Refuses a track that cannot be worked, or asks for an evaluator that is not there.
        TrackDocuments(root, find_evaluators().cards).read(ReadTrack(EffectId("read/now"), path=found.source.path))
        return found
    imported = _imported_plan(root, path, configured) if WORKFLOWS[configured.workflow].imports else None
    return imported or read_source(path, root)


def _imported_plan(root: Path, path: Path, configured: Configured) -> SourceDocument | None:
    """The plan at a path; None for a document without boxes of its own. The workflow was chosen, so any box is an entry."""
    tracker = tracker_source(str(path)) if not path.exists() else None
    if tracker is not None:
        return read_tracker(tracker, root, environment())
    format = recognise(path, root) or format_of_boxes(path, root)
    if format is None:
        return None
    return read_plan_source(path, root, format, parallel_stories=configured.settings.parallel_stories)


def named_session(source: Path | None, root: Path) -> tuple[PrpSession, Path] | None:
    """The session of another loop that `--from` names, and its document."""
    if source is None or not is_session(source):
        return None
    session = read_session(source, system_clock.now())
    document = document_of(session, source, root)
    if session.status == COMPLETED:
        raise SessionOver(
            f"{describe_session(session)}: that session is finished. Start a new task from its document: flyball run --from {document}"
        )
    return session, document


def offered_session(source: Path | None, root: Path, *, attended: bool) -> PrpSession | None:
    """The repository's own session on this very document, if a person wants it taken up; without one it is only named."""
    place = session_folder(root, environment())
    if source is None or place is None:
        return None
    session = read_session(place, system_clock.now())
    if session.status == COMPLETED or (root / session.document).resolve() != source.resolve():
        return None
    say(f"found {describe_session(session)}")
    if not attended:
        say(f"the session is not continued; to continue it: flyball run --from {place}")
        return None
    word = ask(f"take it up at {session.phase}, new or abort? [take] ") or "take"
    if word.startswith("a"):
        sys.exit(DONE)
    return None if word.startswith("n") else session


def tell_default(site: Site, flags: RunFlags) -> None:
    """Say once in a repository that a configuration without `workflow` means another one than it did."""
    file = config_file.read(site.repository.root)
    told = site.home.folder / "default-workflow-told"
    if file is None or file.top.workflow is not None or flags.workflow is not None or told.exists():
        return
    say(
        f"{file.origin.path.name} names no workflow: the default was {EARLIER_DEFAULT} and is {DEFAULT} now."
        f' To keep {EARLIER_DEFAULT}, set workflow = "{EARLIER_DEFAULT}" there.'
    )
    told.touch()


def mention_uncommitted(repository: Repository) -> None:
    uncommitted = len(repository.uncommitted_files())
    if uncommitted:
        say(f"{plural(uncommitted, 'uncommitted change')} here: not part of the task, which starts from HEAD")


def known_task(site: Site, configured: Configured, order: Start, source: SourceDocument | None) -> TaskId | None:
    """The task to go on with, if the same was asked for before; a person may choose a new one instead."""
    if source is None:
        tasks = [t for t in tasks_asked(site, configured.workflow, order.request) if final_stop(site.state(t)) is None]
    else:
        tasks = tasks_from(site, source.source)
    if not tasks:
        return None
    task, state = tasks[-1], site.state(tasks[-1])
    changed = source is not None and state.task.source is not None and source.differs_from(state.task.source)
    if source is not None and final_stop(state) is not None:
        return None if source.living or changed else task
    if not configured.settings.attended:
        return _resume_as_opened(task, order, source if changed else None)
    note = " (the document has changed since)" if changed else ""
    say(f"found {task} at {state.main.stage}, iteration {state.iterations}{note}")
    word = ask("resume, new or abort? [resume] ") or "resume"
    if word.startswith("a"):
        sys.exit(DONE)
    return None if word.startswith("n") else task


def _resume_as_opened(task: TaskId, order: Start, changed: SourceDocument | None) -> TaskId:
    """Without anybody to ask, the task as it was opened; a document that has changed since is another order."""
    again = f"--from {shlex.quote(str(order.source))}" if order.source else shlex.quote(order.request)
    if changed is not None:
        raise SourceChanged(
            f"{changed.source.path} has changed since task {task} was opened from it. Continue the task as it was opened:"
            f" flyball resume {task}; or open a new one: flyball run {again} --new"
        )
    say(
        f"{task} has the same request and is unfinished; flyball continues it. To open a new task: flyball run {again} --new"
    )
    return task
