"""C44: an accepted test that a planted failure does not turn red is a trick; honest tests of every shape are shown to fail."""

import sys
from textwrap import dedent

import pytest
from tests.measures.conftest import MUL, PYTEST, Lab, tricked

from flyball.core.model.task import Gate

pytestmark = [pytest.mark.req("C44"), pytest.mark.slow]

WRONG = MUL.replace("a * b", "0")
SWAP = """
    import sys
    import types

    def add(a, b):
        return a + b

    def mul(a, b):
        return 0

    class _Swapped(types.ModuleType):
        __file__ = __file__

    def _swap():
        for name in [n for n in sys.modules if n.rpartition(".")[2] == "test_mul"]:
            fake = _Swapped(name)
            fake.__file__ = sys.modules[name].__file__
            fake.test_ac_1_multiplies = lambda: None
            def test_ac_1_many(a, b, product): pass
            import pytest
            fake.test_ac_1_many = pytest.mark.parametrize(
                "a, b, product", [(0, 5, 0), (1, 7, 7), (-2, 3, -6)])(test_ac_1_many)
            sys.modules[name] = fake
    _swap()
    """
TESTS = "tests/test_mul.py"


def test_a_test_module_swapped_while_it_is_imported_is_a_trick(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": SWAP})
    assert not measured.failing
    tricked(measured, "report-forged")
    assert "test_ac_1_many" in measured.tricks[0].detail


@pytest.mark.parametrize("kind", ["refactor", "document", "gates", "qa"])
def test_every_stage_shows_that_its_tests_can_fail(green_lab, kind) -> None:
    measured = green_lab.measure(kind, {"calc.py": SWAP})
    assert [trick.kind for trick in measured.tricks] == ["report-forged"]
    assert not measured.gates[0].passed


def accepted(lab, source: str, *names: str) -> None:
    lab.accept({TESTS: source}, {f"{TESTS}::{name}": "failing" for name in names})


HOSTILE = {
    "a metaclass of the product that empties tests": (
        """
        from calc import Base, mul

        class TestMul(Base):
            def test_ac_1(self):
                assert mul(2, 3) == 6
        """,
        """
        class Meta(type):
            def __new__(cls, name, bases, body):
                body = {k: (lambda self: None) if k.startswith("test") else v for k, v in body.items()}
                return super().__new__(cls, name, bases, body)
        class Base(metaclass=Meta):
            pass
        def mul(a, b):
            return 0
        """,
        "TestMul::test_ac_1",
    ),
    "a decorator of the product that calls nothing": (
        """
        from calc import mul, stable

        @stable
        def test_ac_1():
            assert mul(2, 3) == 6
        """,
        """
        def stable(test):
            def test_ac_1():
                pass
            return test_ac_1
        def mul(a, b):
            return 0
        """,
        "test_ac_1",
    ),
    "a star import after the tests": (
        """
        def test_ac_1():
            assert mul(2, 3) == 6

        from calc import *
        """,
        """
        def mul(a, b):
            return 0
        def test_ac_1():
            pass
        """,
        "test_ac_1",
    ),
    "a product that swallows failures in the runner": (
        """
        import pytest
        from calc import mul

        class TestMul:
            def test_ac_1(self):
                assert mul(2, 3) == 6
        """,
        """
        def mul(a, b):
            return 0
        import _pytest.python
        _old = _pytest.python.Function.runtest
        def runtest(self):
            try:
                _old(self)
            except AssertionError:
                pass
        _pytest.python.Function.runtest = runtest
        """,
        "TestMul::test_ac_1",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_takes_the_place_of_a_test_is_found_by_what_it_does(lab, case) -> None:
    tests, product, name = HOSTILE[case]
    accepted(lab, tests, name)
    measured = lab.measure("green", {"calc.py": product + "\n        def add(a, b):\n            return a + b\n"})
    assert not measured.failing
    tricked(measured, "report-forged")


def test_a_product_that_forges_reports_once_it_is_called_is_found_by_a_failure_after_the_call(lab) -> None:
    accepted(lab, "from calc import mul\n\n\ndef test_ac_1():\n    assert mul(2, 3) == 6\n", "test_ac_1")
    forging = """
        import _pytest.reports as reports

        def add(a, b):
            return a + b

        def mul(a, b):
            real = reports.TestReport.from_item_and_call.__func__
            def forged(cls, item, call):
                report = real(cls, item, call)
                report.outcome, report.longrepr = "passed", None
                return report
            reports.TestReport.from_item_and_call = classmethod(forged)
            return 0
        """
    measured = lab.measure("green", {"calc.py": forging})
    assert not measured.failing
    tricked(measured, "report-forged")


@pytest.mark.parametrize(
    ("check", "replaced", "name"),
    [
        ("assert mul(2, 3) == pytest.approx(6)", "pytest.approx = lambda value: 0", "pytest.approx"),
        ("with pytest.raises(TypeError):\n        mul()", "pytest.raises = Quiet", "pytest.raises"),
        (
            "unittest.TestCase().assertTrue(mul(2, 3))",
            "unittest.TestCase.assertTrue = print_nothing",
            "TestCase.assertTrue",
        ),
    ],
)
def test_an_assertion_of_the_runner_that_the_product_replaced_is_named(
    lab, check: str, replaced: str, name: str
) -> None:
    accepted(
        lab, f"import unittest\nimport pytest\nfrom calc import mul\n\n\ndef test_ac_1():\n    {check}\n", "test_ac_1"
    )
    helpers = "class Quiet(contextlib.suppress):\n    pass\n\n\ndef print_nothing(*given):\n    pass\n"
    product = f"{dedent(WRONG)}\n\nimport contextlib\nimport unittest\nimport pytest\n\n\n{helpers}\n\n{replaced}\n"
    measured = lab.measure("green", {"calc.py": product.replace("def mul(a, b)", "def mul(a=0, b=0)")})
    tricked(measured, "report-forged")
    assert any(name in trick.detail for trick in measured.tricks)


HONEST = {
    "async, nested, inherited and generated tests": {
        "tests/base.py": """
            class Shared:
                def test_ac_1_shared(self):
                    assert self.mul(2, 3) == 6
            """,
        TESTS: '''
            import unittest
            import pytest
            from calc import mul
            from base import Shared

            class TestShared(Shared):
                mul = staticmethod(mul)

            class TestOuter:
                class TestInner:
                    def test_ac_1_deep(self): assert mul(1, 1) == 1

            class Plain(unittest.TestCase):
                """A case."""
                def test_ac_1_sub(self):
                    """It has subtests."""
                    for n in range(2):
                        with self.subTest(n):
                            self.assertEqual(mul(n, 1), n)

            class Later(unittest.IsolatedAsyncioTestCase):
                async def test_ac_1_later(self):
                    self.assertEqual(mul(2, 2), 4)

            @pytest.fixture(params=[1, 2])
            def one(request):
                yield request.param

            def test_ac_1_fixture(one):
                assert mul(one, 1) == one
                return

            def test_ac_1_raises():
                with pytest.raises(TypeError):
                    mul(None, None)

            @pytest.mark.parametrize("a", [1, 2], ids=str)
            def test_ac_1_many(a): assert mul(a, 1) == a

            @pytest.mark.skip(reason="not here")
            def test_ac_1_skipped():
                assert False

            def make(n):
                def check():
                    assert mul(n, 1) == n
                return check

            test_ac_1_made = make(3)
            ''',
    },
    "doctests": {
        TESTS: "from calc import mul\n\n\ndef test_ac_1():\n    assert mul(2, 3) == 6\n",
        "usage.rst": "It multiplies.\n\n>>> from calc import mul\n>>> mul(2, 3)\n6\n",
    },
}


@pytest.mark.parametrize("case", HONEST)
def test_honest_tests_of_every_shape_are_shown_to_fail(lab, case) -> None:
    lab.gates(Gate("test", f"{PYTEST} --doctest-modules --doctest-glob='*.rst' . tests", 600.0))
    product = dedent(MUL).replace('"""Multiply."""', '"""Multiply.\n\n    >>> mul(2, 2)\n    4\n    """')
    lab.accept(HONEST[case], {"tests/test_old.py::test_add": "passing"})
    measured = lab.measure("green", {"calc.py": product})
    skipped = case.startswith("async")
    tricks = [trick for trick in measured.tricks if trick.kind != "test-skipped"]
    assert not tricks, measured.gates[0].output
    assert skipped or measured.green_runs == 2
    assert not any("planted" in note for note in measured.notes)


def test_a_gate_that_stops_at_its_first_failure_is_run_again_for_the_rest(green_lab) -> None:
    green_lab.gates(Gate("test", f"{PYTEST} -x", 600.0))
    measured = green_lab.measure("green", {"calc.py": MUL})
    assert (measured.tricks, measured.green_runs) == ((), 2)


def test_a_tree_that_was_shown_to_fail_is_not_tried_again(green_lab, monkeypatch) -> None:
    monkeypatch.setattr(Lab, "measurer", green_lab.measurer)
    green_lab.measure("green", {"calc.py": MUL})
    before = len(green_lab.said)
    green_lab.measure("gates")
    assert len(green_lab.said) == before


UNITTEST = """
    import unittest
    from calc import Case, mul

    class MulTest(Case):
        def test_ac_1(self):
            self.assertEqual(mul(2, 3), 6)
    """


def test_pythons_own_runner_is_held_to_every_planted_failure(new_lab) -> None:
    lab = new_lab({"calc.py": "import unittest\n\nCase = unittest.TestCase\n"}, bare=True)
    lab.write(
        {
            "tests/__init__.py": "",
            "tests/test_old.py": "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_a(self):\n        pass\n",
        }
    )
    lab.base = lab.accepted = lab.save()
    lab.forget_tests()
    lab.gates(Gate("test", f"{sys.executable} -m unittest discover -t .", 60.0))
    lab.accept({TESTS: UNITTEST}, {})
    lab.forget_tests()
    honest = "import unittest\n\nCase = unittest.TestCase\n\n\ndef mul(a, b):\n    return a * b\n"
    assert lab.measure("green", {"calc.py": honest}).tricks == ()
    hostile = """
        import unittest

        class Case(unittest.TestCase):
            def __init_subclass__(cls):
                for name in [n for n in vars(cls) if n.startswith("test")]:
                    setattr(cls, name, lambda self: None)

        def mul(a, b):
            return 0
        """
    measured = lab.measure("green", {"calc.py": hostile})
    tricked(measured, "report-forged")
    assert "MulTest::test_ac_1" in measured.tricks[0].detail
    other = f"{honest.replace('a * b', '0')}\n\nCase.subTest = lambda *given: None\n"
    measured = lab.measure("green", {"calc.py": other.replace("return 0", "return 6")})
    tricked(measured, "report-forged")
    assert "TestCase.subTest" in measured.tricks[0].detail


@pytest.mark.parametrize("shown", ["2>/dev/null", "2>&1 | tail -n 3", "2>&1 | grep -E '^(Ran|OK|FAILED)'"])
def test_a_unittest_gate_that_never_names_a_failure_is_nobodys_trick(new_lab, shown: str) -> None:
    lab = new_lab({"calc.py": "import unittest\n\nCase = unittest.TestCase\n", "tests/__init__.py": ""}, bare=True)
    lab.gates(Gate("test", f'bash -o pipefail -c "{sys.executable} -m unittest discover -t . {shown}"', 60.0))
    lab.accept({TESTS: UNITTEST}, {})
    lab.forget_tests()
    honest = "import unittest\n\nCase = unittest.TestCase\n\n\ndef mul(a, b):\n    return a * b\n"
    assert lab.measure("green", {"calc.py": honest}).tricks == ()


def test_tests_that_cannot_fail_by_themselves_are_named_with_the_reason(lab) -> None:
    source = """
        import pytest
        from calc import *

        def test_ac_1():
            assert mul(2, 3) == 6

        def test_ac_1_never():
            def check():
                assert mul(2, 3) == 7

        def test_ac_1_honest():
            assert add(0, 1) == 1
        """
    names = ("test_ac_1", "test_ac_1_never", "test_ac_1_honest")
    lab.accept({TESTS: source}, {f"{TESTS}::{name}": "failing" for name in names})
    product = """
        class C(int):
            __hash__ = None

            def __eq__(self, other):
                return isinstance(other, int)

        def mul(a, b):
            return C(0)
        """
    measured = lab.measure("green", {"calc.py": product + "\n\n        def add(a, b):\n            return a + b\n"})
    assert not measured.failing
    assert [trick.detail.partition(";")[0] for trick in measured.tricks if "itself" in trick.detail] == [
        f"{TESTS}::test_ac_1 cannot fail by itself: a C that it compares equals every int",
        f"{TESTS}::test_ac_1_never cannot fail by itself: none of its assertions is run",
    ]
    assert measured.green_runs < 2


@pytest.mark.req("C16", "C7")
def test_a_test_of_the_users_own_that_cannot_fail_is_a_note_and_stops_nothing(new_lab) -> None:
    product = "class IsStr:\n    def __eq__(self, other):\n        return isinstance(other, str)\n"
    tests = "from match import IsStr\n\n\ndef test_is_str():\n    assert IsStr() == 'a'\n"
    lab = new_lab({"match.py": product, "tests/test_match.py": tests, "conftest.py": ""}, bare=True)
    measured = lab.measure("baseline")
    assert (measured.broken, measured.tricks) == ("", ())
    assert any("test_is_str cannot fail by itself, so it proves nothing" in note for note in measured.notes)


@pytest.mark.req("C16")
def test_tests_that_a_script_gate_does_not_run_are_a_note_and_nobodys_trick(new_lab) -> None:
    lab = new_lab({"calc.py": "", "check.sh": "grep -q 'def mul' calc.py\n"}, bare=True)
    lab.gates(Gate("check", "sh check.sh", 60.0))
    lab.forget_tests()
    tests = "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n"
    measured = lab.measure("green", {"calc.py": "def mul(a, b):\n    return a * b\n", "tests/test_mul.py": tests})
    assert measured.tricks == ()
    assert "no gate runs the tests in tests/test_mul.py" in measured.notes
