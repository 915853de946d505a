from __future__ import annotations

from typing import NamedTuple


class Plant(NamedTuple):
    name: str
    litres: float = 1.0

    def thirsty(self, days: int) -> bool:
        return days * self.litres > 3
