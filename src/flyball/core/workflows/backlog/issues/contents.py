"""What a block says: the fields of its header, the sections of its body, and the issue they make.

Reading is lenient: each place where a block is not as asked is named, and a block that cannot be understood is skipped and reported.
"""

import re
from collections.abc import Iterator

import msgspec

from flyball.core.text.scrubbing import clean, scrub
from flyball.core.workflows.backlog.issues.blocks import Block
from flyball.core.workflows.backlog.issues.header import (
    Fields,
    Unreadable,
    Value,
    created_at,
    quote_titles,
    read_header,
)
from flyball.core.workflows.backlog.issues.words import PRIORITIES, REQUIRED, TYPES, id_faults, status_of
from flyball.core.workflows.backlog.values import Deviation, Issue

MAX_BODY = 40_000

_HEADING = r"#{1,6}[ \t]+(.*?)[ \t#:]*"
_BULLET = r"[ \t]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]+(?:\[[ xX~!-]\][ \t]+)?(\S.*)"
_PATH = r"`([^`\s]+)`"
_NESTED = re.compile(r"(?im)^(?:\s+|[ \t]*-\s+)[\"']?(id|status)[\"']?[ \t]*:")
_ODD_INDENT = re.compile(r"(?m)^[ \t]*[^\S\x00-\x7f]+[\"']?[A-Za-z_][\w-]*[\"']?[ \t]*:")
_KEYS = re.compile(r"^[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*:", re.ASCII | re.MULTILINE)


class Sections:
    """A body by its headings; sections are known by name, whatever their rank."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._sections: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in text.split("\n"):
            heading = re.fullmatch(_HEADING, line) if line.startswith("#") else None
            if heading is None:
                lines.append(line)
            else:
                lines = self._sections.setdefault(heading[1].strip("*_ ").casefold(), [])

    @property
    def problem(self) -> str:
        return "\n".join(self._lines("problem", "description")).strip()

    @property
    def acceptance(self) -> tuple[str, ...]:
        lines = self._lines("acceptance criteria", "acceptance", "success criteria")
        return tuple(found[1].strip() for line in lines if (found := re.fullmatch(_BULLET, line)))

    @property
    def files(self) -> tuple[str, ...]:
        """Paths listed under `Affected Files`: what stands in back-quotes, else the first word of a bullet."""
        found = []
        for line in self._lines("affected files", "files"):
            bullet = re.fullmatch(_BULLET, line)
            if bullet is not None:
                quoted = re.search(_PATH, bullet[1])
                found.append(quoted[1] if quoted else bullet[1].split()[0].strip("`,;"))
        return tuple(dict.fromkeys(found))

    def _lines(self, *names: str) -> list[str]:
        return next((self._sections[name] for name in names if name in self._sections), [])


class ReadBlock(msgspec.Struct, frozen=True):
    """A block and the issue it holds, or why it is malformed."""

    block: Block
    issue: Issue | None
    fault: Deviation | None = None


def read_block(text: str, block: Block, file: str = "", order: int = 0) -> tuple[ReadBlock, list[Deviation]]:
    reader = _BlockReader(text, file, block, order)
    return reader.read(), reader.deviations


class _BlockReader:
    """Reads one block; `deviations` collects what is wrong with it."""

    def __init__(self, text: str, file: str, block: Block, order: int) -> None:
        self._file = file
        self._block = block
        self._order = order
        raw = block.header(text).replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
        self._header = scrub(raw)
        self._body = block.body(text)
        self.deviations: list[Deviation] = []
        self._places: dict[str, list[int]] = {}
        for found in _KEYS.finditer(self._header):
            self._places.setdefault(found[1].lower(), []).append(found.start())
        if self._header != raw:
            self._note(0, "control characters in the header; they are not shown")

    def read(self) -> ReadBlock:
        mapping = Unreadable(0, self._block.fault) if self._block.fault else self._mapping()
        if isinstance(mapping, Unreadable):
            return self._skip(mapping.line, mapping.message)
        if (odd := _ODD_INDENT.search(self._header)) is not None:
            line = self._header.count("\n", 0, odd.start())
            return self._skip(line, "a line begins with a space that YAML does not know")
        if {found[1].lower() for found in _NESTED.finditer(self._header)} == {"id", "status"}:
            return self._skip(0, "it holds the header of another issue; give each a block of its own")
        fields = Fields(mapping)
        if len({status_of(value) or value for value in self._statuses()}) > 1:
            return self._skip(self._offset("status", -1), "it gives more than one status; keep the one that holds")
        fields.text("status")
        if "status" in fields.strange:
            return self._skip(self._offset("status", 0), "its status is not text")
        id = fields.text("id")
        if not id:
            return self._skip(0, "it has no id")
        issue = self._issue(id, fields)
        self._check(issue, fields)
        return ReadBlock(self._block, issue)

    def _skip(self, line: int, message: str) -> ReadBlock:
        self._note(line, f"block skipped: {message}")
        return ReadBlock(self._block, None, self.deviations[-1])

    def _mapping(self) -> dict[str, Value] | Unreadable:
        mapping = read_header(self._header)
        if not isinstance(mapping, Unreadable):
            return mapping
        mended = read_header(quote_titles(self._header))
        if isinstance(mended, Unreadable):
            return mapping
        self._note(mapping.line, "a value with a colon in it is not in quotes")
        return mended

    def _statuses(self) -> Iterator[str]:
        """Every value the header gives its status, also those that YAML would drop for a later one."""
        for place in self._places.get("status", ()):
            line = self._header[place:].split("\n", 1)[0]
            yield line.partition(":")[2].partition(" #")[0].strip(" \t\"'")

    def _issue(self, id: str, fields: Fields) -> Issue:
        stated, created = fields.text("status"), fields.text("created")
        sections = Sections(clean(self._body, MAX_BODY))
        environments, awaited = fields.requires()
        return Issue(
            id=id,
            title=fields.text("title"),
            # A word nobody knows is not worked on, and is not taken for finished.
            status=status_of(stated or "proposed") or "blocked",
            file=self._file,
            line=self._line("id"),
            order=self._order,
            stated=stated,
            type=fields.text("type").lower(),
            priority=fields.text("priority").lower(),
            tags=fields.texts("tags"),
            created=created_at(created) or created,
            blocked_by=tuple(dict.fromkeys((*fields.blocked_by(), *awaited))),
            requires=environments,
            affected_files=fields.texts("affected_files") or fields.texts("references") or sections.files,
            acceptance=fields.texts("acceptance") or fields.texts("acceptance_criteria") or sections.acceptance,
            problem=sections.problem or fields.text("description"),
            body=sections.text,
        )

    def _check(self, issue: Issue, fields: Fields) -> None:
        given = (issue.id, issue.title, issue.created, issue.type, issue.priority, issue.stated)
        missing = [name for name, value in zip(REQUIRED, given, strict=True) if not value]
        if missing:
            self._note_at(issue.line, f"{issue.id} has no {', '.join(missing)}")
        for fault in id_faults(issue.id):
            self._note_at(issue.line, f"id {issue.id}: {fault}")
        if issue.stated and issue.stated != issue.status:
            unknown = "" if status_of(issue.stated) else ", since nobody knows what it means"
            self._note_key("status", f"status {issue.stated!r} is taken as {issue.status}{unknown}")
        if issue.created and not created_at(issue.created):
            self._note_key("created", f"created {issue.created[:40]!r} is not a date")
        for name, value, allowed in (("type", issue.type, TYPES), ("priority", issue.priority, PRIORITIES)):
            if value and value not in allowed:
                self._note_key(name, f"{name} {value!r} is not one of {', '.join(sorted(allowed))}")
        for name, places in self._places.items():
            if len(places) > 1:
                self._note_key(name, f"{name} is given more than once; the last one counts")
        for name in fields.strange:
            self._note_key(name, f"{name} is neither a text nor a list of texts; what is left of it is not read")
        self._check_body(issue)

    def _check_body(self, issue: Issue) -> None:
        sections = {"Problem": issue.problem, "Acceptance Criteria": issue.acceptance}
        lacking = [name for name, value in sections.items() if not value]
        if lacking:
            self._note_at(issue.line, f"{issue.id} has no section {' and none '.join(lacking)}")
        if len(self._body) > MAX_BODY:
            self._note_at(issue.line, f"{issue.id} has a body of {len(self._body)} characters; {MAX_BODY} are read")

    def _note(self, line: int, message: str) -> None:
        self._note_at(self._block.line + line, message)

    def _note_key(self, key: str, message: str) -> None:
        self._note_at(self._line(key), message)

    def _note_at(self, line: int, message: str) -> None:
        self.deviations.append(Deviation(self._file, line, clean(message, 300)))

    def _line(self, key: str) -> int:
        return self._block.line + self._offset(key, 0)

    def _offset(self, key: str, which: int) -> int:
        return self._header.count("\n", 0, self._places.get(key, [0])[which])
