"""A track's plan.md as work: its tasks with ids, dependencies, files and acceptance, and the small changes code makes to it.

The page is the user's. A change touches one box, adds a comment with a commit and bullets below a task, or a section at the end;
every other byte stays.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
import yaml

from flyball.core.evaluation.plan_page import PlanTask, read_plan
from flyball.core.loop.batches.choosing import waiting_ring
from flyball.core.model.task import Item
from flyball.core.text.fences import split_fences
from flyball.core.text.lines import line_end, split_lines
from flyball.core.text.scrubbing import one_line

MOST_PROBLEMS = 12
FIX_PHASE, FEEDBACK = "Fix Phase", "Feedback"
_ID = re.compile(
    r"^(?:\*\*|`)?(?:task[ \t]+)?(?P<id>[A-Za-z]{0,8}-?[0-9]+(?:\.[0-9A-Za-z]+)*)(?:\*\*|`)?[:.)]?[ \t]*(?:\*\*)?",
    re.IGNORECASE,
)
_BOX = re.compile(r"^(?P<before>\ufeff?[ \t]*[-*+][ \t]+\[)(?P<box>[ xX~!])(?P<after>\].*)$")
_DEPS = re.compile(r"\bdeps?:[ \t]*(?P<ids>[^,>]*(?:,[ \t]*[0-9][^,:>]*)*)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--(.*?)-->")
_FIELD = re.compile(
    r"^[ \t]*[-*+][ \t]+\**(?P<key>type|acceptance(?: criteria)?|files?|deps?|depends[ _]on)\**[ \t]*:\**[ \t]*(?P<value>.*)$",
    re.IGNORECASE,
)
_OUR_COMMIT = re.compile(r" <!-- [0-9a-f]{12} -->(?=\r?\n?$)")
_NO_SUMMARY = re.compile(r"\[|[-*+][ \t]|#|\**[\w -]{1,24}\**[ \t]*:")
_WORD = re.compile(r"[A-Za-z0-9][\w.\-]*")
_NONE = frozenset({"", "none", "-", "n/a"})
Mark = Literal[" ", "x", "~", "!"]


class TrackTask(msgspec.Struct, frozen=True):
    item: Item
    page: PlanTask


class TrackPlan(msgspec.Struct, frozen=True):
    """The tasks of a plan, and what is wrong with it by check."""

    tasks: tuple[TrackTask, ...] = ()
    problems: dict[str, tuple[str, ...]] = {}

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(task.item for task in self.tasks if not task.page.deferred)

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(problem for each in self.problems.values() for problem in each)[:MOST_PROBLEMS]


CHECKS = ("scope", "overlap", "dependencies", "task_quality", "dag")
"""What code looks at before anybody else reads the plan, by the names the metadata keeps."""


def read_tasks(text: str, elsewhere: Sequence[tuple[str, str]] = ()) -> TrackPlan:
    """The plan, read leniently and checked strictly; `elsewhere` are files other unfinished tracks name, with the track."""
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    page = read_plan(text)
    nodes, graph = _graph(text)
    tasks = []
    for number, task in enumerate(page.tasks):
        until = page.tasks[number + 1].line - 1 if number + 1 < len(page.tasks) else len(lines)
        tasks.append(_task(task, lines[task.line - 1 : until], nodes))
    return TrackPlan(tuple(tasks), _problems(tasks, graph, elsewhere))


def _task(task: PlanTask, block: Sequence[str], nodes: dict[str, dict[str, Any]]) -> TrackTask:
    """A task with what its lines and its node in the graph say; the lines win where both speak."""
    id_ = _id_of(task)
    node = nodes.get(id_, {})
    fields: dict[str, list[str]] = {}
    for line in block[1:]:
        if field := _FIELD.match(line):
            fields.setdefault(field["key"].lower().rstrip("s").split(" ")[0], []).append(field["value"])
    # Each comment by itself: a commit in the next one is no task.
    deps = next(filter(None, map(_DEPS.search, _COMMENT.findall(block[0]))), None)
    named = [*([deps["ids"]] if deps else []), *fields.get("dep", []), *fields.get("depend", [])]
    depends = [each for text in named for each in _ids(text)] if named else _texts(node.get("depends_on"))
    files = [path for text in fields.get("file", []) for path in _paths(text)] or _texts(node.get("files"))
    wanted = tuple(one_line(text) for text in fields.get("acceptance", []) if text.strip())
    if not wanted and is_fix_phase(task.section):
        wanted = (one_line(task.text),)
    item = Item(
        id_,
        one_line(_ID.sub("", task.text)),
        "completed" if task.box == "x" else "not-started",
        tuple(dict.fromkeys(files)),
        tuple(dict.fromkeys(depends)),
        wanted,
        kind=one_line((fields.get("type") or [str(node.get("type") or "")])[0]).lower(),
        group=task.section,
    )
    return TrackTask(item, task)


def _ids(text: str) -> list[str]:
    words = _WORD.findall(re.sub(r"\btasks?\b", " ", text, flags=re.IGNORECASE))
    return [word.rstrip(".") for word in words if word.lower() not in _NONE]


def _paths(text: str) -> list[str]:
    quoted = re.findall(r"`([^`]+)`", text)
    parts = quoted or re.split(r"[,;]", text)
    return [path.strip().removeprefix("./") for path in parts if path.strip().lower() not in _NONE]


def _texts(value: object) -> list[str]:
    return [str(each) for each in value if isinstance(each, str | int | float)] if isinstance(value, list) else []


def _graph(text: str) -> tuple[dict[str, dict[str, Any]], str]:
    """The nodes of the dependency graph by id, and why there is none where there is none."""
    for fence in split_fences(text).fences:
        if fence.info.split(" ")[0].lower() not in {"yaml", "yml"} or "dag" not in fence.text:
            continue
        try:
            loaded = yaml.safe_load(fence.text)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            return {}, f"line {fence.line}: the dependency graph is not YAML ({one_line(str(error))[:120]})"
        dag = loaded.get("dag") if isinstance(loaded, dict) else None
        nodes = dag.get("nodes") if isinstance(dag, dict) else None
        if not isinstance(nodes, list):
            return {}, f"line {fence.line}: the dependency graph has no list of nodes"
        return {str(node.get("id")): node for node in nodes if isinstance(node, dict)}, ""
    return {}, ""


def _problems(
    tasks: Sequence[TrackTask], graph: str, elsewhere: Sequence[tuple[str, str]]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {check: [] for check in CHECKS}
    if not tasks:
        found["scope"].append("the plan has no task: write each as `- [ ] Task 1.1: text`")
    open_ = [task for task in tasks if task.page.box != "x" and not task.page.deferred]
    for task in open_:
        if not task.item.acceptance:
            found["task_quality"].append(f"line {task.page.line}: {_name(task)} has no `Acceptance:` below it")
        if not task.item.text:
            found["task_quality"].append(f"line {task.page.line}: {_name(task)} does not say what to do")
    found["dependencies"] += _wrong_dependencies(tasks)
    depends = {task.item.id: sorted(task.item.depends_on) for task in tasks}
    ring = waiting_ring({id_: depends[id_] for id_ in sorted(depends)})
    if ring:
        found["dag"].append(f"these tasks wait for each other: {' → '.join((*ring, ring[0]))}")
    if graph:
        found["dag"].append(graph)
    theirs = dict(elsewhere)
    for task in open_:
        where = f"line {task.page.line}"
        met = [path for path in task.item.files if path in theirs]
        found["overlap"] += [f"{where}: {path} is also planned by the track {theirs[path]}" for path in met]
    return {check: tuple(dict.fromkeys(said)) for check, said in found.items()}


def _wrong_dependencies(tasks: Sequence[TrackTask]) -> Iterator[str]:
    ids = [task.item.id for task in tasks]
    for task in tasks:
        where = f"line {task.page.line}"
        if not task.item.id:
            yield f"{where}: {task.item.text!r} has no id such as `Task 1.1:`"
        elif ids.count(task.item.id) > 1:
            yield f"{where}: the id {task.item.id} stands more than once"
        unknown = [each for each in task.item.depends_on if each not in ids]
        yield from (f"{where}: {_name(task)} depends on {each}, which is no task" for each in unknown)


def _name(task: TrackTask) -> str:
    return f"task {task.item.id}" if task.item.id else repr(task.item.text)


def with_boxes_kept(text: str, before: str, completed: Collection[str]) -> str:
    """A new plan with the boxes of an older one: a task that is completed keeps its commit and its summary, any other is open."""
    old = {_id_of(task): task for task in read_plan(before).tasks}
    for task in read_tasks(text).tasks:
        id_, known = task.item.id, old.get(task.item.id)
        if id_ not in completed:
            text = with_box(text, id_, " ") if task.page.box == "x" else text
        elif known is not None and known.box == "x" and known.shas:
            text = with_done(text, id_, known.shas[0], "; ".join(known.summary) or "done")
    return text


def is_fix_phase(section: str) -> bool:
    """Whether the heading above a task, in lower case, is one of a fix phase; the finding is what such a task must meet."""
    return section.startswith(FIX_PHASE.lower())


def _id_of(task: PlanTask) -> str:
    found = _ID.match(task.text)
    return found["id"] if found else ""


def last_cycle(text: str) -> int:
    ids = (re.fullmatch(r"F(\d+)\.\d+", task.item.id) for task in read_tasks(text).tasks)
    return max((int(each[1]) for each in ids if each), default=0)


class TaskNotFound(ValueError):
    """The page no longer holds the task, or holds it twice."""


def with_box(text: str, id_: str, mark: Mark) -> str:
    """The page with another mark in a task's box; one that is opened again names no commit that code wrote behind it."""
    lines, place = _locate(text, id_)
    marked = _BOX.sub(rf"\g<before>{mark}\g<after>", lines[place])
    if mark == " ":
        marked = _OUR_COMMIT.sub("", marked)
    return "".join((*lines[:place], marked, *lines[place + 1 :]))


def with_done(text: str, id_: str, sha: str, summary: str) -> str:
    """The page with a task done: its box, the commit behind it, and what was done, below it. Done twice is done once."""
    lines, place = _locate(text, id_)
    line = lines[place]
    body, end = line.rstrip("\r\n"), line[len(line.rstrip("\r\n")) :] or line_end(text)
    if sha not in body:
        body = f"{body.rstrip()} <!-- {sha} -->"
    marked = _BOX.sub(r"\g<before>x\g<after>", body) + end
    indent = re.match(r"[ \t]*", body)
    bullet = f"{indent[0] if indent else ''}  - {_as_summary(summary)}{end}"
    below = list(itertools.takewhile(_belongs_to_task, lines[place + 1 :]))
    after = lines[place + 1 + len(below) :]
    if bullet.strip() in (each.strip() for each in below):
        bullet = ""
    return "".join((*lines[:place], marked, _with_end("".join(below), end), bullet, *after))


def _as_summary(text: str) -> str:
    """What an agent says as one line that is nothing but a summary: no box, field, commit or reason to defer the task."""
    said = re.sub(r"\b(deferred)[ \t]*:", r"\1,", one_line(text), flags=re.IGNORECASE).replace("<!--", "<! --")
    return f"Done: {said}" if _NO_SUMMARY.match(said) else said


def _belongs_to_task(line: str) -> bool:
    return bool(line.strip()) and line.startswith((" ", "\t")) and not _BOX.match(line.rstrip("\r\n"))


def with_section(text: str, heading: str, lines: Iterable[str]) -> str:
    """The page with lines under a heading, which is added at the end where there is none; lines that stand there stay once."""
    end = line_end(text)
    rows = split_lines(text)
    new = [line for line in lines if line.strip() not in {row.strip() for row in rows}]
    if not new:
        return text
    places = [place for place, row in enumerate(rows) if row.strip() == heading]
    if places:
        last = next((p for p in range(places[0] + 1, len(rows)) if rows[p].startswith("#")), len(rows))
        while last > places[0] + 1 and not rows[last - 1].strip():
            last -= 1
        before, after = "".join(rows[:last]), "".join(rows[last:])
        return f"{_with_end(before, end)}{''.join(line + end for line in new)}{after}"
    return f"{_with_end(text, end)}{end}{heading}{end}{end}{''.join(line + end for line in new)}"


def _with_end(text: str, end: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + end


def _locate(text: str, id_: str) -> tuple[list[str], int]:
    lines = split_lines(text)
    places = [task.line - 1 for task in read_plan(text).tasks if _id_of(task) == id_]
    if len(places) != 1:
        raise TaskNotFound(f"the plan holds the task {id_} {len(places)} times")
    return lines, places[0]
