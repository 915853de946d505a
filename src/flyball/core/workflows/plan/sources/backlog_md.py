"""The folder of Backlog.md: one file for each task, with a head of `key: value` lines and criteria as boxes.

The head is read line by line: one in forty of the files that people have is no valid YAML.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from flyball.core.model.task import Item
from flyball.core.workflows.plan.sources import values as v
from flyball.core.workflows.plan.sources.boxes import BOM, TICKED, plain, scan
from flyball.core.workflows.plan.sources.ordering import cycle_defects, require_dependencies
from flyball.core.workflows.plan.sources.wording import files_in

FINISHED = frozenset({"done", "completed", "complete"})
DROPPED = frozenset({"won't do", "wont do", "cancelled", "canceled", "rejected"})
DEFAULT_DONE = "Done"
STATUS = "status"
_HEAD = re.compile(rb"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(rb"^([A-Za-z_]+):[ \t]*([^\r\n]*?)[ \t]*\r?$", re.MULTILINE)
_POINT = re.compile(r"#(\d+)\s+(.*)")


def read_backlog_md(
    files: Mapping[str, bytes], *, done: str = DEFAULT_DONE, finished: Iterable[str] = ()
) -> v.ImportedPlan:
    """The tasks of a folder; `done` is the status of a finished one, `finished` the ids of those that were moved away."""
    defects: list[v.PlanDefect] = []
    entries: list[v.PlanEntry] = []
    for name in sorted(files, key=_rank):
        entry = _entry(name, files[name], done)
        if entry is None:
            defects.append(
                v.PlanDefect(0, f"{name}: there is no head with id and status, so it is not taken as a task")
            )
        else:
            entries.append(entry)
    parents = {entry.parent.casefold() for entry in entries if entry.parent}
    entries = [
        replace(entry, role="parent") if entry.role == "work" and entry.item.id.casefold() in parents else entry
        for entry in entries
    ]
    gone = {id.casefold() for id in finished}
    linked = require_dependencies([_linked_entry(entry, entries, gone, defects) for entry in entries])
    return v.ImportedPlan("backlog.md", linked, (*defects, *cycle_defects(linked)), done=done)


def done_status(config: str) -> str:
    found = re.search(r"^statuses:[ \t]*\[(.*?)\]", config, re.MULTILINE | re.DOTALL)
    listed = found[1].split(",") if found else []
    if not found and (block := re.search(r"^statuses:[ \t]*\r?\n((?:[ \t]+-.*\r?\n?)+)", config, re.MULTILINE)):
        listed = [line.strip().removeprefix("-") for line in block[1].splitlines()]
    names = [name.strip().strip("\"'") for name in listed]
    return next((name for name in reversed(names) if name), DEFAULT_DONE)


def _rank(name: str) -> tuple[int, str]:
    number = re.search(r"\d+", name)
    return (int(number[0]) if number else 0, name)


def _head(raw: bytes) -> dict[str, tuple[str, int, int]]:
    head = _HEAD.match(raw, len(BOM) if raw.startswith(BOM) else 0)
    if head is None:
        return {}
    found: dict[str, tuple[str, int, int]] = {}
    for field in _FIELD.finditer(raw, head.start(1), head.end(1)):
        found[field[1].decode()] = (field[2].decode("utf-8", "replace"), field.start(2), field.end(2))
    return found


def _bare(value: str) -> str:
    return plain(value).strip("\"'")


def _list(raw: bytes, head: dict[str, tuple[str, int, int]], name: str) -> tuple[str, ...]:
    """A list in either of YAML's forms: `[a, b]`, or lines that begin with `-`."""
    if name not in head:
        return ()
    value, _, end = head[name]
    if value.startswith("["):
        return tuple(filter(None, (_bare(each.strip()) for each in value.strip("[]").split(","))))
    below = re.match(rb"\r?\n((?:[ \t]*-[ \t]+[^\r\n]*\r?\n)*)", raw[end:])
    lines = below[1].decode("utf-8", "replace").splitlines() if below else []
    return tuple(_bare(line.strip().removeprefix("-").strip()) for line in lines)


def _entry(name: str, raw: bytes, done: str) -> v.PlanEntry | None:
    head = _head(raw)
    if not {"id", STATUS} <= set(head):
        return None
    id, status = _bare(head["id"][0]), _bare(head[STATUS][0])
    title = _bare(head["title"][0]) if "title" in head else name
    key = v.Key(id, title, part=name)
    boxes = [box for box in scan(raw).boxes if _POINT.match(box.text)]
    points = tuple(match[2] for box in boxes if (match := _POINT.match(box.text)))
    marks = (v.Mark(key, status), *(v.Mark(replace(key, text=box.text), box.mark) for box in boxes))
    finished = status.casefold() in {*FINISHED, done.casefold()}
    item = Item(
        id,
        title,
        status="completed" if finished else "not-started",
        files=files_in(raw.decode("utf-8", "replace")[head[STATUS][2] :][:4000]),
        depends_on=_list(raw, head, "dependencies"),
        acceptance=points or (v.JUDGED_BY_REVIEW,),
        group=_bare(head["milestone"][0]) if "milestone" in head else "",
    )
    parent = _bare(head["parent_task_id"][0]) if "parent_task_id" in head else ""
    role: v.Role = "checklist" if status.casefold() in DROPPED else "work"
    return v.PlanEntry(item, key, marks, 1, role, parent)


def _linked_entry(
    entry: v.PlanEntry, entries: list[v.PlanEntry], gone: set[str], defects: list[v.PlanDefect]
) -> v.PlanEntry:
    """An entry with its dependencies in the spelling of the files; those on parents are on their leaves."""
    known = {each.item.id.casefold(): each for each in entries}
    ids: list[str] = []
    for wanted in entry.item.depends_on:
        other = known.get(wanted.casefold())
        if other is None and wanted.casefold() not in gone:
            message = f"{entry.key.part}: {entry.item.id} depends on {wanted}, which is not in the folder; expected the id of a task"
            defects.append(v.PlanDefect(0, message, fatal=True))
        leaves = [e for e in entries if e.role == "work" and e.parent.casefold() == wanted.casefold()]
        ids += [e.item.id for e in leaves] if other and other.role == "parent" else [other.item.id] if other else []
    itself = any(wanted.casefold() == entry.item.id.casefold() for wanted in entry.item.depends_on)
    parent = known.get(entry.parent.casefold())
    wanted_ids = tuple(dict.fromkeys(id for id in ids if itself or id != entry.item.id))
    return replace(entry.with_item(depends_on=wanted_ids), parent=parent.item.id if parent else "")


def mark_in(raw: bytes, key: v.Key) -> tuple[int, int, str] | None:
    """Where a mark of a task stands in its file, and what it is: the value of `status`, or the box of a criterion."""
    head = _head(raw)
    if STATUS not in head or _bare(head["id"][0] if "id" in head else "").casefold() != key.id.casefold():
        return None
    if _POINT.match(key.text):
        box = next((box for box in scan(raw).boxes if box.text == key.text), None)
        return (box.place, box.place + 1, box.mark) if box is not None else None
    value, start, end = head[STATUS]
    quoted = value[:1] in {'"', "'"} and value[:1] == value[-1:]
    return (start + 1, end - 1, value[1:-1]) if quoted else (start, end, value)


def is_finished(mark: str, done: str) -> bool:
    return mark in TICKED or mark.casefold() in {*FINISHED, done.casefold()}
