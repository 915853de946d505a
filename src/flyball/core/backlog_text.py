"""Reads a whole backlog from the texts of its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flyball.core.backlog import Backlog, Deviation
from flyball.core.issue_blocks import ReadFile, gathered, read_issues
from flyball.core.issue_history import finished
from flyball.core.issue_words import is_issue_file


def read_backlog(files: Mapping[str, str], unread: Iterable[Deviation] = ()) -> Backlog:
    """The issues of all files, in the order given, and what those of history say is finished."""
    done = finished(text for name, text in files.items() if not is_issue_file(name))
    read: list[ReadFile] = []
    for name, text in files.items():
        if is_issue_file(name):
            read.append(read_issues(text, name, sum(len(file.blocks) for file in read)))
    return gathered(read, unread, done)
