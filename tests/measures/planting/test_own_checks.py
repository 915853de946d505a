"""C44: a test whose own assertions are not run, or cannot fail, is told from one that can, in the run with planted failures."""

import sys
import types
import unittest
from textwrap import dedent
from typing import Any

import pytest

from flyball.measures.planting.python_source import plant

pytestmark = pytest.mark.req("C44")
MARK = "x0123456789abcdef"


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch):
    """Run a planted test against a product, in this process; gives back what its failure says."""

    def run(test: str, product: str = "", name: str = "test_it") -> str:
        calc = types.ModuleType("calc")
        calc.__dict__["__file__"] = "/gate/calc.py"
        exec(compile(dedent(product), "/gate/calc.py", "exec"), calc.__dict__)
        monkeypatch.setitem(sys.modules, "calc", calc)
        planted = plant(dedent(test).encode(), {name: MARK}, "around")
        assert planted is not None
        own: dict[str, Any] = {"__name__": "test_calc"}
        try:
            exec(compile(planted, "/gate/tests/test_calc.py", "exec"), own)
            if "::" in name:
                holder, _, method = name.partition("::")
                case = own[holder]
                getattr(case(method) if issubclass(case, unittest.TestCase) else case(), method)()
            else:
                own[name]()
        except BaseException as error:  # noqa: BLE001 - a failure of pytest is no Exception
            return str(error)
        finally:
            sys.settrace(None)
        return "green"

    return run


HOLLOW = {
    "asserts in a function that nobody calls": (
        "import calc\ndef test_it():\n    def check():\n        assert calc.mul(2, 3) == 6\n",
        "def mul(a, b): return 0\n",
    ),
    "asserts in a lambda that nobody calls": (
        "import calc\ndef test_it():\n    f = lambda self: self.assertEqual(calc.mul(2, 3), 6)\n",
        "def mul(a, b): return 0\n",
    ),
    "asserts in a generator that nobody goes through": (
        "import calc\ndef test_it():\n    def each():\n        assert calc.mul(2, 3) == 6\n        yield\n    each()\n",
        "def mul(a, b): return 0\n",
    ),
    "a loop over what the product leaves empty": (
        "import calc\ndef test_it():\n    for a, b in calc.cases():\n        assert a == b\n",
        "def cases(): return []\n",
    ),
    "a branch that the product never lets be taken": (
        "import calc\ndef test_it():\n    if calc.ready():\n        assert calc.mul(2, 3) == 6\n",
        "def ready(): return False\n",
    ),
    "a context manager of the product swallows failures": (
        "import calc\ndef test_it():\n    with calc.quietly():\n        assert calc.mul(2, 3) == 6\n",
        "import contextlib\ndef quietly(): return contextlib.suppress(AssertionError)\ndef mul(a, b): return 0\n",
    ),
    "a handler swallows failures": (
        "import calc\ndef test_it():\n    for n in range(3):\n        try:\n            assert calc.mul(2, n) == 2 * n\n        except Exception as error:\n            str(error)\n",
        "def mul(a, b): return 0\n",
    ),
    "what the product gives back equals everything": (
        "import calc\ndef test_it():\n    assert calc.mul(2, 3) == 6\n",
        "class Any:\n    __hash__ = None\n    def __eq__(self, other): return True\ndef mul(a, b): return Any()\n",
    ),
    "what the product gives back equals everything inside a list": (
        "import calc\ndef test_it():\n    assert [calc.mul(2, 3)] == [6]\n",
        "class Any:\n    __hash__ = None\n    def __eq__(self, other): return True\ndef mul(a, b): return Any()\n",
    ),
    "what the product gives back is the mock that equals everything": (
        "import calc\ndef test_it():\n    assert calc.mul(2, 3) == 6\n",
        "from unittest.mock import ANY\ndef mul(a, b): return ANY\n",
    ),
    "a trace function jumps over assertions": (
        "import calc\ndef test_it():\n    x = calc.mul(2, 3)\n    assert x == 6\n    y = 1\n",
        """
        import sys

        def jump(frame, event, arg):
            if event == "line":
                later = sorted({line for _, _, line in frame.f_code.co_lines() if line and line > frame.f_lineno})
                frame.f_lineno = later[0]
                sys.settrace(None)
                return None
            return jump

        def mul(a, b):
            sys._getframe(1).f_trace = jump
            sys.settrace(jump)
            return 0
        """,
    ),
}


@pytest.mark.parametrize("case", HOLLOW)
def test_a_test_that_cannot_fail_by_itself_is_told(ended, case: str) -> None:
    said = ended(*HOLLOW[case])
    assert said.startswith("h" + MARK[1:]) or said == "green", said
    assert MARK not in said


LIARS = {
    "int": "class C(int):\n    __hash__ = None\n    def __eq__(self, other): return isinstance(other, int)\n",
    "number": "class C(int):\n    __hash__ = None\n    def __eq__(self, other): return True\n    __lt__ = __gt__ = __le__ = __ge__ = __eq__\n",
    "order": "class C(int):\n    def __lt__(self, other): return True\n    __gt__ = __le__ = __ge__ = __lt__\n",
    "plain": "class C:\n    __hash__ = None\n    def __init__(self, x): pass\n    def __eq__(self, other): return type(other) is int\n    def __lt__(self, other): return True\n",
}
ASKED = (
    ("int", "assert calc.mul(2, 3) == 6"),
    ("int", "assert 6 == calc.mul(2, 3)"),
    ("int", "assert calc.mul(2, 3) in (6, 7)"),
    ("int", "self.assertEqual(calc.mul(2, 3), 6)"),
    ("int", "self.assertIn(calc.mul(2, 3), [6])"),
    ("int", "self.assertTrue(calc.mul(2, 3) == 6)"),
    ("int", "self.assertEqual({'a': calc.mul(2, 3)}, {'a': 6})"),
    ("int", "self.assertEqual(first=calc.mul(2, 3), second=6)"),
    ("number", "assert calc.mul(2, 3) < 7"),
    ("number", "self.assertLess(calc.mul(2, 3), 7)"),
    ("order", "assert 5 < calc.mul(2, 3) < 7"),
    ("order", "self.assertGreater(calc.mul(2, 3), 5)"),
    ("plain", "same = calc.mul(2, 3) == 6\n        assert same"),
    ("plain", "if calc.mul(2, 3) != 6:\n            self.fail()\n        assert calc.mul(2, 3) == 6"),
)


@pytest.mark.parametrize(("liar", "body"), ASKED)
def test_a_comparison_that_holds_for_other_operands_too_is_told_whatever_the_assertion(
    ended, liar: str, body: str
) -> None:
    test = f"import unittest\nimport calc\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n        {body}\n"
    said = ended(test, f"{LIARS[liar]}def mul(a, b): return C(0)\n", "TestIt::test_it")
    assert MARK not in said
    assert "a C that it compares" in said


TWINS = {
    "a value of its own": "class Money:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return getattr(o, 'n', o) == self.n\n    def __lt__(self, o): return self.n < getattr(o, 'n', o)\n    __hash__ = None\ndef mul(a, b): return Money(a * b)\n",
    "a tolerance": "class Near(float):\n    __hash__ = None\n    def __eq__(self, o): return abs(float(self) - o) < 0.5\ndef mul(a, b): return Near(a * b + 0.1)\n",
    "text without case": "class Word(str):\n    __hash__ = None\n    def __eq__(self, o): return str(self).lower() == str(o).lower()\ndef mul(a, b): return Word(a * b)\n",
    "an enumeration": "import enum\nclass Six(enum.IntEnum):\n    SIX = 6\ndef mul(a, b): return Six(a * b)\n",
    "a decimal": "from decimal import Decimal\ndef mul(a, b): return Decimal(a) * b\n",
    "a query that `==` builds": "class Field:\n    __hash__ = None\n    def __eq__(self, o): return Field()\n    __lt__ = __gt__ = __eq__\ndef mul(a, b): return Field()\n",
    "the greatest of all": "class Top:\n    __hash__ = None\n    def __gt__(self, o): return True\n    def __lt__(self, o): return False\n    def __eq__(self, o): return o == 6\ndef mul(a, b): return Top()\n",
    "one that refuses to be compared": "class Odd:\n    __hash__ = None\n    def __eq__(self, o):\n        if o == 6: return True\n        raise TypeError\ndef mul(a, b): return Odd()\n",
    "a dictionary with a default": "class Bag(dict):\n    def __missing__(self, key): return 0\n    def __eq__(self, o): return o == 6\n    __hash__ = None\ndef mul(a, b): return Bag()\n",
}  # fmt: skip
HELD = ("assert calc.mul(2, 3) == 6", "assert calc.mul(2, 3) in (5, 6)", "assert [calc.mul(2, 3)] == [6]")


@pytest.mark.parametrize("product", TWINS.values(), ids=TWINS)
def test_values_that_compare_in_their_own_honest_way_are_believed(ended, product: str) -> None:
    for body in HELD:
        said = ended(f"import calc\ndef test_it():\n    {body}\n", product)
        assert "that it compares" not in said


HONEST = {
    "a plain assertion": "def test_it():\n    assert calc.mul(2, 3) == 6\n",
    "builtins": "def test_it():\n    assert all(len(str(x)) == 1 for x in range(3)) and isinstance(calc.mul(1, 1), int) and open and print\n",
    "names of its own": "def all(x):\n    return x\n\ndef test_it():\n    len = 3\n    assert all([len])\n",
    "raises": "def test_it():\n    with pytest.raises(TypeError, match='mul'):\n        calc.mul()\n",
    "raises as a call": "def test_it():\n    pytest.raises(TypeError, calc.mul)\n",
    "an exception group": "def test_it():\n    assert issubclass(ExceptionGroup, Exception) and IOError\n",
    "warns": "def test_it():\n    with pytest.warns(UserWarning):\n        import warnings\n        warnings.warn('x', UserWarning)\n",
    "approx": "def test_it():\n    assert calc.mul(0.1, 3) == pytest.approx(0.3)\n",
    "a helper of the file": "def check(a, b):\n    assert a == b\n\ndef test_it():\n    check(calc.mul(2, 3), 6)\n",
    "a helper that asserts and a branch that is not taken": "def same(a, b):\n    assert a == b\n\ndef test_it():\n    same(calc.mul(2, 3), 6)\n    if calc.mul(0, 1):\n        assert False\n",
    "no exception is expected": "def test_it():\n    calc.mul(2, 3)\n",
    "a call that is to pass quietly": "def test_it():\n    calc.check_range(3)\n",
    "an else that fails": "def test_it():\n    try:\n        calc.mul()\n    except TypeError:\n        pass\n    else:\n        pytest.fail('no')\n",
    "an assertion that is never to be come to": "def test_it():\n    try:\n        calc.mul()\n    except TypeError:\n        return\n    assert False\n",
    "a mock": "def test_it():\n    from unittest.mock import Mock\n    m = Mock()\n    m(1)\n    m.assert_called_once_with(1)\n    m.assert_called()\n",
    "a word to type checkers": "def test_it():\n    from typing import assert_type\n    assert_type(calc.mul(1, 1), int)\n    assert calc.mul(1, 1) == 1\n",
    "assertions in a callback": "def test_it():\n    def seen(x):\n        assert x == 6\n    seen(calc.mul(2, 3))\n",
    "a loop": "def test_it():\n    for n in range(3):\n        assert calc.mul(n, 1) == n\n",
    "a replaced builtin": "def test_it():\n    import builtins\n    kept = builtins.print\n    builtins.print = lambda *a: None\n    try:\n        print('x')\n        assert calc.mul(1, 1) == 1\n    finally:\n        builtins.print = kept\n",
    "suppressed errors around it": "def test_it():\n    with contextlib.suppress(KeyError):\n        assert calc.mul(1, 1) == 1\n        raise KeyError\n",
    "a failure that is expected": "def test_it():\n    with pytest.raises(AssertionError):\n        assert calc.mul(2, 3) == 7\n",
    "a failure that is tried again": "def test_it():\n    for n in range(3):\n        try:\n            assert calc.mul(2, n) == 4\n            break\n        except AssertionError:\n            continue\n    else:\n        pytest.fail('never')\n",
    "clean-up after the last assertion": "def test_it():\n    try:\n        assert calc.mul(2, 3) == 6\n    finally:\n        calc.mul(0, 0)\n",
    "a mock that equals everything": "def test_it():\n    from unittest.mock import ANY\n    assert calc.mul(2, 3) == ANY\n    assert calc.mul(1, 1) == 1\n",
    "a check that gives something back": "def assert_all(each):\n    assert all(each)\n    return []\n\ndef test_it():\n    assert_all([calc.mul(1, 1)])\n",
    "nan": "def test_it():\n    x = calc.mul(float('nan'), 1)\n    assert x != x\n",
    "a sorted list": "def test_it():\n    xs = [calc.mul(1, n) for n in range(3)]\n    assert all(a < b for a, b in zip(xs, xs[1:])) and 1 in set(xs) and 2 in {2: xs}\n",
    "an early return": "def test_it():\n    assert calc.mul(1, 1) == 1\n    return\n",
    "keywords": "def test_it():\n    assert_same(actual=calc.mul(2, 3), wanted=6)\n\ndef assert_same(*, actual, wanted):\n    assert actual == wanted\n",
    "more than two arguments": "def test_it():\n    assert_near(calc.mul(2, 3), 6, 0.1)\n\ndef assert_near(a, b, by):\n    assert abs(a - b) < by\n",
    "walrus and await free": "def test_it():\n    if (x := calc.mul(2, 3)) and pytest.raises:\n        assert x == 6\n",
}
CASES = {
    "every assertion of unittest": """
        self.assertEqual(calc.mul(2, 3), 6)
        self.assertNotEqual(calc.mul(2, 3), 5, "why")
        self.assertTrue(calc.mul(2, 3))
        self.assertFalse(calc.mul(2, 0), msg="why")
        self.assertIsNone(None)
        self.assertIsNotNone(calc)
        self.assertIn(6, [calc.mul(2, 3)])
        self.assertNotIn(5, [calc.mul(2, 3)])
        self.assertIs(calc, calc)
        self.assertIsNot(calc, None)
        self.assertIsInstance(calc.mul(1, 1), int)
        self.assertNotIsInstance(calc.mul(1, 1), str)
        self.assertAlmostEqual(calc.mul(0.1, 3), 0.3, places=5)
        self.assertGreater(calc.mul(2, 3), 5)
        self.assertLessEqual(calc.mul(2, 3), 6)
        self.assertRegex(str(calc.mul(2, 3)), "6")
        self.assertNotRegex(str(calc.mul(2, 3)), "5")
        self.assertCountEqual([calc.mul(2, 3)], [6])
        self.assertDictEqual({}, {})
        self.assertRaises(TypeError, calc.mul)
        with self.assertRaisesRegex(TypeError, "mul"), self.subTest("x"):
            calc.mul()
        with self.assertLogs() as logs:
            __import__("logging").warning("x")
        for n in range(2):
            with self.subTest(n):
                self.assertEqual(calc.mul(n, 1), n)
        """,
}
PRODUCT = "def mul(a, b): return a * b\ndef check_range(x):\n    if not 0 <= x < 10: raise ValueError\n"


@pytest.mark.parametrize("case", HONEST)
def test_an_honest_test_is_shown_to_fail(ended, case: str) -> None:
    said = ended("import contextlib\nimport pytest\nimport calc\n\n" + HONEST[case], PRODUCT)
    assert said.startswith(MARK), said


@pytest.mark.parametrize("case", CASES)
def test_an_honest_case_of_unittest_is_shown_to_fail(ended, case: str) -> None:
    head = "import unittest\nimport calc\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
    said = ended(head + dedent(CASES[case]).replace("\n", "\n        "), PRODUCT, "TestIt::test_it")
    assert MARK in said, said


def test_an_asynchronous_test_may_wait_for_its_checks(ended) -> None:
    test = """
        import asyncio
        import pytest
        import calc

        async def assert_later(given, wanted):
            assert given == wanted

        async def it():
            await assert_later(calc.mul(2, 3), 6)
            with pytest.raises(TypeError):
                await asyncio.sleep("x")

        def test_it():
            asyncio.run(it())
        """
    assert ended(test, PRODUCT).startswith(MARK)
