"""What tells entries apart, and the names they get: the id of the source where no other has it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from flyball.core.workflows.plan.sources.values import Defect, Entry, Key


class KeyMaker:
    """Gives each entry of a source its key, in their order."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def make(self, id: str, text: str) -> Key:
        self._seen[id, text] += 1
        return Key(id, text, self._seen[id, text])


class Names:
    """Names for entries: an id of the source; `T064~2` for the second that has it; a number for one that has none.

    An entry that had a name when the source was read before keeps it.
    """

    def __init__(self, entries: Iterable[tuple[str, str]], known: Mapping[Key, str]) -> None:
        self._wanted = tuple(entries)
        self._count = Counter(id for id, _ in self._wanted if id)
        self._known = known
        self._keys = KeyMaker()
        self._taken = {*known.values(), *self._count}
        self._given: list[str] = []
        self._numbers = itertools.count(1)

    def take(self, id: str, text: str) -> str:
        """The name of the next entry."""
        key = self._keys.make(id, text)
        name = self._kept(key) or (self._of_id(id) if id else self._number())
        self._given.append(name)
        self._taken.add(name)
        return name

    def _kept(self, key: Key) -> str:
        if key in self._known:
            return self._known[key]
        if not key.id or self._count[key.id] > 1:
            return ""
        same = [name for other, name in self._known.items() if other.id == key.id]
        return same[0] if len(same) == 1 else ""

    def _of_id(self, id: str) -> str:
        kept = {name for key, name in self._known.items() if key.id == id}
        names = itertools.chain((id,), (f"{id}~{number}" for number in itertools.count(2)))
        return next(name for name in names if name not in self._given and name not in kept)

    def _number(self) -> str:
        return next(name for name in map(str, self._numbers) if name not in self._taken)

    def defects(self, lines: Sequence[int]) -> list[Defect]:
        """One for each id that several entries have."""
        found = []
        for id in (id for id, count in self._count.items() if count > 1):
            where = [index for index, (other, _) in enumerate(self._wanted) if other == id]
            names = ", ".join(self._given[index] for index in where)
            places = ", ".join(str(lines[index]) for index in where)
            message = f"the id {id} stands in lines {places}; the entries are {names} here, and a dependency on {id} is one on all"
            found.append(Defect(lines[where[1]], message))
        return found


def find(entries: Iterable[Entry], key: Key) -> list[Entry]:
    """The entries a key may mean: one, if it still is in the source."""
    entries = tuple(entries)
    same = [entry for entry in entries if key.id and entry.key.id == key.id and entry.key.part == key.part]
    if len(same) == 1:
        return same
    return [entry for entry in entries if entry.key == key]
