"""Feedback on finished work: the single things it asks for, and what they become."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime

from flyball.core import new_issues
from flyball.core.backlog import Backlog
from flyball.core.backlog_facts import NewIssue
from flyball.core.claim_values import ProposedIssue
from flyball.core.task import Item
from flyball.core.text import one_line, storable

SOURCE = "person"
_LISTED = re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$", re.MULTILINE)
_NUMBER = re.compile(r"AC-([0-9]+)")
_MOST = 2000


def wishes(text: str) -> tuple[str, ...]:
    """Each item of a list in the feedback, else all of it as one."""
    found = dict.fromkeys(_plain(item) for item in _LISTED.findall(text))
    return tuple(found) or (_plain(text),)


def as_criteria(texts: Iterable[str], known: Iterable[Item]) -> tuple[Item, ...]:
    """New acceptance criteria, numbered after those the task has."""
    highest = max((int(found[1]) for item in known if (found := _NUMBER.fullmatch(item.id))), default=0)
    return tuple(Item(f"AC-{highest + number}", text) for number, text in enumerate(texts, 1))


def as_issues(texts: Iterable[str], backlog: Backlog, at: datetime) -> tuple[NewIssue, ...]:
    """New issues for the files of a backlog; what is an open issue there already needs no second one."""
    known = list(backlog.issues)
    taken = {*(issue.id for issue in known), *backlog.finished}
    made: list[NewIssue] = []
    for text in texts:
        wanted = ProposedIssue(title=text[: new_issues.MAX_TITLE], type="enhancement", priority="high", problem=text)
        if new_issues.duplicate_of(wanted, (), known) is not None:
            continue
        mark = hashlib.sha256(f"{text}{at.isoformat()}".encode("utf-8", "replace")).hexdigest()[:6]
        issue = new_issues.as_issue(wanted, new_issues.new_id(wanted.type, taken, mark), at.date().isoformat())
        made.append(NewIssue(issue, SOURCE))
        known.append(issue)
        taken.add(issue.id)
    return tuple(made)


def _plain(text: str) -> str:
    return one_line(storable(text))[:_MOST].strip()
