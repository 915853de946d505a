"""The learnings of all tasks of a repository, each in the state it has when all tasks are heard.

A learning is named `TASK/N`. Within its own task N is enough, and so are forms such as `003` and `003-slug.md`.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from flyball.core.memory.words import normalise
from flyball.core.model.events import LearningRecorded
from flyball.core.model.learnings import KnownLearning, Learnings, Standing

_REF = re.compile(r"(?:([0-9]{3,}-[a-z0-9-]+)/)?#?(?:learnings/)?0*([1-9][0-9]{0,8})(?:-[a-z0-9-]+(?:\.md)?)?")
GONE = frozenset({"superseded", "stale", "undone", "dropped"})


class LearningEntry(msgspec.Struct, frozen=True):
    """A learning of the repository: `check` says what it depends on that is gone, `by` which learning superseded it."""

    id: str
    task: str
    fact: LearningRecorded
    at: datetime
    standing: Standing
    because: str = ""
    by: str = ""
    check: str = ""
    person: bool = False

    @property
    def usable(self) -> bool:
        """Whether it may stand in a prompt, as far as facts say."""
        return self.standing == "kept"


def name(task: str, number: int) -> str:
    return f"{task}/{number}"


def reference(task: str, text: str) -> str:
    """The name of the learning a text means, seen from a task; empty where it names none."""
    found = _REF.fullmatch(text.strip().strip("`"))
    return name(found[1] or task, int(found[2])) if found else ""


def settle(tasks: Mapping[str, Learnings]) -> dict[str, LearningEntry]:
    found = [_entry(task, each) for task, known in tasks.items() for each in known.known.values()]
    found.sort(key=lambda e: (e.at, e.task, e.fact.number))
    entries = {entry.id: entry for entry in found}
    _supersede(entries)
    _revise(entries, tasks)
    return {key: replace(entry, check=_missing(entry, entries)) for key, entry in entries.items()}


def _entry(task: str, known: KnownLearning) -> LearningEntry:
    fact = known.fact
    return LearningEntry(
        name(task, fact.number), task, fact, known.at, known.standing, known.because, person=known.person
    )


def _supersede(entries: dict[str, LearningEntry]) -> None:
    """A decision that was kept replaces those it names, and a later one is never replaced by an earlier one."""
    for entry in list(entries.values()):
        if entry.standing == "kept":
            for text in entry.fact.supersedes:
                _replace(entries, reference(entry.task, text), entry, "")


def _replace(entries: dict[str, LearningEntry], old: str, new: LearningEntry, because: str) -> None:
    known = entries.get(old)
    if known is None or known.person or known.id == new.id or (known.at, known.id) > (new.at, new.id):
        return
    told = f"superseded by {new.id}" + (f": {because}" if because else "")
    entries[old] = replace(known, standing="superseded", by=new.id, because=told)


def _revise(entries: dict[str, LearningEntry], tasks: Mapping[str, Learnings]) -> None:
    said = [(at, task, revision) for task, known in tasks.items() for at, revision in known.revisions]
    for _, task, revision in sorted(said, key=lambda each: each[:2]):
        old = reference(task, revision.learning)
        new = entries.get(reference(task, revision.favours)) if revision.favours else None
        known = entries.get(old)
        if known is None or known.person:
            continue
        if new is not None and new.standing in {"kept", "superseded"}:
            _replace(entries, old, new, f"{revision.by}: {revision.because}")
        elif not revision.favours:
            told = f"{revision.by} of {task}: {revision.because}"
            entries[old] = replace(known, standing="stale", because=told)


def _missing(entry: LearningEntry, entries: Mapping[str, LearningEntry]) -> str:
    named = (
        entries.get(reference(entry.task, text)) or _by_title(entry.task, text, entries.values())
        for text in entry.fact.depends_on
    )
    return "; ".join(f"{each.id} is {each.standing}" for each in named if each is not None and each.standing in GONE)


def _by_title(task: str, text: str, entries: Iterable[LearningEntry]) -> LearningEntry | None:
    wanted = normalise(text)
    return next((e for e in entries if wanted and e.task == task and normalise(e.fact.title) == wanted), None)
