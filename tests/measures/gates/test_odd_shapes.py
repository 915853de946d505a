"""C48: reports of any size or shape are read in linear time or refused."""

from pathlib import Path

import pytest

from flyball.measures.gates.junit import DEEPEST, ReportUnreadable, TreeIndex, read_report

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
