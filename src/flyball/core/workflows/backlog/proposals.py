"""Issues that validators ask for, made ready to be written; what is known already is named and left out."""

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from flyball.core.claims.values import ProposedIssue
from flyball.core.workflows.backlog.facts import NewIssue, Reviewed
from flyball.core.workflows.backlog.issues import edits
from flyball.core.workflows.backlog.reviewing import KINDS
from flyball.core.workflows.backlog.values import Backlog

_TYPES = {"security-auditor": "security", "performance-reviewer": "performance", "spec-auditor": "feature"}
_PATH = re.compile(r"(?<![\w./-])((?:[\w.-]+/)+[\w.-]*\w|[\w-]+\.[A-Za-z]\w{0,7})")


_Wanted = tuple[str, str, ProposedIssue, tuple[str, ...]]
"""Who asks for it, what the issue names as its source, the issue, and the files it is about."""


class Drawn(msgspec.Struct, frozen=True):
    """What is to be written, and sentences on what is not."""

    issues: tuple[NewIssue, ...]
    notes: tuple[str, ...]


def draw(reviews: Iterable[Reviewed], backlog: Backlog, at: datetime) -> Drawn:
    """What validators ask for."""
    return _draw((_request(review.role, each) for review in reviews for each in review.issues), backlog, at)


def _request(role: str, proposal: ProposedIssue) -> _Wanted:
    proposed = proposal if proposal.type.strip() else replace(proposal, type=_TYPES.get(role, "bug"))
    files = tuple(dict.fromkeys(found[1] for found in _PATH.finditer(proposed.problem)))
    return role, KINDS[role].replace(" ", "-"), proposed, files


def _draw(wanted: Iterable[_Wanted], backlog: Backlog, at: datetime) -> Drawn:
    known = list(backlog.issues)
    taken = {*(issue.id for issue in known), *backlog.finished}
    issues: list[NewIssue] = []
    notes: list[str] = []
    for by, source, proposed, files in wanted:
        twin = edits.duplicate_of(proposed, files, known)
        if not proposed.title.strip():
            notes.append(f"{by} proposed an issue without a title; it is not added")
        elif twin is not None:
            notes.append(f"{by} proposed {proposed.title!r}, which is {twin.id} already; it is not added")
        else:
            id = edits.new_id(proposed.type, taken, _mark(proposed.title, at))
            made = edits.as_issue(proposed, id, at.date().isoformat(), files)
            issues.append(NewIssue(made, source))
            known.append(made)
            taken.add(id)
    return Drawn(tuple(issues), tuple(notes))


def _mark(text: str, at: datetime) -> str:
    return hashlib.sha256(f"{text}{at.isoformat()}".encode("utf-8", "replace")).hexdigest()[:6]


def from_feedback(texts: Iterable[str], backlog: Backlog, at: datetime) -> tuple[NewIssue, ...]:
    """New issues for the files of a backlog; what is an open issue there already needs no second one."""
    wanted = (ProposedIssue(text[: edits.MAX_TITLE], "enhancement", "high", text) for text in texts)
    return _draw((("person", "person", each, ()) for each in wanted), backlog, at).issues
