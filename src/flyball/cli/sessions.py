"""What `run` and `resume` share: settings, trust, the task, the controller, the screen, the exit code."""

from pathlib import Path

import msgspec

from flyball import process
from flyball.cli import ordering
from flyball.cli.screen.live import screen
from flyball.cli.screen.people import NobodyThere, SomebodyThere, TerminalPeople
from flyball.cli.screen.seat import Leaving, Seat, controls
from flyball.cli.support.choosing import NewRequest, choose_task
from flyball.cli.support.exits import DONE, exit_code, say
from flyball.cli.support.output import put, put_json
from flyball.clock import system_clock
from flyball.config import file as config_file
from flyball.config.home import environment
from flyball.config.settings import RunFlags, with_day_budgets, with_limits, workflow_of
from flyball.core.fold.people import is_put_again
from flyball.core.loop.guards import day_reached
from flyball.core.model.effects import Ask
from flyball.core.model.events import Fact, SettingsChanged
from flyball.core.model.state import State
from flyball.core.model.task import Forecast, Limits, TaskId
from flyball.core.workflows.backlog.cycles import folder
from flyball.core.workflows.registry import WORKFLOWS, works_on_issues
from flyball.core.workflows.tdd.prp_session import describe_session
from flyball.documents.work_source import require_constitution
from flyball.projections.views.forecast import describe_forecast
from flyball.projections.views.standing import final_stop, in_place_note, next_command
from flyball.projections.views.status import status
from flyball.projections.wording import clock_time
from flyball.wiring.run.controller import Controller
from flyball.wiring.run.held_notices import hold
from flyball.wiring.run.holding import require_free
from flyball.wiring.run.notifying import notifier_of
from flyball.wiring.run.readiness import require_candidate_measured, require_keepable_budget
from flyball.wiring.run.rendering import catch_up
from flyball.wiring.run.telemetry import telemetry_of
from flyball.wiring.site import Site
from flyball.wiring.spending import count_day
from flyball.wiring.tasks.merging import merge_task
from flyball.wiring.tasks.opening import forecast_here, open_task, prepare_reopening
from flyball.workspace.repository import Repository


def start(here: Path, order: ordering.Start, flags: RunFlags) -> int:
    """Open a task, or take up the one its document belongs to, and drive it."""
    repository = Repository.find(here)
    taken = ordering.named_session(order.source, repository.root)
    flags = ordering.with_workflow(repository.root, order, flags)
    if taken is not None:
        order = msgspec.structs.replace(order, source=taken[1])
    if order.estimate:
        workflow = workflow_of(config_file.read(repository.root), flags)
        put(_forecast_line(forecast_here(Site.of(repository), workflow), workflow))
        return DONE
    configured, source = ordering.settle_order(repository, order, flags, session=taken is not None)
    site = Site.of(repository)
    if not order.new:
        known = ordering.known_task(site, configured, order, source)
        if known is not None:
            return _go_on(site, known, flags, order.seat)
    session = taken[0] if taken is not None else None
    if session is not None:
        say(f"{describe_session(session)}: the task begins there")
    else:
        able = configured.settings.attended and WORKFLOWS[configured.workflow].takes_sessions
        session = ordering.offered_session(order.source, repository.root, attended=able)
    ordering.mention_uncommitted(repository)
    if source is not None and source.source.format:
        ordering.require_open_entries(source, configured)
    document = source.source if source else None
    require_free(site, configured.workflow, document)
    task = open_task(site, configured, order.request, source, session)
    for note in (*configured.notes, *(source.notes if source else ())):
        say(note)
    ordering.tell_default(site, flags)
    say(_forecast_line(site.state(task).task.forecast, configured.workflow))
    _tell_day(site, configured.settings.limits)
    return drive(site, task, attended=configured.settings.attended, seat=order.seat)


def _tell_day(site: Site, limits: Limits) -> None:
    """Say at once that a run has to wait for the next day."""
    if not limits.has_day_budget:
        return
    day = count_day(site.home.home, system_clock.now())
    if reason := day_reached(limits, day):
        say(f"{reason}, in all repositories: no turn begins before {clock_time(day.ends_at, system_clock.now())}")


def _forecast_line(forecast: Forecast | None, workflow: str) -> str:
    if forecast is None:
        return f"forecast: none, because no task of {workflow} is finished in this repository yet"
    return f"forecast: {describe_forecast(forecast, workflow)}"


def take_up(here: Path, words: str, flags: RunFlags, seat: Seat) -> int:
    site = Site.find(here)
    try:
        task = choose_task(site, words, may_start=True)
    except NewRequest as new:
        return start(here, ordering.Start(new.text, None, seat=seat), flags)
    return _go_on(site, task, flags, seat)


def reopen(here: Path, words: str, feedback: str, flags: RunFlags, seat: Seat) -> int:
    """Go on with a finished task: the feedback is more of what it has to do."""
    site = Site.find(here)
    task = choose_task(site, words)
    if not feedback.strip():
        raise ordering.NothingAsked(f'Say what is to be done: flyball reopen {task} "…"')
    state = site.view(task).state
    if works_on_issues(state.task.workflow):
        require_constitution(site.repository.root / folder(state))
    put_back = prepare_reopening(site, task)
    if put_back:
        say(put_back)
    site.journal.post(task, "reopen", text=feedback, at=system_clock.now())
    return _go_on(site, task, flags, seat)


def drive(site: Site, task: TaskId, *said: Fact, attended: bool, seat: Seat) -> int:
    history = site.view(task).history
    leaving = Leaving(site, task, seat)
    terminal = ordering.is_shown_to_person() and not seat.detach
    as_json = seat.as_json and not seat.detach
    with (
        notifier_of(site.repository.root, site.home, task, hold(site.repository.root, site.home)) as notifier,
        telemetry_of(site.repository.root, site.home) as telemetry,
        screen(history, as_json=as_json, terminal=terminal, controls=controls(site, task, seat, leaving)) as shown,
    ):
        controller = Controller(
            site,
            task,
            environment=environment(),
            people=SomebodyThere(shown, lambda: leaving.gone) if attended else NobodyThere(),
            notify=shown.notify,
            listeners=(*((leaving.at_once,) if seat.detach else ()), shown.listener, notifier, telemetry),
        )
        try:
            state = controller.run(*said)
        except KeyboardInterrupt:
            say(f"interrupted; continue with: flyball resume {task}")
            raise
        shown.closing(state)
    if state.task.settings.merge:
        _merge(site, state)
    return exit_code(state)


def _merge(site: Site, state: State) -> None:
    """What `--merge` asks for once a task is DONE; the exit code stays that of the task."""
    if state.decision == "DONE":
        for line in merge_task(site, state.task.id, environment()).lines():
            say(line)


def _go_on(site: Site, task: TaskId, flags: RunFlags, seat: Seat) -> int:
    state = site.view(task).state
    over = final_stop(state)
    if over is not None and not any(word.word == "reopen" for word in site.journal.pending(task)):
        catch_up(site, state)
        say(f"{task} is finished: {over.reason}")
        say(
            f"next: {next_command(state, merged=state.task.settings.merge)}"
            + (f', or give it more to do: flyball reopen {task} "…"' if over.kind == "done" else "")
        )
        if state.task.settings.merge:
            _merge(site, state)
        return _end_without_run(site, state, as_json=seat.as_json)
    if works_on_issues(state.task.workflow):
        require_constitution(site.repository.root / folder(state))
    if note := in_place_note(state):
        say(f"{task}: {note}")
    settings = state.task.settings
    limits = with_day_budgets(with_limits(settings.limits, flags))
    attended = ordering.is_attended(site.repository.root, flags, settings)
    require_candidate_measured(settings, environment(), site.repository.root)
    if flags.budget_usd is not None or limits.budget_usd_per_day != settings.limits.budget_usd_per_day:
        wanted = msgspec.structs.replace(settings, limits=limits)
        require_keepable_budget(wanted, state.task.agents, WORKFLOWS[state.task.workflow].roles)
    lifted = bool(flags.may_change) or limits != settings.limits
    changed = lifted or attended != settings.attended
    said = (SettingsChanged(limits, attended, flags.may_change),) if changed else ()
    if flags.may_change and state.stopped is not None and state.stopped.kind == "blocked":
        site.journal.post(task, "reset", at=system_clock.now())
    if not site.journal.pending(task) and not _can_go_on(site, state, lifted=lifted, attended=attended):
        return _end_without_run(site, state, as_json=seat.as_json)
    _tell_day(site, limits)
    return drive(site, task, *said, attended=attended, seat=seat)


def _can_go_on(site: Site, state: State, *, lifted: bool, attended: bool) -> bool:
    """Whether what stopped the task is out of the way; where it is not, that is told."""
    stopped = state.stopped
    if stopped is not None and stopped.kind == "limit" and not lifted:
        say(f"{state.task.id} is stopped: {stopped.reason}")
        say(f"continue with: {next_command(state)}")
        return False
    if stopped is None or stopped.kind != "blocked":
        return True
    if is_put_again(state):
        site.journal.post(state.task.id, "resume", at=system_clock.now())
    elif not attended or not _ask_again(site, state):
        assert state.stopped is not None
        key = state.stopped.question
        options = [o.key for o in state.questions[key].question.options]
        say(f"{state.task.id} is BLOCKED: {state.stopped.reason}")
        choices = f" (or {', '.join(options[1:])})" if options[1:] else ""
        say(f"answer, for example: flyball answer {state.task.id} {key} {options[0] if options else 'TEXT'}{choices}")
        say(f"then: flyball resume {state.task.id}")
        return False
    return True


def _end_without_run(site: Site, state: State, *, as_json: bool) -> int:
    """The end of a command that had nothing to run; its status is a program's last line all the same."""
    if as_json:
        put_json(status(state, site.view(state.task.id).history))
    return exit_code(state)


def _ask_again(site: Site, state: State) -> bool:
    assert state.stopped is not None
    key = state.stopped.question
    asked = state.questions[key]
    answer = TerminalPeople().ask(state.task, Ask(key, asked.question, lane=asked.lane), process.StopFlag())
    if answer is None:
        return False
    site.journal.post(state.task.id, "answer", text=answer, question=key, at=system_clock.now())
    return True
