"""A recall: of all learnings of a repository those that fit a turn and still hold in its tree, as lines within a budget.

A reviewer is also told of contradictions: a proposed decision and an earlier kept one on the same subject with another choice.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from flyball.core.memory.ranking import WEIGHTS, Ranked, TurnSubject, rank, says_the_same
from flyball.core.memory.settling import LearningEntry, reference, settle
from flyball.core.memory.validity import Tree, condition, doubt
from flyball.core.memory.words import overlap, words
from flyball.core.model.effects import Recall
from flyball.core.model.learnings import Learnings
from flyball.core.model.outcomes import Contradiction, Recalled, RecalledLearning
from flyball.core.text.scrubbing import clean

_TITLE, _CHOICE, _REASON, _INVALID, _FILES = 70, 110, 70, 60, 2
TITLE_KEPT, CHOICE_KEPT = 200, 400
"""Characters of a learning that a recall keeps beside its line, so that it is known again when a report repeats it."""


SAME_TITLE = 0.5
SAME_TITLE_AND_FILE = 0.25
CONTRADICTIONS = 4


def recall(request: Recall, task: str, tasks: Mapping[str, Learnings], tree: Tree) -> Recalled:
    entries = settle(tasks)
    subject = TurnSubject(task, words(request.words), request.files, request.item, request.related, request.at)
    shown = choose(entries, subject, tree)
    return Recalled(tuple(shown), contradictions(entries, task) if request.reviewing else (), searched=len(entries))


def choose(entries: Mapping[str, LearningEntry], question: TurnSubject, tree: Tree) -> list[RecalledLearning]:
    """The best that hold, as many as there is room for; what is stale makes room for the next."""
    shown: list[RecalledLearning] = []
    room = WEIGHTS.characters
    for ranked, note in _holding(rank((e for e in entries.values() if e.usable), question), tree):
        # Each takes its share at most, so that one long learning does not keep five others out.
        text = _cut(line(ranked.entry, note), min(room, 2 * WEIGHTS.characters // WEIGHTS.most) - 1)
        if not text:
            break
        room -= len(text) + 1
        fact = ranked.entry.fact
        title, choice = clean(fact.title, TITLE_KEPT), clean(fact.choice, CHOICE_KEPT)
        why = (ranked.score, ranked.why, ranked.files)
        shown.append(RecalledLearning(ranked.entry.id, fact.kind, title, choice, text, *why))
    return shown


def _holding(ranked: Iterable[Ranked], tree: Tree) -> list[tuple[Ranked, str]]:
    """The first that hold in the tree, with what a reader should know; of those that say the same the newest."""
    found: list[tuple[Ranked, str]] = []
    for each in ranked:
        if len(found) == WEIGHTS.most:
            break
        twin = next((n for n, (k, _) in enumerate(found) if says_the_same(k.entry, each.entry)), len(found))
        if twin < len(found) and found[twin][0].entry.at >= each.entry.at:
            continue
        said = doubt(each.entry.fact, tree)
        if not said.stale:
            found[twin : twin + 1] = [(each, said.note)]
    return found


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
    return text[: most - 1].rstrip() + "…" if most >= _TITLE else ""


def contradictions(entries: Mapping[str, LearningEntry], task: str) -> tuple[Contradiction, ...]:
    """What decisions of a task that are not accepted yet say against decisions that stand, at most `CONTRADICTIONS`."""
    proposed = [e for e in entries.values() if e.task == task and e.standing == "proposed"]
    standing = [e for e in entries.values() if e.usable and e.fact.kind == "decision"]
    found = (pair for new in proposed for pair in _contradicting(new, standing))
    return tuple(islice(found, CONTRADICTIONS))


def _contradicting(new: LearningEntry, standing: Iterable[LearningEntry]) -> Iterable[Contradiction]:
    settled = {reference(new.task, text) for text in new.fact.supersedes}
    for old in standing:
        subject = "" if old.id in settled or old.at > new.at else _subject(new, old)
        if not subject:
            continue
        if overlap(words(new.fact.choice or new.fact.title), words(old.fact.choice or old.fact.title)) < WEIGHTS.same:
            yield Contradiction(new.id, old.id, f"{_brief(new)} AGAINST {_brief(old)}", subject)


def _subject(new: LearningEntry, old: LearningEntry) -> str:
    """What both are about: one names the other as what it depends on, or their titles share words, the more so with a file."""
    if old.id in {reference(new.task, text) for text in new.fact.depends_on}:
        return "it depends on the earlier one"
    alike = overlap(words(new.fact.title), words(old.fact.title))
    files = [path for path in new.fact.files if path in old.fact.files]
    if files and alike >= SAME_TITLE_AND_FILE:
        return f"both are about {files[0]}"
    return "their titles share words" if alike >= SAME_TITLE else ""


def _brief(entry: LearningEntry) -> str:
    return f"{entry.id} {clean(entry.fact.title, 60)}: {clean(entry.fact.choice, 120)}"
