"""Which issues can be worked on by an agent alone, why the others cannot, and which of them comes next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from flyball.core.workflows.backlog.issues.header import created_at
from flyball.core.workflows.backlog.issues.words import number_of, place_of
from flyball.core.workflows.backlog.values import Backlog, Issue, Situation

FOR_PEOPLE = ("needs-input", "blocked", "requires-human")
FAILED_OFTEN = 2
_SYSTEMS = {
    "windows": "windows win win32 win64",
    "macos": "macos mac osx darwin",
    "linux": "linux",
    "freebsd": "freebsd",
    "android": "android",
    "ios": "ios",
}
_SYSTEM = {word: system for system, words in _SYSTEMS.items() for word in words.split()}
_ANYWHERE = frozenset({"any", "all", "none", "nothing"})
_ONLY = "-only"
_REQUIRES = r"(?:requires?|needs?|environment)[-:](.+)"
_NEVER = "\U0010ffff"


class Candidates(msgspec.Struct, frozen=True):
    """Open issues, parted: those to work on in their order, and those that wait for something, with what."""

    actionable: tuple[Issue, ...]
    waiting: tuple[tuple[Issue, str], ...]


def candidates(situation: Situation) -> Candidates:
    finished = _Finished(situation.backlog)
    has = frozenset(_environment(name) for name in situation.environment)
    answered = frozenset(situation.session.answered)
    repeated = _repetitions(situation.backlog.issues)
    actionable: list[Issue] = []
    waiting: list[tuple[Issue, str]] = []
    for issue in situation.backlog.issues:
        if issue.is_open:
            causes = _causes(issue, has, finished, answered=issue.id in answered)
            cause = ", ".join((*repeated.get(issue.id, ()), *causes))
            if cause:
                waiting.append((issue, cause))
            else:
                actionable.append(issue)
    return Candidates(tuple(in_order(actionable, situation.session.failures)), tuple(waiting))


def _repetitions(issues: Iterable[Issue]) -> dict[str, tuple[str]]:
    """Ids that several unfinished issues have, and where: nobody can say which of them is meant."""
    places: dict[str, list[str]] = {}
    for issue in issues:
        if not issue.is_final:
            places.setdefault(issue.id, []).append(f"{issue.file}, line {issue.line}")
    return {id: (f"its id stands {len(at)} times ({'; '.join(at)})",) for id, at in places.items() if len(at) > 1}


def in_order(issues: Iterable[Issue], failures: Mapping[str, int]) -> list[Issue]:
    """Files in their order, what is in progress first, then the oldest; what failed twice comes after all else."""
    return sorted(issues, key=lambda issue: _rank(issue, failures))


def needs_input(issue: Issue) -> bool:
    return "needs-input" in _tags(issue)


def is_called(issue: Issue, name: str) -> bool:
    """Whether a name, an id or only its number, means this issue."""
    return bool(name) and name in (issue.id, number_of(issue.id))


def _rank(issue: Issue, failures: Mapping[str, int]) -> tuple[bool, tuple[int, str], bool, str, int, str]:
    often = failures.get(issue.id, 0) >= FAILED_OFTEN
    age = created_at(issue.created) or _NEVER
    return often, place_of(issue.file), issue.status != "in-progress", age, issue.order, issue.id


def _causes(issue: Issue, has: frozenset[str], finished: _Finished, *, answered: bool) -> Iterator[str]:
    tags = _tags(issue)
    if not answered:
        yield from (f"tagged {tag}" for tag in FOR_PEOPLE if tag in tags)
    yield from _lacking(issue, tags, has)
    for other in issue.blocked_by:
        unfinished = finished.lacks(other)
        if unfinished:
            yield f"blocked by {other}, {unfinished}"


def _lacking(issue: Issue, tags: Iterable[str], has: frozenset[str]) -> Iterator[str]:
    """What an issue requires that this machine lacks; of several systems one is enough."""
    required = {_environment(name) for name in issue.requires}
    for tag in tags:
        requires = re.fullmatch(_REQUIRES, tag)
        if tag.endswith(_ONLY) and tag.removesuffix(_ONLY) in _SYSTEM:
            required.add(_environment(tag))
        elif requires and tag not in FOR_PEOPLE and requires[1] != "input":
            required.add(_environment(requires[1]))
    systems = {name for name in required if name in _SYSTEM}
    here = ", ".join(sorted(has)) or "nothing named"
    if systems and not systems & has:
        yield f"requires {' or '.join(sorted(systems))}, and here is {here}"
    for name in sorted(required - systems - has - _ANYWHERE):
        yield f"requires {name}, and here is {here}"


def _environment(name: str) -> str:
    plain = name.strip().lower().removesuffix(_ONLY)
    return _SYSTEM.get(plain, plain)


def _tags(issue: Issue) -> frozenset[str]:
    return frozenset(re.sub(r"[\s_]+", "-", re.sub(r":\s+", ":", tag.strip().lower())) for tag in issue.tags)


class _Finished:
    """Knows of any id, or number for short, whether that issue is finished."""

    def __init__(self, backlog: Backlog) -> None:
        self._unfinished: dict[str, str] = {}
        self._final = {key for id in backlog.finished for key in (id, number_of(id))}
        for issue in backlog.issues:
            keys = (issue.id, number_of(issue.id))
            if issue.is_final:
                self._final.update(keys)
            else:
                self._unfinished.update((key, issue.status) for key in keys)

    def lacks(self, id: str) -> str:
        """How an issue that is not finished stands; empty for one that is."""
        if id in self._unfinished:
            return f"which is {self._unfinished[id]}"
        return "" if id in self._final else "which is in no file"
