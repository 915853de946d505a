"""What tells entries apart, and the names they get: the id of the source where no other has it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec.structs import replace

from flyball.core.workflows.plan.sources.values import ImportedPlan, Key, PlanDefect, PlanEntry


class KeyMaker:
    """Gives each entry of a source its key, in their order."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def make(self, id: str, text: str) -> Key:
        self._seen[id, text] += 1
        return Key(id, text, self._seen[id, text])


class Names:
    """Names for entries: an id of the source; `T064~2` for the second that has it; a number for one that has none."""

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        self._wanted = tuple(entries)
        self._count = Counter(id for id, _ in self._wanted if id)
        self._given: list[str] = []
        self._taken: set[str] = set()
        self._numbers = itertools.count(1)

    def take(self, id: str) -> str:
        """The name of the next entry."""
        free = (name for name in map(str, self._numbers) if name not in self._taken and name not in self._count)
        name = _free(id, self._taken) if id else next(free)
        self._given.append(name)
        self._taken.add(name)
        return name

    def defects(self, lines: Sequence[int]) -> list[PlanDefect]:
        """One for each id that several entries have."""
        found = []
        for id in (id for id, count in self._count.items() if count > 1):
            where = [index for index, (other, _) in enumerate(self._wanted) if other == id]
            names = ", ".join(self._given[index] for index in where)
            places = ", ".join(str(lines[index]) for index in where)
            message = f"the id {id} stands in lines {places}; the entries are {names} here, and a dependency on {id} is one on all"
            found.append(PlanDefect(lines[where[1]], message))
        return found


def _free(id: str, taken: Container[str]) -> str:
    """The id, or with `~2`, `~3` … after it, the first that nobody has."""
    names = itertools.chain((id,), (f"{id}~{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def keep_names(plan: ImportedPlan, known: Mapping[Key, str]) -> ImportedPlan:
    """A plan that was read again: an entry that had a name before keeps it, and a new one gets one that nobody had."""
    count = Counter(entry.key.id for entry in plan.entries)
    names: dict[str, str] = {}
    for entry in plan.entries:
        by_id = _named_by_id(entry.key, known) if count[entry.key.id] == 1 else ""
        kept = known.get(entry.key) or by_id or _named_by_words(entry.key, known)
        if kept and kept not in names.values():
            names[entry.item.id] = kept
    taken = {*known.values(), *names.values()}
    for entry in plan.entries:
        if entry.item.id not in names:
            numbers = (name for name in map(str, itertools.count(1)) if name not in taken and name not in count)
            free = _free(entry.key.id, taken) if entry.key.id else next(numbers)
            names[entry.item.id] = free
            taken.add(free)
    return replace(plan, entries=tuple(_with_names(entry, names) for entry in plan.entries))


def _named_by_id(key: Key, known: Mapping[Key, str]) -> str:
    same = [name for other, name in known.items() if key.id and (other.id, other.part) == (key.id, key.part)]
    return same[0] if len(same) == 1 else ""


def _named_by_words(key: Key, known: Mapping[Key, str]) -> str:
    same = [name for other, name in known.items() if reads_alike(key, other)]
    return same[0] if len(same) == 1 else ""


def reads_alike(one: Key, other: Key) -> bool:
    """Whether two keys are of the same words, of which only one reading took the first for an id.

    Numbers are ids in a plain file only while most entries have one, so an edit of others can change that.
    """
    return bool(one.id) != bool(other.id) and one.part == other.part and _words(one) == _words(other)


def _words(key: Key) -> list[str]:
    return re.findall(r"\w+", f"{key.id} {key.text}")


def _with_names(entry: PlanEntry, names: Mapping[str, str]) -> PlanEntry:
    wanted = tuple(names.get(id, id) for id in entry.item.depends_on)
    renamed = entry.with_item(id=names[entry.item.id], depends_on=wanted)
    return replace(renamed, parent=names.get(entry.parent, entry.parent))
