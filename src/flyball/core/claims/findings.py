"""What a reviewer or a check holds against work."""

from __future__ import annotations

from typing import Literal

import msgspec


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing wrong with the work, from a reviewer or from a check."""

    severity: Literal["critical", "major", "minor", "suggestion"]
    message: str
    file: str = ""
    line: int = 0
    check: str = ""


BLOCKING = frozenset({"critical", "major"})
"""The severities of findings that keep work from being accepted."""
