"""A source as it changes while its plan is worked: what people did to it meanwhile, and what is known of its marks."""

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from flyball.core.model.task import Item
from flyball.core.workflows.plan.sources.keys import keep_names
from flyball.core.workflows.plan.sources.marking import MarkChange, is_marked_done, ours
from flyball.core.workflows.plan.sources.values import ImportedPlan, Key

TRACKERS = frozenset({"beads", "github"})
"""Sources that show only what is open: an entry that is finished vanishes from them."""


class Matter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something a person did to a source that only they can explain; `items` are as the source words them now."""

    kind: Literal["new", "gone", "reworded", "ticked"]
    items: tuple[Item, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.items)


class Imported(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a source: the plan as it was taken in, with the marks that stand; `unread` is one not taken in yet.

    Of entries by their ids: `ticked` by a person and taken as done, `unverified` where no gate spoke for that, `dropped` by their word.

    `written` are the marks we made, by which they are taken back. `looked` is when it was last read, as a number of visits to stages.
    """

    sha256: str = ""
    plan: ImportedPlan | None = None
    unread: ImportedPlan | None = None
    unread_sha256: str = ""
    written: tuple[MarkChange, ...] = ()
    matters: tuple[Matter, ...] = ()
    ticked: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    looked: int = -1
    reads: int = 0
    marks: int = 0
    stale: int = 0


class Difference(msgspec.Struct, frozen=True):
    added: tuple[Item, ...] = ()
    gone: tuple[Item, ...] = ()
    reworded: tuple[Item, ...] = ()
    ticked: tuple[Item, ...] = ()
    opened: tuple[Item, ...] = ()


def renewed_plan(imported: Imported) -> ImportedPlan:
    assert imported.unread is not None
    before = imported.plan
    if before is None:
        return imported.unread
    now = keep_names(imported.unread, {entry.key: entry.item.id for entry in before.entries})
    if now.format not in TRACKERS:
        return now
    there = {entry.item.id for entry in now.entries}
    finished = (e for e in before.entries if e.item.id not in there and is_marked_done(before, e))
    return replace(now, entries=(*now.entries, *finished))


def difference(
    before: ImportedPlan, now: ImportedPlan, items: tuple[Item, ...], written: tuple[MarkChange, ...] = ()
) -> Difference:
    """What people changed in what is worked; the order of entries alone is no difference, and a mark we wrote is nobody else's."""
    own = ours(now, written)
    mine = {entry.item.id for entry in now.entries if any(mark.key in own for mark in entry.marks)}
    was = {entry.item.id: entry for entry in before.entries if entry.role == "work"}
    is_ = {entry.item.id: entry for entry in now.entries if entry.role == "work"}
    status = {item.id: item.status for item in items}
    left = [item for item in items if item.status != "completed" and item.id in was]
    there = [(is_[item.id], was[item.id]) for item in left if item.id in is_]
    new = [entry for id, entry in is_.items() if id not in was and id not in status]
    done = [(is_[id], was[id]) for id in is_ if id in was and status.get(id) == "completed"]
    return Difference(
        added=tuple(replace(e.item, status="not-started") if e.item.id in mine else e.item for e in new),
        gone=tuple(item for item in left if item.id not in is_),
        reworded=tuple(e.item for e, old in there if e.item.text != old.item.text),
        ticked=tuple(e.item for e, _ in there if e.item.id not in mine and is_marked_done(now, e)),
        opened=tuple(e.item for e, old in done if is_marked_done(before, old) and not is_marked_done(now, e)),
    )


def with_changes(plan: ImportedPlan, changes: Iterable[MarkChange]) -> ImportedPlan:
    after: dict[Key, str] = {change.key: change.after for change in changes}
    entries = (
        replace(e, marks=tuple(replace(m, mark=after.get(m.key, m.mark)) for m in e.marks)) for e in plan.entries
    )
    return replace(plan, entries=tuple(entries))


def standing_marks(written: tuple[MarkChange, ...], changes: Iterable[MarkChange]) -> tuple[MarkChange, ...]:
    """The marks of ours that stand after these changes; one that was taken back is forgotten."""
    known = {change.key: change for change in written}
    for change in changes:
        if change.key in known and known[change.key].before == change.after:
            del known[change.key]
        else:
            known[change.key] = change
    return tuple(known.values())


def still_written(written: tuple[MarkChange, ...], now: ImportedPlan) -> tuple[MarkChange, ...]:
    """The marks of ours in a plan that was read again, by their keys of now; one that somebody else changed is ours no longer.

    That of an entry which is not there is kept: the entry may come back with its mark.
    """
    there = {mark.key for entry in now.entries for mark in entry.marks}
    found = ours(now, written)
    return (*found.values(), *(change for change in written if change.key not in there))


def perhaps_written(written: tuple[MarkChange, ...], changes: Iterable[MarkChange]) -> tuple[MarkChange, ...]:
    """The marks of ours after an attempt that may have made these changes or not: where such a mark stands, it counts as ours."""
    known = {change.key for change in written}
    return (*written, *(change for change in changes if change.key not in known))
