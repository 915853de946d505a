"""C31, C41: RED where gates write no report: new tests are read from source, and only their gate's failure is believed."""

import sys
from pathlib import Path

import pytest

from flyball.core.model.measurement import NewTest
from flyball.core.model.task import Gate, Item
from flyball.measures.gates.junit import TreeIndex
from flyball.measures.red.reasons import Project
from flyball.measures.red.uncounted import judge_new_tests, read_new
from flyball.measures.tampering.probes import FALLBACK, probes

pytestmark = pytest.mark.req("C31", "C41")

UNIT = "import unittest\n\nfrom calc import mul\n\n\nclass T(unittest.TestCase):\n"
NEW = UNIT + "    def test_ac_1(self):\n        self.assertEqual(mul(2, 3), 6)\n"
OLD = UNIT.replace("mul", "add") + "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("a.test.js", "test('AC-1 adds', () => {})\nit(`AC-2 ${x}`, f)\n", ["AC-1 adds", "AC-2 ${x}"]),
        ("a.spec.ts", 'describe("AC-1", () => {\n  it.only("adds", async () => {})\n})\n', ["adds"]),
        ("a_test.go", "func TestAC1(t *testing.T) {}\nfunc help() {}\n", ["TestAC1"]),
        (
            "src/lib.rs",
            "#[test]\nfn ac_1_adds() {}\n#[tokio::test]\nasync fn ac_2() {}\nfn no() {}\n",
            ["ac_1_adds", "ac_2"],
        ),
        ("CalcTest.java", "  @Test\n  public void ac1() {}\n  void help() {}\n", ["ac1"]),
        ("calc_spec.rb", "it 'AC-1 adds' do\nend\ndef test_ac_2\nend\n", ["AC-1 adds", "test_ac_2"]),
        ("tests/test_a.py", NEW, ["T::test_ac_1"]),
        ("tests/data.txt", "test('x')", []),
    ],
)
def test_the_names_of_new_tests_are_read_as_each_language_writes_them(path, source, found) -> None:
    read = read_new(path, None, source.encode())
    assert [test.id for test in read.tests] == [f"{path}::{name}" for name in found]
    assert read_new(path, source.encode(), source.encode()).tests == ()


def test_a_group_or_a_comment_may_name_the_criterion_of_a_test() -> None:
    source = "describe('AC-1: sums', () => {\n  // AC-2\n  it('adds', f)\n})\n"
    assert {"AC-1: sums", "// AC-2", "adds"} <= set(
        read_new("a.test.js", None, source.encode()).tests[0].words.splitlines()
    )


def judged(tmp_path: Path, text: str, *, passed: bool = False, source: str = "it('AC-1', f)\n") -> NewTest:
    read = read_new("a.test.js", None, source.encode())
    project = Project(tmp_path, ())
    items = (Item("AC-1", "adds"),)
    return judge_new_tests([read], passed=passed, text=text, index=TreeIndex(()), project=project, items=items)[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TypeError: add is not a function", "missing-name"),
        ("SyntaxError: './calc.js' does not provide an export named 'add'", "missing-name"),
        ("1 failing: expected 3 to equal 4", "assertion"),
        ("make: *** [test] Error 1", "assertion"),
        ("SyntaxError: Unexpected token '}'", "error"),
    ],
)
def test_where_nobody_says_which_test_failed_all_are_judged_as_one(tmp_path, text, reason) -> None:
    new = judged(tmp_path, text)
    assert (new.outcome, new.reason, new.criteria) == ("failing", reason, ("AC-1",))


def test_a_gate_that_passes_with_the_new_tests_is_told_as_that(tmp_path) -> None:
    new = judged(tmp_path, "", passed=True)
    assert new.outcome == "passing"
    assert "or no gate runs it" in new.detail


def test_a_test_that_says_it_is_skipped_is_skipped(tmp_path) -> None:
    assert judged(tmp_path, "Error", source="it.skip('AC-1', f)\n").outcome == "skipped"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"tests/test_new.py": NEW}, [("uncollected", "missing-name")]),
        ({"tests/test_new.py": NEW.replace("mul", "add")}, [("failing", "assertion")]),
        ({"tests/test_new.py": NEW.replace("mul(2, 3), 6", "mul(2, 3), 5").replace("mul", "add")}, [("passing", "")]),
        ({"tests/test_new.py": UNIT + "    def test_ac_1(self):\n        self.assertTrue(True)\n"}, [("uncollected", "vacuous")]),
        ({"tests/test_new.py": "def test_ac_1(:\n"}, [("uncollected", "error")]),
    ],
)  # fmt: skip
def test_pythons_own_runner_says_which_new_test_fails_and_why(new_lab, files, told) -> None:
    lab = new_lab({"tests/test_old.py": OLD, "tests/__init__.py": ""})
    lab.forget_tests()
    lab.gates(Gate("unit", f"{sys.executable} -m unittest discover -s tests -t .", 600.0))
    measured = lab.measure("red", files)
    assert [(test.outcome, test.reason) for test in measured.new_tests] == told
    assert measured.old_tests_broken == ()
    assert all(test.criteria == ("AC-1",) for test in measured.new_tests if test.tests_in_source)


@pytest.mark.slow
def test_a_gate_that_fails_without_the_new_tests_too_is_told(new_lab) -> None:
    lab = new_lab({"tests/test_old.py": OLD, "tests/__init__.py": ""})
    lab.forget_tests()
    lab.gates(Gate("unit", f"{sys.executable} -m unittest discover -s tests -t .", 600.0))
    measured = lab.measure("red", {"tests/test_new.py": NEW, "calc.py": "def add(a, b):\n    return 0\n"})
    assert measured.old_tests_broken == ("unit fails without the new tests, too",)


MAKE = {
    "Makefile": "test:\n\t@for t in tests/*_test.sh; do sh $$t || exit 1; done\n",
    "tests/add_test.sh": "test -f calc.py\n",
}
ITEMS = (Item("AC-1", "multiplies"), Item("AC-2", "negates"))


def made(new_lab, files=MAKE, command="make -s test"):
    lab = new_lab(files, bare=True)
    lab.forget_tests()
    lab.write({"calc.py": "X = 1\n"})
    lab.items = ITEMS
    lab.gates(Gate("test", command, 600.0))
    return lab


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"tests/ac_1_test.sh": "test -f mul\n", "tests/b_test.sh": "# AC-2\ntest -f neg\n"},
            {"AC-1": "failing", "AC-2": "failing"},
        ),
        ({"tests/both_test.sh": "# AC-1, AC-2\ntest -f mul\n"}, {"AC-1": "failing", "AC-2": "failing"}),
        (
            {"tests/ac_1_test.sh": "test -f mul\n", "tests/ac_2_test.sh": "true\n"},
            {"AC-1": "failing", "AC-2": "passing"},
        ),
        ({"tests/ac_1_test.sh": "true\n", "tests/ac_2_test.sh": "true\n"}, {"AC-1": "passing", "AC-2": "passing"}),
        ({"tests/ac_1_test.sh": "test -f mul\n", "tests/other_test.sh": "test -f neg\n"}, {"AC-1": "failing"}),
        ({"tests/ac_1_test.sh": "test -f mul\n", "tests/lib.sh": "# helps\n"}, {"AC-1": "failing"}),
    ],
)
def test_a_new_file_is_a_test_of_each_criterion_it_names_if_it_turns_the_gate_red_by_itself(
    new_lab, files, told
) -> None:
    lab = made(new_lab, MAKE | {"calc.py": "X = 1\n"})
    measured = lab.measure("red", files)
    assert {c: t.outcome for t in measured.new_tests for c in t.criteria} == told
    assert measured.old_tests_broken == ()


@pytest.mark.slow
def test_a_script_that_cannot_be_read_by_its_shell_fails_for_the_wrong_reason(new_lab) -> None:
    lab = made(new_lab, MAKE | {"calc.py": "X = 1\n"})
    measured = lab.measure("red", {"tests/ac_1_test.sh": "if then\n"})
    assert [t.reason for t in measured.new_tests] == ["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "command", "seen"),
    [
        (MAKE, "make -s test", True),
        ({"tests/add_test.sh": "true\n"}, "sh tests/add_test.sh", False),
        ({"test/run": "#!/bin/sh\nfor t in test/t-*; do $t || exit 1; done\n", "test/t-a": "#!/bin/sh\n"}, "sh -c 'for t in test/t-*; do sh $t || exit 1; done'", True),
        ({"a.txt": "x"}, "true", False),
        ({"a.txt": "x"}, "true; : go test", True),
    ],
    ids=["wildcard", "one file", "no suffix", "nothing", "a runner that finds tests"],
)  # fmt: skip
def test_the_baseline_finds_out_whether_a_new_test_file_would_be_run(new_lab, files, command, seen) -> None:
    lab = new_lab({**files, "calc.py": "X = 1\n"}, bare=True)
    lab.gates(Gate("test", command, 600.0))
    measured = lab.measure("baseline")
    assert measured.gates[0].passed
    assert (measured.unseen == "") is seen, measured.unseen


def test_a_probe_is_named_as_the_tests_beside_it(tmp_path) -> None:
    for name in ("tests/test_a.sh", "tests/run.sh", "tests/README.md", "src/b_test.c", "calc.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    files = [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()]
    assert [p.path for p in probes(files, tmp_path)] == [
        "src/b_flyball_probe_test.c",
        "tests/test_a_flyball_probe.sh",
        "tests/run_flyball_probe.sh",
    ]
    assert [p.path for p in probes([], tmp_path)] == [FALLBACK]


@pytest.mark.slow
@pytest.mark.req("C42")
@pytest.mark.parametrize(
    ("test", "product", "kinds"),
    [
        (". ./calc.sh\n[ $(mul 2 3) = 6 ] || exit 1\n", "exit 0\n", ["exit-forced"]),
        (". ./calc.sh\n[ $(mul 2 3) = 6 ] || exit 1\n", "mul() { echo 6; }\n", []),
        (". ./calc.sh\n[ $(mul 2 3) = 6 ]\nexit $?\n", "mul() { echo 6; }\n", []),
        (". ./calc.sh\n[ $(mul 2 3) = 6 ] && exit 0\nexit 1\n", "mul() { echo 6; }\n", []),
    ],
)
def test_a_product_that_ends_the_shell_it_is_tested_in_is_named_exit_forced(new_lab, test, product, kinds) -> None:
    lab = made(new_lab, MAKE | {"calc.py": "X = 1\n"})
    lab.accept({"tests/ac_1_test.sh": test}, {})
    lab.accepted_ref = ""
    measured = lab.measure("green", {"calc.sh": product})
    assert [t.kind for t in measured.tricks] == kinds
    assert measured.green_runs == (0 if kinds else 2)


def test_a_script_outside_the_tree_is_never_read_for_a_reason(tmp_path: Path) -> None:
    (tmp_path / "secret.js").write_text("export const key = 1\n")
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "inside.js").write_text("export const key = 1\n")
    (tree / "out").symlink_to(tmp_path)
    project = Project(tree, ("src/inside.js",))
    assert project.text("src/inside.js") is not None
    assert [project.text(each) for each in ("../secret.js", "out/secret.js", str(tmp_path / "secret.js"))] == [None] * 3


@pytest.mark.parametrize("name", ["loop.sh", "a\0b.sh", f"{'n' * 300}.sh"])
def test_a_script_that_no_file_can_be_has_no_text(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.sh").symlink_to("loop.sh")
    assert Project(tmp_path, ()).text(name) is None
