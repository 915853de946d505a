"""Reads the issues of files, and all files as one backlog: leniently, so that no real file is refused.

A block that cannot be understood, and whatever else names an issue, is skipped and reported; nothing here changes or drops a
character.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from flyball.core.text.scrubbing import clean
from flyball.core.workflows.backlog.issues.blocks import Block, scan
from flyball.core.workflows.backlog.issues.contents import ReadBlock, read_block
from flyball.core.workflows.backlog.issues.unread import find_unread, trim
from flyball.core.workflows.backlog.issues.words import KnownIssues, is_history, number_of
from flyball.core.workflows.backlog.values import HISTORY, ISSUE_FILES, Backlog, Deviation, Issue

_ID = r"[A-Za-z]\w*(?:-\w+)*(?:-[0-9]+|@\w+)"
_ROW = rf"(?am)^(?:\|[ \t]*[`*]*({_ID})[`*]*[ \t]*\||#{{2,4}}[ \t].*\(({_ID})\)[ \t]*$)"
REVERTED = "reverted"


class ReadFile(msgspec.Struct, frozen=True):
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
        one, noted = read_block(text, block, file, order)
        read.append(one)
        deviations += noted
        order += one.issue is not None
    return ReadFile(file, text, tuple(read), tuple(deviations))


def find_blocks(text: str, id: str, known: KnownIssues | None = None) -> list[ReadBlock]:
    """The blocks of one issue; others are passed over unread, unless the id is nowhere written as it is read.

    With `known` each ends before what it does not own.
    """
    blocks = scan(text, "")[0]
    likely = [block for block in blocks if id in block.header(text)]
    found = _holding(text, likely, id) or _holding(text, blocks, id)
    if known is None or not found:
        return found
    issues = (read_block(text, each)[0].issue for each in blocks)
    ids = [issue.id if issue else "" for issue in issues]
    unread = find_unread(text, blocks, ids, known)
    return [msgspec.structs.replace(read, block=trim(text, read.block, unread)) for read in found]


def _holding(text: str, blocks: Iterable[Block], id: str) -> list[ReadBlock]:
    read = (read_block(text, block)[0] for block in blocks)
    return [found for found in read if found.issue is not None and found.issue.id == id]


def gather_backlog(files: Sequence[ReadFile], lost: Iterable[Deviation] = (), finished: Iterable[str] = ()) -> Backlog:
    """All files as one backlog; `lost` are files that could not be read at all."""
    unread, over = list(lost), tuple(finished)
    deviations = [*unread]
    known = KnownIssues.of((*(issue.id for file in files for issue in file.issues), *over))
    issues: list[Issue] = []
    for file in files:
        own, left = _account_for(file, known)
        issues += own
        unread += [*file.malformed, *left]
        deviations += sorted((*file.deviations, *left), key=lambda deviation: deviation.line)
    return Backlog(
        issues=tuple(issues),
        deviations=(*deviations, *_repetitions(issues)),
        unread=tuple(unread),
        finished=over,
    )


def _account_for(file: ReadFile, known: KnownIssues) -> tuple[list[Issue], list[Deviation]]:
    """The issues of a file, each without what is not its own, and the places that are not accounted for.

    The format knows no folders: a document in one may mention issues, but what it defines counts.
    """
    ids = [read.issue.id if read.issue else "" for read in file.blocks]
    blocks = [read.block for read in file.blocks]
    unread = find_unread(file.text, blocks, ids, known, mentions="/" not in file.file)
    issues: list[Issue | None] = []
    for read in file.blocks:
        block = trim(file.text, read.block, unread)
        if read.issue is not None and block.end != read.block.end:
            issues.append(read_block(file.text, block, file.file, read.issue.order)[0].issue)
        else:
            issues.append(read.issue)
    left = [Deviation(file.file, each.line, clean(each.message, 300)) for each in unread]
    return [issue for issue in issues if issue is not None], left


def _repetitions(issues: Iterable[Issue]) -> Iterator[Deviation]:
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
            yield Deviation(issue.file, issue.line, f"{issue.id} stands in {same_id.file}, line {same_id.line} too")
        elif same_number is not issue:
            yield Deviation(issue.file, issue.line, f"{issue.id} has the number of {same_number.id}")
        elif same_title is not issue:
            message = f"{issue.id} has the title of {same_title.id} in {same_title.file}, line {same_title.line}"
            yield Deviation(issue.file, issue.line, message)


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


def read_backlog(files: Mapping[str, str], lost: Iterable[Deviation] = ()) -> Backlog:
    """The issues of all files, in the order given, and what those of history say is finished; `lost` could not be read."""
    histories = {name: text for name, text in files.items() if is_history(name)}
    read: list[ReadFile] = []
    for name, text in files.items():
        if name not in histories:
            read.append(read_issues(text, name, sum(len(file.blocks) for file in read)))
    over = finished_in(histories.values())
    elsewhere = {*over, *(issue.id for file in read for issue in file.issues)}
    open_still = [each for id, each in _unfinished_in(histories).items() if id not in elsewhere]
    return gather_backlog(read, (*lost, *open_still), over)


def finished_in(histories: Iterable[str]) -> tuple[str, ...]:
    """Ids that are finished by the last word on each; the texts come oldest first.

    A block counts by its status. A row of a table that begins with an id, or a heading that ends with one in brackets, is how
    others keep their history, and is final.
    """
    last: dict[str, bool] = {}
    for text in filter(None, histories):
        said = [(found.start(), found[1] or found[2], True) for found in re.finditer(_ROW, text)]
        blocks = read_issues(text, HISTORY).blocks
        said += [(read.block.start, read.issue.id, read.issue.is_final) for read in blocks if read.issue]
        last.update((id, final) for _, id, final in sorted(said))
    return tuple(id for id, final in last.items() if final)


def _unfinished_in(histories: Mapping[str, str]) -> dict[str, Deviation]:
    """Issues whose last block in history is not final, by id; a `reverted` row is what flyball writes, and is none."""
    last: dict[str, Issue] = {}
    for name, text in histories.items():
        last.update((issue.id, issue) for issue in read_issues(text, name).issues)
    return {
        id: Deviation(issue.file, issue.line, f"{id} is {issue.status} here, and no other file has it")
        for id, issue in last.items()
        if not issue.is_final and issue.stated != REVERTED
    }
