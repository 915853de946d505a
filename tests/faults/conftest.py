"""Worlds in memory where there is such a disk: these tests start flyball a thousand times, and every start waits for the disk."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.world import Runner, World

IN_MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    if not os.access(IN_MEMORY, os.W_OK | os.X_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="flyball-", dir=IN_MEMORY) as name:
        yield Path(name)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    """A user's repository and a home for flyball; nothing that came from it lives on."""
    made = World(folder / "world").make()
    yield made
    assert made.orphans() == []


@pytest.fixture
def runner(world: World) -> Iterator[Runner]:
    warm = Runner(world)
    yield warm
    warm.close()
