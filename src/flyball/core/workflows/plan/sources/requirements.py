"""The numbered criteria of a Kiro requirements.md: `1.2` is the second criterion of the first requirement."""

from __future__ import annotations

import re

_REQUIREMENT = re.compile(r"#{2,4}\s+Requirement\s+(\d+)\b", re.IGNORECASE)
_CRITERION = re.compile(r"\s{0,3}(\d{1,3})[.)]\s+(\S.*)")


def requirement_criteria(text: str) -> dict[str, str]:
    """Each criterion by its number."""
    found: dict[str, str] = {}
    requirement = ""
    for line in text.split("\n"):
        if heading := _REQUIREMENT.match(line):
            requirement = heading[1]
        elif requirement and (criterion := _CRITERION.fullmatch(line)):
            found.setdefault(f"{requirement}.{criterion[1]}", criterion[2].strip())
    return found
