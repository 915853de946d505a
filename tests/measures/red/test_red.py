"""C41 RED: new tests, why they fail, and the old ones without them."""

import shutil

import pytest

from flyball.core.model.measurement import Measurement, NewTest
from flyball.core.model.task import Gate, Item

pytestmark = [pytest.mark.req("C41"), pytest.mark.slow]


def found(measured: Measurement) -> dict[str, NewTest]:
    return {test.id.partition("::")[2]: test for test in measured.new_tests}


def test_a_new_test_that_fails_by_an_assertion_counts_and_names_its_criterion(lab) -> None:
    lab.items = (Item("AC-1", "sums"), Item("AC-2", "signs"))
    measured = lab.measure(
        "red",
        {
            "tests/test_new.py": '''
            from calc import add


            def test_ac_1_sums():
                assert add(2, 2) == 5


            # AC-2
            def test_signs():
                """Signs."""
                assert add(-1, 1) == 1
            '''
        },
    )
    assert {(i, t.outcome, t.reason, t.criteria) for i, t in found(measured).items()} == {
        ("test_ac_1_sums", "failing", "assertion", ("AC-1",)),
        ("test_signs", "failing", "assertion", ("AC-2",)),
    }
    assert measured.old_tests_broken == ()
    assert measured.tricks == ()
    assert lab.tests(measured)["tests/test_new.py::test_signs"] == "failing"
    assert measured.signature is not None


def test_a_file_that_imports_a_missing_name_counts_by_the_tests_in_its_source(lab) -> None:
    measured = lab.measure(
        "red",
        {
            "tests/test_mul.py": """
            import pytest

            from calc import mul


            def test_ac_1_a():
                assert mul(1, 1) == 1


            class TestMore:
                @pytest.mark.parametrize("x", [1, 2])
                def test_b(self, x):
                    assert mul(x, 1) == x
            """
        },
    )
    assert {(i, t.outcome, t.reason) for i, t in found(measured).items()} == {
        ("test_ac_1_a", "uncollected", "missing-name"),
        ("TestMore::test_b", "uncollected", "missing-name"),
    }
    assert "cannot import name 'mul'" in found(measured)["test_ac_1_a"].detail
    assert lab.tests(measured) == {
        "tests/test_old.py::test_add": "passing",
        "tests/test_mul.py::test_ac_1_a": "failing",
        "tests/test_mul.py::TestMore::test_b": "failing",
    }


def test_tests_counted_from_source_are_required_later_with_any_parameters(lab) -> None:
    lab.accept(
        {
            "tests/test_new.py": "import pytest\nfrom calc import mul\n\n\n@pytest.mark.parametrize('x', [1])\ndef test_a(x):\n    assert mul(x, 1) == x\n"
        },
        {"tests/test_old.py::test_add": "passing", "tests/test_new.py::test_a": "failing"},
    )
    measured = lab.measure(
        "gates", {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n"}
    )
    assert measured.missing == ()
    assert measured.gates[0].passed


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        ("import calc\n\n\ndef test_x():\n    calc.mul(1, 2)\n", "failing", "missing-name"),
        ("import calc.more\n\n\ndef test_x():\n    assert calc.more.x\n", "uncollected", "missing-name"),
        ("import brand_new\n\n\ndef test_x():\n    brand_new.run()\n", "uncollected", "missing-name"),
        ("import brand_new\n\n\ndef test_x():\n    pass\n", "uncollected", "vacuous"),
        ("def test_x():\n    multiply(1, 2)\n", "failing", "missing-name"),
        ("from calc import add\n\n\ndef test_x():\n    add(a=1, b=2, c=3)\n", "failing", "missing-name"),
        (
            "import pytest\nfrom calc import add\n\n\ndef test_x():\n    with pytest.raises(ValueError):\n        add(1, 2)\n",
            "failing",
            "assertion",
        ),
        (
            "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        self.assertEqual(add(1, 2), 4)\n",
            "failing",
            "assertion",
        ),
        ("def test_x():\n    add(1, 2)\n", "failing", "error"),
        ("def test_x():\n    assert None.mul == 1\n", "failing", "error"),
        ("def test_x():\n    1 / 0\n", "failing", "error"),
        ("def test_x(nothing):\n    assert nothing\n", "failing", "error"),
        ("def test_x(:\n    pass\n", "uncollected", "error"),
        ("import pytest\n\n\n@pytest.mark.skip\ndef test_x():\n    assert 0\n", "skipped", ""),
        ("def test_x():\n    assert 1\n", "passing", ""),
    ],
)
def test_the_reason_of_a_failure_is_told_apart(lab, body, outcome, reason) -> None:
    measured = lab.measure("red", {"tests/test_x.py": body})
    assert [(t.outcome, t.reason) for t in measured.new_tests] == [(outcome, reason)], measured.new_tests


def test_a_project_that_has_the_name_is_not_missing_it(new_lab) -> None:
    lab = new_lab({"loop_a.py": "from loop_b import b\n\na = 1\n", "loop_b.py": "from loop_a import a\n\nb = 1\n"})
    measured = lab.measure("red", {"tests/test_x.py": "import loop_a\n\n\ndef test_x():\n    assert loop_a.a == 2\n"})
    assert [(t.outcome, t.reason) for t in measured.new_tests] == [("uncollected", "error")]


def test_an_old_test_broken_by_the_candidate_is_reported(lab) -> None:
    measured = lab.measure(
        "red", {"calc.py": "def add(a, b):\n    return 0\n", "tests/test_new.py": "def test_n():\n    assert 0\n"}
    )
    assert measured.old_tests_broken == ("tests/test_old.py::test_add",)


def test_old_tests_are_measured_without_the_new_files(lab) -> None:
    spoiler = "import calc\n\ncalc.add = lambda a, b: 0\n\n\ndef test_n():\n    assert calc.add(1, 2) == 4\n"
    measured = lab.measure("red", {"tests/test_aaa.py": spoiler, "other.py": "X = 1\n"})
    assert measured.old_tests_broken == ()


def test_a_test_added_to_an_old_file_that_no_longer_loads_counts_alone(lab) -> None:
    text = (lab.workspace.root / "tests/test_old.py").read_text()
    text = text.replace("import add", "import add, mul") + "\n\ndef test_mul():\n    assert mul(2, 2) == 4\n"
    measured = lab.measure("red", {"tests/test_old.py": text})
    assert [(t.id, t.outcome, t.reason) for t in measured.new_tests] == [
        ("tests/test_old.py::test_mul", "uncollected", "missing-name")
    ]
    assert measured.old_tests_broken == ()


def test_red_in_a_repository_without_any_test_is_measured(new_lab) -> None:
    lab = new_lab({"calc.py": "def add(a, b):\n    return a + b\n"}, bare=True)
    lab.forget_tests()
    measured = lab.measure(
        "red", {"tests/test_x.py": "from calc import mul\n\n\ndef test_ac_1():\n    assert mul(1, 1) == 1\n"}
    )
    assert [(t.outcome, t.reason, t.criteria) for t in measured.new_tests] == [
        ("uncollected", "missing-name", ("AC-1",))
    ]
    assert not measured.broken


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ('{ mul } from "../mul.mjs"', "Cannot find module ../mul.mjs"),
        ('{ mul } from "../calc.mjs"', "export named mul"),
    ],
)
def test_a_script_that_imports_what_is_not_there_fails_for_the_right_reason_though_node_does_not_say_so(
    new_lab, wanted, said
) -> None:
    lab = new_lab({"calc.mjs": "export const add = (a, b) => a + b;\n"}, bare=True)
    lab.gates(Gate("test", "node --test --test-reporter=junit --test-reporter-destination={junit} test/", 60.0))
    lab.forget_tests()
    head = 'import test from "node:test";\nimport assert from "node:assert";\n'
    tests = f'{head}import {wanted};\ntest("AC-1 multiplies", () => assert.equal(mul(2, 3), 6));\n'
    (new,) = lab.measure("red", {"test/mul.test.mjs": tests}).new_tests
    assert (new.reason, new.criteria) == ("missing-name", ("AC-1",))
    assert said in new.detail
