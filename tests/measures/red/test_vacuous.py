"""C41: a new test that checks nothing is no test of a criterion, whatever its file fails with."""

from textwrap import indent

import pytest

from flyball.measures.red.red import vacuous_tests

pytestmark = pytest.mark.req("C41")


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "...",
        '"""AC-1"""',
        "assert True",
        "assert 1 + 1 == 2",
        "assert 'multiply'",
        "assert multiply or True",
        "assert multiply is multiply",
        "x = 42",
        "for _ in (1, 2):\n    assert not False",
        "self.assertTrue(True)\nself.assertEqual(42, 42)",
    ],
)
def test_a_test_that_looks_at_nothing_checks_nothing(body) -> None:
    source = f"from calc import multiply\n\n\nclass TestX:\n    def test_x(self):\n{indent(body, '        ')}\n"
    assert vacuous_tests(source.encode(), "t.py") == {"t.py::TestX::test_x"}


@pytest.mark.parametrize(
    "body",
    [
        "assert multiply(6, 7) == 42",
        "assert multiply",
        "assert given",
        "multiply(6, 7)",
        "calc.multiply",
        "import calc.more",
        "assert_product(6, 7, 42)",
        "check(6, 7, 42)",
        "self.assertEqual(multiply(6, 7), 42)",
        "self.assertProduct(*given)",
        "with raises(TypeError):\n    multiply('a')",
        "try:\n    multiply('a')\nexcept TypeError:\n    return\nassert False",
        "for n in range(3):\n    assert multiply(n, 0) == 0",
        "raise AssertionError",
        "with suppress(KeyError):\n    assert multiply(6, 7) == 42",
        "try:\n    multiply('a')\nexcept TypeError:\n    pass",
        "try:\n    multiply('a')\nexcept Exception:\n    pass\nelse:\n    fail()",
        "if False:\n    pass\nelse:\n    multiply(6, 7)",
        "assert open('README.md')",
    ],
)
def test_a_test_that_calls_or_looks_at_anything_is_left_alone(body) -> None:
    source = f"from calc import multiply\n\n\ndef test_x(given):\n{indent(body, '    ')}\n"
    assert not vacuous_tests(source.encode(), "t.py")


def test_what_cannot_be_parsed_is_not_judged() -> None:
    assert not vacuous_tests(b"def test_x(:\n", "t.py")


@pytest.mark.slow
def test_a_test_that_checks_nothing_is_named_though_its_file_lacks_the_product(lab) -> None:
    body = (
        "from calc import mul\n\n\ndef test_ac_1_a():\n    assert True\n\n\ndef test_ac_1_b():\n    assert mul(1, 2)\n"
    )
    measured = lab.measure("red", {"tests/test_x.py": body})
    assert [(test.outcome, test.reason) for test in measured.new_tests] == [
        ("uncollected", "vacuous"),
        ("uncollected", "missing-name"),
    ]
