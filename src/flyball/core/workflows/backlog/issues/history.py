"""The history of finished issues: what an entry looks like, which issues it says are finished, and when a file is full."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from flyball.core.workflows.backlog.issues.blocks import find_blocks, read_issues
from flyball.core.workflows.backlog.issues.edits import block_of, with_field, with_status, without_field
from flyball.core.workflows.backlog.issues.names import Known
from flyball.core.workflows.backlog.values import HISTORY, Deviation, Issue

_ID = r"[A-Za-z]\w*(?:-\w+)*(?:-[0-9]+|@\w+)"
_ROW = rf"(?am)^(?:\|[ \t]*[`*]*({_ID})[`*]*[ \t]*\||#{{2,4}}[ \t].*\(({_ID})\)[ \t]*$)"
REVERTED = "reverted"
MAX_HISTORY = 150 * 1024
HEADER = "# History\n\nFinished issues, oldest first. Nothing here is ever changed or removed.\n"


def entry(text: str, id: str, *, file: str, at: str, known: Known) -> str:
    """An issue of a file's text as history keeps it: completed, with when, and the file it came from."""
    block = with_status(block_of(text, id, known), id, "completed", forced=True)
    return with_field(with_field(block, id, "completed", at), id, "moved_from", file)


def reverted_row(issue: Issue, *, at: str, reason: str) -> str:
    """What history says of an issue whose completion was rolled back."""
    said = " ".join(reason.replace("'", "\u2019").split())[:300]
    return f"---\nid: {issue.id}\nstatus: {REVERTED}\nreverted: {at}\nreason: '{said}'\n---\n"


def reopened(entry_text: str, id: str) -> str:
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
    """Whether a block is a `reverted` row."""
    return any(issue.stated == REVERTED for issue in read_issues(block, HISTORY).issues)


def finished(histories: Iterable[str]) -> tuple[str, ...]:
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


def unfinished(histories: Mapping[str, str]) -> dict[str, Deviation]:
    """Issues whose last block in history is not final, by id; a `reverted` row is what flyball writes, and is none."""
    last: dict[str, Issue] = {}
    for name, text in histories.items():
        last.update((issue.id, issue) for issue in read_issues(text, name).issues)
    return {
        id: Deviation(issue.file, issue.line, f"{id} is {issue.status} here, and no other file has it")
        for id, issue in last.items()
        if not issue.is_final and issue.stated != REVERTED
    }


def _core(block: str, id: str) -> tuple[str, ...]:
    """A block without what moving it adds, and without empty lines."""
    bare = block_of(block, id)
    for name in ("status", "completed", "moved_from"):
        bare = without_field(bare, id, name)
    return tuple(line.rstrip() for line in bare.splitlines() if line.strip())
