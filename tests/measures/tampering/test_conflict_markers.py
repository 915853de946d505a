"""Conflict markers are never saved as work: in a lane a measurement names the file and the line."""

from typing import Any

import pytest

from flyball.core.model.task import Gate
from flyball.measures.tampering.conflict_markers import first_marker

MERGED = "one\n<<<<<<< integrated\ntwo\n||||||| base\nold\n=======\nthree\n>>>>>>> lane-1.2\n"


@pytest.mark.req("O30")
def test_a_lanes_work_with_conflict_markers_does_not_pass_and_the_line_is_named(lab: Any) -> None:
    lab.gates(Gate("test", "true", 60.0))
    lab.forget_tests()
    lab.lane = "1.2"
    measured = lab.measure("gates", {"notes.md": MERGED, "calc.py": "ok = 1 << 2\n"})
    (trick,) = measured.caught
    assert (trick.kind, trick.path) == ("conflict-markers", "notes.md")
    assert trick.detail == "line 2 is a conflict marker: <<<<<<< integrated"


def test_a_file_that_had_markers_may_have_them_and_so_may_the_tasks_own_lane(lab: Any) -> None:
    lab.gates(Gate("test", "true", 60.0))
    lab.forget_tests()
    lab.accept({"fixture.txt": MERGED}, {})
    lab.lane = "1.2"
    assert not lab.measure("gates", {"fixture.txt": f"{MERGED}more\n", "c.txt": "c\n"}).caught
    lab.lane = "main"
    assert not lab.measure("gates", {"new.txt": MERGED}).caught


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (MERGED.encode(), 2),
        (b"a\r\n||||||| x\r\n", 2),
        (b">>>>>>> x", 1),
        (b"  <<<<<<< indented\n", None),
        (b"=======\n", None),
        (b"<<<<<<<\n", None),
        (b"\0<<<<<<< binary\n", None),
        (b"a <<<<<<< b\n", None),
    ],
)
def test_only_a_line_that_begins_as_git_writes_it_is_a_marker(content: bytes, line: int | None) -> None:
    found = first_marker(content)
    assert (found[0] if found else None) == line
