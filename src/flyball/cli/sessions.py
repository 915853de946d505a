"""What `run` and `resume` share: settings, trust, the task, the controller, the screen, the exit code."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import msgspec

from flyball import process
from flyball.cli.screen.people import NobodyThere, SomebodyThere, TerminalPeople
from flyball.cli.screen.screen import screen
from flyball.cli.screen.seat import Leaving, Seat, controls
from flyball.cli.support import prp_sessions
from flyball.cli.support.choosing import NewRequest, chosen
from flyball.cli.support.exits import DONE, exit_code, say
from flyball.cli.support.output import asked, put_json
from flyball.clock import system_clock
from flyball.config import file as config_file, trust
from flyball.config.home import RepositoryHome, environment
from flyball.config.settings import Configured, RunFlags, build, with_limits, without_sandbox, workflow_of
from flyball.core.fold.people import is_put_again
from flyball.core.model.events import Fact, SettingsChanged
from flyball.core.model.state import State
from flyball.core.model.task import EffectId, TaskId
from flyball.core.text.quantities import plural
from flyball.core.workflows.backlog.cycles import folder
from flyball.core.workflows.registry import WORKFLOWS, for_issues, for_plans, for_tracks, works_on_issues
from flyball.core.workflows.tdd.prp_session import PrpSession, told
from flyball.core.workflows.track.effects import ReadTrack
from flyball.documents.loop_folder import check_foreign
from flyball.documents.plan_source import format_of_boxes, read_plan_source, recognise, with_note_on_boxes
from flyball.documents.source import SourceDocument, read_source
from flyball.documents.track_documents import TrackDocuments
from flyball.documents.track_source import is_track_folder, read_track_source
from flyball.documents.work_folder import WORK
from flyball.documents.work_source import is_work_folder, read_work_source, require_constitution
from flyball.measures.evaluators.offered import offered
from flyball.ports import Refusal
from flyball.projections.views.standing import finished, next_command
from flyball.projections.views.status import status
from flyball.wiring.run.controller import Controller
from flyball.wiring.run.holding import require_free
from flyball.wiring.run.notifying import notifier_of
from flyball.wiring.run.readiness import require_keepable_budget, require_ready
from flyball.wiring.run.rendering import catch_up
from flyball.wiring.run.telemetry import telemetry_of
from flyball.wiring.run.trackers import read_tracker, tracker_source
from flyball.wiring.site import Site
from flyball.wiring.tasks.opening import open_task, tasks_asked, tasks_from
from flyball.wiring.tasks.reopening import made_ready
from flyball.workspace.git_settings import refuse_settings
from flyball.workspace.nested import refuse_links
from flyball.workspace.repository import Repository
from flyball.workspace.sandbox import Unavailable, available


class Start(msgspec.Struct, frozen=True):
    """What `run` was asked for beside its settings."""

    request: str
    source: Path | None
    new: bool = False
    seat: Seat = Seat()


class NothingAsked(Refusal):
    """`run` was given neither words nor a document."""


class BacklogInPlace(Refusal):
    """The backlog would be part of the tree that checkpoints restore."""


class TrackInPlace(Refusal):
    """The track's documents would be part of the tree that checkpoints restore."""


class PlanInPlace(Refusal):
    """The plan's file would be part of the tree that checkpoints restore."""


class SourceChanged(Refusal):
    """The document is not the one the unfinished task was opened from."""


def start(here: Path, order: Start, flags: RunFlags) -> int:
    """Open a task, or take up the one its document belongs to, and drive it."""
    repository = Repository.find(here)
    taken = prp_sessions.named(order.source, repository.root)
    if taken is not None:
        order = msgspec.structs.replace(order, source=taken[1])
    flags = _with_workflow(repository.root, order, flags)
    configured, source = _wanted(repository, order, flags, session=taken is not None)
    site = Site.of(repository)
    if not order.new:
        known = _known(site, configured, order, source)
        if known is not None:
            return _taken_up(site, known, flags, order.seat)
    session = taken[0] if taken is not None else None
    if session is not None:
        say(f"{told(session)}: the task begins there")
    elif WORKFLOWS[configured.workflow].takes_sessions:
        session = prp_sessions.offered(order.source, repository.root, attended=configured.settings.attended)
    configured = _in_place_settled(site, configured)
    if source is not None and source.source.format:
        _require_open_entries(source, configured)
    document = source.source if source else None
    require_free(site, configured.workflow, document, in_place=configured.settings.in_place)
    task = _opened(site, configured, order, source, session)
    for note in (*configured.notes, *(source.notes if source else ())):
        say(note)
    return drive(site, task, attended=configured.settings.attended, seat=order.seat)


def take_up(here: Path, words: str, flags: RunFlags, seat: Seat) -> int:
    """Go on with a task that was stopped."""
    site = Site.find(here)
    try:
        task = chosen(site, words, may_start=True)
    except NewRequest as new:
        return start(here, Start(new.text, None, seat=seat), flags)
    return _taken_up(site, task, flags, seat)


def reopen(here: Path, words: str, feedback: str, flags: RunFlags, seat: Seat) -> int:
    """Go on with a finished task: the feedback is more of what it has to do."""
    site = Site.find(here)
    task = chosen(site, words)
    if not feedback.strip():
        raise NothingAsked(f'Say what is to be done: flyball reopen {task} "…"')
    state = site.dossier(task).state
    if works_on_issues(state.task.workflow):
        require_constitution(site.repository.root / folder(state))
    put_back = made_ready(site, task)
    if put_back:
        say(put_back)
    site.journal.post(task, "reopen", text=feedback, at=system_clock.now())
    return _taken_up(site, task, flags, seat)


def drive(site: Site, task: TaskId, *said: Fact, attended: bool, seat: Seat) -> int:
    """Run the controller with a screen and, where somebody is there, a person to ask."""
    chronicle = site.dossier(task).chronicle
    leaving = Leaving(site, task, seat)
    terminal = _shown_to_person() and not seat.detach
    as_json = seat.as_json and not seat.detach
    with (
        notifier_of(site.repository.root, site.home, task) as notifier,
        telemetry_of(site.repository.root, site.home) as telemetry,
        screen(chronicle, as_json=as_json, terminal=terminal, controls=controls(site, task, seat, leaving)) as shown,
    ):
        controller = Controller(
            site,
            task,
            environment=environment(),
            people=SomebodyThere(shown, leaving) if attended else NobodyThere(),
            notify=shown.notify,
            listeners=(*((leaving.at_once,) if seat.detach else ()), shown.listener, notifier, telemetry),
        )
        try:
            state = controller.run(*said)
        except KeyboardInterrupt:
            say(f"interrupted; go on with: flyball resume {task}")
            raise
        shown.closing(state)
    return exit_code(state)


def _shown_to_person() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _wanted(
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
        able = " or ".join(each.name for each in WORKFLOWS.values() if each.takes_sessions)
        raise NothingAsked(
            f"A .prp-session needs the workflow {able}. Leave out --workflow, or pass --workflow {able}."
        )
    configured = build(file, flags, terminal=sys.stdin.isatty() and _shown_to_person())
    source = _source(repository.root, order, configured)
    if source is not None and order.source is not None and flags.workflow is None:
        source = with_note_on_boxes(source, order.source, repository.root, workflow, for_plans())
    repository.require_commit()
    check_foreign(repository.root)
    if configured.settings.in_place:
        repository.require_idle()
        refuse_links(repository.root)
        refuse_settings(repository, environment())
    trust.require(RepositoryHome.of(repository.common_dir, repository.root), file, flags)
    sandbox = available()
    if isinstance(sandbox, Unavailable):
        configured = without_sandbox(configured, sandbox.reason)
    require_ready(configured, environment(), repository.root)
    return configured, source


def _require_open_entries(source: SourceDocument, configured: Configured) -> None:
    """Refuse a plan in which nothing is left to do."""
    left = [item for item in source.items if item.status != "completed"]
    if not left:
        raise NothingAsked(f"{source.source.path}: every entry is marked as done. Open one again, or add one.")
    if all(item.optional for item in left) and not configured.settings.optional_items:
        raise NothingAsked(f"{source.source.path}: only optional entries are open. To work on them, add: --optional")


def _with_workflow(root: Path, order: Start, flags: RunFlags) -> RunFlags:
    """A folder of issues is a backlog, a track a track, another tool's plan a plan, unless a workflow was typed."""
    if order.source is None or flags.workflow is not None:
        return flags
    if is_work_folder(order.source):
        return msgspec.structs.replace(flags, workflow=for_issues())
    if is_track_folder(order.source):
        return msgspec.structs.replace(flags, workflow=for_tracks())
    tracked = not order.source.exists() and tracker_source(str(order.source)) is not None
    if tracked or recognise(order.source, root) is not None:
        return msgspec.structs.replace(flags, workflow=for_plans())
    return flags


def _imported(root: Path, path: Path, configured: Configured) -> SourceDocument | None:
    """The plan at a path; None for a document without boxes of its own. The workflow was chosen, so any box is an entry."""
    settings = configured.settings
    tracker = tracker_source(str(path)) if not path.exists() else None
    if tracker is not None:
        return read_tracker(tracker, root, environment())
    format = recognise(path, root) or format_of_boxes(path, root)
    if format is None:
        return None
    found = read_plan_source(path, root, format, parallel_stories=settings.parallel_stories)
    if settings.in_place:
        raise PlanInPlace(
            f"{found.source.path} cannot be worked in place: its marks are set while checkpoints of the tree come and go. "
            "Leave out --in-place, and merge the branch when it is done."
        )
    return found


def _track(root: Path, path: Path, configured: Configured) -> SourceDocument:
    """The track at a path, if it can be worked and every evaluator it asks for is there."""
    if configured.settings.in_place:
        raise TrackInPlace(
            "A track cannot be worked in place: flyball edits its documents while checkpoints of the tree come and go. "
            "Leave out --in-place, and merge the branch when it is done."
        )
    found = read_track_source(path, root)
    TrackDocuments(root, offered().cards).read(ReadTrack(EffectId("read/now"), path=found.source.path))
    return found


def _source(root: Path, order: Start, configured: Configured) -> SourceDocument | None:
    if configured.workflow == for_tracks() and order.source is not None:
        return _track(root, order.source, configured)
    if not works_on_issues(configured.workflow):
        if order.source is None:
            return None
        imported = _imported(root, order.source, configured) if WORKFLOWS[configured.workflow].imports else None
        return imported or read_source(order.source, root)
    if configured.settings.in_place:
        raise BacklogInPlace(
            "A backlog cannot be worked in place: flyball edits its files while checkpoints of the tree come and go. "
            "Leave out --in-place, and merge the branch when it is done."
        )
    return read_work_source(order.source or root / WORK, root)


def _in_place_settled(site: Site, configured: Configured) -> Configured:
    """In place, uncommitted work is taken in only if a person says so; without one the task starts from HEAD, apart."""
    settings = configured.settings
    uncommitted = site.repository.uncommitted()
    if not uncommitted:
        return configured
    count = plural(uncommitted, "uncommitted change")
    if not settings.in_place:
        say(f"{count} here: not part of the task, which starts from HEAD")
        return configured
    word = "isolate"
    if settings.attended:
        word = asked(f"This tree has {count}: include them, isolate the task from them, or abort? [isolate] ")
    if word.startswith("a"):
        sys.exit(DONE)
    if word.startswith("in"):
        return configured
    say(f"{count} here: the task works in an isolated checkout of HEAD instead")
    return msgspec.structs.replace(configured, settings=msgspec.structs.replace(settings, in_place=False))


def _opened(
    site: Site, configured: Configured, order: Start, source: SourceDocument | None, session: PrpSession | None
) -> TaskId:
    if source is None:
        return open_task(site, configured, request=order.request)
    return open_task(
        site,
        configured,
        request=order.request or source.request,
        source=source.source,
        document=source.text,
        items=source.items,
        session=session,
    )


def _known(site: Site, configured: Configured, order: Start, source: SourceDocument | None) -> TaskId | None:
    """The task to go on with, if the same was asked for before; a person may choose a new one instead."""
    if source is None:
        tasks = [t for t in tasks_asked(site, configured.workflow, order.request) if finished(site.state(t)) is None]
    else:
        tasks = tasks_from(site, source.source)
    if not tasks:
        return None
    task, state = tasks[-1], site.state(tasks[-1])
    changed = source is not None and state.task.source is not None and source.differs_from(state.task.source)
    if source is not None and finished(state) is not None:
        return None if source.living or changed else task
    if not configured.settings.attended:
        return _resumed(task, order, source if changed else None)
    note = " (the document has changed since)" if changed else ""
    say(f"found {task} at {state.main.stage}, iteration {state.iterations}{note}")
    word = asked("resume, new or abort? [resume] ") or "resume"
    if word.startswith("a"):
        sys.exit(DONE)
    return None if word.startswith("n") else task


def _resumed(task: TaskId, order: Start, changed: SourceDocument | None) -> TaskId:
    """Without anybody to ask, the task as it was opened; a document that has changed since is another order."""
    again = f"--from {shlex.quote(str(order.source))}" if order.source else shlex.quote(order.request)
    if changed is not None:
        raise SourceChanged(
            f"{changed.source.path} has changed since task {task} was opened from it. Go on with the task as it was:"
            f" flyball resume {task}; or open a new one: flyball run {again} --new"
        )
    say(
        f"{task} is the same request and unfinished: it goes on as it was opened. A new task: flyball run {again} --new"
    )
    return task


def _taken_up(site: Site, task: TaskId, flags: RunFlags, seat: Seat) -> int:
    state = site.dossier(task).state
    over = finished(state)
    if over is not None and not any(word.word == "reopen" for word in site.journal.pending(task)):
        catch_up(site, state)
        say(f"{task} is finished: {over.reason}")
        return _left_alone(site, state, as_json=seat.as_json)
    if works_on_issues(state.task.workflow):
        require_constitution(site.repository.root / folder(state))
    changed = _changed(state, flags)
    if flags.budget_usd is not None:
        wanted = msgspec.structs.replace(state.task.settings, limits=changed.limits)
        require_keepable_budget(wanted, state.task.agents, WORKFLOWS[state.task.workflow].roles)
    said = _worth_saying(state, changed)
    if not site.journal.pending(task) and not _can_go_on(site, state, said, attended=changed.attended):
        return _left_alone(site, state, as_json=seat.as_json)
    return drive(site, task, *said, attended=changed.attended, seat=seat)


def _can_go_on(site: Site, state: State, said: tuple[Fact, ...], *, attended: bool) -> bool:
    """Whether what stopped the task is out of the way; where it is not, that is told."""
    stopped = state.stopped
    if stopped is not None and stopped.kind == "limit" and not said:
        say(f"{state.task.id} is stopped: {stopped.reason}")
        say(f"go on with: {next_command(state)}")
        return False
    if stopped is None or stopped.kind != "blocked":
        return True
    if is_put_again(state):
        site.journal.post(state.task.id, "resume", at=system_clock.now())
    elif not attended or not _asked_again(site, state):
        _tell_question(state)
        return False
    return True


def _left_alone(site: Site, state: State, *, as_json: bool) -> int:
    """The end of a command that had nothing to run; its status is a program's last line all the same."""
    if as_json:
        put_json(status(state, site.dossier(state.task.id).chronicle))
    return exit_code(state)


def _changed(state: State, flags: RunFlags) -> SettingsChanged:
    settings = state.task.settings
    attended = settings.attended if flags.attended is None else flags.attended
    return SettingsChanged(with_limits(settings.limits, flags), attended)


def _worth_saying(state: State, changed: SettingsChanged) -> tuple[Fact, ...]:
    settings = state.task.settings
    return () if (settings.limits, settings.attended) == (changed.limits, changed.attended) else (changed,)


def _asked_again(site: Site, state: State) -> bool:
    """Put the question that blocks the task to whoever is at the terminal."""
    assert state.stopped is not None
    key = state.stopped.question
    answer = TerminalPeople().ask(state.task, state.questions[key].question, process.StopFlag())
    if answer is None:
        return False
    site.journal.post(state.task.id, "answer", text=answer, question=key, at=system_clock.now())
    return True


def _tell_question(state: State) -> None:
    assert state.stopped is not None
    key = state.stopped.question
    options = [o.key for o in state.questions[key].question.options]
    say(f"{state.task.id} is BLOCKED: {state.stopped.reason}")
    choices = f" (or {', '.join(options[1:])})" if options[1:] else ""
    say(f"answer, for example: flyball answer {state.task.id} {key} {options[0] if options else 'TEXT'}{choices}")
    say(f"then: flyball resume {state.task.id}")
