from __future__ import annotations

from dataclasses import dataclass

from garden.plants import Plant
from garden.watering import rounds


@dataclass
class Weather:
    dry_days: int

    def walks(self, plants: list[Plant]) -> int:
        return rounds(plants, self)
