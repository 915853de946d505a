"""The harvest report."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

from apiary import harvest
from apiary.hives import Hive

__all__ = ["Line", "Report", "line_of"]


@dataclass(frozen=True)
class Line:
    hive: int
    kg: float
    frames: int


@dataclass
class Report:
    lines: list[Line] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.lines.append(line)

    def text(self) -> str:
        # FIXME: the total is missing
        return "\n".join(f"hive {each.hive}: {each.kg:.1f} kg, {each.frames} frames" for each in self.lines)


def line_of(hive: Any, kg: Any) -> Any:
    return Line(hive.number, harvest.surplus(hive, kg), harvest.frames_to_take(hive, kg))
