"""The hives of an apiary."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hive:
    number: int
    frames: int
    empty_kg: float
