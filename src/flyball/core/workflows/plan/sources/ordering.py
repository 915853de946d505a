"""What each entry waits for: what it says itself, else the order of the source.

A group comes after the one before. Within a group one entry follows another, except those that their source marks parallel
and whose files are known and disjoint.
"""

from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import groupby

from flyball.core.workflows.plan.sources.values import PlanDefect, PlanEntry


def with_order(
    entries: Iterable[PlanEntry], *, beside: Callable[[str], bool] = lambda _group: False
) -> tuple[PlanEntry, ...]:
    """Entries whose own dependencies are filled up with the order they stand in; groups that `beside` holds for run side by side."""
    entries = tuple(entries)
    work = [entry for entry in entries if entry.role == "work"]
    order = _Order(work)
    before: list[str] = []
    waiting: list[str] = []
    groups = [(name, list(group)) for name, group in groupby(work, key=lambda entry: entry.item.group)]
    for index, (name, group) in enumerate(groups):
        waiting += order.chain(group, before)
        if not beside(name) or not any(beside(after) for after, _ in groups[index + 1 : index + 2]):
            before, waiting = waiting, []
    graph = order.graph
    return tuple(e.with_item(depends_on=graph[e.item.id]) if e.role == "work" else e for e in entries)


class _Order:
    """The graph of what waits for what, as it grows."""

    def __init__(self, work: list[PlanEntry]) -> None:
        self.graph: dict[str, tuple[str, ...]] = {entry.item.id: entry.item.depends_on for entry in work}
        self._own = frozenset(id for id, wanted in self.graph.items() if wanted)
        place = {entry.item.id: index for index, entry in enumerate(work)}
        self._turned = any(place.get(other, -1) > place[id] for id in self._own for other in self.graph[id])

    def chain(self, group: list[PlanEntry], before: list[str]) -> list[str]:
        """Add the edges of one group; gives back what the next one waits for."""
        wave: list[str] = []
        paths: list[str] = []
        previous, together = before, True
        for item in (entry.item for entry in group):
            lone = not (item.parallel and item.files)
            joins = not wave or (together and not lone and not _overlap(item.files, paths))
            if item.id in self._own:
                self._add(item.id, before)
            else:
                if not joins:
                    previous, wave, paths, together = wave, [], [], True
                self._add(item.id, previous)
            if not item.optional:
                wave, paths, together = [*wave, item.id], [*paths, *item.files], together and not lone
        return wave or previous

    def _add(self, id: str, others: Iterable[str]) -> None:
        """Have an entry wait for others too, unless one of them waits for it by its own word."""
        new = (each for each in others if not (self._turned and self._reaches(each, id)))
        self.graph[id] = tuple(dict.fromkeys((*self.graph[id], *new)))

    def _reaches(self, start: str, goal: str) -> bool:
        seen, todo = {start}, [start]
        while todo:
            for each in self.graph.get(todo.pop(), ()):
                if each == goal:
                    return True
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        return False


def _overlap(files: Iterable[str], others: Iterable[str]) -> bool:
    """Whether two sets of paths have one in common; a folder has all that is in it."""
    return any(
        a == b or (a.endswith("/") and b.startswith(a)) or (b.endswith("/") and a.startswith(b))
        for a in files
        for b in others
    )


def require_dependencies(entries: Iterable[PlanEntry]) -> tuple[PlanEntry, ...]:
    """Entries of which an optional one that others depend on is optional no longer."""
    entries = tuple(entries)
    known = {entry.item.id: entry for entry in entries}
    todo = [id for entry in entries if not entry.item.optional for id in entry.item.depends_on]
    needed: set[str] = set()
    while todo:
        id = todo.pop()
        if id not in needed and id in known and known[id].item.optional:
            needed.add(id)
            todo += known[id].item.depends_on
    return tuple(entry.with_item(optional=False) if entry.item.id in needed else entry for entry in entries)


def cycle_defects(entries: Iterable[PlanEntry]) -> tuple[PlanDefect, ...]:
    """The first circle of dependencies, if there is one."""
    lines = {entry.item.id: entry.line for entry in entries}
    graph = {entry.item.id: entry.item.depends_on for entry in entries if entry.role == "work"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        message = f"{' waits for '.join(circle)}: a circle; expected an order in which each can be done"
        return (PlanDefect(lines.get(circle[0], 0), message, fatal=True),)
    return ()
