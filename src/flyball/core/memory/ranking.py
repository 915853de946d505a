"""Which learnings fit a turn best: a score from shared files, items, words and age, with all its numbers in one table."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import PurePosixPath

import msgspec

from flyball.core.memory.settling import LearningEntry
from flyball.core.memory.words import overlap, words


class Weights(msgspec.Struct, frozen=True):
    """What each thing a learning and a turn share is worth, and where the list ends.

    A word score of `half` is worth half of `words`; a learning `half_life_days` old half of `recent`. Those that share `same` of
    their words are one. Less than `least` is not shown.
    """

    file: float = 4.0
    files_counted: int = 2
    folder: float = 1.5
    related: float = 2.0
    words: float = 3.0
    half: float = 8.0
    recent: float = 1.0
    half_life_days: float = 30.0
    anti_pattern: float = 0.5
    same: float = 0.8
    least: float = 2.0
    most: int = 6
    characters: int = 1200


WEIGHTS = Weights()
_K1, _B = 1.5, 0.75
_SMALLEST = 50
"""In fewer texts than this nothing would be rare: a word counts as if there were so many."""
_CONTEXT_COUNTED = 400


_known_words = lru_cache(maxsize=16_384)(words)


class TurnSubject(msgspec.Struct, frozen=True):
    """What a turn is about; `related` items are its own and those it stands in a chain or group with."""

    task: str
    words: tuple[str, ...]
    files: tuple[str, ...] = ()
    item: str = ""
    related: tuple[str, ...] = ()
    at: datetime | None = None


class Ranked(msgspec.Struct, frozen=True):
    entry: LearningEntry
    score: float
    why: str
    files: tuple[str, ...] = ()


def text_of(entry: LearningEntry) -> tuple[str, ...]:
    """The words a learning is found by; remembered, because all are asked for at every recall."""
    fact = entry.fact
    return _known_words(" ".join((fact.title, fact.choice, fact.context[:_CONTEXT_COUNTED], fact.consequences)))


def rank(entries: Iterable[LearningEntry], question: TurnSubject, least: float = WEIGHTS.least) -> list[Ranked]:
    known = list(entries)
    texts = {entry.id: text_of(entry) for entry in known}
    by_words = word_scores(texts, question.words)
    ranked = [_score(entry, by_words.get(entry.id, 0.0), question) for entry in known]
    ranked.sort(key=lambda each: (-each.score, -each.entry.at.timestamp(), each.entry.id))
    return [each for each in ranked if each.score >= least]


def _score(entry: LearningEntry, by_words: float, question: TurnSubject) -> Ranked:
    shared = tuple(path for path in entry.fact.files if path in question.files)
    days = max(0.0, (question.at - entry.at).total_seconds() / 86400) if question.at is not None else 0.0
    parts = {
        f"shares {', '.join(shared[: WEIGHTS.files_counted])}": WEIGHTS.file * min(len(shared), WEIGHTS.files_counted),
        "same folder": 0.0 if shared or not _same_folder(entry, question) else WEIGHTS.folder,
        "same part of the work": WEIGHTS.related if _is_related(entry, question) else 0.0,
        "shared words": WEIGHTS.words * by_words / (by_words + WEIGHTS.half) if by_words > 0 else 0.0,
        "recent": WEIGHTS.recent * float(0.5 ** (days / WEIGHTS.half_life_days)),
        "anti-pattern": WEIGHTS.anti_pattern if entry.fact.kind == "anti-pattern" else 0.0,
    }
    reasons = ", ".join(part for part, worth in parts.items() if worth >= 0.05)
    return Ranked(entry, round(sum(parts.values()), 3), reasons, shared)


def _same_folder(entry: LearningEntry, question: TurnSubject) -> bool:
    """Whether a file of both lies in one folder; the root is no folder that says anything."""
    folders = {PurePosixPath(path).parent for path in question.files} - {PurePosixPath()}
    return any(PurePosixPath(path).parent in folders for path in entry.fact.files)


def _is_related(entry: LearningEntry, question: TurnSubject) -> bool:
    """Of the same task: of a related item, or where one of the two is about the task as a whole."""
    if entry.task != question.task:
        return False
    return not entry.fact.item or not question.item or entry.fact.item in question.related


def word_scores(texts: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> dict[str, float]:
    """BM25 of each text for the wanted words; those that share none are left out."""
    if not texts or not wanted:
        return {}
    counted = {key: Counter(text) for key, text in texts.items()}
    average = sum(len(text) for text in texts.values()) / len(texts) or 1.0
    scores: dict[str, float] = {}
    for word in set(wanted):
        having = [key for key, counts in counted.items() if word in counts]
        rarity = math.log(1 + (max(len(texts), _SMALLEST) - len(having) + 0.5) / (len(having) + 0.5))
        for key in having:
            often = counted[key][word]
            length = 1 - _B + _B * len(texts[key]) / average
            scores[key] = scores.get(key, 0.0) + rarity * often * (_K1 + 1) / (often + _K1 * length)
    return scores


def says_the_same(one: LearningEntry, other: LearningEntry) -> bool:
    return one.fact.kind == other.fact.kind and overlap(text_of(one), text_of(other)) >= WEIGHTS.same
