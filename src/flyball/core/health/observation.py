"""What a loop saw in one iteration, and the bounded history that grows out of it.

`observe` only remembers; it has no thresholds, so old histories never need judging again.
"""

from itertools import pairwise
from typing import Literal

import msgspec

from flyball.core.failures.signature import Signature, digest
from flyball.core.health.verdict import Blocker

Kind = Literal["fix", "plan", "optimise"]

RECENT_RESULTS = 16
RECENT_MARKS = 4
RECENT_TREES = 64
RECENT_ENDINGS = 8
TRACKED_ITEMS = 256
TRACKED_FAILURES = 8
REMEMBERED_FAILURES = 1024
_PASSED_THROUGHOUT = "P" * RECENT_MARKS


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One iteration as measured; what a loop cannot measure it leaves out. `context` is None where a loop tells of none.

    A gate that does not hold should always come with `fine`: it is what tells one failure from another.
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
    budget_gone: bool = False
    tokens: int = 0
    usd: float = 0.0


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of one iteration; `failure_known` and `set_known` say what the task had seen before it."""

    iteration: int
    context: int | None
    failure: str | None = None
    failing_set: str | None = None
    failing_count: int | None = None
    rate: float | None = None
    edit: str | None = None
    unchanged: bool = False
    idle: bool = False
    held: bool = False
    restored: bool = False
    failure_known: bool = False
    set_known: bool = False
    summary: str = ""


class Tracked(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subtask or test and its last results: P passed, F failed; `at` is the iteration of the loop that gave the last one."""

    id: str
    marks: str = ""
    at: int = 0
    error: str = ""
    summary: str = ""
    repeats: tuple[int, ...] = ()
    count: int = 0


class Ending(msgspec.Struct, frozen=True):
    """The failures that a context, or an attempt that was rolled back, never got past."""

    context: int | None
    failures: tuple[str, ...]


class Best(msgspec.Struct, frozen=True):
    """The best tree so far: highest pass rate, then fewest failing tests; the earlier one on a tie."""

    tree: str
    iteration: int
    rate: float | None = None
    failing_count: int | None = None


class Search(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the number of an `optimise` loop went."""

    best: float | None = None
    dry: int = 0
    longest_dry: int = 0


class History(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything the monitor knows of a loop; its size does not grow with the number of iterations.

    `met` are the failures and failing sets of the whole task, not of this loop alone; `forgetful` once some were forgotten.
    """

    iterations: int = 0
    contexts: int = 0
    results: tuple[Result, ...] = ()
    items: tuple[Tracked, ...] = ()
    trees: tuple[str, ...] = ()
    endings: tuple[Ending, ...] = ()
    broken_on: tuple[str, ...] = ()
    best: Best | None = None
    search: Search = Search()
    met: tuple[str, ...] = ()
    forgetful: bool = False


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
    known = {"failure": result.failure_known, "failing": result.set_known}
    met = (*history.met, *(name for name in _failures(result) if not known[name.partition(":")[0]]))
    trees = () if seen.restored else history.trees
    return History(
        iterations=history.iterations + 1,
        contexts=history.contexts + (last is None or seen.context != last.context),
        results=(*history.results[1 - RECENT_RESULTS :], result),
        items=_items(_put_back(history.items) if seen.restored else history.items, seen, history.iterations + 1),
        trees=(*trees[1 - RECENT_TREES :], seen.tree) if seen.tree is not None else trees,
        endings=(*history.endings, _ending(history))[-RECENT_ENDINGS:] if anew and last else history.endings,
        broken_on=_broken_on(history.broken_on, seen),
        best=_best(history.best, seen, result),
        search=_search(history.search, seen),
        met=met[-REMEMBERED_FAILURES:],
        forgetful=history.forgetful or len(met) > REMEMBERED_FAILURES,
    )


def _failures(result: Result) -> tuple[str, ...]:
    """How a result's failure and failing set are remembered."""
    failure = () if result.failure is None else (f"failure:{result.failure}",)
    return failure if result.failing_set is None else (*failure, f"failing:{result.failing_set}")


def _result(history: History, seen: Observation) -> Result:
    failing = None if seen.failing is None else sorted({*seen.failing})
    unchanged = _unchanged(history, seen)
    failing_set = seen.coarse if failing is None else digest(failing)
    failure = seen.fine or (None if failing_set is None else f"set:{failing_set}")
    idle = unchanged and not _tried(history, seen)
    if failure is None and idle:
        failure = f"tree:{seen.tree or 'unchanged'}"
    result = Result(
        iteration=seen.iteration,
        context=seen.context,
        failure=None if seen.gate_held else failure,
        failing_set=None if seen.gate_held else failing_set,
        failing_count=None if failing is None else len(failing),
        rate=_rate(seen),
        edit=seen.edit,
        unchanged=unchanged,
        idle=idle,
        held=seen.gate_held,
        restored=seen.restored,
        summary=seen.summary[:200],
    )
    known = [name.partition(":")[0] for name in _failures(result) if name in history.met]
    return msgspec.structs.replace(result, failure_known="failure" in known, set_known="failing" in known)


def _unchanged(history: History, seen: Observation) -> bool:
    if seen.changed_files == ():
        return True
    if seen.tree is None:
        return False
    if seen.restored:
        return history.best is not None and seen.tree == history.best.tree
    return bool(history.trees) and seen.tree == history.trees[-1]


def _tried(history: History, seen: Observation) -> bool:
    """A new edit that could not be applied is still an attempt; a tree that was measured speaks for itself."""
    known = {result.edit for result in history.results if result.context == seen.context}
    return seen.tree is None and seen.edit is not None and seen.edit not in known


def _rate(seen: Observation) -> float | None:
    """Pass rate as measured, or of the batch; None where there is nothing to pass."""
    if seen.pass_rate is not None:
        return seen.pass_rate
    attempted = {*seen.batch, *seen.passed, *seen.failed}
    return len(set(seen.passed) - set(seen.failed)) / len(attempted) if attempted else None


def _items(known: tuple[Tracked, ...], seen: Observation, now: int) -> tuple[Tracked, ...]:
    failing, told = frozenset(seen.failing or ()), {*seen.batch, *seen.passed, *seen.failed}
    measured = seen.failing is not None and seen.gate_broken is None
    fresh = {*failing, *seen.passed, *seen.failed}
    kept = []
    for item in known:
        fresh.discard(item.id)
        last = _told(item, seen, now) if item.id in told else _measured(item, failing, now) if measured else item
        if last.marks != _PASSED_THROUGHOUT or item.id in seen.passed:
            kept.append(last)
    for name in sorted(fresh):
        item = _told(Tracked(name), seen, now)
        kept.append(item if item.marks else Tracked(name, "F", now))
    if len(kept) > TRACKED_ITEMS:
        kept = sorted(kept, key=lambda item: (-reversals(item, now), "F" not in item.marks, item.id))[:TRACKED_ITEMS]
    return tuple(kept)


def _put_back(items: tuple[Tracked, ...]) -> tuple[Tracked, ...]:
    """Items on a tree that was restored: passing and failing are compared anew (M12), but attempts go on (M14)."""
    return tuple(msgspec.structs.replace(item, marks="") for item in items if item.error)


def _told(item: Tracked, seen: Observation, now: int) -> Tracked:
    """The item with what the iteration says of it by name; as it was, where it was only attempted."""
    error = seen.failed.get(item.id)
    if error is not None:
        again = error.fine == item.error
        repeats = (*item.repeats, seen.iteration)[-RECENT_MARKS:] if again else (seen.iteration,)
        marks = (item.marks + "F")[-RECENT_MARKS:]
        return Tracked(item.id, marks, now, error.fine, error.summary, repeats, item.count + 1 if again else 1)
    if item.id in seen.passed:
        return Tracked(item.id, (item.marks + "P")[-RECENT_MARKS:], now)
    return msgspec.structs.replace(item, at=now)


def _measured(item: Tracked, failing: frozenset[str], now: int) -> Tracked:
    """The item with its result among the tests."""
    return Tracked(item.id, (item.marks + ("F" if item.id in failing else "P"))[-RECENT_MARKS:], now)


def reversals(item: Tracked, now: int) -> int:
    """How often the item went from passed to failed or back within its last results; 0 for one that came to rest.

    It rests when its last two results agree, or when the last iterations did not attempt it (M12).
    """
    rests = item.marks[-2:] in {"PP", "FF"} or now - item.at >= RECENT_MARKS
    return 0 if rests else sum(one != other for one, other in pairwise(item.marks))


def returned_to(trees: tuple[str, ...]) -> int:
    """How many iterations ago the present tree was seen, with another one in between; 0 when it is new."""
    if not trees or trees[-1] not in trees[:-1] or trees[-2] == trees[-1]:
        return 0
    return next(back for back, tree in enumerate(reversed(trees)) if back and tree == trees[-1])


def _ending(history: History) -> Ending:
    """The failures an attempt never got past: those after which no fewer tests failed, and all of a cycle it went round."""
    results = attempt(history)
    cycle = returned_to(history.trees) or any(reversals(item, history.iterations) > 1 for item in history.items)
    met = (
        results[-RECENT_MARKS:] if cycle else [one for n, one in enumerate(results) if not _overcome(one, results[n:])]
    )
    failures = dict.fromkeys(result.failure for result in met if result.failure)
    return Ending(results[-1].context, tuple(failures)[-TRACKED_FAILURES:])


def attempt(history: History) -> list[Result]:
    """The results since the present context, or the tree last restored in it, began."""
    results = [result for result in history.results if result.context == history.results[-1].context]
    began = max((n for n, result in enumerate(results) if result.restored), default=0)
    return results[began:]


def _overcome(one: Result, later: list[Result]) -> bool:
    counts = [result.failing_count for result in later if result.failing_count is not None]
    return one.failing_count is not None and min(counts) < one.failing_count


def _broken_on(trees: tuple[str, ...], seen: Observation) -> tuple[str, ...]:
    if seen.gate_broken is None:
        return ()
    tree = seen.tree or seen.edit or str(seen.iteration)
    return trees if tree in trees else (*trees, tree)[-2:]


def _best(best: Best | None, seen: Observation, result: Result) -> Best | None:
    if (
        seen.tree is None
        or seen.tricked
        or seen.gate_broken is not None
        or (result.rate is None and result.failing_count is None)
    ):
        return best
    if best is not None and _worth(result) <= _worth(best):
        return best
    return Best(seen.tree, seen.iteration, result.rate, result.failing_count)


def _worth(best: Best | Result) -> tuple[float, float]:
    rate = -1.0 if best.rate is None else best.rate
    return rate, float("-inf") if best.failing_count is None else -best.failing_count


def _search(search: Search, seen: Observation) -> Search:
    if seen.metric is None:
        return search if seen.kind != "optimise" else msgspec.structs.replace(search, dry=search.dry + 1)
    value = -seen.metric if seen.lower_is_better else seen.metric
    if search.best is None or value > search.best + abs(seen.metric_noise):
        return Search(value, 0, max(search.longest_dry, search.dry))
    return msgspec.structs.replace(search, dry=search.dry + 1)
