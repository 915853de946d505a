"""The roles flyball knows, independent of any program that plays them; what each is asked to do stands in `prompts`."""

from __future__ import annotations

from typing import Literal

import msgspec

from flyball.core.workflows.backlog.prompts import ROLES as BACKLOG
from flyball.core.workflows.quick.prompts import ROLES as QUICK
from flyball.core.workflows.tdd.prompts import ROLES as TDD

Ability = Literal["read", "search", "edit", "shell", "agent", "ask", "todo"]

_LOOKING: tuple[Ability, ...] = ("read", "search")
_CHECKING: tuple[Ability, ...] = (*_LOOKING, "shell")
_WORKING: tuple[Ability, ...] = (*_LOOKING, "edit", "shell")


class Role(msgspec.Struct, frozen=True):
    """What an agent may be asked to be: when to call on it, what it needs to be able to do, and what it is told."""

    name: str
    description: str
    abilities: tuple[Ability, ...]
    text: str


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


IMPLEMENTER = "implementer"
REVIEWING = frozenset(name for name, abilities, _ in _TABLE if abilities is _CHECKING)
"""Roles that judge what others wrote."""


def role_text(role: str) -> str:
    """What a role is asked to do, whatever the task; empty for a role that is not known."""
    return TDD.get(role) or BACKLOG.get(role) or QUICK.get(role, "")


ROLES: tuple[Role, ...] = tuple(
    Role(name, description, abilities, role_text(name)) for name, abilities, description in _TABLE
)
