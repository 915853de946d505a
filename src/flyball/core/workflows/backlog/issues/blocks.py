"""Reads the issues of a file: leniently, so that no real file is refused, and naming each place where it is not as asked.

A block that cannot be understood, and whatever else names an issue, is skipped and reported; nothing here changes or drops a
character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from flyball.core.text.scrubbing import clean, scrub
from flyball.core.workflows.backlog.issues.fields import Fields, created_at
from flyball.core.workflows.backlog.issues.header import Unreadable, Value, quoted_titles, read_header
from flyball.core.workflows.backlog.issues.names import Known
from flyball.core.workflows.backlog.issues.scan import Block, scan
from flyball.core.workflows.backlog.issues.sections import Sections
from flyball.core.workflows.backlog.issues.unread import find_unread, trimmed
from flyball.core.workflows.backlog.issues.words import PRIORITIES, REQUIRED, TYPES, id_faults, number_of, status_of
from flyball.core.workflows.backlog.values import HISTORY, ISSUE_FILES, Backlog, Deviation, Issue

MAX_BODY = 40_000
_NESTED = re.compile(r"(?im)^(?:\s+|[ \t]*-\s+)[\"']?(id|status)[\"']?[ \t]*:")
_ODD_INDENT = re.compile(r"(?m)^[ \t]*[^\S\x00-\x7f]+[\"']?[A-Za-z_][\w-]*[\"']?[ \t]*:")
_KEYS = re.compile(r"^[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*:", re.ASCII | re.MULTILINE)


class ReadBlock(msgspec.Struct, frozen=True):
    """A block and the issue it holds, or why it is malformed."""

    block: Block
    issue: Issue | None
    fault: Deviation | None = None


class ReadFile(msgspec.Struct, frozen=True):
    """An issue file as read."""

    file: str
    text: str
    blocks: tuple[ReadBlock, ...]
    deviations: tuple[Deviation, ...]

    @property
    def issues(self) -> tuple[Issue, ...]:
        return tuple(read.issue for read in self.blocks if read.issue is not None)

    @property
    def malformed(self) -> tuple[Deviation, ...]:
        return tuple(read.fault for read in self.blocks if read.fault is not None)


def read_issues(text: str, file: str, first: int = 0) -> ReadFile:
    """The issues of a file's text; `first` is the order of the first, so that several files count on."""
    blocks, found = scan(text, file)
    deviations = [*_whole_file(text, file), *found]
    read: list[ReadBlock] = []
    order = first
    for block in blocks:
        issue = _Reader(text, file, block, order, deviations).read()
        read.append(issue)
        order += issue.issue is not None
    return ReadFile(file, text, tuple(read), tuple(deviations))


def find_blocks(text: str, id: str, known: Known | None = None) -> list[ReadBlock]:
    """The blocks of one issue; others are passed over unread, unless the id is nowhere written as it is read.

    With `known` each ends before what it does not own.
    """
    blocks = scan(text, "")[0]
    likely = [block for block in blocks if id in block.header(text)]
    found = _holding(text, likely, id) or _holding(text, blocks, id)
    if known is None or not found:
        return found
    ids = [read.issue.id if read.issue else "" for read in (_Reader(text, "", each, 0, []).read() for each in blocks)]
    unread = find_unread(text, blocks, ids, known)
    return [msgspec.structs.replace(read, block=trimmed(text, read.block, unread)) for read in found]


def _holding(text: str, blocks: Iterable[Block], id: str) -> list[ReadBlock]:
    read = (_Reader(text, "", block, 0, []).read() for block in blocks)
    return [found for found in read if found.issue is not None and found.issue.id == id]


def gathered(files: Sequence[ReadFile], lost: Iterable[Deviation] = (), finished: Iterable[str] = ()) -> Backlog:
    """All files as one backlog; `lost` are files that could not be read at all."""
    unread, over = list(lost), tuple(finished)
    deviations = [*unread]
    known = Known.of((*(issue.id for file in files for issue in file.issues), *over))
    issues: list[Issue] = []
    for file in files:
        own, left = _accounted(file, known)
        issues += own
        unread += [*file.malformed, *left]
        deviations += sorted((*file.deviations, *left), key=lambda deviation: deviation.line)
    return Backlog(
        issues=tuple(issues),
        deviations=(*deviations, *_repeated(issues)),
        unread=tuple(unread),
        finished=over,
    )


def _accounted(file: ReadFile, known: Known) -> tuple[list[Issue], list[Deviation]]:
    """The issues of a file, each without what is not its own, and the places that are not accounted for.

    The format knows no folders: a document in one may mention issues, but what it defines counts.
    """
    ids = [read.issue.id if read.issue else "" for read in file.blocks]
    blocks = [read.block for read in file.blocks]
    unread = find_unread(file.text, blocks, ids, known, mentions="/" not in file.file)
    issues: list[Issue | None] = []
    for read in file.blocks:
        block = trimmed(file.text, read.block, unread)
        if read.issue is not None and block.end != read.block.end:
            issues.append(_Reader(file.text, file.file, block, read.issue.order, []).read().issue)
        else:
            issues.append(read.issue)
    left = [Deviation(file.file, each.line, clean(each.message, 300)) for each in unread]
    return [issue for issue in issues if issue is not None], left


def _repeated(issues: Iterable[Issue]) -> Iterator[Deviation]:
    """Issues that say they are another one: the same id, the same number under another hash, or the same title."""
    ids: dict[str, Issue] = {}
    numbers: dict[str, Issue] = {}
    titles: dict[str, Issue] = {}
    for issue in issues:
        title = " ".join(issue.title.casefold().split())
        same_id = ids.setdefault(issue.id, issue)
        same_number = numbers.setdefault(number_of(issue.id), issue)
        same_title = titles.setdefault(title or issue.id, issue)
        if same_id is not issue:
            yield Deviation(issue.file, issue.line, f"{issue.id} stands in {_place(same_id)} too")
        elif same_number is not issue:
            yield Deviation(issue.file, issue.line, f"{issue.id} has the number of {same_number.id}")
        elif same_title is not issue:
            message = f"{issue.id} has the title of {same_title.id} in {_place(same_title)}"
            yield Deviation(issue.file, issue.line, message)


def _place(issue: Issue) -> str:
    return f"{issue.file}, line {issue.line}"


def _whole_file(text: str, file: str) -> Iterator[Deviation]:
    if file not in (*ISSUE_FILES, HISTORY):
        yield Deviation(file, 0, "not a file of the format; its issues count, after those of low.md")
    if text.startswith("\ufeff"):
        yield Deviation(file, 1, "the file begins with a byte order mark")
    if "\r" in text:
        yield Deviation(file, 1, "lines end with CRLF" if "\r\n" in text else "lines end with CR")
    broken = None if text.isascii() else re.search(r"[\udc80-\udcff]", text)
    if broken is not None:
        line = text.count("\n", 0, broken.start()) + 1
        yield Deviation(file, line, "bytes that are not UTF-8; they are shown as question marks and kept")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Reader:
    """Reads one block; what is wrong with it goes to `deviations`."""

    def __init__(self, text: str, file: str, block: Block, order: int, deviations: list[Deviation]) -> None:
        self._file = file
        self._block = block
        self._order = order
        raw = _unix(block.header(text)).encode("utf-8", "replace").decode()
        self._header = scrub(raw)
        self._body = block.body(text)
        self._deviations = deviations
        self._places: dict[str, list[int]] = {}
        for found in _KEYS.finditer(self._header):
            self._places.setdefault(found[1].lower(), []).append(found.start())
        if self._header != raw:
            self._note(0, "control characters in the header; they are not shown")

    def read(self) -> ReadBlock:
        mapping = Unreadable(0, self._block.fault) if self._block.fault else self._mapping()
        if isinstance(mapping, Unreadable):
            return self._skipped(mapping.line, mapping.message)
        if (odd := _ODD_INDENT.search(self._header)) is not None:
            line = self._header.count("\n", 0, odd.start())
            return self._skipped(line, "a line begins with a space that YAML does not know")
        if {found[1].lower() for found in _NESTED.finditer(self._header)} == {"id", "status"}:
            return self._skipped(0, "it holds the header of another issue; give each a block of its own")
        fields = Fields(mapping)
        if len({status_of(value) or value for value in self._stated()}) > 1:
            return self._skipped(self._offset("status", -1), "it gives more than one status; keep the one that holds")
        fields.text("status")
        if "status" in fields.strange:
            return self._skipped(self._offset("status", 0), "its status is no text")
        id = fields.text("id")
        if not id:
            return self._skipped(0, "it has no id")
        issue = self._made(id, fields)
        self._check(issue, fields)
        return ReadBlock(self._block, issue)

    def _skipped(self, line: int, message: str) -> ReadBlock:
        self._note(line, f"block skipped: {message}")
        return ReadBlock(self._block, None, self._deviations[-1])

    def _mapping(self) -> dict[str, Value] | Unreadable:
        mapping = read_header(self._header)
        if not isinstance(mapping, Unreadable):
            return mapping
        mended = read_header(quoted_titles(self._header))
        if isinstance(mended, Unreadable):
            return mapping
        self._note(mapping.line, "a value with a colon in it is not in quotes")
        return mended

    def _stated(self) -> Iterator[str]:
        """Every value the header gives its status, also those that YAML would drop for a later one."""
        for place in self._places.get("status", ()):
            line = self._header[place:].split("\n", 1)[0]
            yield line.partition(":")[2].partition(" #")[0].strip(" \t\"'")

    def _made(self, id: str, fields: Fields) -> Issue:
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
            self._note_key("created", f"created {issue.created[:40]!r} is no date")
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
        lacking = [
            n for n, value in (("Problem", issue.problem), ("Acceptance Criteria", issue.acceptance)) if not value
        ]
        if lacking:
            self._note_at(issue.line, f"{issue.id} has no section {' and none '.join(lacking)}")
        if len(self._body) > MAX_BODY:
            self._note_at(issue.line, f"{issue.id} has a body of {len(self._body)} characters; {MAX_BODY} are read")

    def _note(self, line: int, message: str) -> None:
        self._note_at(self._block.line + line, message)

    def _note_key(self, key: str, message: str) -> None:
        self._note_at(self._line(key), message)

    def _note_at(self, line: int, message: str) -> None:
        self._deviations.append(Deviation(self._file, line, clean(message, 300)))

    def _line(self, key: str) -> int:
        return self._block.line + self._offset(key, 0)

    def _offset(self, key: str, which: int) -> int:
        return self._header.count("\n", 0, self._places.get(key, [0])[which])
