"""What a loop saw in one iteration, and what the history keeps of it.

`observe` only remembers; it has no thresholds, so old histories never need judging again.
"""

from typing import Literal

import msgspec

from flyball.core.failures.signature import Signature, digest
from flyball.core.health.history import (
    RECENT_MARKS,
    Best,
    Ending,
    History,
    Result,
    Search,
    Tracked,
    attempt,
    returned_to,
    reversals,
)
from flyball.core.health.verdict import Blocker

Kind = Literal["fix", "plan", "optimise"]

RECENT_RESULTS = 16
RECENT_TREES = 64
RECENT_ENDINGS = 8
TRACKED_ITEMS = 256
TRACKED_FAILURES = 8
REMEMBERED_FAILURES = 1024


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One iteration as measured; what a loop cannot measure it leaves out. `context` is None where a loop tells of none.

    A gate that does not hold should always come with `fine`: it is what tells one failure from another. `in_progress` is what
    the agent says, which is `silent` if it gave no report; the failure is `uncounted` where no number says how far the work is,
    else `passing` is the number of tests that pass.
    """

    iteration: int
    context: int | None = 1
    kind: Kind = "fix"
    batch: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    failed: dict[str, Signature] = {}
    blocked: tuple[Blocker, ...] = ()
    reviewed: bool = True
    tree: str | None = None
    edit: str | None = None
    changed_files: tuple[str, ...] | None = None
    failing: tuple[str, ...] | None = None
    pass_rate: float | None = None
    passing: int | None = None
    metric: float | None = None
    metric_noise: float = 0.0
    lower_is_better: bool = False
    coarse: str | None = None
    fine: str | None = None
    summary: str = ""
    gate_held: bool = False
    gate_broken: str | None = None
    restored: bool = False
    tricked: bool = False
    in_progress: bool = False
    silent: bool = False
    uncounted: bool = False
    budget_gone: bool = False
    tokens: int = 0
    usd: float = 0.0


def begin_loop(history: History) -> History:
    """An empty history for the task's next loop, which still knows the failures of the earlier ones (M5)."""
    return History(met=history.met, forgetful=history.forgetful)


def observe(history: History, seen: Observation) -> History:
    """The history with one more iteration; an iteration without a review is not one (M2)."""
    if not seen.reviewed:
        return history
    last = history.results[-1] if history.results else None
    anew = seen.restored or (last is not None and seen.context != last.context)
    result = _result(history, seen)
    met = (*history.met, *(name for name in _failures(result) if name not in history.met))
    trees = () if seen.restored else history.trees
    return History(
        iterations=history.iterations + 1,
        contexts=history.contexts + (last is None or seen.context != last.context),
        results=(*history.results[1 - RECENT_RESULTS :], result),
        items=_items(history, seen),
        trees=(*trees[1 - RECENT_TREES :], seen.tree) if seen.tree is not None else trees,
        endings=(*history.endings, _ending(history))[-RECENT_ENDINGS:] if anew and last else history.endings,
        broken_on=_broken_on(history.broken_on, seen),
        best=_best(history.best, seen, result),
        search=_search(history.search, seen),
        met=met[-REMEMBERED_FAILURES:],
        forgetful=history.forgetful or len(met) > REMEMBERED_FAILURES,
    )


def _failures(result: Result) -> tuple[str, ...]:
    failure = () if result.failure is None else (f"failure:{result.failure}",)
    return failure if result.failing_set is None else (*failure, f"failing:{result.failing_set}")


def _result(history: History, seen: Observation) -> Result:
    failing = None if seen.failing is None else sorted({*seen.failing})
    unchanged = _is_unchanged(history, seen)
    failing_set = seen.coarse if failing is None else digest(failing)
    failure = seen.fine or (None if failing_set is None else f"set:{failing_set}")
    # A new edit that could not be applied is still an attempt; a tree that was measured speaks for itself.
    edits = {result.edit for result in history.results if result.context == seen.context}
    idle = unchanged and (seen.tree is not None or seen.edit is None or seen.edit in edits)
    if failure is None and idle:
        failure = f"tree:{seen.tree or 'unchanged'}"
    result = Result(
        iteration=seen.iteration,
        context=seen.context,
        failure=None if seen.gate_held else failure,
        failing_set=None if seen.gate_held else failing_set,
        failing_count=None if failing is None else len(failing),
        passing=seen.passing,
        rate=_rate(seen),
        edit=seen.edit,
        unchanged=unchanged,
        idle=idle,
        held=seen.gate_held,
        restored=seen.restored,
        summary=seen.summary[:200],
    )
    known = [name.partition(":")[0] for name in _failures(result) if name in history.met]
    unmoved = 0
    if _is_at_work(history, seen) and not unchanged and not seen.tricked:
        unmoved = 1 + (history.results[-1].unmoved if history.results and "failure" in known else 0)
    return msgspec.structs.replace(
        result, failure_known="failure" in known, set_known="failing" in known, unmoved=unmoved
    )


def _is_at_work(history: History, seen: Observation) -> bool:
    """C15: the agent does not claim to be finished, and no number speaks against it: nothing is counted, or no fewer tests pass."""
    if seen.uncounted:
        return seen.in_progress or seen.silent
    before = history.results[-1].passing if history.results else None
    return seen.in_progress and seen.passing is not None and seen.passing >= (before or 0)


def _is_unchanged(history: History, seen: Observation) -> bool:
    if seen.changed_files == ():
        return True
    if seen.tree is None:
        return False
    if seen.restored:
        return history.best is not None and seen.tree == history.best.tree
    return bool(history.trees) and seen.tree == history.trees[-1]


def _rate(seen: Observation) -> float | None:
    """Pass rate as measured, or of the batch; None where there is nothing to pass."""
    if seen.pass_rate is not None or seen.uncounted:
        return seen.pass_rate
    attempted = {*seen.batch, *seen.passed, *seen.failed}
    return len(set(seen.passed) - set(seen.failed)) / len(attempted) if attempted else None


def _items(history: History, seen: Observation) -> tuple[Tracked, ...]:
    """What is tracked after the iteration; on a restored tree results are compared anew (M12), but attempts go on (M14)."""
    now = history.iterations + 1
    failing, told = frozenset(seen.failing or ()), {*seen.batch, *seen.passed, *seen.failed}
    measured = seen.failing is not None and seen.gate_broken is None
    fresh = {*failing, *seen.passed, *seen.failed}
    known = history.items
    if seen.restored:
        known = tuple(msgspec.structs.replace(item, marks="") for item in known if item.error)
    kept = []
    for item in known:
        fresh.discard(item.id)
        last = item
        if item.id in told:
            last = _with_result(item, seen, now)
        elif measured:
            last = Tracked(item.id, (item.marks + ("F" if item.id in failing else "P"))[-RECENT_MARKS:], now)
        if last.marks != "P" * RECENT_MARKS or item.id in seen.passed:
            kept.append(last)
    for name in sorted(fresh):
        item = _with_result(Tracked(name), seen, now)
        kept.append(item if item.marks else Tracked(name, "F", now))
    if len(kept) > TRACKED_ITEMS:
        kept = sorted(kept, key=lambda item: (-reversals(item, now), "F" not in item.marks, item.id))[:TRACKED_ITEMS]
    return tuple(kept)


def _with_result(item: Tracked, seen: Observation, now: int) -> Tracked:
    error = seen.failed.get(item.id)
    if error is not None:
        again = error.fine == item.error
        repeats = (*item.repeats, seen.iteration)[-RECENT_MARKS:] if again else (seen.iteration,)
        marks = (item.marks + "F")[-RECENT_MARKS:]
        return Tracked(item.id, marks, now, error.fine, error.summary, repeats, item.count + 1 if again else 1)
    if item.id in seen.passed:
        return Tracked(item.id, (item.marks + "P")[-RECENT_MARKS:], now)
    return msgspec.structs.replace(item, at=now)


def _ending(history: History) -> Ending:
    """The failures an attempt never got past: those after which no fewer tests failed, and all of a cycle it went round."""
    results = attempt(history)
    cycle = returned_to(history.trees) or any(reversals(item, history.iterations) > 1 for item in history.items)
    if cycle:
        results = results[-RECENT_MARKS:]
    else:
        results = [one for n, one in enumerate(results) if not _is_overcome(one, results[n:])]
    failures = dict.fromkeys(result.failure for result in results if result.failure)
    return Ending(results[-1].context, tuple(failures)[-TRACKED_FAILURES:])


def _is_overcome(one: Result, later: list[Result]) -> bool:
    counts = [result.failing_count for result in later if result.failing_count is not None]
    return one.failing_count is not None and min(counts) < one.failing_count


def _broken_on(trees: tuple[str, ...], seen: Observation) -> tuple[str, ...]:
    if seen.gate_broken is None:
        return ()
    tree = seen.tree or seen.edit or str(seen.iteration)
    return trees if tree in trees else (*trees, tree)[-2:]


def _best(best: Best | None, seen: Observation, result: Result) -> Best | None:
    measured = result.rate is not None or result.failing_count is not None
    if seen.tree is None or seen.tricked or seen.gate_broken is not None or not measured:
        return best
    if best is not None and _worth(result) <= _worth(best):
        return best
    return Best(seen.tree, seen.iteration, result.rate, result.failing_count)


def _worth(best: Best | Result) -> tuple[float, float]:
    rate = -1.0 if best.rate is None else best.rate
    return rate, float("-inf") if best.failing_count is None else -best.failing_count


def _search(search: Search, seen: Observation) -> Search:
    if seen.metric is None and seen.kind != "optimise":
        return search
    if seen.metric is not None:
        value = -seen.metric if seen.lower_is_better else seen.metric
        if search.best is None or value > search.best + abs(seen.metric_noise):
            return Search(value, 0, max(search.longest_dry, search.dry))
    return msgspec.structs.replace(search, dry=search.dry + 1)
