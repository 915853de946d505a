"""`flyball list`: the tasks of this repository and what is the case with each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.core.text.quantities import plural

if TYPE_CHECKING:
    from flyball.core.model.outcomes import DayCounted
    from flyball.core.model.task import TaskId
    from flyball.wiring.site import Site


def list_tasks(as_json: AsJson = False) -> None:
    """List the tasks of this repository: state, age, branch, spend, disk space and request of each; below them, today's spend."""
    from flyball.clock import system_clock
    from flyball.config.settings import with_day_budgets
    from flyball.core.model.outcomes import DayCounted
    from flyball.core.model.task import Limits
    from flyball.projections.wording import describe_day
    from flyball.wiring.site import Site
    from flyball.wiring.spending import count_day, turns_today

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        records = site.journal.tasks()
        if as_json:
            now = system_clock.now()
            turns = list(turns_today(site.journal, now))
            days = (DayCounted(now).plus(*(usage for task, usage in turns if task == each.id)) for each in records)
            put_json([_row(site, record.id, day) for record, day in zip(records, days, strict=True)])
            return
        if not records:
            put('No task yet. Start one with: flyball run "…"')
        rows = [_cells(site, record.id) for record in records]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
        for row in rows:
            put("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        limits, day = with_day_budgets(Limits()), count_day(site.home.home, system_clock.now())
        if limits.has_day_budget or day.turns:
            put(f"Today, in all repositories: {describe_day(day, limits)}")


def _cells(site: Site, task: TaskId) -> list[str]:
    from flyball.clock import system_clock
    from flyball.projections.views.situation import sentence, situation
    from flyball.projections.views.standing import is_delivered
    from flyball.projections.wording import age, money, plain, size
    from flyball.wiring.tasks.cleaning import space
    from flyball.wiring.tasks.inbox import waiting
    from flyball.wiring.tasks.surroundings import look_around

    state = site.state(task)
    seen = look_around(site, state)
    answered = [word.question for word in waiting(site, state) if word.word == "answer"]
    word = sentence(state, situation(state, seen, answered), seen)
    since = f"{age((system_clock.now() - state.now).total_seconds())} ago"
    branch = state.prepared.branch if state.prepared and is_delivered(state) else "no branch"
    branch = f"{branch} (deleted)" if seen.deleted else branch
    cost = money(state.usage.usd, state.known_usd, estimated=state.usage.estimated)
    spent = f"{plural(state.turns, 'turn')}, {cost}"
    disk = size(space(site, state.task))
    return [task, word, state.main.stage, since, branch, spent, disk, plain(state.task.request, 60)]


def _row(site: Site, task: TaskId, today: DayCounted) -> dict[str, object]:
    from flyball.projections.views.status import status
    from flyball.wiring.tasks.cleaning import space
    from flyball.wiring.tasks.inbox import waiting
    from flyball.wiring.tasks.surroundings import look_around

    view = site.view(task)
    shown = status(view.state, view.history, waiting(site, view.state), seen=look_around(site, view.state))
    return {
        "task": task,
        "workflow": shown.workflow,
        "request": shown.request,
        "state": shown.state,
        "stage": shown.stage,
        "decision": shown.decision,
        "branch": shown.branch,
        "merged_into": shown.merged_into,
        "usage": shown.usage,
        "today": {"tokens": today.usage.tokens, "usd": today.usage.usd, "known_usd": today.known_usd},
        "disk_bytes": space(site, view.state.task),
        "started_at": shown.started_at,
        "updated_at": shown.updated_at,
    }
