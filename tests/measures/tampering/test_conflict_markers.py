"""Conflict markers are never saved as work: in a lane a measurement names the file and the line."""

from types import SimpleNamespace
from typing import Any

import pytest

from flyball.core.model.effects import Measure
from flyball.core.model.task import Commit, EffectId, Gate
from flyball.measures.tampering.conflict_markers import conflict_markers, first_marker

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


def test_a_marker_is_found_however_many_files_were_changed() -> None:
    files = {f"{number:04d}.txt": b"text\n" for number in range(2000)} | {"z.txt": MERGED.encode()}
    trees: Any = SimpleNamespace(
        changed_files=lambda old, new: tuple(("A", path) for path in sorted(files)),
        read_file=lambda commit, path: files[path] if commit == "new" else None,
    )
    request = Measure(
        EffectId("measure/1"),
        lane="1.2",
        kind="gates",
        candidate=Commit("new"),
        base=Commit("old"),
        accepted=Commit("old"),
    )
    assert [trick.path for trick in conflict_markers(request, trees)] == ["z.txt"]
