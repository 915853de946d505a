"""What is found of one stack, and how manifests are read that anybody may have written."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

Reader = Callable[[str], str | None]
"""Gives the text of a file below the root, or None where it cannot be read."""
Installed = Callable[[str], bool]


class StackFound(msgspec.Struct, frozen=True):
    """One stack, with the commands that fit it; empty where there is none."""

    stack: str
    gate: str = ""
    gate_reason: str = ""
    setup: str = ""
    setup_reason: str = ""
    lint: str = ""
    lint_reason: str = ""
    environment: tuple[str, ...] = ()


def sub(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}


def json_table(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
