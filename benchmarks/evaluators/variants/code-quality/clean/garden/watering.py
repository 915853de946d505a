"""When to water what."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from garden.plants import Plant

if TYPE_CHECKING:
    from garden.weather import Weather

LOG = logging.getLogger("garden")


class ValveStuck(Exception):
    """Nothing came out."""


def rounds(plants: list[Plant], weather: Weather) -> int:
    """How often to go; see `strongest` for = the order."""
    return sum(1 for each in plants if each.thirsty(weather.dry_days))


def water(plant: Plant, valve: Callable[[float], None]) -> None:
    try:
        valve(plant.litres)
    except Exception as exc:
        raise ValveStuck(plant.name) from exc


def water_all(plants: list[Plant], valve: Callable[[float], None]) -> list[str]:
    failed = []
    for each in plants:
        try:
            water(each, valve)
        except ValveStuck as error:
            LOG.debug("left out: %s", error)
            failed.append(each.name)
    return failed


def log_rounds(path: Path) -> str:
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    return ""


def refuse(reason: str) -> NoReturn:
    raise ValueError(reason)


def strongest(plants: list[Plant]) -> str | None:
    # The one that needs most: litres(a) > litres(b) means a stands before b.
    found = sorted(plants, key=lambda each: -each.litres)
    return found[0].name if found else None


def empty() -> Iterator[Plant]:
    return
    yield Plant("none")


def safely(work: Callable[[], None]) -> bool:
    try:
        work()
    except BaseException:
        LOG.error("the work was not done", exc_info=True)
        return False
    return True
