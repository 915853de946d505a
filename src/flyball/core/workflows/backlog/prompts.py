"""What the prompts of a backlog add: its roles, the issue, the constitution, what validators objected to."""

from __future__ import annotations

import re

from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, WORKING, Role
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import plural
from flyball.core.workflows.backlog.record import record_of

CONSTITUTION_SHOWN = 6_000
MEMORY_ENTRIES = 5
MEMORY_SHOWN = 2_000
ISSUE_SHOWN = 8_000
_WORD = re.compile(r"[A-Za-z_]{4,}")

_REVIEW = (
    "This is a copy of the work as it was measured; your edits are discarded. You may run anything. Report `verdict` (`pass`,\n"
    "`warn` or `fail`) and `findings` with severity `critical`, `major`, `minor` or `suggestion`, file and line; the first two\n"
    "block. Put problems that are real but not part of this issue into `issues`, each with title, type, priority (`critical`,\n"
    "`high`, `medium`, `low`), problem and acceptance criteria; do not edit the backlog yourself."
)
ROLES = {
    "implementer": (
        "Resolve the issue below, and nothing else, with the smallest change that meets its acceptance criteria. Add tests that\n"
        "fail without it: product code that no test notices is not accepted. Accepted tests and test configuration are protected: if one is wrong, say so in\n"
        "`protected_changes`. The backlog is kept for you: do not edit it. Set `exit_signal` to true when the issue is resolved."
    ),
    "code-reviewer": (
        f"Review the change made for the issue below: errors in logic, edge cases, tests that cannot fail, misleading code.\n{_REVIEW}"
    ),
    "security-auditor": (
        "Audit the change made for the issue below: unchecked input that reaches a command, query, path or page; secrets; missing\n"
        f"checks of who may do what. Follow each suspicion to its line; `critical` only for what can be exploited.\n{_REVIEW}"
    ),
    "performance-reviewer": (
        "Review the change made for the issue below for performance: work that grows faster than its input, calls in loops,\n"
        f"memory never given back. Measure where you can; `critical` only for a clear regression.\n{_REVIEW}"
    ),
    "spec-auditor": (
        "Compare the change with the acceptance criteria of the issue below, one by one. A criterion that is not met is a `fail`;\n"
        f"one met in part a `warn` with a follow-up in `issues`; changes nobody asked for belong into `issues`, too.\n{_REVIEW}"
    ),
}

_DESCRIBED = {
    "code-reviewer": "Validates the code of a change: logic, edge cases, tests, structure. Changes no file.",
    "security-auditor": "Validates the security of a change. Changes no file.",
    "performance-reviewer": "Validates the performance of a change. Changes no file.",
    "spec-auditor": "Validates a change against its specification, point by point. Changes no file.",
}
CARDS = (
    Role("implementer", "Resolves one issue of a backlog with the smallest change.", WORKING, ROLES["implementer"]),
    *(Role(name, said, CHECKING, ROLES[name], reviews=True) for name, said in _DESCRIBED.items()),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    """The prompt a role of this workflow gets now."""
    return prompts.compose(
        state,
        lane,
        role,
        purpose,
        text=ROLES.get(role, ""),
        context=_context(state, lane),
        measured=prompts.measured_section(lane) if role == "implementer" else _gate_results(lane),
    )


def _context(state: State, lane: Lane) -> tuple[str, ...]:
    """The issue and the rules of the project; the same for every role."""
    seen = record_of(state).seen
    return (
        f"## Asked for\n{state.task.request.strip()}",
        _constitution(seen.constitution) if seen else "",
        _memory(seen.memory, state, lane) if seen else "",
        _issue(state, lane),
        prompts.listed("Why the validators rejected the last attempt", record_of(state).rejections.get(lane.item, ())),
    )


def _gate_results(lane: Lane) -> str:
    """The gates as flyball measured them on exactly this tree, for those who judge it."""
    found = lane.loop.entry
    if found is None:
        return ""
    lines = []
    for gate in found.gates:
        counts = f": {gate.counts.passing} passed, {gate.counts.failing} failed" if gate.counts else ""
        lines.append(f"gate {gate.name} (`{gate.command}`) {'passed' if gate.passed else 'did not pass'}{counts}")
    changed = found.files.created + found.files.modified
    differ = plural(changed, "file differs", "files differ")
    lines.append(f"{differ} from the start of the task" if changed else "no file was changed")
    lines += [f"set aside: {trick.kind}: {trick.path}: {trick.detail}" for trick in found.tricks]
    return prompts.listed("What flyball measured on this tree", tuple(lines))


def _constitution(text: str) -> str:
    if not text.strip():
        return ""
    cut = "\n[cut here]" if len(text) > CONSTITUTION_SHOWN else ""
    return f"## Constitution of this project\n{text[:CONSTITUTION_SHOWN].strip()}{cut}"


def _memory(text: str, state: State, lane: Lane) -> str:
    """The entries that share the most words with the issue."""
    entries = [
        each.strip() for each in re.split(r"\n(?=#|[-*] |\n)", text) if each.strip() and not each.startswith("# ")
    ]
    item = next((i for i in state.items if i.id == lane.item), None)
    wanted = _words(" ".join((item.text, *item.acceptance, *item.files))) if item else frozenset()
    ranked = sorted(entries, key=lambda each: -len(wanted & _words(each)))
    chosen = [each for each in entries if each in ranked[:MEMORY_ENTRIES]]
    return "## From the project's memory\n" + "\n".join(chosen)[:MEMORY_SHOWN] if chosen else ""


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
    return f"## Issue {item.id}: {item.text}\n{f'Type: {item.kind}' if item.kind else ''}{files}\n\n{text}".rstrip()
