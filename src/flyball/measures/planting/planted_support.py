"""Runs beside the code under test, in a namespace of its own: whether a planted test's assertions run, and whether they can fail.

A comparison that held is made once more with other operands: what a product gives back must not equal all of them.
"""

import contextlib
import operator
import sys
from types import FunctionType, ModuleType
from typing import Any

reached: list[int] = []
failed: list[int] = []
odd: list[str] = []
knows_any = False
"""Whether the test file itself uses `unittest.mock.ANY`."""

DEPTH = 3
MOST = 50
_PLAIN = (int, float, complex, str, bytes, bool, type(None), type, FunctionType, ModuleType)
_HOLDERS = (list, tuple, set, frozenset, dict)
_OTHERS: tuple[tuple[Any, Any], ...] = (
    (591_377, -402_653),
    (0.618_034, -27_182.8),
    ("planted one", "planted two"),
    (b"planted one", b"planted two"),
    ([591_377], [-402_653]),
    ({"planted": 1}, {"planted": 2}),
    ((591_377,), (-402_653,)),
    (object(), object()),
)
"""Two values of a type that nothing equals both of."""


def note_reached(value: Any) -> Any:
    """Stand around an assertion of the file, and note that it is reached."""
    reached.append(1)
    return value


def last(value: Any) -> Any:
    """Stand around the last assertion of a test: it fails, and that failure must come to the test's end."""
    reached.append(1)
    failed.append(1)
    if value is None or value:
        raise AssertionError("planted by flyball")
    return value


def last_call(value: Any) -> Any:
    """The same around a check that is called, whatever it gives back."""
    return last(value or None)


def note_compared(value: Any) -> Any:
    """Stand around what a test compares: what the product made and no comparison can tell from others is noted."""
    # It is somebody's object, which may refuse anything.
    with contextlib.suppress(Exception):
        inspect(value, DEPTH)
    return value


def inspect(value: Any, depth: int) -> None:
    kind = type(value)
    if kind in _PLAIN or not depth:
        return
    if kind in _HOLDERS:
        for each in list(value.values() if kind is dict else value)[:MOST]:
            inspect(each, depth - 1)
    elif is_of_product(kind):
        message = indifferent(value)
        if message:
            odd.append(f"a {kind.__name__} that it compares {message}")
            return
        for each in list(getattr(value, "__dict__", {}).values())[:MOST]:
            inspect(each, depth - 1)


def is_of_product(kind: type) -> bool:
    if (kind.__module__, kind.__name__) == ("unittest.mock", "_ANY"):
        return not knows_any
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return file != "" and "/lib/python" not in file and not is_of_tests(file)


def is_of_tests(file: str) -> bool:
    """Whether something stands in a test file, which may replace what it likes while it runs, or in a package of others."""
    return file.rpartition("/")[2].startswith(("test", "conftest")) or "/tests/" in file or "site-packages" in file


def indifferent(value: Any) -> str:
    """What a value answers that no value of its kind can, or an empty string."""
    for first, second in _OTHERS:
        if holds(operator.eq, value, first) and holds(operator.eq, value, second):
            return f"equals every {type(first).__name__}"
        if holds(operator.lt, value, first) and holds(operator.gt, value, first):
            return f"is smaller and larger than any {type(first).__name__}"
    return ""


def holds(comparison: Any, value: Any, other: Any) -> bool:
    try:
        return comparison(value, other) is True
    except Exception:  # noqa: BLE001 - as above
        return False


def start(own: bool) -> tuple[bool, int, int, int]:
    return own, len(reached), len(failed), len(odd)


def describe_end(mark: str, since: tuple[bool, int, int, int]) -> tuple[str, str]:
    """The mark that a planted failure carries, and what is wrong with the test's own assertions, if anything."""
    own, reached_before, failed_before, odd_before = since
    thrown = sys.exc_info()[1]
    # What a runner that explains assertions makes of the message begins with it.
    if thrown is not None and not str(thrown).startswith("planted by flyball"):
        return "x" + mark, ""
    wrong = ""
    if own and len(reached) == reached_before:
        wrong = "none of its assertions is run"
    elif thrown is None and len(failed) != failed_before:
        wrong = "a failure of its assertion is swallowed"
    elif len(odd) != odd_before:
        wrong = odd[-1]
    return ("h" if wrong else "x") + mark, wrong
