"""Issues that flyball writes itself: which id they get, which file they go to, and how they read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from flyball.core.claims.values import ProposedIssue
from flyball.core.text.scrubbing import clean
from flyball.core.workflows.backlog.issues.words import NUMBERED, number_of
from flyball.core.workflows.backlog.values import Issue

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
    """A proposal as the issue it becomes."""
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


def rendered(issue: Issue, source: str) -> str:
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
    """The first lines of an issue file that did not exist."""
    return f"# {file.removesuffix('.md').capitalize()}\n\n"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _word(text: str) -> str:
    """A value for the header: plain where it is a word, else in quotes."""
    return text if re.fullmatch(r"[a-z][a-z-]*", text) else json.dumps(text, ensure_ascii=False)
