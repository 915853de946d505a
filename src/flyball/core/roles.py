"""The roles flyball knows, independent of any program that plays them; what each is asked to do stands in `prompts`."""

from __future__ import annotations

from typing import Literal

import msgspec

from flyball.core.prompts import role_text

Ability = Literal["read", "search", "edit", "shell"]

_LOOKING: tuple[Ability, ...] = ("read", "search")
_CHECKING: tuple[Ability, ...] = (*_LOOKING, "shell")
_WORKING: tuple[Ability, ...] = (*_LOOKING, "edit", "shell")


class Role(msgspec.Struct, frozen=True):
    """What an agent may be asked to be: when to call on it, what it needs to be able to do, and what it is told."""

    name: str
    description: str
    abilities: tuple[Ability, ...]
    text: str


_REVIEW = (
    "Judge the work as it stands; change no file. You may run anything. Report `verdict` (`pass`, `warn` or `fail`) and\n"
    "`findings`, each with severity `critical`, `major`, `minor` or `suggestion`, file, line and one sentence that says what goes\n"
    "wrong and for whom; the first two block. A finding you could not check yourself is a suggestion. No finding is a result too."
)
_FURTHER_TEXTS = {
    "reviewer": f"Review the change against what was asked for: is every part of it there, and nothing else?\n{_REVIEW}",
    "code-reviewer": (
        "Review the code of this change: errors in logic, cases at the edges, failures that pass in silence, tests that cannot\n"
        f"fail, names and structure that mislead the next reader.\n{_REVIEW}"
    ),
    "security-auditor": (
        "Audit this change for security: input that reaches a command, a query, a path or a page unchecked; secrets in code or\n"
        "logs; missing checks of who may do what; weak or home-made cryptography; dependencies with known holes. Follow each\n"
        f"suspicion to the line where it would happen.\n{_REVIEW}"
    ),
    "performance-reviewer": (
        "Review this change for performance: work that grows faster than its input, queries or calls inside loops, memory that\n"
        "is never given back, blocking where others wait. Measure where you can, and give the numbers.\n"
        f"{_REVIEW}"
    ),
    "spec-auditor": (
        "Compare this change with its specification, point by point: the request, its acceptance criteria, the documents it\n"
        "names. Name every point that is missing, different, or done without having been asked for.\n"
        f"{_REVIEW}"
    ),
}
_TABLE: tuple[tuple[str, tuple[Ability, ...], str], ...] = (
    ("planner", _LOOKING, "Turns a request into acceptance criteria that a test can decide. Changes no file."),
    ("tester", _WORKING, "Writes tests that fail now and pass once the acceptance criteria are met."),
    ("implementer", _WORKING, "Makes failing tests pass with the smallest change to the product code."),
    ("refactorer", _WORKING, "Improves changed code without changing what it does; tests stay green."),
    ("documenter", _WORKING, "Documents a change: decision record, README, changelog, diagrams."),
    ("qa", _CHECKING, "Judges finished work against its criteria before it ships. Changes no file."),
    ("reviewer", _CHECKING, "Reviews a change against what was asked for. Changes no file."),
    (
        "code-reviewer",
        _CHECKING,
        "Validates the code of a change: logic, edge cases, tests, structure. Changes no file.",
    ),
    ("security-auditor", _CHECKING, "Validates the security of a change. Changes no file."),
    ("performance-reviewer", _CHECKING, "Validates the performance of a change. Changes no file."),
    ("spec-auditor", _CHECKING, "Validates a change against its specification, point by point. Changes no file."),
)

ROLES: tuple[Role, ...] = tuple(
    Role(name, description, abilities, role_text(name) or _FURTHER_TEXTS[name])
    for name, abilities, description in _TABLE
)
