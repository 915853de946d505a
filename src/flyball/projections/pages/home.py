"""Home: what needs a person first, then what runs, then what ended."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from flyball.core.model.outcomes import DayCounted
from flyball.core.text.quantities import plural
from flyball.projections.pages.summary import Summary
from flyball.projections.wording import describe_day, short_time

RECENT = timedelta(days=7)


class HomePage(msgspec.Struct, frozen=True):
    """The three groups; a task stands in one of them."""

    heading: str
    sentence: str
    needs: tuple[Summary, ...]
    under_way: tuple[Summary, ...]
    finished: tuple[Summary, ...]
    all_finished: int
    missing: tuple[str, ...] = ()
    repository: str = ""


def home_page(
    tasks: Iterable[Summary],
    now: datetime,
    *,
    today: DayCounted | None = None,
    everything: bool = False,
    repository: str = "",
    missing: tuple[str, ...] = (),
) -> HomePage:
    """Everything there is, sorted by how much it needs somebody."""
    found = list(tasks)
    needs = sorted((task for task in found if task.group == "needs"), key=lambda task: _urgency(task, now))
    under_way = sorted((t for t in found if t.group == "under way"), key=lambda t: t.status.started_at)
    finished = sorted((t for t in found if t.group == "finished"), key=lambda t: t.since, reverse=True)
    recent = [t for t in finished if everything or now - t.since <= RECENT]
    return HomePage(
        f"{plural(len(needs), 'task')} {'needs' if len(needs) == 1 else 'need'} you" if needs else "Nothing needs you",
        _sentence(found, under_way, now, today),
        tuple(needs),
        tuple(under_way),
        tuple(recent),
        len(finished),
        missing,
        repository,
    )


def _urgency(task: Summary, now: datetime) -> tuple[int, float]:
    """Those with the nearest deadline first, then those stopped the longest."""
    deadline = task.question.deadline_at if task.question else None
    if deadline is not None:
        return 0, (deadline - now).total_seconds()
    return 1, -(now - task.since).total_seconds()


def _sentence(found: list[Summary], under_way: list[Summary], now: datetime, today: DayCounted | None) -> str:
    if not found:
        return "No task runs in any repository on this machine."
    running = sum(task.word == "RUNNING" for task in found)
    parts = [f"{plural(running, 'task')} {'runs' if running == 1 else 'run'}"] if running else []
    waiting = [task for task in under_way if task.word == "WAITING"]
    if waiting:
        until = min((t.status.held.until for t in waiting if t.status.held and t.status.held.until), default=None)
        told = f" until {short_time(until, now)}" if until else ""
        parts.append(f"{len(waiting)} {'waits' if len(waiting) == 1 else 'wait'}{told}")
    paused = sum(task.word == "PAUSED" for task in found)
    parts += [f"{paused} {'is' if paused == 1 else 'are'} paused"] if paused else []
    first = ", ".join(parts) or "No task runs"
    repositories = plural(len({task.place.repo for task in found}), "repository", "repositories")
    spent = f" Spent today: {describe_day(today)} in {repositories}." if today and today.turns else ""
    return f"{first}.{spent}"
