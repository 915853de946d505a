"""Reports of the runners flyball meets, read into ids and outcomes."""

from pathlib import Path

import pytest

from flyball.measures.gates.junit import ReportUnreadable, TreeIndex, read_report
from flyball.measures.red.reasons import Project, reason

pytestmark = pytest.mark.req("C31")

FILES = ("tests/test_a.py", "backend/tests/test_b.py", "src/sum.test.ts", "pkg/sum_test.go", "tests/base.py")


def read(tmp_path: Path, xml: str) -> dict[str, str]:
    path = tmp_path / "report.xml"
    path.write_text(xml)
    return {test: case.outcome for test, case in read_report(path, TreeIndex(FILES)).items()}


def test_pytest_ids_are_those_pytest_prints(tmp_path) -> None:
    xml = """<testsuites><testsuite name="pytest" tests="5">
      <testcase classname="tests.test_a.TestX.TestY" name="test_one[a-b]" file="tests/base.py"/>
      <testcase classname="tests.test_a" name="test_two"><failure message="assert 1 == 2">x</failure></testcase>
      <testcase classname="tests.test_a" name="test_three"><skipped type="pytest.xfail" message=""/></testcase>
      <testcase classname="tests.test_a" name="test_four"><skipped type="pytest.skip" message="later"/></testcase>
      <testcase classname="tests.test_a" name="test_five"><error message="failed on teardown">x</error></testcase>
    </testsuite></testsuites>"""
    assert read(tmp_path, xml) == {
        "tests/test_a.py::TestX::TestY::test_one[a-b]": "passing",
        "tests/test_a.py::test_two": "failing",
        "tests/test_a.py::test_three": "xfailed",
        "tests/test_a.py::test_four": "skipped",
        "tests/test_a.py::test_five": "failing",
    }


def test_a_suite_run_in_a_subfolder_is_found_in_the_tree(tmp_path) -> None:
    xml = '<testsuite><testcase classname="tests.test_b" name="test_x" file="tests/test_b.py"/></testsuite>'
    assert list(read(tmp_path, xml)) == ["backend/tests/test_b.py::test_x"]


def test_a_file_that_cannot_be_loaded_is_uncollected(tmp_path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(
        '<testsuite><testcase classname="" name="tests.test_a" file="tests/test_a.py">'
        "<error message=\"collection failure\">E   ModuleNotFoundError: No module named 'x'</error></testcase></testsuite>"
    )
    (case,) = read_report(path, TreeIndex(FILES)).values()
    assert (case.id, case.uncollected, case.outcome) == ("tests/test_a.py", True, "failing")


@pytest.mark.req("C41")
@pytest.mark.parametrize(
    ("classname", "name"),
    [("", "tests.test_a"), ("unittest.loader._FailedTest", "tests.test_a"), ("unittest.loader._FailedTest", "test_a")],
)
def test_other_runners_say_in_their_own_way_that_a_file_cannot_be_loaded(tmp_path, classname, name) -> None:
    path = tmp_path / "report.xml"
    path.write_text(
        f'<testsuite><testcase classname="{classname}" name="{name}">'
        '<error message="ImportError: Failed to import test module">Traceback (most recent call last):\n'
        "ImportError: cannot import name 'mul' from 'calc' (calc.py)\n</error></testcase></testsuite>"
    )
    (case,) = read_report(path, TreeIndex(FILES)).values()
    assert (case.id, case.uncollected) == ("tests/test_a.py", True)
    (tmp_path / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    assert reason(case, Project(tmp_path, ("calc.py",)))[0] == "missing-name"


def test_jest_and_vitest(tmp_path) -> None:
    xml = """<testsuites name="jest tests"><testsuite name="sum" tests="2">
      <testcase classname="sum adds" name="sum adds" file="src/sum.test.ts"/>
      <testcase classname="src/sum.test.ts" name="sum &gt; subtracts"><failure message="expected 1 to be 2"/></testcase>
    </testsuite></testsuites>"""
    assert read(tmp_path, xml) == {
        "src/sum.test.ts::sum adds::sum adds": "passing",
        "src/sum.test.ts::sum > subtracts": "failing",
    }


def test_gotestsum_cargo_nextest_and_maven(tmp_path) -> None:
    xml = """<testsuites>
      <testsuite name="example.org/pkg"><testcase classname="example.org/pkg" name="TestSum/negative"/></testsuite>
      <testsuite name="crate"><testcase classname="crate" name="tests::adds"><failure type="test failure"/></testcase></testsuite>
      <testsuite name="org.example.SumTest"><testcase classname="org.example.SumTest" name="adds"><skipped/></testcase></testsuite>
    </testsuites>"""
    assert read(tmp_path, xml) == {
        "example.org/pkg::TestSum/negative": "passing",
        "crate::tests::adds": "failing",
        "org.example.SumTest::adds": "skipped",
    }


def test_nested_suites_are_read_once(tmp_path) -> None:
    xml = """<testsuites><testsuite name="a"><testsuite name="b"><testcase classname="c" name="d"/></testsuite>
      <testcase classname="c" name="e"/></testsuite></testsuites>"""
    assert sorted(read(tmp_path, xml)) == ["c::d", "c::e"]


def test_a_test_is_counted_wherever_it_stands(tmp_path) -> None:
    xml = """<testsuites><testcase classname="c" name="top"/><testsuites><testsuite name="a">
      <testsuite name="b"><testcase classname="c" name="deep"><failure/></testcase></testsuite></testsuite></testsuites>
      <testcase classname="c" name="last"><skipped/></testcase></testsuites>"""
    assert read(tmp_path, xml) == {"c::top": "passing", "c::deep": "failing", "c::last": "skipped"}


NODE = """<testsuites>
  <testcase name="add" time="0.001" classname="test"/>
  <testsuite name="calc"><testcase name="add" classname="test"/>
    <testsuite name="inner"><testcase name="add" classname="test" failure="z"><failure message="z"/></testcase></testsuite>
  </testsuite>
  <testcase name="add" time="0.002" classname="test"/>
  <testcase name="add" classname="test" file="/gate/src/sum.test.ts"/>
  <testcase name="/gate/pkg/sum_test.go" classname="test"><failure type="testCodeFailure" message="test failed"/></testcase>
  <!-- tests 6 -->
</testsuites>"""


def test_every_test_of_nodes_own_reporter_has_an_id_of_its_own(tmp_path) -> None:
    assert read(tmp_path, NODE) == {
        "test::add": "passing",
        "test::calc::add": "passing",
        "test::calc::inner::add": "failing",
        "test::add (2)": "passing",
        "src/sum.test.ts::test::add": "passing",
        "pkg/sum_test.go": "failing",
    }


def test_a_file_node_could_not_load_is_uncollected_and_named_as_in_the_tree(tmp_path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(NODE)
    cases = read_report(path, TreeIndex(FILES)).values()
    assert [(case.id, case.file) for case in cases if case.uncollected] == [("pkg/sum_test.go", "pkg/sum_test.go")]


def test_a_file_without_tests_is_named_by_node_as_in_the_tree(tmp_path) -> None:
    xml = '<testsuites><testcase name="/gate/src/sum.test.ts" classname="test"/></testsuites>'
    assert read(tmp_path, xml) == {"test::src/sum.test.ts": "passing"}


def test_an_absolute_path_means_the_file_of_the_tree_it_ends_with() -> None:
    index = TreeIndex(("a/x.js", "x.js", "b/y.js"))
    assert [index.path(f"/gate/{each}") for each in ("a/x.js", "x.js", "y.js")] == ["a/x.js", "x.js", ""]


def test_of_a_test_reported_twice_the_worst_stands(tmp_path) -> None:
    xml = """<testsuite><testcase classname="c" name="d"><failure/></testcase><testcase classname="c" name="d"/></testsuite>"""
    assert read(tmp_path, xml) == {"c::d": "failing"}


def test_memory_addresses_do_not_make_a_new_test(tmp_path) -> None:
    xml = '<testsuite><testcase classname="c" name="d[&lt;X at 0x7f11aa22&gt;]"/></testsuite>'
    assert list(read(tmp_path, xml)) == ["c::d[<X at 0x>]"]


@pytest.mark.parametrize(
    "text", ["", "<testsuite><testcase", "not xml", "<html/>", "<testsuite><testcase name=\x01/></testsuite>"]
)
def test_what_is_not_a_report_is_said_to_be_unreadable(tmp_path, text) -> None:
    with pytest.raises(ReportUnreadable):
        read(tmp_path, text)


def test_an_entity_bomb_is_refused(tmp_path) -> None:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    with pytest.raises(ReportUnreadable):
        read(tmp_path, f'<!DOCTYPE x [<!ENTITY a0 "boom">{entities}]><testsuite><testcase name="&a11;"/></testsuite>')


def test_a_report_that_is_no_file_is_refused_without_waiting_for_it(tmp_path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReportUnreadable, match="regular file"):
        read_report(tmp_path / "pipe", TreeIndex(()))


def test_a_folder_of_reports_is_read_as_one(tmp_path) -> None:
    for module in ("a", "b"):
        folder = tmp_path / "reports" / module / "target" / "surefire-reports"
        folder.mkdir(parents=True)
        (folder / "TEST-CalcTest.xml").write_text(
            f'<testsuite><testcase classname="CalcTest" name="{module}"/></testsuite>'
        )
    found = read_report(tmp_path / "reports", TreeIndex(()))
    assert list(found) == ["CalcTest::a", "CalcTest::b"]


def test_an_empty_folder_and_a_link_in_a_folder_are_no_report(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReportUnreadable, match="no report into its folder"):
        read_report(tmp_path / "empty", TreeIndex(()))
    (tmp_path / "empty" / "a.xml").symlink_to("/etc/hostname")
    with pytest.raises(ReportUnreadable, match="not a regular file"):
        read_report(tmp_path / "empty", TreeIndex(()))


@pytest.mark.parametrize(
    "xml",
    [
        """<testsuites name="vitest tests"><testsuite name="src/sum.test.ts">
        <testcase classname="src/sum.test.ts" name="src/sum.test.ts"><failure message="Cannot find module './mul'"/></testcase>
        </testsuite></testsuites>""",
        """<testsuites name="jest tests"><testsuite name="undefined">
        <testcase classname="Test suite failed to run" name="src/sum.test.ts" file="src/sum.test.ts"><error>
        Cannot find module '../mul' from 'src/sum.test.ts'</error></testcase></testsuite></testsuites>""",
    ],
    ids=["vitest", "jest"],
)
@pytest.mark.req("C41")
def test_a_file_that_could_not_be_loaded_is_known_as_that_and_why(tmp_path, xml) -> None:
    (tmp_path / "report.xml").write_text(xml)
    case = read_report(tmp_path / "report.xml", TreeIndex(FILES))["src/sum.test.ts"]
    assert case.uncollected
    assert reason(case, Project(tmp_path, FILES))[0] == "missing-name"


@pytest.mark.req("C48")
def test_a_test_file_with_a_control_character_in_its_name_is_found_by_what_pytest_writes(tmp_path) -> None:
    file = "tests/test_\x1b[31m.py"
    (tmp_path / "r.xml").write_text(
        '<testsuite><testcase classname="tests.test_\x1b[31m" name="test_\x01"/></testsuite>'
    )
    found = read_report(tmp_path / "r.xml", TreeIndex([file]))
    assert [(case.file, case.id) for case in found.values()] == [(file, f"{file}::test_\ufffd")]


TWINS = ("tests/test_core.py", "a/tests/test_core.py", "b/tests/test_core.py", "c/tests/test_more.py")


@pytest.mark.req("C31")
@pytest.mark.parametrize(
    ("command", "reported", "file"),
    [
        ("cd a && pytest -q", "tests/test_core.py", "a/tests/test_core.py"),
        ("cd b; pytest", "tests/test_core.py", "b/tests/test_core.py"),
        ("npm --prefix b test", "tests/test_core.py", "b/tests/test_core.py"),
        ("make -C a test", "tests/test_core.py", "a/tests/test_core.py"),
        ("pytest -q b/tests", "test_core.py", "b/tests/test_core.py"),
        ("pytest", "tests/test_core.py", "tests/test_core.py"),
        ("cd a && pytest; cd ../b && pytest", "test_core.py", ""),
        ("cd a && pytest ../c", "tests/test_more.py", "c/tests/test_more.py"),
    ],
)
def test_of_files_with_one_name_a_gate_means_the_one_in_its_own_folder(command: str, reported: str, file: str) -> None:
    index = TreeIndex(TWINS).near(command)
    assert index.path(reported) == file
    assert index.module(reported.removesuffix(".py").replace("/", "."))[0] == file
