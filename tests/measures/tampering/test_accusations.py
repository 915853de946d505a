"""C16: only what changed a measurement is called a trick; each guard lets its honest twin through."""

import shutil

import pytest
from msgspec.structs import replace
from tests.measures.conftest import MUL, TESTS, Lab, tricked

from flyball.core.model.task import Gate, Item
from flyball.measures.sources import declared_tests

pytestmark = [pytest.mark.req("C16"), pytest.mark.slow]
BAD = MUL.replace("a * b", "0")


def passes(measured) -> None:
    assert (measured.caught, measured.green_runs) == ((), 2), measured.gates[0].output


def test_a_fixture_in_the_tasks_own_new_conftest_goes_through(green_lab) -> None:
    files = {
        "calc.py": MUL,
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
        "tests/test_two.py": "from calc import mul\n\n\ndef test_two(two):\n    assert mul(two, two) == 4\n",
    }
    measured = green_lab.measure("green", files)
    passes(measured)
    assert (measured.tricks, measured.put_back) == ((), ())
    assert green_lab.workspace.read_file(measured.tree, "tests/conftest.py") is not None


def test_a_new_conftest_that_repairs_the_product_for_accepted_tests_is_a_trick(green_lab) -> None:
    measured = green_lab.measure(
        "green", {"calc.py": BAD, "tests/conftest.py": "import calc\n\ncalc.mul = int.__mul__\n"}
    )
    tricked(measured, "test-aided", "tests/conftest.py")


@pytest.mark.parametrize(
    "mark", ["@pytest.mark.skipif(sys.platform != 'win32', reason='windows')", "@pytest.mark.xfail"]
)
def test_a_new_test_that_is_skipped_here_is_a_remark(green_lab, mark) -> None:
    new = (
        f"import sys\n\nimport pytest\n\nfrom calc import mul\n\n\n{mark}\ndef test_far():\n    assert mul(1, 1) == 2\n"
    )
    measured = green_lab.measure("green", {"calc.py": MUL, "tests/test_far.py": new})
    passes(measured)
    (remark,) = [each for each in measured.remarks if "was skipped" in each.text]
    assert (remark.file, remark.line) == ("tests/test_far.py", 9)


def test_a_harmless_change_of_a_protected_file_is_undone_and_the_work_goes_on(green_lab) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    measured = green_lab.measure("green", {"calc.py": MUL, TESTS: text.replace("mul(2, 3) == 6", "mul(3, 2) == 6")})
    passes(measured)
    assert [(each.kind, each.harmless) for each in measured.tricks] == [("protected-changed", True)]
    assert measured.put_back == (TESTS,)
    assert green_lab.workspace.read_file(measured.tree, TESTS) == green_lab.workspace.read_file(
        green_lab.accepted, TESTS
    )


def test_the_same_change_is_a_trick_where_a_measurement_comes_out_otherwise_and_it_is_quoted(green_lab) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    measured = green_lab.measure("green", {"calc.py": BAD, TESTS: text.replace("mul(2, 3) == 6", "mul(3, 2) == 0")})
    tricked(measured, "protected-changed", TESTS)
    told = "measured: with this change tests/test_mul.py::test_ac_1_multiplies passes, without it it fails"
    assert told in measured.tricks[0].detail


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("Bring the snapshots up to date", "tests/__snapshots__/old.snap"),
        ("Update the golden files", "tests/data/receipt.txt"),
    ],
)
def test_a_snapshot_that_the_request_asks_to_update_goes_through(new_lab, request_, path) -> None:
    reading = f"from pathlib import Path\n\nfrom calc import add\n\n\ndef test_add():\n    assert str(add(1, 2)) == Path({path!r}).read_text()\n"
    lab = new_lab({path: "3", "tests/test_old.py": reading})
    lab.items = (Item("request", request_),)
    passes(lab.measure("green", {"calc.py": "def add(a, b):\n    return float(a + b)\n", path: "3.0"}))
    lab.items = (Item("request", "Update calc; do not touch the snapshots or golden files"),)
    tricked(lab.measure("green"), "protected-changed", path)


def test_files_that_may_change_are_taken_from_the_candidate(green_lab) -> None:
    old = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == '3'\n"
    files = {
        "calc.py": "def add(a, b):\n    return str(a + b)\n\n\ndef mul(a, b):\n    return a * b\n",
        "tests/test_old.py": old,
    }
    tricked(green_lab.measure("green", files), "protected-changed", "tests/test_old.py")
    green_lab.settings = replace(green_lab.settings, may_change=("tests/**",))
    measured = green_lab.measure("green")
    passes(measured)
    assert any("tests/test_old.py may change" in note for note in measured.notes)
    weaker = (green_lab.workspace.root / TESTS).read_text().replace("mul(2, 3) == 6", "True")
    assert TESTS in green_lab.measure("green", {TESTS: weaker}).put_back, "what this task accepted stays accepted"


@pytest.mark.req("C42")
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_tests_behind_a_symbolic_link_are_protected_as_their_targets(new_lab, linked) -> None:
    lab: Lab = new_lab({"qa/checks.py": "from calc import add\n\n\ndef test_sum():\n    assert add(2, 2) == 4\n"})
    link = lab.workspace.root / "tests" / ("test_sum.py" if linked == "file" else "more")
    link.symlink_to("../qa/checks.py" if linked == "file" else "../qa")
    lab.accepted = lab.save()
    measured = lab.measure("green", {"qa/checks.py": "def test_sum():\n    assert True\n"})
    assert [(each.kind, each.path) for each in measured.tricks] == [("protected-changed", "qa/checks.py")]
    assert measured.put_back == ("qa/checks.py",)


@pytest.mark.req("C42")
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_a_script_that_is_imported_in_place_of_an_accepted_one_is_named_wrong_tree(new_lab) -> None:
    test = """
        import test from "node:test";
        import assert from "node:assert";
        import { existsSync } from "node:fs";
        const { add } = await import(existsSync("src/cart.mjs") ? "../src/cart.mjs" : "../src/cart.js");
        test("adds", () => assert.equal(add(1, 2), 3));
        """
    lab = new_lab(
        {
            "package.json": '{"type": "module"}',
            "src/cart.js": "export const add = (a, b) => a + b;\n",
            "test/cart.test.mjs": test,
        },
        bare=True,
    )
    lab.forget_tests()
    lab.gates(Gate("test", "node --test --test-reporter=junit --test-reporter-destination={junit} test/", 600.0))
    measured = lab.measure(
        "green",
        {"src/cart.js": "export const add = () => 0;\n", "src/cart.mjs": "export const add = (a, b) => a + b;\n"},
    )
    tricked(measured, "wrong-tree", "src/cart.mjs")


EACH = """
describe.each([[1, 2]])("AC-1 group %i", (a, b) => {
  it.each([
    [1, "("],
    [2, ")"],
  ])("AC-2 adds %i", (a, b) => { expect(a).toBe(b); });
  test.each`
    a | b
    ${1} | ${2}
  `("AC-3 template $a", ({ a, b }) => {});
});
it.skip("AC-4 later", () => {});
test.each<[number]>([[1]])(`AC-5 typed`, (n) => {});
"""


def test_tests_with_tables_of_cases_are_read_with_their_names_and_groups() -> None:
    found = declared_tests("a.test.ts", EACH.encode())
    assert [each.id.partition("::")[2] for each in found] == [
        "AC-2 adds %i", "AC-3 template $a", "AC-4 later", "AC-5 typed",
    ]  # fmt: skip
    assert all("AC-1 group %i" in each.words for each in found[:2])
    assert [each.skipped for each in found] == [False, False, True, False]
