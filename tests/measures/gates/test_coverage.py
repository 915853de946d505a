"""Line coverage is read from what a gate writes, in full or not at all."""

import sys
from pathlib import Path

import pytest
from tests.measures.conftest import MUL, PYTEST, Lab

from flyball.core.model.measurement import Coverage
from flyball.core.model.task import Gate
from flyball.measures.gates import coverage
from flyball.measures.gates.coverage import CoverageUnreadable, merge_coverage, read_coverage
from flyball.measures.gates.junit import TreeIndex

pytestmark = pytest.mark.req("C31")

INDEX = TreeIndex(["src/calc/__init__.py", "src/calc/more.py", "__init__.py", "tests/test_calc.py"])
HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE coverage SYSTEM "http://example.org/coverage-04.dtd">\n'
COBERTURA = """<coverage line-rate="0.5" version="7"><sources><source>/somewhere/src</source></sources><packages><package name="calc">
<classes><class name="__init__.py" filename="calc/__init__.py"><methods><method name="f"><lines><line number="1" hits="0"/></lines></method></methods>
<lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class>
<class name="more.py" filename="calc/more.py"><lines><line number="7" hits="12"/></lines></class>
<class name="gone.py" filename="gone.py"><lines><line number="1" hits="1"/></lines></class></classes></package></packages></coverage>"""
LCOV = "TN:\nSF:/somewhere/src/calc/more.py\nDA:1,3\nDA:2,0,checksum\nLF:2\nend_of_record\nSF:/usr/lib/other.py\nDA:1,1\nend_of_record\n"


def written(folder: Path, text: str, name: str = "coverage.xml") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def test_cobertura_is_read_by_its_sources_and_files_outside_of_the_tree_do_not_count(tmp_path: Path) -> None:
    found = read_coverage(written(tmp_path, HEAD + COBERTURA), INDEX)
    assert found == {"src/calc/__init__.py": {1: True, 2: False}, "src/calc/more.py": {7: True}}


def test_lcov_is_read_whatever_the_file_is_called(tmp_path: Path) -> None:
    assert read_coverage(written(tmp_path, LCOV), INDEX) == {"src/calc/more.py": {1: True, 2: False}}


def test_of_a_folder_the_coverage_files_are_read_and_clovers_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "coverage.xml"
    written(folder, LCOV, "lcov.info")
    written(folder, "<coverage generated='1'/>", "clover.xml")
    assert read_coverage(folder, INDEX) == {"src/calc/more.py": {1: True, 2: False}}
    (folder / "lcov.info").unlink()
    with pytest.raises(CoverageUnreadable, match="folder without one"):
        read_coverage(folder, INDEX)


BOMB = '<!DOCTYPE coverage [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><coverage line-rate="1"><source>&b;</source></coverage>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "declares entities"),
        ("<coverage line-rate='1'>", "not XML"),
        ("<testsuite/>", "not Cobertura's"),
        ("", "no line of any file"),
        ("SF:elsewhere.py\nDA:1,1\n", "no line of any file"),
        ("SF:src/calc/more.py\nDA:x,1\nDA:1\n", "no line of any file"),
        (COBERTURA.replace('number="', 'number="x'), "no line of any file"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CoverageUnreadable, match=said):
        read_coverage(written(tmp_path, text), INDEX)


def test_a_link_and_what_is_too_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, LCOV, "real")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(CoverageUnreadable, match="not a regular file"):
        read_coverage(tmp_path / "link", INDEX)
    monkeypatch.setattr(coverage, "LARGEST", 10)
    with pytest.raises(CoverageUnreadable, match="larger than"):
        read_coverage(path, INDEX)


def test_a_line_is_covered_if_any_gate_ran_it() -> None:
    assert merge_coverage([{"a": {1: True, 2: False}}, None, {"a": {2: True}, "b": {1: False}}]) == {
        "a": {1: True, 2: True},
        "b": {1: False},
    }


def test_a_percentage_needs_a_line() -> None:
    assert (Coverage(0, 0).percent, Coverage(3, 2).percent) == (None, 66.7)
    assert (Coverage(3, 2).changed_percent, Coverage(9, 9, 4, 3).changed_percent) == (None, 75.0)


PARTLY = MUL + "\n\n    def unused(a):\n        return a\n"
RUN = PYTEST.replace("-m pytest", "-m coverage run --source=. -m pytest")
WRITE = {
    "xml": f"{sys.executable} -m coverage xml -q -o {{coverage}}",
    "lcov": f"{sys.executable} -m coverage lcov -q -o {{coverage}}",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xml", "lcov"])
def test_what_a_real_run_covered_is_measured_of_the_tree_and_of_the_changed_lines(green_lab: Lab, kind: str) -> None:
    green_lab.gates(Gate("test", f"{RUN}; code=$?; {WRITE[kind]}; exit $code", 600.0))
    measured = green_lab.measure("green", {"calc.py": PARTLY})
    assert measured.green_runs == 2, (measured.tricks, measured.gates)
    found = measured.coverage
    assert found is not None
    assert (found.changed, found.changed_covered) == (4, 3), "def and return of mul and unused; tests do not count"
    assert found.lines - found.covered == 1
    assert not any("coverage" in note for note in measured.notes)


@pytest.mark.slow
def test_without_a_report_no_number_is_invented(green_lab: Lab) -> None:
    assert green_lab.measure("green", {"calc.py": MUL}).coverage is None
    green_lab.gates(Gate("test", f"{PYTEST}; code=$?; : {{coverage}}; exit $code", 600.0))
    measured = green_lab.measure("green")
    assert (measured.green_runs, measured.coverage) == (2, None)
    assert "test: the run wrote no coverage report, so coverage is not measured" in measured.notes
    green_lab.gates(Gate("test", f"{PYTEST}; code=$?; echo nonsense >{{coverage}}; exit $code", 600.0))
    measured = green_lab.measure("green")
    assert (measured.green_runs, measured.coverage) == (2, None)
    assert any("cannot be used: it tells of no line" in note for note in measured.notes)
