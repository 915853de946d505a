"""Marks entries in the bytes of their source: one byte, one value, or one line, and nothing else."""

import json
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from flyball.core.workflows.plan.sources import backlog_md, ralph, task_master
from flyball.core.workflows.plan.sources.boxes import TICKED
from flyball.core.workflows.plan.sources.json_text import Path, decode_json, value_at, with_value
from flyball.core.workflows.plan.sources.keys import reads_alike
from flyball.core.workflows.plan.sources.markdown import mark_places
from flyball.core.workflows.plan.sources.values import MARKDOWN, Format, ImportedPlan, Key, PlanEntry


class MarkChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """The mark at `key` was `before` when it was read, and is to be `after`."""

    key: Key
    before: str
    after: str


class EntryMoved(Exception):
    """A key leads to no entry, or to one whose mark is neither the old nor the new one."""


def is_done(format: Format, mark: str, done: str) -> bool:
    match format:
        case "task-master":
            return mark in task_master.DONE
        case "backlog.md":
            return backlog_md.is_finished(mark, done)
        case "ralph" | "beads" | "github":
            return mark == done
        case _:
            return mark in TICKED


def finishing(plan: ImportedPlan, done: Iterable[str]) -> tuple[MarkChange, ...]:
    """What to change so that the source says the items are done, and each parent of which that finishes the required leaves."""
    finished = set(done)
    below: dict[str, list[PlanEntry]] = {}
    for entry in plan.entries:
        if entry.role != "checklist" and not entry.item.optional:
            below.setdefault(entry.parent, []).append(entry)
    for entry in reversed(plan.entries):
        leaves = below.get(entry.item.id, []) if entry.role == "parent" else []
        ours = any(e.item.id in finished for e in leaves)
        if ours and all(e.item.id in finished or is_marked_done(plan, e) for e in leaves):
            finished.add(entry.item.id)
    boxes = plan.format == "backlog.md"
    return tuple(
        MarkChange(mark.key, mark.mark, "x" if boxes and len(mark.mark) == 1 else plan.done)
        for entry in plan.entries
        if entry.item.id in finished and entry.role != "checklist"
        for mark in entry.marks
        if not is_done(plan.format, mark.mark, plan.done)
    )


def is_marked_done(plan: ImportedPlan, entry: PlanEntry) -> bool:
    return all(is_done(plan.format, mark.mark, plan.done) for mark in entry.marks)


def ours(plan: ImportedPlan, written: Iterable[MarkChange]) -> dict[Key, MarkChange]:
    """The marks of a plan that stand because we wrote them, by the keys they have now.

    An entry that was worded anew is known by its id, and one whose number among equals changed by its text.
    """
    marks = {mark.key: mark.mark for entry in plan.entries for mark in entry.marks}
    found: dict[Key, MarkChange] = {}
    lost: list[MarkChange] = []
    for change in written:
        if marks.get(change.key) == change.after:
            found[change.key] = change
        else:
            lost.append(change)
    for change in lost:
        alike = (k for k, mark in marks.items() if k not in found and mark == change.after and _alike(change.key, k))
        key = next(alike, None)
        if key is not None:
            found[key] = replace(change, key=key)
    return found


def _alike(one: Key, other: Key) -> bool:
    same = one.part == other.part and (one.id == other.id if one.id else one.text == other.text)
    return same or reads_alike(one, other)


def undoing(plan: ImportedPlan, written: Mapping[Key, MarkChange], undone: Iterable[str]) -> tuple[MarkChange, ...]:
    """What to change so that items are open again: the remembered mark, and only where ours still stands; parents with them."""
    reopened = set(undone)
    for entry in plan.entries:
        if entry.parent in reopened or entry.item.id not in reopened:
            continue
        above = entry.parent
        while above:
            reopened.add(above)
            above = next((each.parent for each in plan.entries if each.item.id == above), "")
    return tuple(
        MarkChange(mark.key, mark.mark, written[mark.key].before)
        for entry in plan.entries
        if entry.item.id in reopened
        for mark in entry.marks
        if mark.key in written and written[mark.key].after == mark.mark
    )


def with_marks(raw: bytes, format: Format, selector: str, changes: Iterable[MarkChange]) -> bytes:
    for change in changes:
        if format in MARKDOWN or format == "backlog.md":
            start, end, now = _span(raw, format, change.key)
            if not _stands_already(change, now):
                raw = raw[:start] + change.after.encode() + raw[end:]
            continue
        path = _path(raw, format, selector, change.key)
        value = value_at(decode_json(raw), path)
        if not _stands_already(change, json.dumps(value) if isinstance(value, bool) else str(value)):
            raw = with_value(raw, path, _json_value(format, change.after))
    return raw


def _json_value(format: Format, mark: str) -> bool | str:
    return mark == ralph.DONE if format == "ralph" else mark


def _stands_already(change: MarkChange, now: str) -> bool:
    if now not in {change.before, change.after}:
        raise EntryMoved(f"{change.key} is marked {now!r}, neither {change.before!r} nor {change.after!r}")
    return now == change.after


def _span(raw: bytes, format: Format, key: Key) -> tuple[int, int, str]:
    if format == "backlog.md":
        found = backlog_md.mark_in(raw, key)
        if found is None:
            raise EntryMoved(f"{key} is not in the file")
        return found
    place = _place(mark_places(raw, format), key)
    return place, place + 1, raw[place : place + 1].decode()


def _place(places: Mapping[Key, int], key: Key) -> int:
    """The one place a key leads to: by its id if no other has it, else by all of it."""
    same = [place for other, place in places.items() if key.id and other.id == key.id]
    if len(same) == 1:
        return same[0]
    if key not in places:
        candidates = ", ".join(str(other) for other in places if other.id == key.id or other.text == key.text)
        raise EntryMoved(f"{key} is not in the file" + (f"; there are: {candidates}" if candidates else ""))
    return places[key]


def _path(raw: bytes, format: Format, selector: str, key: Key) -> Path:
    if format == "task-master":
        found = task_master.status_paths(raw, selector).get(key.id)
    else:
        found = next((p for k, p in ralph.passes_paths(raw).items() if (k.id, k.part) == (key.id, key.part)), None)
    if found is None:
        raise EntryMoved(f"{key} is not in the file")
    return found


def nothing_else_moved(
    before: bytes, after: bytes, format: Format, selector: str, changes: Iterable[MarkChange]
) -> bool:
    changes = tuple(changes)
    if format == "backlog.md":
        made = (change for change in changes if _span(before, format, change.key)[2] != change.after)
        back = (MarkChange(change.key, change.after, change.before) for change in made)
        return before == after or with_marks(after, format, selector, back) == before
    if format in MARKDOWN:
        places = mark_places(before, format)
        allowed = {_place(places, change.key) for change in changes}
        moved = {place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new}
        return len(before) == len(after) and moved <= allowed and mark_places(after, format) == places
    old, new = decode_json(before), decode_json(after)
    for change in changes:
        *steps, last = _path(before, format, selector, change.key)
        value_at(old, steps)[last] = _json_value(format, change.after)
    return bool(old == new)
