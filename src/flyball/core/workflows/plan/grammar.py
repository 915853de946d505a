"""The grammar of plan.md: read leniently, checked strictly, written back in one form.

    - [ ] **1.2** name — Files: `a.py`, `b/` | Acceptance: text; text | `depends_on: 1.1` | `scaffold: true`

What belongs to a subtask may also stand in bullets below it. Whatever a planner must mend is a problem with its line.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from flyball.core.loop.batches.choosing import SCAFFOLD, waiting_ring
from flyball.core.model.task import Item
from flyball.core.text.fences import split_fences
from flyball.core.text.scrubbing import one_line, storable
from flyball.core.workflows.plan.sources.wording import is_outside

MOST_PROBLEMS = 12
_BOX = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+]|[0-9]{1,3}[.)])[ \t]+\[(?P<mark>[ xX~-])\][ \t]*(?P<rest>.*)$")
_ID = re.compile(
    r"^(?:\*\*|__|`)?(?P<id>[A-Za-z]{0,12}[-_]?[0-9]+(?:[.\-][0-9A-Za-z]+)*[a-z]?)(?:\*\*|__|`)?(?:[:.)]|[ \t]|$)[ \t]*(?:\*\*)?"
)
_FIELD = re.compile(
    r"^[-*+\s`*_]*(?P<key>files?|acceptance(?: criteria)?|depends[_ -]?on|dependenc(?:y|ies)|depends|after|scaffold)"
    r"[`*_]*[ \t]*:(?:[*_]|`(?=[ \t]))*[ \t]*(?P<value>.*)$",
    re.IGNORECASE,
)
_DASH = re.compile(r"[ \t]+(?:—|–|--)[ \t]+|[ \t]+-[ \t]+(?=`?(?:files?|acceptance|depends|scaffold)\b)", re.IGNORECASE)
_PIPE = re.compile(r"(?<!\\)\|")
_ESCAPED = re.compile(r"\\([\\`*\[\]<>|~&_#+=-])")
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>.*?)[ \t#]*$")
_NONE = frozenset({"", "none", "-", "n/a", "nothing"})


class PlanLine(msgspec.Struct, frozen=True):
    item: Item
    line: int


class PlanText(msgspec.Struct, frozen=True):
    """A plan as it was read: its subtasks, and what is wrong with it."""

    entries: tuple[PlanLine, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(entry.item for entry in self.entries)


class _SubtaskDraft:
    def __init__(self, line: int, mark: str, rest: str) -> None:
        self.line = line
        self.done = mark in "xX"
        self.files: list[str] = []
        self.acceptance: list[str] = []
        self.depends_on: list[str] = []
        self.scaffold = False
        found = _ID.match(rest)
        self.id = found["id"].rstrip(".") if found else ""
        name, *tail = _DASH.split(rest[found.end() :] if found else rest, maxsplit=1)
        segments = _PIPE.split(name)
        self.name = _plain(segments[0])
        for segment in (*segments[1:], *(_PIPE.split(tail[0]) if tail else ())):
            if not self.take(segment) and segment.strip():
                self.name = f"{self.name} — {_plain(segment)}"
        self._in_acceptance = False

    def take(self, text: str) -> bool:
        """Whether the text is a field of a subtask; it is kept then."""
        bare = text.strip()
        found = _FIELD.match(bare[1:-1] if re.fullmatch(r"`[^`]*`", bare) else bare)
        if found is None:
            return False
        key, value = found["key"].lower(), found["value"].strip()
        if key.startswith("file"):
            self.files += [one for one in _words(value) if one not in self.files]
        elif key.startswith("accept"):
            self.acceptance += [point for point in map(_plain, value.split(";")) if point.lower() not in _NONE]
        elif key == SCAFFOLD:
            self.scaffold = _plain(value).strip("`").lower() in {"true", "yes", "1"}
        else:
            self.depends_on += [one for one in _words(value) if one not in self.depends_on]
        self._in_acceptance = key.startswith("accept")
        return True

    def take_below(self, line: str) -> None:
        """Read a line below a subtask: one of its fields, or a point of the acceptance that was begun."""
        if not self.take(line) and self._in_acceptance and line.strip()[:1] in "-*+":
            self.acceptance.append(_plain(line.strip().lstrip("-*+ ")))

    def entry(self) -> PlanLine:
        item = Item(
            self.id,
            self.name,
            "completed" if self.done else "not-started",
            tuple(self.files),
            tuple(self.depends_on),
            tuple(self.acceptance),
            SCAFFOLD if self.scaffold else "",
        )
        return PlanLine(item, self.line)


def parse(text: str) -> PlanText:
    drafts: list[_SubtaskDraft] = []
    asking = False
    for number, line in enumerate(split_fences(storable(text)).prose.split("\n"), 1):
        if heading := _HEADING.match(line):
            asking = heading["title"].strip().lower() == "open questions"
        elif asking:
            continue
        elif box := _BOX.match(line):
            drafts.append(_SubtaskDraft(number, box["mark"], box["rest"]))
        elif drafts and line[:1] in " \t" and line.strip():
            drafts[-1].take_below(line)
    entries = tuple(draft.entry() for draft in drafts)
    return PlanText(entries, problems(entries))


def problems(entries: Sequence[PlanLine]) -> tuple[str, ...]:
    return tuple(_problems(entries))[:MOST_PROBLEMS]


def _problems(entries: Sequence[PlanLine]) -> Iterator[str]:
    if not entries:
        yield "the plan has no subtask; expected lines such as: - [ ] **1.1** name — Files: `a.py` | Acceptance: text"
    known: dict[str, int] = {}
    for entry in entries:
        item, where = entry.item, f"line {entry.line}"
        if not item.id:
            yield f"{where}: the subtask has no id: {item.text[:80]!r}; expected one such as **1.1**"
            continue
        if item.id in known:
            yield f"{where}: the id {item.id} stands on line {known[item.id]} already; every subtask needs its own"
        known.setdefault(item.id, entry.line)
        if not item.text:
            yield f"{where}: {item.id} has no name"
        if not item.acceptance:
            yield f"{where}: {item.id} has no acceptance; add: Acceptance: what can be checked when it is done"
        for path in filter(is_outside, item.files):
            yield f"{where}: {item.id} names {path}, which is outside the repository; expected a path below its root"
    yield from _wrong_dependencies(entries, known)


def _wrong_dependencies(entries: Sequence[PlanLine], known: dict[str, int]) -> Iterator[str]:
    for entry in entries:
        for other in entry.item.depends_on:
            if other not in known:
                yield f"line {entry.line}: {entry.item.id} depends on {other}, which is no subtask of the plan"
    ring = waiting_ring({entry.item.id: entry.item.depends_on for entry in entries})
    if ring:
        yield f"line {known[ring[0]]}: the dependencies go round: {' → '.join((*ring, ring[0]))}"


def render_item(item: Item) -> str:
    mark = "x" if item.status == "completed" else " "
    parts = [f"Files: {', '.join(f'`{file}`' for file in item.files)}"] if item.files else []
    parts += [f"Acceptance: {'; '.join(item.acceptance)}"] if item.acceptance else []
    parts += [f"`depends_on: {', '.join(item.depends_on)}`"] if item.depends_on else []
    parts += ["`scaffold: true`"] if item.kind == SCAFFOLD else []
    return f"- [{mark}] **{item.id}** {item.text}" + (f" — {' | '.join(parts)}" if parts else "")


def render(items: Sequence[Item]) -> str:
    return "\n".join(map(render_item, items))


def _words(value: str) -> list[str]:
    """The words of a list, whatever quotes and brackets they stand in."""
    words = (word.strip().strip("`*_\"'[]()").strip() for word in re.split(r"[,\s]+", value))
    return [word for word in words if word.lower() not in _NONE]


def _plain(text: str) -> str:
    """A text without marks; what plan.md escapes so that Markdown shows it as it stands is read back."""
    return one_line(_ESCAPED.sub(r"\1", text.replace("**", "").strip()))
