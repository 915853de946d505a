"""Reads a whole backlog from the texts of its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flyball.core.workflows.backlog.issues.blocks import ReadFile, gathered, read_issues
from flyball.core.workflows.backlog.issues.history import finished, unfinished
from flyball.core.workflows.backlog.issues.words import is_history
from flyball.core.workflows.backlog.values import Backlog, Deviation


def read_backlog(files: Mapping[str, str], lost: Iterable[Deviation] = ()) -> Backlog:
    """The issues of all files, in the order given, and what those of history say is finished; `lost` could not be read."""
    histories = {name: text for name, text in files.items() if is_history(name)}
    read: list[ReadFile] = []
    for name, text in files.items():
        if name not in histories:
            read.append(read_issues(text, name, sum(len(file.blocks) for file in read)))
    over = finished(histories.values())
    elsewhere = {*over, *(issue.id for file in read for issue in file.issues)}
    open_still = [each for id, each in unfinished(histories).items() if id not in elsewhere]
    return gathered(read, (*lost, *open_still), over)
