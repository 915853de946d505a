"""The harvest report."""

from __future__ import annotations

from dataclasses import dataclass, field

from apiary.harvest import frames_to_take, surplus
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
        return "\n".join(f"hive {each.hive}: {each.kg:.1f} kg, {each.frames} frames" for each in self.lines)


def line_of(hive: Hive, kg: float) -> Line:
    return Line(hive.number, surplus(hive, kg), frames_to_take(hive, kg))
