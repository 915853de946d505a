"""The Markdown a task's folder holds for people and agents: `context.md`, `plan.md` and the learnings."""

import re
from functools import lru_cache

from flyball.core.loop.batches.choosing import SCAFFOLD, waits_for
from flyball.core.loop.guidance import guidance_lines
from flyball.core.memory.settling import GONE
from flyball.core.model.naming import slug
from flyball.core.model.state import State
from flyball.core.model.task import Item
from flyball.projections.history.records import Learning
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.standing import health, leading_judgement, live_items, task_status
from flyball.projections.wording import code, escape, name_lane, stamp

LONGEST_CONTEXT = 2000
LEARNING_LINES = 30
SLUG_WORDS = 4
MOST_SHOWN = 5
MOST_FILES = 8
_NAME = re.compile(r"\\`([^`\\]+)\\`")


def context(state: State, history: TaskHistory) -> str:
    """What is useful now, most useful first; empty for a new task."""
    if state.prepared is None:
        return ""
    ready = _ready_items(state)
    lines = [
        "# Context",
        "",
        f"**Task**: {escape(state.task.request, 200)}",
        f"**Plan Status**: {task_status(state)}",
        f"**Active Task**: {state.task.id}",
        f"**Phase**: {state.main.stage}, iteration {state.main.loop.iteration + 1}",
        f"**Updated**: {stamp(history.last_activity or state.now)}",
        *_section("Current State", _current(state, history)),
        *_section("Ready Subtasks", [_item_line(i) for i in ready[:MOST_SHOWN]]),
        *_section("Relevant Files", [code(f) for f in dict.fromkeys(f for i in ready for f in i.files)][:MOST_FILES]),
        *_section("Anti-Patterns", [escape(x.title, 140) for x in _recent(history, "anti-pattern")]),
        *_section("Key Decisions", [_decision_line(x) for x in _recent(history, "decision")]),
        *_section("Guidance", [escape(g, 200) for g in guidance_lines(state, state.main)[-MOST_SHOWN:]]),
    ]
    return _cut(lines, LONGEST_CONTEXT)


def _ready_items(state: State) -> list[Item]:
    """What can be worked on now: open, with every dependency complete; while a scaffold item is open, only those."""
    items = live_items(state)
    done = {i.id for i in items if i.status == "completed"} | set(state.batches.left_out)
    left = [i for i in items if i.id not in done]
    first = [i for i in left if i.kind == SCAFFOLD]
    return [i for i in first or left if not waits_for(state, i)]


def _current(state: State, history: TaskHistory) -> list[str]:
    last = leading_judgement(state, history)
    if last is None:
        return ["no iteration has been judged yet"]
    lane = state.lanes.get(last.lane)
    current = [f"{health(state, history)}: {escape(name_lane(last.lane, last.evidence), 200)}"]
    counts = last.counts
    if counts.total:
        current.append(f"tests: {counts.passing} of {counts.total} pass, {counts.failing} fail")
    current += [
        f"missing: {escape(m, 160)}" for m in (last.missing if lane is not None and last.stage == lane.stage else ())
    ]
    failure = history.errors.streak(last.lane).last
    if failure is not None:
        current.append(f"last failure: {escape(failure.error, 200)}")
    return current


def _item_line(item: Item) -> str:
    depends = f"after {', '.join(item.depends_on)}" if item.depends_on else "no dependencies"
    first = " | scaffold: true" if item.kind == SCAFFOLD else ""
    return f"{escape(item.id, 40)}: {escape(item.text, 120)} — {escape(depends, 80)}{first}"


def _decision_line(learning: Learning) -> str:
    standing = "" if learning.standing == "kept" else f" ({learning.standing})"
    return f"{escape(learning.title, 100)}: {escape(learning.choice, 120)}{standing}"


def _recent(history: TaskHistory, kind: str) -> list[Learning]:
    known = history.learnings[-4 * MOST_SHOWN :]
    return [x for x in known if x.kind == kind and x.standing not in GONE][-MOST_SHOWN:]


def _section(title: str, points: list[str]) -> list[str]:
    return ["", f"## {title}", *(f"- {p}" for p in points)] if points else []


def _cut(lines: list[str], most: int) -> str:
    """Whole lines from the front, as many as there is room for."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > most:
            break
        kept.append(line)
    while kept and (not kept[-1] or kept[-1].startswith("## ")):
        kept.pop()
    return "\n".join(kept) + "\n"


def plan(state: State, history: TaskHistory) -> str:
    """The plan with its boxes; empty until there is one."""
    if state.prepared is None or not state.items:
        return ""
    status = task_status(state)
    lines = [
        "# Plan",
        "",
        f"**Iteration:** {max(history.plan_revisions, 1)}",
        f"**Status:** {'DRAFT' if status == 'DRAFT' else 'APPROVED'}",
        "",
        "## Goal",
        "",
        escape(state.task.request, 2000),
        "",
        "## Tasks",
        "",
        *(_box(item) for item in live_items(state)),
    ]
    return "\n".join(lines) + "\n"


def _box(item: Item) -> str:
    mark = "x" if item.status == "completed" else " "
    parts = [f"Files: {', '.join(code(f) for f in item.files)}"] if item.files else []
    parts += [f"Acceptance: {_prose('; '.join(item.acceptance))}"] if item.acceptance else []
    parts += [code(f"depends_on: {', '.join(item.depends_on)}")] if item.depends_on else []
    parts += ["`scaffold: true`"] if item.kind == SCAFFOLD else []
    tail = f" — {' | '.join(parts)}" if parts else ""
    return f"- [{mark}] **{escape(item.id, 40)}** {_prose(item.text)}{tail}"


def _prose(text: str) -> str:
    """A text of a plan as it stands, in which a name between backticks stays one."""
    return _NAME.sub(r"`\1`", escape(text, 1000))


def learning_files(history: TaskHistory) -> dict[str, str]:
    """One file for each learning; what it says of the learning never changes, only its status line follows what became of it."""
    return dict(_learning(x) for x in history.learnings)


def learning_name(number: int, title: str) -> str:
    return f"learnings/{number:03d}-{'-'.join(slug(title).split('-')[:SLUG_WORDS])}.md"


@lru_cache(maxsize=4096)
def _learning(learning: Learning) -> tuple[str, str]:
    """Path and text; remembered, because all are asked for after every event."""
    lines = _decision(learning) if learning.kind == "decision" else _anti_pattern(learning)
    return learning_name(learning.number, learning.title), "\n".join(lines[:LEARNING_LINES]) + "\n"


def _decision(learning: Learning) -> list[str]:
    rejected = [f"- {escape(a, 200)}" for a in learning.alternatives] or ["- none was named"]
    depends = ", ".join(escape(d, 80) for d in learning.depends_on) or "nothing"
    return [
        f"# Decision {learning.number:03d}: {escape(learning.title, 160)}",
        "",
        f"**Date**: {learning.at:%Y-%m-%d}",
        f"**Status**: {_status(learning, 'DECISION')}",
        *_origin(learning),
        "",
        "## Context",
        escape(learning.context, 400) or "not stated",
        "",
        "## Choice",
        escape(learning.choice, 400) or "not stated",
        "",
        "## Alternatives Rejected",
        *rejected,
        "",
        "## Consequences",
        escape(learning.consequences, 400) or "not stated",
        "",
        "## Dependencies",
        f"- Depends On: {depends}",
        f"- Invalidated If: {escape(learning.invalidated_if, 200) or 'not stated'}",
    ]


def _status(learning: Learning, kind: str) -> str:
    """The seed's word, and the state in ours; the learning that took its place is named."""
    if learning.superseded_by:
        return f"SUPERSEDED by {learning.superseded_by}"
    because = f": {escape(learning.because, 160)}" if learning.because else ""
    return f"{kind} ({learning.standing}{because})"


def _origin(learning: Learning) -> list[str]:
    """Where it belongs, and what it takes the place of: a line each."""
    about = [escape(learning.item, 40)] if learning.item else []
    about += [code(path) for path in learning.files]
    replaced = [escape(each, 80) for each in learning.supersedes]
    parts = {"About": about, "Supersedes": replaced}
    return [f"**{name}**: {', '.join(texts)}" for name, texts in parts.items() if texts]


def _anti_pattern(learning: Learning) -> list[str]:
    return [
        f"# Anti-Pattern {learning.number:03d}: {escape(learning.title, 160)}",
        "",
        f"**Date**: {learning.at:%Y-%m-%d}",
        f"**Status**: {_status(learning, 'ANTI-PATTERN')}",
        f"**Source**: {learning.source or 'rollback'}",
        f"**Detected in**: {learning.stage}, turn {learning.turn}",
        *_origin(learning),
        "",
        "## What happened",
        escape(learning.context, 400) or "not stated",
        "",
        "## What to Avoid",
        escape(learning.choice or _avoidance(learning), 400),
    ]


def _avoidance(learning: Learning) -> str:
    """What not to do again, from where the lesson comes; what went wrong there stands above it."""
    if "review" in learning.source:
        return "Handing in work of which this is still true."
    about = f" on {learning.item}" if learning.item else ""
    return f"Doing again what turn {learning.turn} did in {learning.stage}{about}."
