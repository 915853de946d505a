"""What the shared memory knows, for people: searched as a turn would search it, and a person's word about one learning."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from flyball.clock import system_clock
from flyball.core.memory.pages import read_page
from flyball.core.memory.ranking import WEIGHTS, Ranked, TurnSubject, rank
from flyball.core.memory.settling import LearningEntry, name, reference, settle
from flyball.core.memory.validity import doubt
from flyball.core.memory.words import words
from flyball.core.model.events import LearningRecorded, PersonSpoke
from flyball.core.model.naming import LOOP, parse_task_id
from flyball.core.model.task import TaskId
from flyball.ports import Refusal
from flyball.projections.files.task_files import learning_name
from flyball.projections.wording import plain
from flyball.wiring.memory import FolderTree, JournalLearnings, regular_text
from flyball.wiring.presence import controller_of
from flyball.wiring.run.manual_session import manual_session
from flyball.wiring.site import Site

MOST_PAGES = 2000
LONGEST_PAGE = 64 * 1024
OTHERS = "text of others"
"""The state of a learning that stands in the tree and in no journal here: nothing of it reaches a prompt."""


class LearningListed(msgspec.Struct, frozen=True):
    """A learning as `flyball learnings` tells it: whether a turn about the words asked for would be given it, and why."""

    id: str
    task: str
    kind: str
    title: str
    choice: str
    state: str
    because: str
    file: str
    files: tuple[str, ...]
    at: datetime | None
    shown: bool = False
    score: float = 0.0
    why: str = ""


class Told(msgspec.Struct, frozen=True):
    id: str
    word: str
    because: str
    taken: Literal["now", "by the running controller"]
    adopted_from: str = ""


def search(site: Site, text: str = "", files: Sequence[str] = ()) -> list[LearningListed]:
    """All learnings, the newest first; where something is asked for, those that fit it, the best first."""
    entries = settle(JournalLearnings(site.journal).tasks())
    subject = TurnSubject("", words(text), tuple(files), at=system_clock.now())
    asking = bool(text.strip() or files)
    shown: list[LearningListed] = []
    tree, count = FolderTree(site.repository.root), 0
    # Whatever its state, each is there with its score: the least score leaves none out.
    for each in rank(entries.values(), subject, least=float("-inf")):
        stale = doubt(each.entry.fact, tree, compare=False).stale if each.entry.usable else ""
        fits = asking and each.entry.usable and not stale and each.score >= WEIGHTS.least and count < WEIGHTS.most
        count += fits
        shown.append(_listing(each, stale, asking=asking, fits=fits))
    sharing = ("words", "shares", "same folder")
    found = [each for each in shown if not asking or each.shown or any(word in each.why for word in sharing)]
    if not asking:
        found.sort(key=lambda each: (each.at is not None, each.at), reverse=True)
    asked = set(words(text))
    others = _of_others(site, entries)
    return [*found, *(each for each in others if not asking or asked & set(words(f"{each.title} {each.choice}")))]


def _listing(each: Ranked, stale: str, *, asking: bool, fits: bool) -> LearningListed:
    entry, fact = each.entry, each.entry.fact
    state = "stale" if stale else entry.standing
    because = stale or entry.because or (f"check it: {entry.check}" if entry.check else "")
    return LearningListed(
        entry.id,
        entry.task,
        fact.kind,
        fact.title,
        fact.choice or fact.context,
        state,
        because,
        f"{LOOP}/{entry.task}/{learning_name(fact.number, plain(fact.title, 160))}",
        fact.files,
        entry.at,
        fits,
        each.score if asking else 0.0,
        each.why if asking else "",
    )


def _of_others(site: Site, entries: dict[str, LearningEntry]) -> Iterator[LearningListed]:
    """Pages of learnings that a merged branch or a fork brought along, and that no journal here knows."""
    for key, path, fact in pages(site.repository.root):
        if key not in entries:
            yield LearningListed(
                key, key.partition("/")[0], fact.kind, fact.title, fact.choice or fact.context, OTHERS,
                "in no journal here; to use it: flyball learnings keep " + key, path, (), None,
            )  # fmt: skip


def pages(root: Path) -> Iterator[tuple[str, str, LearningRecorded]]:
    for path in sorted((root / LOOP).glob("*/learnings/*.md"))[:MOST_PAGES]:
        task = path.parent.parent.name
        linked = any(folder.is_symlink() for folder in path.parents[:3])
        text = regular_text(path, LONGEST_PAGE) if parse_task_id(task) is not None and not linked else None
        fact = read_page(text) if text is not None else None
        if fact is not None:
            yield name(task, fact.number), str(path.relative_to(root)), fact


def is_learning(text: str) -> bool:
    return bool(reference("001-a", text.rpartition("/")[2]))


def speak_of(
    site: Site, key: str, word: Literal["keep", "drop"], because: str, *, adopting: Callable[[], TaskId]
) -> Told:
    """A person keeps or drops a learning; one that only stands in the tree is adopted by the task `adopting` it."""
    entries = settle(JournalLearnings(site.journal).tasks())
    entry = entries.get(key)
    if entry is not None:
        return _say(site, TaskId(entry.task), entry.fact.number, word, because)
    found = next(((path, fact) for known, path, fact in pages(site.repository.root) if known == key), None)
    if found is None:
        raise Refusal(f"there is no learning {key}. See: flyball learnings")
    if word == "drop":
        raise Refusal(f"{key} is {OTHERS} and reaches no prompt, so there is nothing to drop. See: flyball learnings")
    return _adopt(site, adopting(), *found, because)


def _say(site: Site, task: TaskId, number: int, word: Literal["keep", "drop"], because: str) -> Told:
    text = f"{number} because {because}" if because else str(number)
    key = name(task, number)
    if controller_of(site, task) is not None:
        site.journal.post(task, word, text=text, at=system_clock.now())
        return Told(key, word, because, "by the running controller")
    with manual_session(site, task) as hand:
        hand.append(PersonSpoke(word, text))
    return Told(key, word, because, "now")


def _adopt(site: Site, task: TaskId, path: str, fact: LearningRecorded, because: str) -> Told:
    with manual_session(site, task) as hand:
        number = hand.state.learned + 1
        context = f"{fact.context} (from {path}{f'; {because}' if because else ''})".strip()
        hand.append(replace(fact, number=number, context=context, source="adopted"))
    return Told(name(task, number), "keep", because, "now", path)
