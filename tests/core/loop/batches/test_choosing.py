"""Which subtasks are worked on side by side."""

import pytest

from flyball.core.loop.batches.choosing import may_overlap
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
