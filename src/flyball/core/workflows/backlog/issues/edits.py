"""The smallest edits of issue files, as text to text: one status changed, one block removed or added, nothing reformatted.

Every function leaves all other characters as they are, line ends and oddities included. Here stand also the two kinds of text that
flyball writes itself: new issues, and entries of the history of finished ones.
"""

import json
import re
from collections.abc import Iterable, Sequence

from flyball.core.claims.values import ProposedIssue
from flyball.core.text.lines import LINE_END, line_end
from flyball.core.text.scrubbing import clean
from flyball.core.workflows.backlog.issues.contents import ReadBlock
from flyball.core.workflows.backlog.issues.reading import REVERTED, find_blocks, read_issues
from flyball.core.workflows.backlog.issues.words import NUMBERED, KnownIssues, number_of
from flyball.core.workflows.backlog.values import HISTORY, Issue, Status

TRANSITIONS: dict[Status, frozenset[Status]] = {
    "proposed": frozenset({"in-progress", "won't-fix"}),
    "in-progress": frozenset({"completed", "blocked"}),
    "blocked": frozenset({"in-progress"}),
    "completed": frozenset(),
    "won't-fix": frozenset(),
}
_PREFIXES = {
    "bug": "BUG",
    "feature": "FEAT",
    "enhancement": "ENHANCE",
    "refactor": "REFACTOR",
    "doc": "DOCS",
    "docs": "DOCS",
    "perf": "PERF",
    "performance": "PERF",
    "security": "SEC",
    "test": "TEST",
    "chore": "CHORE",
}
_FILES = {name: f"{name}.md" for name in ("critical", "high", "medium", "low")}
# What would end the body of an issue, or begin another one, gets a space before it.
_MARK = re.compile(r"^(?=-{3,}[ \t]*$|#{1,2}[ \t]|id[ \t]*:)", re.MULTILINE | re.IGNORECASE)
MAX_TITLE = 200
MAX_HISTORY = 150 * 1024
HEADER = "# History\n\nFinished issues, oldest first. Nothing here is ever changed or removed.\n"


class IssueMissing(Exception):
    """The file holds no issue of that id."""


class TransitionRefused(Exception):
    """An issue cannot go from its status to the one asked for."""


class EditRefused(Exception):
    """The file is written in a way that the smallest edit would change more than it should."""


def with_status(text: str, id: str, status: Status, *, forced: bool = False) -> str:
    """The text with one issue's status changed; `forced` also goes where no transition leads, for what is made anew."""
    found = _find(text, id)
    issue = _issue(found)
    if issue.status == status and (issue.stated or not forced):
        return text
    if not forced and status not in TRANSITIONS[issue.status]:
        allowed = ", ".join(sorted(TRANSITIONS[issue.status])) or "nothing: that is final"
        raise TransitionRefused(f"{id} is {issue.status} and cannot become {status}; it may become {allowed}.")
    edited = with_field(text, id, "status", status)
    if _issue(_find(edited, id)).status != status:
        raise EditRefused(f"The status of {id} cannot be changed where it stands; set it to {status} by hand.")
    return edited


def with_field(text: str, id: str, name: str, value: str) -> str:
    """The text with one field of an issue's header set; a new field goes to the end of the header."""
    block = _find(text, id).block
    header = block.header(text)
    # Of a field that is given twice the last one counts.
    places = list(_field(name).finditer(header))
    if places:
        start, end = places[-1].span(1)
        remark = re.fullmatch(r"[^\r\n#]*?([ \t]+#[^\r\n]*)", places[-1][1])
        new = header[:start] + f" {value}{remark[1] if remark else ''}" + header[end:]
    else:
        eol = line_end(text)
        gap = "" if re.search(LINE_END, header[-1:]) else eol
        new = f"{header}{gap}{name}: {value}{eol}"
    return text[: block.header_start] + new + text[block.header_end :]


def without_field(text: str, id: str, name: str) -> str:
    block = _find(text, id).block
    header = block.header(text)
    return text[: block.header_start] + _field(name).sub("", header) + text[block.header_end :]


def without_block(text: str, id: str, known: KnownIssues) -> str:
    block = _find(text, id, known).block
    return text[: block.start] + text[block.end :]


def block_of(text: str, id: str, known: KnownIssues | None = None) -> str:
    """An issue's block as it stands, with fences where it lacks them and without the separator after it.

    In an issue file it ends before what it does not own, as far as others are `known`; in history all of it is its own.
    """
    block = _find(text, id, known).block
    eol = line_end(text)
    header = block.header(text).rstrip("\r\n")
    body = re.sub(LINE_END, lambda _: eol, block.body(text))
    return f"---{eol}{header}{eol}---{eol}{eol}{body}{eol}" if body else f"---{eol}{header}{eol}---{eol}"


def with_block(text: str, block: str) -> str:
    """The text with a block added at its end, parted from what is before by an empty line, in the file's own line ends."""
    eol = line_end(text) if text else "\n"
    added = re.sub(LINE_END, lambda _: eol, block.strip("\r\n")) + eol
    if not text or text == "\ufeff":
        return text + added
    ended = text if text.endswith(("\n", "\r")) else text + eol
    gap = "" if re.search(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)\Z", ended) else eol
    return ended + gap + added


def find_issue(text: str, id: str) -> Issue | None:
    try:
        return _issue(_find(text, id))
    except IssueMissing:
        return None


def _find(text: str, id: str, known: KnownIssues | None = None) -> ReadBlock:
    """The block of an issue; of two with one id the one that is not finished."""
    found = find_blocks(text, id, known)
    if not found:
        raise IssueMissing(f"{id} is in no block of the file.")
    return next((read for read in found if not _issue(read).is_final), found[0])


def _issue(read: ReadBlock) -> Issue:
    assert read.issue is not None
    return read.issue


def _field(name: str) -> re.Pattern[str]:
    """A field of a header with the lines its value goes on in, up to and with its line end; its value is the group."""
    value = r"([^\r\n]*(?:(?:\r\n|\n|\r)[ \t]+\S[^\r\n]*)*)"
    return re.compile(rf"(?:\A|(?<=[\r\n]))[\"']?{re.escape(name)}[\"']?[ \t]*:{value}(?:\r\n|\n|\r|\Z)", re.IGNORECASE)


def new_id(kind: str, taken: Iterable[str], mark: str) -> str:
    """The next id of a kind: one above the highest number its prefix has anywhere, and six hex characters given."""
    prefix = _PREFIXES.get(kind.strip().lower(), "BUG")
    numbers = (NUMBERED.fullmatch(number_of(id)) for id in taken)
    highest = max((int(found[2]) for found in numbers if found and found[1] == prefix), default=0)
    return f"{prefix}-{highest + 1:03}@{mark}"


def file_for(priority: str) -> str:
    """The file an issue of that priority goes to; what nobody triaged goes to the backlog, nothing to the shortlist."""
    return _FILES.get(priority.strip().lower(), "backlog.md")


def duplicate_of(proposed: ProposedIssue, files: Sequence[str], known: Iterable[Issue]) -> Issue | None:
    """The issue that says the same already: the same title, or the same files and problem."""
    title, problem = _plain(proposed.title), _plain(proposed.problem)
    touched = frozenset(files)
    for issue in known:
        if title and _plain(issue.title) == title:
            return issue
        if problem and touched and frozenset(issue.affected_files) == touched and _plain(issue.problem) == problem:
            return issue
    return None


def as_issue(proposed: ProposedIssue, id: str, created: str, files: Sequence[str] = ()) -> Issue:
    file = file_for(proposed.priority)
    return Issue(
        id=id,
        title=" ".join(clean(proposed.title, MAX_TITLE).split()),
        file=file,
        stated="proposed",
        type=proposed.type.strip().lower() or "bug",
        priority=file.removesuffix(".md") if file != "backlog.md" else "medium",
        created=created,
        affected_files=tuple(files),
        acceptance=tuple(" ".join(clean(each).split()) for each in proposed.acceptance),
        problem=clean(proposed.problem) or clean(proposed.title, MAX_TITLE),
    )


def render_issue(issue: Issue, source: str) -> str:
    """A new issue as a block; whatever its texts hold, it stays one block. `source` is the validator that found it."""
    files = [f"  - {json.dumps(each, ensure_ascii=False)}" for each in issue.affected_files]
    fields = [
        f"id: {issue.id}",
        f"title: {json.dumps(issue.title, ensure_ascii=False)}",
        f"created: {issue.created}",
        f"type: {_word(issue.type)}",
        f"priority: {_word(issue.priority)}",
        "status: proposed",
        f"source: {_word(source)}",
        *(["affected_files:", *files] if files else []),
    ]
    criteria = issue.acceptance or ("The problem above no longer occurs",)
    body = [
        "### Problem",
        _MARK.sub(" ", issue.problem),
        "",
        "### Acceptance Criteria",
        *(f"- [ ] {each}" for each in criteria),
    ]
    return "\n".join(["---", *fields, "---", "", *body, ""])


def header_of(file: str) -> str:
    return f"# {file.removesuffix('.md').capitalize()}\n\n"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _word(text: str) -> str:
    return text if re.fullmatch(r"[a-z][a-z-]*", text) else json.dumps(text, ensure_ascii=False)


def entry(text: str, id: str, *, file: str, at: str, known: KnownIssues) -> str:
    """An issue of a file's text as history keeps it: completed, with when, and the file it came from."""
    block = with_status(block_of(text, id, known), id, "completed", forced=True)
    return with_field(with_field(block, id, "completed", at), id, "moved_from", file)


def reverted_row(issue: Issue, *, at: str, reason: str) -> str:
    said = " ".join(reason.replace("'", "\u2019").split())[:300]
    return f"---\nid: {issue.id}\nstatus: {REVERTED}\nreverted: {at}\nreason: '{said}'\n---\n"


def reopen(entry_text: str, id: str) -> str:
    """An entry of history as the issue it was before it was finished."""
    block = with_status(block_of(entry_text, id), id, "proposed", forced=True)
    return without_field(without_field(block, id, "completed"), id, "moved_from")


def holds(history: str, id: str, wanted: str) -> bool:
    """Whether the last word of history on an issue is this entry already, whenever it was written."""
    known = records(history, id)
    return bool(known) and _core(known[-1], id) == _core(wanted, id)


def records(history: str, id: str) -> list[str]:
    """All that a file of history says of an issue, in order: blocks of it, and `reverted` rows."""
    return [history[read.block.start : read.block.end] for read in find_blocks(history, id)]


def is_reverted(block: str) -> bool:
    return any(issue.stated == REVERTED for issue in read_issues(block, HISTORY).issues)


def _core(block: str, id: str) -> tuple[str, ...]:
    """A block without what moving it adds, and without empty lines."""
    bare = block_of(block, id)
    for name in ("status", "completed", "moved_from"):
        bare = without_field(bare, id, name)
    return tuple(line.rstrip() for line in bare.splitlines() if line.strip())
