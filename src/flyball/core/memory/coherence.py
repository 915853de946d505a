"""Decisions that may contradict each other: a proposed one and an earlier kept one on the same subject with another choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flyball.core.memory.ranking import WEIGHTS
from flyball.core.memory.settling import LearningEntry, reference
from flyball.core.memory.words import overlap, words
from flyball.core.model.recalled import Contradiction
from flyball.core.text.scrubbing import clean

SAME_TITLE = 0.5
SAME_TITLE_AND_FILE = 0.25
MOST = 4
_TITLE_TOLD, _CHOICE_TOLD = 60, 120


def contradictions(entries: Mapping[str, LearningEntry], task: str) -> tuple[Contradiction, ...]:
    """What decisions of a task that are not accepted yet say against decisions that stand, at most `MOST`."""
    proposed = [e for e in entries.values() if e.task == task and e.standing == "proposed"]
    standing = [e for e in entries.values() if e.usable and e.fact.kind == "decision"]
    found = (pair for new in proposed for pair in _against(new, standing))
    return tuple(pair for pair, _ in zip(found, range(MOST), strict=False))


def _against(new: LearningEntry, standing: Iterable[LearningEntry]) -> Iterable[Contradiction]:
    settled = {reference(new.task, text) for text in new.fact.supersedes}
    for old in standing:
        subject = "" if old.id in settled or old.at > new.at else _subject(new, old)
        if subject and _differs(new, old):
            yield Contradiction(new.id, old.id, f"{_told(new)} AGAINST {_told(old)}", subject)


def _subject(new: LearningEntry, old: LearningEntry) -> str:
    """What both are about: one names the other as what it depends on, or their titles share words, the more so with a file."""
    if old.id in {reference(new.task, text) for text in new.fact.depends_on}:
        return "it depends on the earlier one"
    alike = overlap(words(new.fact.title), words(old.fact.title))
    files = [path for path in new.fact.files if path in old.fact.files]
    if files and alike >= SAME_TITLE_AND_FILE:
        return f"both are about {files[0]}"
    return "their titles share words" if alike >= SAME_TITLE else ""


def _differs(new: LearningEntry, old: LearningEntry) -> bool:
    return overlap(words(new.fact.choice or new.fact.title), words(old.fact.choice or old.fact.title)) < WEIGHTS.same


def _told(entry: LearningEntry) -> str:
    return f"{entry.id} {clean(entry.fact.title, _TITLE_TOLD)}: {clean(entry.fact.choice, _CHOICE_TOLD)}"
