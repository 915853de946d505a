"""The `---PRP_PHASE_STATUS---` block, read from agents and written for people: its grammar stands in `status_fields`."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from flyball.core.claims.status_fields import (
    GRAMMAR,
    SECTIONS,
    BlockField,
    BlockSection,
    BrokenBlock,
    Calls,
    FieldEntry,
    StatusBlock,
)
from flyball.core.text.scrubbing import one_line, storable

BEGIN = "---PRP_PHASE_STATUS---"
END = "---END_PRP_PHASE_STATUS---"
MAX_LINES = 500
MAX_VALUE = 2000
REFACTOR_PHASE = "REFACTOR"
"""The phase whose blocks list the patterns that were applied, by the format."""
REVIEW_PHASE = "QA"
"""The phase whose blocks hold the numbers of a review instead of those of tests and files, by the format."""

_KEY = re.compile(r"([A-Z0-9][A-Z0-9_]{0,63}):(?:\s+(.*))?")
_WHOLE = re.compile(r"[0-9]{1,9}")
_ITEM = re.compile(r"^-(?:\s+|$)")
_NONE = frozenset({"none", "[]", "n/a"})


class _Unreadable(Exception):
    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.broken = BrokenBlock(reason, line)


def parse(text: str) -> StatusBlock | BrokenBlock | None:
    """The last block of a text; what makes the claim (STATUS, EXIT_SIGNAL) must be exact, the rest is read leniently."""
    span = _last_span(text)
    if span is None or isinstance(span, BrokenBlock):
        return span
    try:
        return _block(_entries(text.split("\n"), *span))
    except _Unreadable as unreadable:
        return unreadable.broken


def last_block_text(text: str) -> str:
    """The last complete block exactly as it stands, delimiters included; empty when there is none."""
    span = _last_span(text)
    if span is None or isinstance(span, BrokenBlock):
        return ""
    return "\n".join(text.split("\n")[span[0] : span[1] + 1])


def render(block: StatusBlock) -> str:
    """The block as text; every value is one line, so no value can end the block or add a key."""
    leftovers = {entry.key: entry for entry in block.extra}
    lines = [BEGIN]
    gap = False
    for entry in [*_known_entries(block, leftovers), *leftovers.values()]:
        if entry.body or gap:
            lines.append("")
        lines.append(f"{entry.key}: {entry.value}".rstrip())
        lines += [f"  {line}" for line in entry.body]
        gap = bool(entry.body)
    return "\n".join([*lines, END, ""])


def deviations(block: StatusBlock) -> tuple[str, ...]:
    """What a readable block has that the grammar does not allow; shown, and no reason to disbelieve it."""
    return tuple(_deviations(block))


def _last_span(text: str) -> tuple[int, int] | BrokenBlock | None:
    """The 0-based lines of the last block's delimiters."""
    begin = end = None
    stray: int | None = None
    for number, line in enumerate(text.split("\n")):
        mark = line.strip() if len(line) - len(line.lstrip(" ")) <= 3 else ""
        if mark == BEGIN:
            begin, end = number, None
        elif mark == END and begin is None:
            stray = number
        elif mark == END and end is None:
            end = number
    if begin is None:
        return None if stray is None else BrokenBlock(f"{END} without {BEGIN} before it", stray + 1)
    if end is None:
        return BrokenBlock(f"{BEGIN} without {END} after it", begin + 1)
    if end - begin > MAX_LINES:
        return BrokenBlock(f"the block has more than {MAX_LINES} lines", begin + 1)
    return begin, end


def _entries(lines: list[str], begin: int, end: int) -> dict[str, tuple[FieldEntry, int]]:
    """Keys with their values and indented lines, whatever they mean, each with its 1-based line."""
    entries: dict[str, tuple[FieldEntry, int]] = {}
    key = ""
    for number, raw in enumerate(lines[begin + 1 : end], start=begin + 2):
        line = raw.expandtabs(4)
        content = as_value(line)
        if not content:
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent:
            if not key:
                raise _Unreadable(f"{content!r} is indented but stands under no key", number)
            entry, at = entries[key]
            body = (*entry.body, " " * max(0, indent - 2) + content)
            entries[key] = (FieldEntry(entry.key, entry.value, body), at)
            continue
        match = _KEY.fullmatch(content)
        if match is None:
            raise _Unreadable(f"{content[:80]!r} is not `KEY: value`", number)
        key = match[1]
        if key in entries:
            raise _Unreadable(f"{key} appears twice", number)
        entries[key] = (FieldEntry(key, match[2] or ""), number)
    return entries


def _block(entries: dict[str, tuple[FieldEntry, int]]) -> StatusBlock:
    values: dict[str, Any] = {}
    extra: list[FieldEntry] = []
    for field in GRAMMAR:
        if field.key not in entries:
            continue
        entry, line = entries.pop(field.key)
        rest = None
        if field.section:
            values[field.name], rest = _section(entry, field.section, line)
        elif field.kind is tuple:
            values[field.name] = _items((entry.value, *entry.body))
        else:
            text = as_value(" ".join((entry.value, *entry.body)))
            values[field.name] = _scalar(text, field)
            rest = _unread(text, field, line) if values[field.name] is None else None
        extra += [rest] if rest else []
    return StatusBlock(**values, extra=(*extra, *(entry for entry, _ in entries.values())))


def _unread(text: str, field: BlockField, line: int) -> FieldEntry:
    if field.name == "exit_signal":
        raise _Unreadable(f"EXIT_SIGNAL is {text[:80]!r}; expected true or false", line)
    if field.name == "status":
        raise _Unreadable(f"STATUS is {text[:80]!r}; expected {', '.join(field.words)}", line)
    return FieldEntry(field.key, text)


def _section(entry: FieldEntry, kind: type[BlockSection], line: int) -> tuple[BlockSection, FieldEntry | None]:
    """The section, and what under its key was not understood."""
    fields = {field.key: field for field in SECTIONS[entry.key]}
    values: dict[str, Any] = {}
    rest: list[str] = []
    for raw in entry.body:
        match = _KEY.fullmatch(raw.strip())
        field = fields.get(match[1]) if match else None
        if match is None or field is None:
            rest.append(raw)
            continue
        if field.name in values:
            raise _Unreadable(f"{field.key} appears twice under {entry.key}", line)
        values[field.name] = _scalar(match[2] or "", field)
        rest += [raw.strip()] if values[field.name] is None else []
    known = {name: value for name, value in values.items() if value is not None}
    return kind(**known), FieldEntry(entry.key, entry.value, tuple(rest)) if rest or entry.value else None


def _scalar(text: str, field: BlockField) -> Any:
    """The value of a scalar, or None when it cannot be read as its kind."""
    if field.words:
        return text if text in field.words else None
    if field.kind is bool:
        return {"true": True, "false": False}.get(text)
    if field.kind is int:
        return int(text) if _WHOLE.fullmatch(text) else None
    if field.kind is Calls:
        made, _, limit = text.partition("/")
        return Calls(int(made), int(limit)) if _WHOLE.fullmatch(made) and _WHOLE.fullmatch(limit) else None
    return text


def _items(lines: Iterable[str]) -> tuple[str, ...]:
    items = (_ITEM.sub("", line.strip(), count=1).strip() for line in lines)
    return tuple(item for item in items if item and item.lower() not in _NONE)


def _known_entries(block: StatusBlock, leftovers: dict[str, FieldEntry]) -> Iterator[FieldEntry]:
    for field in GRAMMAR:
        value = getattr(block, field.name)
        if field.kind is tuple:
            items = tuple(f"- {item}" for item in _items(map(as_value, value)))
            listed = field.name == "blockers" or (field.name == "patterns_applied" and block.phase == REFACTOR_PHASE)
            if items or listed:
                yield FieldEntry(field.key, body=items or ("- none",))
        elif value is None or value == "":
            continue
        elif field.section:
            rest = leftovers.pop(field.key, FieldEntry(field.key))
            yield FieldEntry(field.key, rest.value, (*_section_lines(value, field.key, rest), *rest.body))
        else:
            yield FieldEntry(field.key, _render_value(value))


def _section_lines(section: object, key: str, rest: FieldEntry) -> Iterator[str]:
    taken = {line.partition(":")[0] for line in rest.body}
    for field in SECTIONS[key]:
        shown = _render_value(getattr(section, field.name))
        if shown and field.key not in taken:
            yield f"{field.key}: {shown}"


def _render_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Calls):
        return f"{value.made}/{value.limit}"
    return as_value(str(value))


def as_value(text: str) -> str:
    """A value as a block can hold it: one line, no control characters, not longer than a block allows."""
    return one_line(storable(text))[:MAX_VALUE].rstrip()


def _deviations(block: StatusBlock) -> Iterator[str]:
    needed = ["timestamp", "phase", "status", "iteration", "progress_percent", "circuit_breaker", "dual_gate"]
    needed += ["qa_metrics"] if block.phase == REVIEW_PHASE else ["tests", "files"]
    unread = {entry.key for entry in block.extra}
    missing = [n.upper() for n in needed if getattr(block, n) in {None, ""} and n.upper() not in unread]
    if missing:
        yield f"missing: {', '.join(missing)}"
    known = {key: {field.key for field in fields} for key, fields in SECTIONS.items()}
    scalars = {field.key for field in GRAMMAR} - known.keys()
    for entry in block.extra:
        if entry.key in scalars:
            yield f"{entry.key} is {entry.value!r}, which cannot be read"
        for line in entry.body:
            if line.partition(":")[0] in known.get(entry.key, ()):
                yield f"{entry.key} has {line!r}, which cannot be read"
    tests = block.tests
    if tests and tests.passing + tests.failing + tests.skipped != tests.total:
        yield (
            f"TESTS do not add up: {tests.passing} passing + {tests.failing} failing + {tests.skipped} skipped "
            f"is not {tests.total}"
        )
    if block.iteration == 0:
        yield "ITERATION is 0; it counts from 1"
    if (block.progress_percent or 0) > 100:
        yield f"PROGRESS_PERCENT is {block.progress_percent}; at most 100"
