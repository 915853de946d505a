"""What the prompts of a backlog add: its roles, the issue, the constitution, what validators objected to."""

from __future__ import annotations

import re

from flyball.core.loop import prompts
from flyball.core.loop.reviewing import earlier_look
from flyball.core.loop.role import CHECKING, WORKING, Role, role_named
from flyball.core.model.state import Lane, State
from flyball.core.workflows.backlog.record import record_of

CONSTITUTION_SHOWN = 6_000
MEMORY_ENTRIES = 5
MEMORY_SHOWN = 2_000
ISSUE_SHOWN = 8_000
_WORD = re.compile(r"[A-Za-z_]{4,}")

_REVIEW = (
    "Judge only this; other validators look at the rest. Follow each suspicion to its line, and try it where you can. Report `verdict` `fail` if a finding blocks, `warn` if something "
    "should be seen to later, else `pass`. What is real and not part of this issue goes into `issues`, each with title, type, priority (`critical`, `high`, `medium`, `low`), problem "
    "and acceptance criteria; do not edit the backlog yourself."
)

CARDS = (
    Role(
        "implementer",
        "Resolves one issue of a backlog, all of it and nothing besides.",
        WORKING,
        f"Resolve the issue below: all of it, and nothing besides. {prompts.NARROW} Add tests that fail without your change: product code that no test notices is not accepted. "
        f"{prompts.PROTECTED} The backlog is kept for you: do not edit it.",
    ),
    Role(
        "code-reviewer",
        "Validates the code of a change: logic, edge cases, tests, structure. Changes no file.",
        CHECKING,
        f"Review the change made for the issue below: errors in logic, edge cases, tests that cannot fail, misleading code.\n{_REVIEW}",
        reviews=True,
        form="issues",
    ),
    Role(
        "security-auditor",
        "Validates the security of a change. Changes no file.",
        CHECKING,
        "Audit the change made for the issue below: unchecked input that reaches a command, query, path or page; secrets; missing checks of who may do what. `critical` "
        "only with a way to exploit it.\n"
        f"{_REVIEW}",
        reviews=True,
        form="issues",
    ),
    Role(
        "performance-reviewer",
        "Validates the performance of a change. Changes no file.",
        CHECKING,
        "Review the change made for the issue below for performance: work that grows faster than its input, calls in loops, memory never given back. Measure where you can; "
        "`critical` only for a regression that you measured.\n"
        f"{_REVIEW}",
        reviews=True,
        form="issues",
    ),
    Role(
        "spec-auditor",
        "Validates a change against its specification, point by point. Changes no file.",
        CHECKING,
        "Compare the change with the acceptance criteria of the issue below, one by one. A criterion that is not met is a `fail`; one met in part a `warn` with a follow-up in "
        "`issues`; changes nobody asked for belong into `issues`, too.\n"
        f"{_REVIEW}",
        reviews=True,
        form="issues",
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    return prompts.compose(state, lane, role_named(role, CARDS), purpose, context=_context(state, lane, role))


def _context(state: State, lane: Lane, role: str) -> tuple[str, ...]:
    """The issue and the rules of the project, and what stood against the last attempt beside what the role itself found."""
    seen = record_of(state).seen
    return (
        f"## Asked for\n{prompts.data(state.task.request)}",
        _constitution(seen.constitution) if seen else "",
        _memory(seen.memory, state, lane) if seen else "",
        _issue(state, lane),
        prompts.listed("Why the validators rejected the last attempt", _rejections(state, lane, role)),
    )


def _rejections(state: State, lane: Lane, role: str) -> tuple[str, ...]:
    """The objections to the last attempt; those of several validators to the same thing are one."""
    look = earlier_look(lane, role)
    own = [found.message for found in look.findings] if look is not None else []
    said: dict[str, list[str]] = {}
    for each in record_of(state).rejections.get(lane.item, ()):
        who, _, what = each.partition(": ")
        if not any(message in each for message in own):
            said.setdefault(what, []).append(who)
    return tuple(": ".join(filter(None, (", ".join(who), what))) for what, who in said.items())


def _constitution(text: str) -> str:
    if not text.strip():
        return ""
    cut = "\n[cut here]" if len(text) > CONSTITUTION_SHOWN else ""
    return f"## Constitution of this project\n{prompts.data(text[:CONSTITUTION_SHOWN])}{cut}"


def _memory(text: str, state: State, lane: Lane) -> str:
    """The entries that share the most words with the issue."""
    entries = [
        each.strip() for each in re.split(r"\n(?=#|[-*] |\n)", text) if each.strip() and not each.startswith("# ")
    ]
    item = next((i for i in state.items if i.id == lane.item), None)
    wanted = _words(" ".join((item.text, *item.acceptance, *item.files))) if item else frozenset()
    ranked = sorted(entries, key=lambda each: -len(wanted & _words(each)))
    chosen = [each for each in entries if each in ranked[:MEMORY_ENTRIES]]
    return f"## From the project's memory\n{prompts.data(chr(10).join(chosen)[:MEMORY_SHOWN])}" if chosen else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _issue(state: State, lane: Lane) -> str:
    item = next((i for i in state.items if i.id == lane.item), None)
    if item is None:
        return ""
    seen = record_of(state).seen
    found = next((issue for issue in seen.backlog.issues if issue.id == item.id), None) if seen else None
    criteria = "\n".join(f"- {each}" for each in item.acceptance)
    text = found.body.strip()[:ISSUE_SHOWN] if found and found.body.strip() else criteria
    files = f"\nFiles: {', '.join(item.files)}" if item.files else ""
    return f"## Issue {item.id}: {item.text}\n{f'Type: {item.kind}' if item.kind else ''}{files}\n{prompts.data(text)}"
