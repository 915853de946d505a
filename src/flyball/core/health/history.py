"""What the monitor remembers of a loop: bounded, however long the loop runs."""

from itertools import pairwise

import msgspec

RECENT_MARKS = 4


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of one iteration; `failure_known` and `set_known` say what the task had seen before it.

    `unmoved` counts the turns in a row that were at work without a new failure and without a test that no longer passes.
    """

    iteration: int
    context: int | None
    failure: str | None = None
    failing_set: str | None = None
    failing_count: int | None = None
    passing: int | None = None
    rate: float | None = None
    edit: str | None = None
    unchanged: bool = False
    idle: bool = False
    held: bool = False
    restored: bool = False
    failure_known: bool = False
    set_known: bool = False
    unmoved: int = 0
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


def attempt(history: History) -> list[Result]:
    """The results since the present context, or the tree last restored in it, began."""
    results = [result for result in history.results if result.context == history.results[-1].context]
    began = max((n for n, result in enumerate(results) if result.restored), default=0)
    return results[began:]
