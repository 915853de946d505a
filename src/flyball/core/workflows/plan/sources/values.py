"""A plan as it was read from its source: entries with their items, where each is marked, and what is odd about the source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from flyball.core.model.task import Item

Format = Literal[
    "plain",
    "spec-kit",
    "openspec",
    "kiro",
    "ralphex",
    "fix_plan",
    "task-master",
    "ralph",
    "backlog.md",
    "beads",
    "github",
]
FORMATS: Mapping[str, Format] = {each: each for each in get_args(Format)}
MARKDOWN: frozenset[Format] = frozenset({"plain", "spec-kit", "openspec", "kiro", "ralphex", "fix_plan"})
"""The formats whose marks are one byte between brackets."""

Role = Literal["work", "parent", "checklist"]
JUDGED_BY_REVIEW = "What the text says, judged by review; all gates pass"
MAX_TEXT = 2000
MAX_DETAILS = 40


class Key(msgspec.Struct, frozen=True, omit_defaults=True):
    """What tells an entry from all others of its source: its id, if no other has it; else its text and its number among equals.

    `part` is the file of a folder it stands in, or the part of the entry that is marked.
    """

    id: str = ""
    text: str = ""
    nth: int = 1
    part: str = ""

    def __str__(self) -> str:
        return self.id or f"{self.text[:60]!r}" + (f" (number {self.nth})" if self.nth > 1 else "")


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """A mark that stands at a key: the character between brackets, or the value of a field."""

    key: Key
    mark: str


class PlanEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of a plan. A `parent` is done with its leaves; a `checklist` is shown, never worked and never marked.

    `marks` are all that say whether it is done: one, or the boxes below a heading.
    """

    item: Item
    key: Key
    marks: tuple[Mark, ...]
    line: int = 0
    role: Role = "work"
    parent: str = ""

    def with_item(self, **changes: Any) -> PlanEntry:
        return replace(self, item=replace(self.item, **changes))


class PlanDefect(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something odd about a line; with a `fatal` one the plan cannot be worked."""

    line: int
    message: str
    fatal: bool = False


class ImportedPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source as it was read; `selector` is the part of it that was chosen, such as a tag, `done` the mark of what is finished."""

    format: Format
    entries: tuple[PlanEntry, ...] = ()
    defects: tuple[PlanDefect, ...] = ()
    title: str = ""
    selector: str = ""
    done: str = "x"

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(entry.item for entry in self.entries if entry.role == "work")


class PlanUnreadable(ValueError):
    """The source is not what its format wants; `line` is where, counted from one, or 0 for the whole of it."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.line = line
