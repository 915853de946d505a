"""Signals behind a health: each says in one line what was seen, or nothing."""

from collections.abc import Callable
from itertools import pairwise, takewhile

import msgspec

from flyball.core.health.history import RECENT_MARKS, History, Result, attempt, returned_to, reversals
from flyball.core.health.verdict import Thresholds
from flyball.core.text.quantities import plural


class Signal(msgspec.Struct, frozen=True):
    """One signal: what was seen, and whether it went beyond its threshold."""

    text: str
    beyond: bool = False


def flip_flops(history: History, limits: Thresholds) -> list[Signal]:
    """M12: an item that reverses and has not come to rest, or a tree that came back."""
    turns = {
        item: count for item in history.items if (count := reversals(item, history.iterations)) >= limits.reversals
    }
    signals = []
    if turns:
        worst = max(turns, key=lambda item: (turns[item], item.id))
        more = f" and {len(turns) - 1} more" if len(turns) > 1 else ""
        text = f"{worst.id} reversed {turns[worst]}x in its last {len(worst.marks)} results ({worst.marks}){more}"
        signals.append(Signal(text, turns[worst] > limits.reversals))
    if back := returned_to(history.trees):
        signals.append(Signal(f"tree {history.trees[-1][:12]} is back after {back} iterations of work"))
    return signals


def regressions(history: History, limits: Thresholds) -> list[Signal]:
    """M13: the pass rate fell again and again; a tree flyball restored starts a new series."""
    rates: list[float] = []
    for result in history.results:
        rates = [] if result.restored else rates
        rates += [] if result.rate is None else [result.rate]
    falls = sum(1 for _ in takewhile(lambda pair: pair[0] < pair[1], pairwise(reversed(rates))))
    if falls < limits.falls:
        return []
    course = " → ".join(f"{rate:.0%}" for rate in rates[-falls - 1 :])
    signals = [Signal(f"pass rate fell {falls}x running: {course}", falls > limits.falls)]
    counts = [result.failing_count for result in history.results[-falls - 1 :] if result.failing_count is not None]
    if len(counts) > limits.falls and all(one < next_one for one, next_one in pairwise(counts)):
        signals.append(Signal("more tests fail each time"))
    return signals


def stalls(history: History, limits: Thresholds) -> list[Signal]:
    """M14: the same error, nothing passed, nothing changed."""
    signals = []
    now = history.results[-1].iteration
    repeated = [item for item in history.items if item.count >= limits.same_error and now in item.repeats]
    if repeated:
        worst = max(repeated, key=lambda item: (item.count, item.id))
        where = ", ".join(str(iteration) for iteration in worst.repeats)
        text = f"same error {worst.count}x: {worst.summary or worst.id}, iterations {where}"
        signals.append(Signal(text, worst.count > limits.same_error))
    else:
        signals += _same_failure(history, limits)
    failed = _running(history, lambda result: result.rate == 0 and not result.held)
    if failed >= limits.failing_batches:
        signals.append(Signal(f"nothing passed {plural(failed, 'time')} running", failed > limits.failing_batches))
    idle = _running(history, lambda result: result.unchanged and not result.held)
    # Where no gate names tests that fail, an unchanged tree has the same ones, whatever the gates print.
    latest = history.results[-idle:]
    sets = {None if result.failing_count is None else result.failing_set for result in latest}
    if idle >= limits.unchanged and len(sets) == 1:
        text = f"{plural(idle, 'iteration')} left the tree and the failing set unchanged"
        signals.append(Signal(text, idle > limits.unchanged))
    return signals


def _same_failure(history: History, limits: Thresholds) -> list[Signal]:
    """The same failure again and again, in one attempt, of a loop that names no subtasks: it is itself the one."""
    now = history.results[-1]
    again = list(takewhile(lambda result: result.failure == now.failure, reversed(attempt(history))))
    if now.failure is None or len(again) < limits.same_error:
        return []
    where = ", ".join(str(result.iteration) for result in reversed(again[:RECENT_MARKS]))
    text = f"same error {len(again)}x: {now.summary or now.failure}, iterations {where}"
    return [Signal(text, len(again) > limits.same_error)]


def dry_spell(history: History, limits: Thresholds) -> list[Signal]:
    """M19: an optimising loop may be patient; twice its longest dry spell, and never less than the patience set."""
    patience = max(limits.patience, 2 * history.search.longest_dry)
    dry = history.search.dry
    if dry < patience:
        return []
    return [Signal(f"no better metric in {plural(dry, 'iteration')} (patience {patience})", dry > patience)]


def gains(history: History) -> list[Signal]:
    """What speaks for progress."""
    before, now = history.results[-2], history.results[-1]
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


def _running(history: History, holds: Callable[[Result], bool]) -> int:
    """How many of the latest results in a row it holds for."""
    return sum(1 for _ in takewhile(holds, reversed(history.results)))
