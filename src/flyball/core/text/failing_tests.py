"""Which of the tests that fail before any work a text asks for: those it names, or all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

EVERY = "*"
"""Stands for all tests that fail, where a list would name each."""

_RED = r"(?:failing|failed|broken|red)"
_TESTS = r"(?:unit |integration |regression |acceptance )?(?:tests?|specs?|test[- ]?suite|suite)\b"
_WHICH = r"(?:(?:all|any|every|each|of|the|these|those|our|my|remaining|other|existing|currently)\s+)*"
_PASS = r"(?:pass(?:es|ing)?|green|succeeds?|work)\b"
_ASKING = re.compile(
    rf"\b(?:make|get|turn|have|let)\s+{_WHICH}{_RED}\s+{_TESTS}[^.;\n]{{0,40}}?\b{_PASS}"
    rf"|\b(?:fix|repair|correct|resolve|address)\s+{_WHICH}(?:{_RED}\s+{_TESTS}|(?:test|build|ci)\s+failures?\b)"
    rf"|\b(?:fix|repair)\s+{_WHICH}{_TESTS}\s*(?:$|[.;,!\n]|that (?:fail|are (?:failing|red|broken))|which fail)"
    rf"|^\W*(?:please\s+)?(?:make|get|turn)\s+{_WHICH}{_TESTS}\s+(?:to\s+)?{_PASS}"
    rf"|\b(?:make|get|turn)\s+{_WHICH}(?:build|ci|gate|pipeline|test run)\s+(?:to\s+)?(?:be\s+)?{_PASS}"
    rf"|\b(?:so that|such that|until)\s+{_WHICH}(?:{_RED}\s+)?{_TESTS}\s+(?:all\s+)?(?:are\s+)?{_PASS}"
    rf"|\b(?:make|get)\s+{_TESTS}\s+{_PASS}",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSING = re.compile(
    r"\b(?:not|never|ignore|ignoring|except|leave|skip|skipping|unrelated|regardless|without|don't|doesn't|needn't|cannot|instead of"
    r"|known failures?)\b",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.;!?])\s+|\n+")
_CALLING_FOR_PASS = re.compile(r"\b(?:pass(?:es|ing)?|green|fail(?:s|ing|ed)?|red|fix|repair)\b", re.IGNORECASE)


def asks_for_failing_tests(text: str) -> bool:
    """Whether a request is to make the failing tests pass, all of them."""
    return any(_ASKING.search(part) and not _REFUSING.search(part) for part in _SENTENCES.split(text))


def named_tests(text: str, tests: Iterable[str]) -> tuple[str, ...]:
    """Those of some tests that a text names by id, by function or by file; what it says to leave alone is not named."""
    wanted = " \n".join(part for part in _SENTENCES.split(text) if not _REFUSING.search(part))
    words = frozenset(re.findall(r"[\w./-]+\w", wanted))
    return tuple(test for test in tests if test in wanted or not words.isdisjoint(_names_of(test)))


def calls_for_passing(text: str, tests: Iterable[str]) -> bool:
    """Whether a text names a test in order to have it pass, and so not in order to change it."""
    return bool(_CALLING_FOR_PASS.search(text) and named_tests(text, tests))


def is_every(work: Iterable[str]) -> bool:
    return EVERY in work


def _names_of(test: str) -> set[str]:
    """The words that name one test: its function, its class if that is a test's, and its file with and without its folders."""
    file, _, inside = test.partition("[")[0].partition("::")
    parts = [
        part for part in re.split(r"::|\s", inside) if re.search(r"test|spec|_", part, re.IGNORECASE) and len(part) > 5
    ]
    return {*parts, file, file.rpartition("/")[2]} - {""}
