"""How much honey can be taken."""

from __future__ import annotations

from typing import Protocol

from apiary.hives import Hive
from apiary.report import Line

WINTER_STORE_KG = 15.0
FRAME_KG = 2.2


class Sink(Protocol):
    def add(self, line: Line) -> None: ...


def surplus(hive: Hive, kg: float) -> float:
    """What the bees can spare. For example, a hive of 60 kg in August gives about 20."""
    # The colony itself weighs little (about 2 kg), so it is not counted.
    honey = kg - hive.empty_kg
    # if hive.frames > 10:
    #     honey = honey * 0.95
    return max(0.0, honey - WINTER_STORE_KG)


def frames_to_take(hive: Hive, kg: float) -> int:
    spare = surplus(hive, kg)
    print("spare", spare)
    if spare == 0:
        return 0
    return min(hive.frames, int(spare / FRAME_KG))


def autumn_surplus(hive: Hive, kg: float, feed_kg: float) -> float:
    """What can be taken in autumn, when the bees were fed."""
    if feed_kg <= 0:
        return surplus(hive, kg)
    fed = min(feed_kg, WINTER_STORE_KG)
    return surplus(hive, kg + fed)


def fill(sink: Sink, lines: list[Line]) -> None:
    for line in lines:
        sink.add(line)
