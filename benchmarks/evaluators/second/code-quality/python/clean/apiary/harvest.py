"""How much honey can be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from apiary.hives import Hive

if TYPE_CHECKING:
    from apiary.report import Line

WINTER_STORE_KG = 15.0
FRAME_KG = 2.2


class Sink(Protocol):
    def add(self, line: Line) -> None: ...


def surplus(hive: Hive, kg: float) -> float:
    """What the bees can spare. For example, a hive of 60 kg in August gives about 20."""
    # The colony itself weighs little (about 2 kg), so it is not counted.
    honey = kg - hive.empty_kg
    return max(0.0, honey - WINTER_STORE_KG)


def frames_to_take(hive: Hive, kg: float) -> int:
    spare = surplus(hive, kg)
    if spare == 0:
        return 0
    return min(hive.frames, int(spare / FRAME_KG))


def fill(sink: Sink, lines: list[Line]) -> None:
    for line in lines:
        sink.add(line)
