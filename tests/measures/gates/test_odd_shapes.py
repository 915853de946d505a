"""C48: reports of any size or shape are read in linear time or refused."""

from pathlib import Path

import pytest

from flyball.measures.gates.junit import DEEPEST, ReportUnreadable, TreeIndex, read_report
from flyball.measures.sources import is_loaded_unasked

pytestmark = pytest.mark.req("C48")


def nested(path: Path, depth: int) -> Path:
    case = '<testcase name="t" classname="c"/>'
    opened, closed = '<testsuite name="s">' * depth, "</testsuite>" * depth
    path.write_text(f"<testsuites>{opened}{case}{closed}</testsuites>")
    return path


def test_suites_nested_as_runners_do_are_read(tmp_path: Path) -> None:
    assert list(read_report(nested(tmp_path / "r.xml", DEEPEST - 2), TreeIndex(()))) == ["c::t"]


def test_suites_nested_without_end_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ReportUnreadable, match="nests more than"):
        read_report(nested(tmp_path / "r.xml", 200_000), TreeIndex(()))


def test_entities_that_grow_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(
        '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites><testsuite name="&b;"/></testsuites>'
    )
    with pytest.raises(ReportUnreadable, match="entities"):
        read_report(path, TreeIndex(()))


def test_of_many_new_files_those_alone_are_read_that_could_be_loaded_with_the_tests() -> None:
    read: list[str] = []

    def reading(path: str) -> bytes:
        read.append(path)
        return b"def test_a():\n    assert 1\n"

    new = ["data/a.txt", "src/b.py", "tests/test_c.py", "pkg/__init__.py", "tests/d.js"]
    assert [path for path in new if is_loaded_unasked(path, reading, ("pkg/test_e.py",))] == new[2:]
    assert read == ["tests/test_c.py"]
