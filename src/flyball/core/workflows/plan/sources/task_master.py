"""Task Master's `tasks.json`: tags, tasks with their subtasks, and where each status stands.

Ids are numbers or texts, by the version that wrote last, so they are compared as texts. A subtask's id is local: `2` of task 5 is `5.2`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from flyball.core.model.task import Item
from flyball.core.text.json_place import line_of
from flyball.core.workflows.plan.sources import values as v
from flyball.core.workflows.plan.sources.boxes import plain
from flyball.core.workflows.plan.sources.json_text import Path, decode_json, value_at
from flyball.core.workflows.plan.sources.ordering import cycle_defects, require_dependencies
from flyball.core.workflows.plan.sources.wording import files_in

DONE = ("done", "completed")


class Node(msgspec.Struct, frozen=True):
    """A task or subtask as it stands in the file; `path` leads to it."""

    id: str
    values: dict[str, Any]
    path: Path
    parent: str = ""
    leaf: bool = True


def tags_in(value: Any) -> list[str]:
    if not isinstance(value, dict) or isinstance(value.get("tasks"), list):
        return []
    return [tag for tag, held in value.items() if isinstance(held, dict) and isinstance(held.get("tasks"), list)]


def read_task_master(raw: bytes, tag: str = "", current: str = "") -> v.ImportedPlan:
    """The plan of one tag: the one asked for, else the one Task Master works with now (`current`, else `master`)."""
    value = decode_json(raw)
    text = raw.decode("utf-8-sig")
    chosen, base = _choose_tag(value, tag, current)
    nodes = list(_nodes(value_at(value, base), base, text))
    entries = [_entry(node, text) for node in nodes]
    defects: list[v.PlanDefect] = []
    pairs = zip(entries, nodes, strict=True)
    ordered = require_dependencies([_linked_entry(entry, node, nodes, entries, defects) for entry, node in pairs])
    defects += cycle_defects(ordered)
    return v.ImportedPlan("task-master", ordered, tuple(defects), selector=chosen, done=DONE[0])


def _choose_tag(value: Any, tag: str, current: str) -> tuple[str, Path]:
    if isinstance(value, list):
        return "", ()
    tags = tags_in(value)
    if isinstance(value, dict) and isinstance(value.get("tasks"), list):
        return "", ("tasks",)
    if not tags:
        raise v.PlanUnreadable('it has no list "tasks"; expected the tasks.json of Task Master')
    for wanted in (tag, current, "master"):
        if wanted in tags:
            return wanted, (wanted, "tasks")
        if wanted and wanted == tag:
            break
    if not tag and len(tags) == 1:
        return tags[0], (tags[0], "tasks")
    named = f"there is no tag {tag}" if tag else "several tags are there, and none of them is in use"
    raise v.PlanUnreadable(f"{named}; expected one of {', '.join(tags)}, named after the path: tasks.json#{tags[0]}")


def _nodes(tasks: Sequence[Any], path: Path, text: str, parent: str = "") -> Iterator[Node]:
    for index, values in enumerate(tasks):
        here: Path = (*path, index)
        if isinstance(values, dict) and "label" in values and "title" not in values:
            raise v.PlanUnreadable(
                "these are tasks of an editor (label, command), not of Task Master", _line(text, here)
            )
        missing = [name for name in ("id", "title", "status") if not isinstance(values, dict) or name not in values]
        if missing:
            what = f"task {index + 1} of the list{f' below {parent}' if parent else ''}"
            raise v.PlanUnreadable(f'{what} has no "{missing[0]}"; expected id, title and status', _line(text, here))
        own = str(values["id"])
        id = own if not parent or own.startswith(f"{parent}.") else f"{parent}.{own}"
        below = values.get("subtasks") or []
        yield Node(id, values, here, parent, leaf=not below)
        yield from _nodes(below, (*here, "subtasks"), text, id)


def _line(text: str, path: Path) -> int:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return line_of(text, f"${steps}")


def _entry(node: Node, text: str) -> v.PlanEntry:
    status = str(node.values["status"])
    words = [_words(node.values.get(name)) for name in ("acceptanceCriteria", "testStrategy", "details", "description")]
    item = Item(
        node.id,
        plain(str(node.values["title"])),
        status="completed" if status in DONE else "blocked" if status == "blocked" else "not-started",
        files=files_in(" ; ".join((str(node.values["title"]), *(point for points in words for point in points)))),
        acceptance=tuple(point for points in words for point in points) or (v.JUDGED_BY_REVIEW,),
        optional=status == "deferred",
        group=node.parent,
    )
    key = v.Key(node.id, item.text)
    role: v.Role = "checklist" if status == "cancelled" else "work" if node.leaf else "parent"
    return v.PlanEntry(item, key, (v.Mark(key, status),), _line(text, node.path), role, node.parent)


def _words(value: Any) -> tuple[str, ...]:
    """A text, or a list of them, as points."""
    values = value if isinstance(value, list) else [value]
    texts = (plain(each) for each in values if isinstance(each, str))
    return tuple(text for text in texts if text)


def _linked_entry(
    entry: v.PlanEntry, node: Node, nodes: Sequence[Node], entries: Sequence[v.PlanEntry], defects: list[v.PlanDefect]
) -> v.PlanEntry:
    """An entry with what it and the tasks above it depend on, as leaves."""
    if entry.role != "work":
        return entry
    known = {each.id: each for each in nodes}
    chain = [node]
    while chain[-1].parent:
        chain.append(known[chain[-1].parent])
    named: set[str] = set()
    for each in chain:
        for wanted in each.values.get("dependencies") or []:
            id = str(wanted)
            sibling = f"{each.parent}.{id}" if each.parent and "." not in id else id
            found = sibling if sibling in known else id
            role = next((other.role for other in entries if other.item.id == found), None)
            if role in {None, "checklist"}:
                problem = "is not in the file" if role is None else "is cancelled"
                message = f"{each.id} depends on {id}, which {problem}; expected a task that can be done"
                defects.append(v.PlanDefect(entry.line, message, fatal=True))
            named.add(found)
    leaves = (other for other in entries if other.role == "work" and (other.item.id != node.id or node.id in named))
    ids = tuple(other.item.id for other in leaves if _is_of(other.item.id, named, known))
    return entry.with_item(depends_on=ids)


def _is_of(id: str, named: set[str], known: dict[str, Node]) -> bool:
    while id and id not in named:
        id = known[id].parent
    return bool(id)


def status_paths(raw: bytes, selector: str) -> dict[str, Path]:
    value = decode_json(raw)
    base: Path = (selector, "tasks") if selector else ("tasks",) if isinstance(value, dict) else ()
    try:
        tasks = value_at(value, base)
    except (KeyError, TypeError) as error:
        raise v.PlanUnreadable(
            f"there is no tag {selector} any more; expected the one the task was opened with"
        ) from error
    return {node.id: (*node.path, "status") for node in _nodes(tasks, base, raw.decode("utf-8-sig"))}
