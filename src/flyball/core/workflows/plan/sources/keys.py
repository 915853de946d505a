"""What tells entries apart, and the names they get: the id of the source where no other has it."""

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from msgspec.structs import replace

from flyball.core.workflows.plan.sources.values import ImportedPlan, Key, PlanDefect, PlanEntry


class KeyMaker:
    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def make(self, id: str, text: str) -> Key:
        self._seen[id, text] += 1
        return Key(id, text, self._seen[id, text])


def unique_names(ids: Sequence[str]) -> list[str]:
    """A name for each entry: its id in the source; `T064~2` for the second that has it; a number for one that has none."""
    names: dict[str, None] = {}
    known, numbers = set(ids), itertools.count(1)
    for id in ids:
        free = (name for name in map(str, numbers) if name not in names and name not in known)
        names[_free(id, names) if id else next(free)] = None
    return [*names]


def duplicate_defects(ids: Sequence[str], names: Sequence[str], lines: Sequence[int]) -> Iterator[PlanDefect]:
    for id, count in Counter(ids).items():
        if not id or count == 1:
            continue
        where = [index for index, other in enumerate(ids) if other == id]
        given = ", ".join(names[index] for index in where)
        places = ", ".join(str(lines[index]) for index in where)
        message = f"the id {id} stands in lines {places}; the entries are {given} here, and a dependency on {id} is one on all"
        yield PlanDefect(lines[where[1]], message)


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
