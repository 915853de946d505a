"""The table that says what FLIP-FLOPPING, REGRESSING and STALLED mean, for every loop (M12 to M14, M18, M19, C20, C21).

A row counts something and names the setting from which the count matters. Rows stand in groups; the first group in which a row
speaks gives the health, and all its rows that speak are the evidence.
"""

from collections.abc import Callable
from itertools import pairwise, takewhile
from typing import NamedTuple

import msgspec

from flyball.core.health.breaker import Breaker, Strikes
from flyball.core.health.history import RECENT_MARKS, History, Result, attempt, returned_to, reversals
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Health, Thresholds
from flyball.core.text.quantities import plural


class Signal(msgspec.Struct, frozen=True):
    """One signal: what was seen, whether it went beyond its threshold, and whether only the breaker has counted it."""

    text: str
    beyond: bool = False
    struck: bool = False


class Own(NamedTuple):
    """What only a loop of flyball's own has: a breaker with its thresholds, and rungs that may all be used."""

    breaker: Breaker
    strikes: Strikes
    rungs_used: bool = False


class HealthCase(NamedTuple):
    """What the rows look at; the history ends with the observation."""

    history: History
    seen: Observation
    limits: Thresholds
    own: Own | None = None

    @property
    def last(self) -> Result:
        return self.history.results[-1]

    @property
    def in_context(self) -> list[Result]:
        """The results of the present context; a loop that tells of no context has none."""
        return [result for result in self.history.results if result.context == self.seen.context]

    @property
    def is_in_progress(self) -> bool:
        """C15: the agent works on, and no count speaks against it: a failure that repeats or a new one is no signal for a while."""
        return not _optimises(self) and 0 < self.last.unmoved <= self.limits.unchanged_output

    @property
    def counts_repetition(self) -> bool:
        return not _optimises(self) and not self.is_in_progress

    def limit(self, setting: str) -> int:
        """The value of a setting; the breaker's depend on the stage."""
        name = setting.removeprefix("breaker.")
        return int(getattr(self.limits if name == setting or self.own is None else self.own.strikes, name))


class Count(NamedTuple):
    """How often, in words, and the least that matters where the setting alone does not say it."""

    times: int
    text: str
    least: int = 1


class HealthRow(NamedTuple):
    """What is counted, and the setting from which it counts; without a setting once is enough."""

    counter: Callable[[HealthCase], Count | None]
    setting: str = ""


class Group(NamedTuple):
    """Rows that give the same health, and the cases they are for."""

    health: Health
    rows: tuple[HealthRow, ...]
    applies: Callable[[HealthCase], bool] = lambda _case: True


def find_health(case: HealthCase) -> tuple[Health, list[Signal]] | None:
    """The health of the first group that has something to say, with its signals; None where no row speaks.

    In a first iteration there is nothing to compare (M11): only the breaker has counted it.
    """
    for group in TABLE if case.history.iterations > 1 else TABLE[-1:]:
        if group.health is not Health.FLIP_FLOPPING and case.is_in_progress:
            continue
        signals = [signal for row in group.rows if (signal := _signal(row, case))] if group.applies(case) else []
        if signals:
            return group.health, signals
    return None


def _signal(row: HealthRow, case: HealthCase) -> Signal | None:
    count = row.counter(case)
    if count is None:
        return None
    least = max(case.limit(row.setting) if row.setting else 1, count.least)
    if count.times < least:
        return None
    return Signal(count.text, count.times > least, struck=row in TABLE[-1].rows)


def gains(history: History) -> list[Signal]:
    if len(history.results) < 2:
        return []
    before, now = history.results[-2:]
    signals = []
    if now.held:
        signals.append(Signal("the gate held"))
    if before.rate is not None and now.rate is not None and now.rate > before.rate:
        signals.append(Signal(f"pass rate rose from {before.rate:.0%} to {now.rate:.0%}"))
    if before.failing_count is not None and now.failing_count is not None and now.failing_count < before.failing_count:
        fewer = before.failing_count - now.failing_count
        signals.append(Signal(plural(fewer, "fewer test fails", "fewer tests fail")))
    if history.search.best is not None and not history.search.dry:
        signals.append(Signal("the metric improved"))
    return signals


def _reversed_items(case: HealthCase) -> Count | None:
    """M12: items that reverse and have not come to rest."""
    turns = {item: reversals(item, case.history.iterations) for item in case.history.items}
    worst = max(turns, key=lambda item: (turns[item], item.id), default=None)
    if worst is None:
        return None
    others = sum(count >= case.limits.reversals for count in turns.values()) - 1
    more = f" and {others} more" if others > 0 else ""
    text = f"{worst.id} reversed {turns[worst]}x in its last {len(worst.marks)} results ({worst.marks}){more}"
    return Count(turns[worst], text)


def _tree_is_back(case: HealthCase) -> Count | None:
    back = returned_to(case.history.trees)
    return Count(1, f"tree {case.history.trees[-1][:12]} is back after {back} iterations of work") if back else None


def _falls(case: HealthCase) -> Count:
    """M13: the pass rate fell again and again; a tree flyball restored starts a new series."""
    rates: list[float] = []
    for result in case.history.results:
        rates = [] if result.restored else rates
        rates += [] if result.rate is None else [result.rate]
    falls = sum(1 for _ in takewhile(lambda pair: pair[0] < pair[1], pairwise(reversed(rates))))
    course = " → ".join(f"{rate:.0%}" for rate in rates[-falls - 1 :])
    return Count(falls, f"pass rate fell {falls}x running: {course}")


def _more_failures(case: HealthCase) -> Count | None:
    """A second sign of the same: beside falls of the pass rate, never without them."""
    falls = _falls(case).times
    latest = case.history.results[-falls - 1 :]
    counts = [result.failing_count for result in latest if result.failing_count is not None]
    grows = len(counts) > case.limits.falls and all(one < next_one for one, next_one in pairwise(counts))
    return Count(falls, "more tests fail each time") if grows else None


def _same_error(case: HealthCase) -> Count | None:
    """M14: the same error of a subtask; of a loop that names none the same failure, in one attempt."""
    limit, now = case.limits.same_error, case.last
    repeated = [item for item in case.history.items if item.count >= limit and now.iteration in item.repeats]
    if repeated:
        worst = max(repeated, key=lambda item: (item.count, item.id))
        times, what, where = worst.count, worst.summary or worst.id, list(worst.repeats)
    elif now.failure is not None:
        again = list(takewhile(lambda result: result.failure == now.failure, reversed(attempt(case.history))))
        times, what = len(again), now.summary or now.failure
        where = [result.iteration for result in reversed(again[:RECENT_MARKS])]
    else:
        return None
    return Count(times, f"same error {times}x: {what}, iterations {', '.join(map(str, where))}")


def _failing_batches(case: HealthCase) -> Count:
    failed = _running(case.history, lambda result: result.rate == 0 and not result.held)
    return Count(failed, f"nothing passed {plural(failed, 'time')} running")


def _idle_iterations(case: HealthCase) -> Count | None:
    """Where no gate names tests that fail, an unchanged tree has the same ones, whatever the gates print."""
    idle = _running(case.history, lambda result: result.unchanged and not result.held)
    latest = case.history.results[-idle:]
    if len({None if result.failing_count is None else result.failing_set for result in latest}) > 1:
        return None
    return Count(idle, f"{plural(idle, 'iteration')} left the tree and the failing set unchanged")


def _dry_spell(case: HealthCase) -> Count:
    """M19: an optimising loop may be patient; twice its longest dry spell, and never less than the patience set."""
    search = case.history.search
    patience = max(case.limits.patience, 2 * search.longest_dry)
    return Count(search.dry, f"no better metric in {plural(search.dry, 'iteration')} (patience {patience})", patience)


def _in_context(
    what: str, value: Callable[[Result], str | None], *, named: bool = False
) -> Callable[[HealthCase], Count]:
    """M18: how often a value of the last result occurs in this context, where the failure will not heal."""

    def count(case: HealthCase) -> Count:
        now = value(case.last)
        found = [one.iteration for one in case.in_context if now is not None and value(one) == now]
        detail = f": {case.last.summary or now}" if named else ""
        return Count(len(found), f"{what} {len(found)}x in one context{detail}, iterations {_places(found)}")

    return count


def _idle_in_context(case: HealthCase) -> Count:
    found = [one.iteration for one in case.in_context[-case.limits.unchanged_in_context :] if one.idle]
    return Count(len(found), f"tree unchanged {len(found)}x in one context, iterations {_places(found)}")


def _places(iterations: list[int]) -> str:
    return ", ".join(map(str, iterations[-4:]))


def _strikes(case: HealthCase) -> Count | None:
    """C21: the breaker's count of iterations without progress."""
    times = case.own.breaker.no_progress if case.own else 0
    return Count(times, f"no progress in {plural(times, 'iteration')}")


def _struck_errors(case: HealthCase) -> Count:
    times = case.own.breaker.same_error if case.own else 0
    return Count(times, f"the same error {plural(times, 'time')}")


def _met_again(case: HealthCase) -> Count | None:
    """A failure that count_outlived every rung there is, and is the first thing a new context meets."""
    if case.own is None or not case.own.rungs_used:
        return None
    text = f"every remedy was tried, and the same failure is back: {case.last.summary}"
    return Count(count_outlived(case), text)


def count_outlived(case: HealthCase) -> int:
    """How many earlier contexts the present failure ended."""
    failure = case.last.failure
    return sum(failure in ending.failures for ending in case.history.endings) if failure else 0


def _running(history: History, holds: Callable[[Result], bool]) -> int:
    """How many of the latest results in a row it holds for."""
    return sum(1 for _ in takewhile(holds, reversed(history.results)))


def _optimises(case: HealthCase) -> bool:
    return case.seen.kind == "optimise"


TABLE = (
    Group(Health.FLIP_FLOPPING, (HealthRow(_reversed_items, "reversals"), HealthRow(_tree_is_back))),
    Group(Health.REGRESSING, (HealthRow(_falls, "falls"), HealthRow(_more_failures, "falls"))),
    Group(Health.STALLED, (HealthRow(_dry_spell, "patience"),), _optimises),
    Group(
        Health.STALLED,
        (
            HealthRow(_same_error, "same_error"),
            HealthRow(_failing_batches, "failing_batches"),
            HealthRow(_idle_iterations, "unchanged"),
        ),
        lambda case: not _optimises(case),
    ),
    Group(
        Health.STALLED,
        (
            HealthRow(_in_context("same failure", lambda one: one.failure, named=True), "same_failure_in_context"),
            HealthRow(_in_context("same failing set", lambda one: one.failing_set), "same_failing_set_in_context"),
            HealthRow(_in_context("same edit", lambda one: one.edit), "same_edit_in_context"),
            HealthRow(_idle_in_context, "unchanged_in_context"),
        ),
        lambda case: case.seen.context is not None and not _optimises(case),
    ),
    Group(
        Health.STALLED,
        (
            HealthRow(_strikes, "breaker.no_progress"),
            HealthRow(_struck_errors, "breaker.same_error"),
            HealthRow(_met_again, "endings_before_stop"),
        ),
        lambda case: case.own is not None,
    ),
)
