"""`flyball status`: where a task stands, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson, MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.core.model.events import PersonSpoke
from flyball.core.text.quantities import plural
from flyball.journal.records import Holder
from flyball.ports import Refusal
from flyball.projections.wording import age, duration, guard_name, money, plain, short, stamp

if TYPE_CHECKING:
    from flyball.projections.views.status import QuestionShown, Status
    from flyball.wiring.task_view import TaskView


def status(
    task: MaybeTask = "",
    block: Annotated[
        bool,
        typer.Option(
            "--block", help="Print the status block, as in phase-status.log, with measured numbers. Default: no."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show where a task stands."""
    from flyball.cli.support.choosing import task_here
    from flyball.clock import system_clock
    from flyball.projections.files.phase_status import current_block
    from flyball.projections.views import status as projection
    from flyball.projections.views.situation import sentence
    from flyball.wiring.presence import controller_of
    from flyball.wiring.tasks.inbox import waiting
    from flyball.wiring.tasks.surroundings import look_around

    with exit_on_refusal():
        if block and as_json:
            raise Refusal("--block and --json exclude each other. See: flyball status --help")
        site, found = task_here(task)
        if block:
            put(current_block(site.state(found)).rstrip("\n"))
            return
        view = site.view(found)
        said = waiting(site, view.state)
        state, seen = view.state, look_around(site, view.state)
        shown = projection.status(state, view.history, said, seen=seen)
        if as_json:
            put_json(shown)
            return
        since = age((system_clock.now() - state.now).total_seconds())
        put(f"{found}: {sentence(state, shown.state, seen)}, {since} ago")
        put("\n".join(_lines(view, shown, controller_of(site, found), said)))


def _lines(view: TaskView, shown: Status, holder: Holder | None, said: Sequence[PersonSpoke]) -> Iterator[str]:
    from flyball.clock import system_clock
    from flyball.projections.views.standing import is_delivered, stuck

    state = view.state
    yield f"  request     {plain(shown.request, 200)}"
    iteration = f", iteration {shown.stage_iteration}" if shown.stage_iteration else ""
    yield f"  stage       {shown.stage}{iteration} ({shown.progress_percent} %)"
    yield f"  decision    {shown.decision}: {shown.reason}"
    yield f"  health      {shown.health}"
    yield f"  stuck       {stuck(state, view.history)}"
    if shown.branch:
        place = f"{shown.branch} at {short(shown.head)}" if is_delivered(state) else "none yet: no stage is accepted"
        yield f"  branch      {place}, {plural(len(shown.checkpoints), 'checkpoint')}"
    yield from (f"  {item.id:<11} {item.state}: {plain(item.name, 120)}" for item in shown.subtasks)
    yield f"  spent       {_spend(shown)}"
    yield from (f"  skipped     {forced.stage}: not verified" for forced in shown.forced)
    yield from (f"  unverified  {check.name}: {check.detail}" for check in shown.unverified)
    yield from (f"  warning     {check.name} fails: {check.detail}" for check in shown.warnings)
    yield from (f"  failing     {line}" for line in shown.failures)
    yield from (f"  caught      {trick.path}: {trick.detail}" for trick in shown.tricks)
    yield from (f"  left        {each}" for each in shown.left)
    if shown.remarks.count:
        yield f"  remarks     {shown.remarks.count} for the reviewer; see: flyball report {shown.task}"
    if shown.coverage is not None:
        yield f"  coverage    {shown.coverage}"
    if shown.held is not None and (shown.held.until is None or shown.held.until > system_clock.now()):
        until = f" until {stamp(shown.held.until)}" if shown.held.until else ""
        yield f"  waits{until} ({guard_name(shown.held.guard)}): {shown.held.reason}"
    for question in shown.questions:
        yield from _question(shown, question)
    for word in said:
        to = f" to {word.question}" if word.question else ""
        text = f": {plain(word.text, 120)}" if word.text else ""
        yield f"  said        {word.word}{to}{text}; not applied yet"
    if holder is not None:
        yield f"  running     process {holder.pid} on {holder.host}; watch it with: flyball logs {shown.task} -f"
    else:
        yield f"  next        {shown.next_command or f'flyball resume {shown.task}'}"


def _question(shown: Status, question: QuestionShown) -> Iterator[str]:
    text = "how to go on" if question.text.endswith(shown.reason) else question.text
    yield f"  asks {question.id}: {text}"
    yield from (f"      {line}" for line in question.detail.splitlines()[:12])
    yield from (f"    {option.key:<10} {option.meaning}".rstrip() for option in question.options)
    yield f"    answer with: flyball answer {shown.task} {question.id} TEXT"


def _spend(shown: Status) -> str:
    usage = shown.usage
    spent = f", {money(usage.usd, usage.known_usd, estimated=usage.estimated)}" if usage.usd != 0 else ""
    tokens = f", {usage.input_tokens} tokens in, {usage.output_tokens} out" if usage.input_tokens else ""
    counted = f"{plural(shown.iterations, 'iteration')}, {plural(shown.turns, 'turn')}"
    return f"{counted}{tokens}{spent}, {duration(shown.elapsed_s)}"
