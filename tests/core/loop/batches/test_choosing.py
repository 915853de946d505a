"""Which subtasks are worked on side by side."""

import pytest

from flyball.core.loop.batches.choosing import may_overlap, waiting_ring
from flyball.core.model.task import Item


@pytest.mark.req("O30")
@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        (("a.py",), ("b.py",), False),
        (("a.py",), ("a.py",), True),
        (("src/",), ("src/a.py",), True),
        (("src",), ("src/a.py",), True),
        (("src/a",), ("src/ab.py",), False),
        (("src/*.py",), ("src/a.py",), True),
        ((), ("a.py",), True),
        ((), (), True),
    ],
)
def test_subtasks_overlap_by_the_files_they_name(one: tuple[str, ...], other: tuple[str, ...], meet: bool) -> None:
    first, second = Item("1", "a", files=one), Item("2", "b", files=other)
    assert may_overlap(first, second) is may_overlap(second, first) is meet


@pytest.mark.req("O20")
@pytest.mark.parametrize(
    ("depends", "ring"),
    [
        ({"1": (), "2": ("1",), "3": ("1", "2", "9")}, ()),
        ({"1": ("1",)}, ("1",)),
        ({"1": ("2",), "2": ("3",), "3": ("2",)}, ("2", "3")),
    ],
)
def test_subtasks_that_wait_for_each_other_are_found(
    depends: dict[str, tuple[str, ...]], ring: tuple[str, ...]
) -> None:
    assert waiting_ring(depends) == ring
