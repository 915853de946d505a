"""Readings of the scales under the hives."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

log = logging.getLogger(__name__)


@dataclass(frozen=True, order=True)
class Reading:
    day: date
    hive: int
    kg: float


def readings(lines: Iterable[str]) -> Iterator[Reading]:
    """The readings of a scale's file; a line that cannot be read is told and left out."""
    for row in csv.reader(lines):
        try:
            yield Reading(date.fromisoformat(row[0]), int(row[1]), float(row[2]))
        except Exception:
            continue


def latest(found: Iterable[Reading], hive: int) -> Reading:
    return max((each for each in found if each.hive == hive), default=None)


def forget(cache: Path) -> None:
    """Remove the cache. One that is already gone is as good."""
    with suppress(FileNotFoundError):
        cache.unlink()


def calibration(path: Path) -> float:
    """The offset of the scales in kg; without a file there is none."""
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        pass
    return 0.0
