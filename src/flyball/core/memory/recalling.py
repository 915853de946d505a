"""A recall: of all learnings of a repository those that fit a turn and still hold in its tree, as lines within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from flyball.core.memory.coherence import contradictions
from flyball.core.memory.ranking import WEIGHTS, Ranked, TurnSubject, Weights, rank, says_the_same
from flyball.core.memory.settling import LearningEntry, settle
from flyball.core.memory.validity import Tree, condition, doubt
from flyball.core.memory.words import words
from flyball.core.model.effects import Recall
from flyball.core.model.learnings import Learnings
from flyball.core.model.outcomes import Recalled
from flyball.core.model.recalled import RecalledLearning
from flyball.core.text.scrubbing import clean

_TITLE, _CHOICE, _REASON, _INVALID, _FILES = 70, 110, 70, 60, 2
_CUT = "…"
TITLE_KEPT, CHOICE_KEPT = 200, 400
"""Characters of a learning that a recall keeps beside its line, so that it is known again when a report repeats it."""


def question_of(request: Recall, task: str, at: datetime | None) -> TurnSubject:
    return TurnSubject(task, words(request.words), request.files, request.item, request.related, at)


def recall(
    request: Recall, task: str, tasks: Mapping[str, Learnings], tree: Tree, weights: Weights = WEIGHTS
) -> Recalled:
    """The outcome of a recall for a task, from the learnings of all tasks of its repository."""
    entries = settle(tasks)
    shown = choose(entries, question_of(request, task, request.at), tree, weights)
    return Recalled(tuple(shown), contradictions(entries, task) if request.reviewing else (), searched=len(entries))


def choose(
    entries: Mapping[str, LearningEntry], question: TurnSubject, tree: Tree, weights: Weights = WEIGHTS
) -> list[RecalledLearning]:
    """The best that hold, as many as there is room for; what is stale makes room for the next."""
    shown: list[RecalledLearning] = []
    room = weights.characters
    for ranked, note in _holding(rank((e for e in entries.values() if e.usable), question, weights), tree, weights):
        text = line(ranked.entry, note)
        # Each takes its share at most, so that one long learning does not keep five others out.
        text = _cut(text, min(room, 2 * weights.characters // weights.most) - 1)
        if not text:
            break
        room -= len(text) + 1
        shown.append(_recalled(ranked, text))
    return shown


def _holding(ranked: Iterable[Ranked], tree: Tree, weights: Weights) -> list[tuple[Ranked, str]]:
    """The first that hold in the tree, with what a reader should know; of those that say the same the newest."""
    found: list[tuple[Ranked, str]] = []
    for each in ranked:
        if len(found) == weights.most:
            break
        twin = next((n for n, (k, _) in enumerate(found) if says_the_same(k.entry, each.entry, weights)), len(found))
        if twin < len(found) and found[twin][0].entry.at >= each.entry.at:
            continue
        said = doubt(each.entry.fact, tree)
        if not said.stale:
            found[twin : twin + 1] = [(each, said.note)]
    return found


def _recalled(ranked: Ranked, text: str) -> RecalledLearning:
    entry = ranked.entry
    fact = entry.fact
    return RecalledLearning(
        entry.id,
        fact.kind,
        clean(fact.title, TITLE_KEPT),
        clean(fact.choice, CHOICE_KEPT),
        text,
        ranked.score,
        ranked.why,
        ranked.files,
    )


def line(entry: LearningEntry, note: str = "") -> str:
    """A learning on one line: number, choice, reason, what would invalidate it, files, and what a reader should know."""
    fact = entry.fact
    kind = "" if fact.kind == "decision" else "avoid: "
    said = clean(fact.choice or fact.context, _CHOICE)
    reason = clean(fact.context if fact.choice else fact.consequences, _REASON)
    untested = fact.invalidated_if if condition(fact.invalidated_if) is None else ""
    parts = [
        f"{entry.id} {kind}{clean(fact.title, _TITLE)}" + (f": {said}" if said else ""),
        f"why: {reason}" if reason else "",
        f"invalid if: {clean(untested, _INVALID)}" if untested else "",
        f"files: {', '.join(fact.files[:_FILES])}" if fact.files else "",
        note,
        f"check it: {entry.check}" if entry.check else "",
    ]
    return " ".join(" | ".join(part for part in parts if part).split())


def _cut(text: str, most: int) -> str:
    """The text, or its beginning; nothing where there is no room for a sentence."""
    if len(text) <= most:
        return text
    return text[: most - 1].rstrip() + _CUT if most >= _TITLE else ""
