"""What a person's own words say of tests that exist."""

import re

_WHICH = (
    r"(?:(?:the|its|their|all|any|every|each|of|existing|old|current|affected|related|corresponding|obsolete|unit)\s+)*"
)
_CHANGING = r"(?:updat|chang|adapt|adjust|rewrit|migrat|mov|renam|remov|delet|drop|retir|replac)\w*"
_CHANGES_TESTS = re.compile(
    rf"\b{_CHANGING}\s+{_WHICH}tests?\b(?!\.?\w|\s+(?:runner|suite|framework|data|helper)s?)"
    rf"|\b{_CHANGING}\b[^.;\n]{{0,80}}?(?:,|\band|\balso|\bwith|\bincluding|\bas well as)\s+(?:(?:also|with|in)\s+)*{_WHICH}tests?\b(?!\.?\w|\s+(?:runner|suite|framework|data|helper)s?)"
    rf"|\btests?\s+(?:must|should|need to|needs to|have to|has to|may|can|are to|will have to)\s+(?:all\s+)?(?:be\s+)?{_CHANGING}",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"\b(?:not|never|no|without|nor|keep(?:ing)?)\b|n['’]t\b", re.IGNORECASE)
_COMMON = frozenset(
    "the and its their all any every each not with from into for that this must should need needs have has may can will now then"
    " remove removes delete deletes drop drops update updates change changes adapt rewrite rename renames replace replaces retire"
    " test tests existing old new current affected function functions method methods class classes module modules file files code"
    " make makes instead return returns give gives def assert import none true false".split()
)
"""Words that say nothing of what a request is about."""


def changes_tests(request: str) -> bool:
    """Whether a request says in words that existing tests change or go."""
    parts = re.split(r"[.;!?](?=\s|$)|\n", request)
    return any(_CHANGES_TESTS.search(part) and not _REFUSES.search(part) for part in parts)


def subjects(request: str) -> frozenset[str]:
    """The words that may name what a request is about."""
    return words_of_names(request) - _COMMON


def words_of_names(text: str) -> frozenset[str]:
    """The names in a text, as they are and in their words: `test_parse_empty` and `parseEmpty` have the word `empty`."""
    names = re.findall(r"[A-Za-z_]\w{2,}", text)
    words = (word for name in names for word in re.findall(r"[A-Z]?[a-z0-9]{2,}|[A-Z]{3,}", name))
    return frozenset(word.casefold() for word in (*names, *words))
