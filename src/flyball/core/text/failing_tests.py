"""Which of the tests that fail before any work a text asks for: those it names, or all of them."""

import re
from collections.abc import Iterable

from flyball.core.text.requests import words_of_names

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
_DEFECT = re.compile(
    r"\b(?:does|did|(?<=s )do)(?:\s+not|n['’]t)\s+(?!(?:includ|cover|concern|affect|need|requir|touch|chang|fix|involv|belong|matter|count|ask|mean)\w*)"
    r"|\b(?:is|are|was|were)(?:\s+not|n['’]t)\s+(?!(?:part|needed|required|relevant|related|our|your|my|to|for|about|in)\b)"
    r"|\b(?:must|should)(?:\s+not|n['’]t)\s+(?=(?:raise|crash|fail|throw|break|hang|return|give|lose|drop)\b)"
    r"|\bcan(?:not|\s+not|['’]t)\s+(?=(?:\w+\s+)?(?:handle|read|parse|accept|take|open|load|write|find|be|deal|cope)\b)"
    r"|\bnever\s+(?=\w+s\b)",
    re.IGNORECASE,
)
"""A denial that tells what is broken: who says that "parse does not handle empty input" asks for it."""
_NO_CONTENT = frozenset("test tests it is a an the of on in to for with and or when does should".split())
_SENTENCES = re.compile(r"(?<=[.;!?])\s+|\n+")
_CALLING_FOR_PASS = re.compile(r"\b(?:pass(?:es|ing)?|green|fail(?:s|ing|ed)?|red|fix|repair)\b", re.IGNORECASE)


def asks_for_failing_tests(text: str) -> bool:
    """Whether a request is to make the failing tests pass, all of them."""
    return any(_ASKING.search(part) and not _refuses(part) for part in _SENTENCES.split(text))


def _refuses(sentence: str) -> bool:
    return bool(_REFUSING.search(_DEFECT.sub("", sentence)))


def named_tests(text: str, tests: Iterable[str]) -> tuple[str, ...]:
    """Those of some tests that a text names by id, function or file, or by every word of a test's name; what it says to leave alone is not named."""
    wanted = " \n".join(part for part in _SENTENCES.split(text) if not _refuses(part))
    words = frozenset(re.findall(r"[\w./-]+\w", wanted))
    said = frozenset(word.removesuffix("s") for word in words_of_names(wanted))
    return tuple(
        test for test in tests if test in wanted or not words.isdisjoint(_names_of(test)) or _is_described(test, said)
    )


def calls_for_passing(text: str, tests: Iterable[str]) -> bool:
    """Whether a text names a test in order to have it pass, and so not in order to change it."""
    return bool(_CALLING_FOR_PASS.search(text) and named_tests(text, tests))


def is_every(work: Iterable[str]) -> bool:
    return EVERY in work


def _is_described(test: str, said: frozenset[str]) -> bool:
    """Whether every word of a test's own name stands in a text, two at least: `test_empty_input` in "it crashes on empty input"."""
    name = re.split(r"::", test.partition("[")[0])[-1]
    own = frozenset(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", re.sub(r"^[Tt]est_?", "", name)))
    content = {word.casefold() for word in own} - _NO_CONTENT
    return len(content) > 1 and {word.removesuffix("s") for word in content} <= said


def _names_of(test: str) -> set[str]:
    """The words that name one test: its function, its class if that is a test's, and its file with and without its folders."""
    file, _, inside = test.partition("[")[0].partition("::")
    parts = [
        part for part in re.split(r"::|\s", inside) if re.search(r"test|spec|_", part, re.IGNORECASE) and len(part) > 5
    ]
    return {*parts, file, file.rpartition("/")[2]} - {""}
