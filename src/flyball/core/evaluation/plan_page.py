"""Reads a track's plan.md: its tasks with boxes, commits, summaries and files, and the work that was found on the way."""

import re
from typing import Literal

import msgspec

from flyball.core.text.fences import split_fences

Box = Literal[" ", "x", "~", "!"]
_TASK = re.compile(r"^(?P<indent>[ \t]*)[-*+][ \t]+\[(?P<box>[ xX~!])\][ \t]+(?P<text>.*)$")
_BULLET = re.compile(r"^[ \t]+[-*+][ \t]+(?P<text>.*)$")
_HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+(?P<title>.*?)[ \t#]*$")
_COMMENT = re.compile(r"<!--(.*?)-->")
_SHA = re.compile(r"(?:\bcommit:?[ \t]*)?`?\b([0-9a-f]{7,40})\b`?", re.IGNORECASE)
_BARE_SHA = re.compile(r"[\[(]`?([0-9a-f]{7,40})`?[\])]|`([0-9a-f]{7,40})`", re.IGNORECASE)
_DATE = re.compile(r"(?:19|20)\d\d[01]\d[0-3]\d")
_DEFERRED = re.compile(r"(?<!`)\bdeferred:[ \t]*(\S[^>]*?)(?:-->|$)", re.IGNORECASE)
_FIELD = re.compile(
    r"^\**(?:type|acceptance|files?|deps?|depends[ _]on|parallel|phase|estimated[ _]\w+)\**[ \t]*:", re.IGNORECASE
)
_PATH = re.compile(r"(?<![\w/.-])(?:\./)?((?:[\w.@+()\[\]-]+/)*[\w.@+()\[\]*-]+(?:\.[A-Za-z0-9*]{1,10}|/))(?![\w/])")
_DAG_FILES = re.compile(r"files:[ \t]*\[([^\]]*)\]|^[ \t]*-[ \t]+['\"]?([\w./@*-]+\.\w+)['\"]?[ \t]*$", re.MULTILINE)
DISCOVERED = "discovered work"
UNPLANNED = "unplanned"
"""In a comment on a task: it is about files that no plan names, so what it names is not planned by that."""


class PlanTask(msgspec.Struct, frozen=True):
    """A task of the plan as its lines say; `deferred` is the reason for leaving it."""

    text: str
    line: int
    box: Box
    shas: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    deferred: str = ""
    section: str = ""


class PlanPage(msgspec.Struct, frozen=True):
    tasks: tuple[PlanTask, ...]
    files: tuple[str, ...]
    discovered: tuple[str, ...]

    @property
    def first_sha(self) -> str:
        return next((sha for task in self.tasks for sha in task.shas), "")


def read_plan(text: str) -> PlanPage:
    """The plan, read leniently: what is no task is prose."""
    message = split_fences(text.removeprefix("\ufeff"))
    tasks: list[PlanTask] = []
    sections: dict[str, list[str]] = {}
    section, planning = "", True
    for number, line in enumerate(message.prose.split("\n"), start=1):
        if heading := _HEADING.match(line):
            section, planning = heading["title"].lower(), True
        elif task := _TASK.match(line):
            tasks.append(_task(task["text"], task["box"], number, section))
            planning = UNPLANNED not in " ".join(_COMMENT.findall(line)).split()
        elif tasks and (bullet := _BULLET.match(line)):
            tasks[-1] = _with_bullet(tasks[-1], bullet["text"])
        sections.setdefault(section, []).extend([line] if planning else [])
    every = [path for lines in sections.values() for path in _paths("\n".join(lines))]
    fenced = [path for fence in message.fences for path in _dag_files(fence.text)]
    found = [p for title, lines in sections.items() if title.startswith(DISCOVERED) for p in _paths("\n".join(lines))]
    return PlanPage(tuple(tasks), tuple(dict.fromkeys((*every, *fenced))), tuple(dict.fromkeys(found)))


def _task(text: str, box: str, line: int, section: str) -> PlanTask:
    comments = " ".join(re.sub(r"\b(?:deps|parallel):[^,]*", "", comment) for comment in _COMMENT.findall(text))
    plain = _COMMENT.sub("", text).strip()
    bare = [one or other for one, other in _BARE_SHA.findall(plain)]
    shas = [sha for sha in (*_SHA.findall(comments), *bare) if not _DATE.fullmatch(sha)]
    deferred = _DEFERRED.search(text)
    mark: Box = "x" if box in "xX" else box  # type: ignore[assignment]
    return PlanTask(plain, line, mark, tuple(shas), (), deferred[1].strip() if deferred else "", section)


def _with_bullet(task: PlanTask, text: str) -> PlanTask:
    """A bullet below a task belongs to it: a reason, a commit, a field of the plan or a line of its summary."""
    if deferred := _DEFERRED.search(text):
        return msgspec.structs.replace(task, deferred=deferred[1].strip())
    commit = re.match(r"\**commits?\**[ \t]*:", text, re.IGNORECASE)
    if commit:
        return msgspec.structs.replace(task, shas=(*task.shas, *_SHA.findall(text[commit.end() :])))
    if _FIELD.match(text) or not text.strip():
        return task
    return msgspec.structs.replace(task, summary=(*task.summary, text.strip()))


def _paths(text: str) -> list[str]:
    return [path for path in _PATH.findall(_COMMENT.sub(" ", text)) if not re.fullmatch(r"[\d.]+", path)]


def _dag_files(text: str) -> list[str]:
    found: list[str] = []
    for flow, item in _DAG_FILES.findall(text):
        found += [each.strip().strip("'\"") for each in flow.split(",") if each.strip()] if flow else [item]
    return [each for each in found if each]
