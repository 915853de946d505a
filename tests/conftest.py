"""Settings for every test."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine's load, and nothing of what is tested.
settings.register_profile("flyball", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("flyball")

IN_MEMORY = Path("/dev/shm")
ROOM = 6 * 1024**3
"""What the folders of tests may need, the largest two at once, with much to spare."""


def has_room(place: Path) -> bool:
    """Whether programs can be kept and started there, and there is memory enough."""
    if not os.access(place, os.W_OK | os.X_OK):
        return False
    disk = os.statvfs(place)
    free = re.search(r"^MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    memory = int(free[1]) * 1024 if free else 0
    return min(disk.f_bavail * disk.f_frsize, memory) > ROOM and not disk.f_flag & os.ST_NOEXEC


# Nearly every test that writes waits for its disk, again and again: journals and checkpoints are made to survive a power cut,
# which no test brings about. Without such a place, or with one chosen by hand, pytest's folders are where they always are.
if has_room(IN_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first on every worker, so that none is left with it at the end.

    xdist hands each worker an unbroken part of the list, so each part begins with its share of the long ones.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    long = [item for item in items if any(item.get_closest_marker(mark) for mark in ("slow", "e2e"))]
    known = set(long)
    short = [item for item in items if item not in known]
    items[:] = [item for number in range(workers) for item in (*long[number::workers], *short[number::workers])]
