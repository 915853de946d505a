"""Reads a markdown plan of any of its tools into entries."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from flyball.core.model.task import Item
from flyball.core.workflows.plan.sources import values as v, wording as words
from flyball.core.workflows.plan.sources.boxes import TICKED, Box, HeadedSection, Scan, scan
from flyball.core.workflows.plan.sources.keys import KeyMaker, duplicate_defects, unique_names
from flyball.core.workflows.plan.sources.ordering import cycle_defects, require_dependencies, with_order
from flyball.core.workflows.plan.sources.profiles import (
    PROFILES,
    TASK_HEADING,
    Profile,
    is_optional,
    is_story,
    tick_of,
)
from flyball.core.workflows.plan.sources.wording import Wording

MOSTLY = 0.8
"""The share of boxes with an id from which those without one are checklists."""


def mark_places(raw: bytes, format: v.Format) -> dict[v.Key, int]:
    """Where in a file each mark is, as the place of its byte."""
    drafts = _drafts(scan(raw), PROFILES[format])
    return {mark.key: place for draft in drafts for mark, place in zip(draft.marks, draft.places, strict=True)}


def read_markdown(
    raw: bytes, format: v.Format, criteria: Mapping[str, str] | None = None, *, parallel_stories: bool = False
) -> v.ImportedPlan:
    """The plan a file holds; `criteria` by number that entries refer to, and stories side by side or not."""
    found = scan(raw)
    profile = PROFILES[format]
    drafts = _drafts(found, profile)
    ids = [draft.wording.id for draft in drafts]
    names = unique_names(ids)
    inherited = _phase_acceptance(found.sections, profile)
    entries = [
        _entry(draft, name, profile, criteria or {}, inherited.get(draft.group, ()))
        for draft, name in zip(drafts, names, strict=True)
    ]
    _nest(entries, drafts)
    dependencies = _Dependencies(entries, drafts)
    linked = [dependencies.link(index) for index in range(len(entries))]
    twice = duplicate_defects(ids, names, [draft.line for draft in drafts])
    defects = [*found.defects, *_unworkable(drafts), *twice, *dependencies.defects]
    ordered = require_dependencies(linked)
    if format != "plain" or sum(words.names_fields(d.wording, d.details) for d in drafts) * 2 < len(drafts):
        ordered = with_order(ordered, beside=lambda group: parallel_stories and is_story(group))
    title = next((section.title for section in found.sections if section.level == 1), "")
    return v.ImportedPlan(
        format,
        ordered,
        (*sorted(defects, key=lambda defect: defect.line), *cycle_defects(ordered)),
        re.sub(r"^(?:Tasks|Implementation Plan|Plan)\s*:\s*", "", title),
        done=tick_of(found, profile),
    )


class _EntryDraft(msgspec.Struct):
    """An entry before it has a name: its words, its boxes, and the draft it is nested in."""

    wording: Wording
    line: int
    marks: tuple[v.Mark, ...]
    places: tuple[int, ...]
    details: list[str]
    group: str
    optional: bool = False
    role: v.Role = "work"
    parent: int = -1


def _drafts(found: Scan, profile: Profile) -> list[_EntryDraft]:
    return list(_tasks(found) if profile.format == "ralphex" else _boxes(found, profile))


def _boxes(found: Scan, profile: Profile) -> Iterator[_EntryDraft]:
    wordings = [_wording(box, profile) for box in found.boxes]
    named = sum(bool(wording.id) for wording in wordings)
    if profile.format == "plain" and named * 2 < len(wordings):
        wordings = [_wording(box, replace(profile, ids=False)) for box in found.boxes]
        named = 0
    listed = named < len(wordings) and named >= MOSTLY * len(wordings)
    keys = KeyMaker()
    for box, wording in zip(found.boxes, wordings, strict=True):
        idle = profile.idle is not None and any(map(profile.idle.match, (*box.section.above, box.section.title)))
        checklist = idle or (listed and not wording.id) or (not wording.text and box.mark in TICKED)
        mark = v.Mark(keys.make(wording.id, wording.text), box.mark)
        group = profile.group(box.section)
        if profile.format == "kiro":
            above = box.parent
            while above >= 0:  # The outermost box names the group.
                group, above = wordings[above].text, found.boxes[above].parent
        optional = box.optional or is_optional(box.section)
        role: v.Role = "checklist" if checklist else "work"
        yield _EntryDraft(wording, box.line, (mark,), (box.place,), box.details, group, optional, role, box.parent)


def _unworkable(drafts: Sequence[_EntryDraft]) -> Iterator[v.PlanDefect]:
    for draft in drafts:
        if draft.role == "work" and not draft.wording.text:
            yield v.PlanDefect(draft.line, "the box has no text; expected what is to be done", fatal=True)
        for path in words.outside_in(draft.wording, draft.details):
            message = f"{path} is outside the repository; expected a path below its root, such as src/a.py"
            yield v.PlanDefect(draft.line, message, fatal=True)


def _wording(box: Box, profile: Profile) -> Wording:
    if not profile.ids:
        return Wording(words.take_apart(f"- {box.text}", numbers=False, labels=False).text.removeprefix("-").lstrip())
    return words.take_apart(box.text, numbers=profile.numbers, labels=profile.labels)


def _tasks(found: Scan) -> Iterator[_EntryDraft]:
    """One draft for each heading `### Task N: title`, done when all boxes below it are ticked."""
    keys = KeyMaker()
    validation = tuple(_commands(found.sections))
    for section, own in _boxes_by_task(found):
        heading = TASK_HEADING.fullmatch(section.title)
        work = [box for box in own if not re.search(r"\[[ xX]\]", box.text)]
        if heading and work:
            marks = tuple(v.Mark(keys.make(f"Task {heading[1]}", box.text), box.mark) for box in work)
            details = [*(box.text for box in work), *validation]
            wording = Wording(heading[2], heading[1])
            places = tuple(box.place for box in work)
            yield _EntryDraft(wording, section.line, marks, places, details, "", is_optional(section))


def _boxes_by_task(found: Scan) -> list[tuple[HeadedSection, list[Box]]]:
    """The headings of tasks, each with the boxes below it before the next heading of its level."""
    tasks: list[tuple[HeadedSection, list[Box]]] = []
    holding: dict[int, list[Box]] = {}
    current: tuple[HeadedSection, list[Box]] | None = None
    for section in found.sections:
        if TASK_HEADING.fullmatch(section.title):
            current = (section, [])
            tasks.append(current)
        elif current is not None and section.level <= current[0].level:
            current = None
        if current is not None:
            holding[section.line] = current[1]
    for box in found.boxes:
        if box.section.line in holding:
            holding[box.section.line].append(box)
    return tasks


def _commands(sections: Sequence[HeadedSection]) -> Iterator[str]:
    """What `## Validation Commands` names: bullets in backticks, or the lines of a fence."""
    for section in sections:
        if re.match(r"validation commands?", section.title, re.IGNORECASE):
            quoted = (command for line in section.lines for command in re.findall(r"`([^`]+)`", line))
            for command in (*quoted, *section.fenced):
                if command and not command.startswith("#"):
                    yield f"`{command}` passes"


def _entry(
    draft: _EntryDraft, id: str, profile: Profile, known: Mapping[str, str], inherited: tuple[str, ...]
) -> v.PlanEntry:
    """A draft with its name, without its dependencies."""
    wording = draft.wording
    texts = (wording.text, wording.fields.get("files", ""), *draft.details)
    own = wording.fields.get("acceptance")
    criteria = [known[n] for n in words.references_in(draft.details, "Requirement") if n in known]
    acceptance = (*((own,) if own else ()), *words.acceptance_in(draft.details), *criteria)
    ticked = all(mark.mark in TICKED for mark in draft.marks)
    parallel = profile.parallel in wording.labels if profile.parallel else None
    item = Item(
        id,
        wording.text,
        status="completed" if ticked else "not-started",
        files=words.files_in(" ; ".join(texts)),
        acceptance=acceptance or inherited or (v.JUDGED_BY_REVIEW,),
        kind="scaffold" if words.is_scaffold(wording, draft.details) else "",
        optional=draft.optional,
        group=draft.group,
        parallel=parallel if profile.format == "spec-kit" else parallel or None,
    )
    key = draft.marks[0].key if profile.format != "ralphex" else v.Key(wording.id, wording.text)
    return v.PlanEntry(item, key, draft.marks, draft.line, draft.role)


def _phase_acceptance(sections: Sequence[HeadedSection], profile: Profile) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    if not profile.inherits:
        return found
    announced = re.compile(rf"[*_]*(?:{'|'.join(profile.inherits)})[*_]*\s*:[*_]*\s*(.+)", re.IGNORECASE)
    for section in sections:
        points = tuple(match[1] for line in section.lines if (match := announced.fullmatch(line)))
        found[profile.group(section)] = (*found.get(profile.group(section), ()), *points)
    return found


def _nest(entries: list[v.PlanEntry], drafts: Sequence[_EntryDraft]) -> None:
    """Name each entry's parent; an entry with work below it is a parent, and what is only listed below it belongs to it."""
    for index, draft in enumerate(drafts):
        if draft.parent < 0:
            continue
        above = entries[draft.parent]
        entries[index] = replace(entries[index], parent=above.item.id)
        if draft.role == "work" and above.role == "work":
            entries[draft.parent] = replace(above, role="parent")
    for draft in drafts:
        if draft.role == "checklist" and draft.parent >= 0 and entries[draft.parent].role == "work":
            above = entries[draft.parent]
            points = (*(each for each in above.item.acceptance if each != v.JUDGED_BY_REVIEW), draft.wording.text)
            files = tuple(dict.fromkeys((*above.item.files, *words.files_in(draft.wording.text))))
            entries[draft.parent] = above.with_item(acceptance=points, files=files)


class _Dependencies:
    """What entries say they depend on, themselves or through their parents, as the ids of work."""

    def __init__(self, entries: Sequence[v.PlanEntry], drafts: Sequence[_EntryDraft]) -> None:
        self._entries, self._drafts = entries, drafts
        parents = {each.item.id: each.parent for each in entries}
        self._leaves: dict[str, list[int]] = {}
        for index, entry in enumerate(entries):
            above = entry.item.id if entry.role == "work" else ""
            while above:
                self._leaves.setdefault(above, []).append(index)
                above = parents[above]
        self._places: dict[str, list[int]] = {}
        for index, draft in enumerate(drafts):
            if draft.wording.id:
                self._places.setdefault(draft.wording.id, []).append(index)
        self.defects: list[v.PlanDefect] = []

    def link(self, index: int) -> v.PlanEntry:
        """An entry with what it waits for by its own word."""
        entry, draft = self._entries[index], self._drafts[index]
        if entry.role != "work":
            return entry
        texts = [f"depends_on: {draft.wording.fields.get('depends_on', '')}"]
        while True:
            texts += draft.wording.text, *draft.details
            if draft.parent < 0:
                break
            draft = self._drafts[draft.parent]
        wanted = words.dependencies_in(texts)
        if not wanted.ids and not wanted.ranges:
            return entry
        itself = self._names_itself(index)
        ids = tuple(id for id in self._resolve(wanted, entry) if itself or id != entry.item.id)
        return entry.with_item(depends_on=ids)

    def _names_itself(self, index: int) -> bool:
        """Whether an entry says that it waits for itself; what it says of a parent or of others with its id means those."""
        draft = self._drafts[index]
        field = f"depends_on: {draft.wording.fields.get('depends_on', '')}"
        wanted = words.dependencies_in((field, draft.wording.text, *draft.details))
        id = draft.wording.id
        return id in wanted.ids and id not in wanted.loose and self._places[id] == [index]

    def _resolve(self, wanted: words.Wanted, entry: v.PlanEntry) -> tuple[str, ...]:
        """The work that ids stand for: all of a parent's leaves, all entries that share an id, all between the ends of a range."""
        places = self._places
        for id in (*wanted.ids, *(end for ends in wanted.ranges for end in ends)):
            if id not in places and id not in wanted.loose:
                message = f"{entry.item.id} depends on {id}, which no entry of the file has; expected the id of one"
                self.defects.append(v.PlanDefect(entry.line, message, fatal=True))
        chosen = [index for id in wanted.ids for index in places.get(id, ())]
        for one, other in wanted.ranges:
            if one in places and other in places:
                chosen += range(places[one][0], places[other][-1] + 1)
        work = sorted({leaf for index in chosen for leaf in self._leaves.get(self._entries[index].item.id, ())})
        return tuple(self._entries[leaf].item.id for leaf in work)
