"""Words of a text as they are searched: lower case, parts of names apart, without those that say nothing."""

import re
from collections.abc import Iterable

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SHORTEST = 3
_SAYS_NOTHING = frozenset(
    """
    about after again all also and any are been before being both but can could did does each else for from get had has have here
    how into its just let make makes more most must new not now off one only other our out over own same should some such than that
    the their them then there these they this those too under until use used uses very was way were what when where which while who
    why will with without would you your
    """.split()
)


def words(text: str) -> tuple[str, ...]:
    """All words, in order; `readFile` and `read_file` are two each, and a plural is its singular."""
    found = (piece.lower() for piece in _PIECE.findall(text))
    return tuple(_singular(w) for w in found if len(w) >= _SHORTEST and w not in _SAYS_NOTHING)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") and not word.endswith("ss") else word


def normalise(text: str) -> str:
    """A text in which spelling, punctuation and white space no longer differ."""
    return " ".join(re.findall(r"\w+", text.lower()))


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """The share of words two texts have in common (Jaccard)."""
    a, b = frozenset(one), frozenset(other)
    return len(a & b) / len(a | b) if a or b else 1.0
