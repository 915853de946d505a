"""A world for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A user's repository and a home for flyball; nothing that came from it lives on."""
    made = World(tmp_path / "world").make()
    yield made
    assert made.orphans() == []
