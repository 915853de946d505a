"""A criterion that gives an example is shown by a test that states the same example."""

import pytest

from flyball.core.model.task import Item
from flyball.measures.noticing.examples import examples_of, unstated_examples

pytestmark = pytest.mark.req("C19")

SLUG = 'slugify("Hello World") in shop/slug.py gives "hello-world"'


@pytest.mark.parametrize(
    ("criterion", "found"),
    [
        (SLUG, [SLUG]),
        ("`total([250, None])` is 250", ["total([250, None])  is 250"]),
        (
            "clamp(15, 0, 10) gives 10 and clamp(-3, 0, 10) gives 0",
            ["clamp(15, 0, 10) gives 10", "clamp(-3, 0, 10) gives 0"],
        ),
        ("parse(text) gives a list", []),
        ("mul 6 7 prints 42", []),
        ("the page (see 3.2) is shown", []),
        ("Replace the print('loading') call by logging.info('loading')", []),
        ("total([1, 2]) returns 4 instead of 3", []),
        ("clamp(15, 0, 10) gives 15; it should give 10", []),
    ],
)
def test_an_example_is_a_call_with_literal_arguments_and_its_result(criterion: str, found: list[str]) -> None:
    assert [example.text for example in examples_of(Item("AC-1", criterion))] == found


STATED = {
    "plainly": {"tests/test_slug.py": "assert slugify('Hello World') == 'hello-world'"},
    "by a method of unittest": {"tests/test_slug.py": "t.assertEqual(slug.slugify('Hello World'), 'hello-world')"},
    "in a table": {"tests/test_slug.py": "CASES = [('Hello World', 'hello-world')]\nfor a, b in CASES: assert slugify(a) == b"},
    "in a file of data": {
        "tests/test_slug.py": "for a, b in load('cases.json'): assert slugify(a) == b",
        "tests/cases.json": '{"Hello World": "hello-world"}',
    },
    "in JavaScript": {"test/slug.test.js": "test('AC-1', () => expect(slugify(`x`, 'Hello World')).toBe('hello-world'))"},
}  # fmt: skip
UNSTATED = {
    "no test": {},
    "another function": {"tests/test_slug.py": "assert shout('Hello World') == 'hello-world'"},
    "a tautology": {"tests/test_slug.py": "assert slugify('Hello World') == slugify('Hello World')"},
    "another result": {"tests/test_slug.py": "assert slugify('Hello World') == 'Hello World'"},
    "a comment": {"tests/test_slug.py": "# slugify('Hello World') == 'hello-world'\nassert slugify('a')"},
    "a docstring": {"tests/test_slug.py": "'''slugify \"Hello World\" \"hello-world\"'''\nassert slugify('a')"},
    "a comment in JavaScript": {"test/slug.test.js": "// 'Hello World' 'hello-world'\nexpect(slugify('a')).toBe('a')"},
}


@pytest.mark.parametrize("tests", STATED.values(), ids=STATED)
def test_a_test_states_an_example_however_it_is_written(tests: dict[str, str]) -> None:
    assert unstated(tests) == ()


@pytest.mark.parametrize("tests", UNSTATED.values(), ids=UNSTATED)
def test_an_example_is_named_that_no_test_states(tests: dict[str, str]) -> None:
    assert unstated(tests) == (SLUG,)


def test_a_number_is_the_same_however_it_is_written() -> None:
    tests = [("tests/test_clamp.py", b"assert clamp(-3, 0.0, 1_0) == 0")]
    assert unstated_examples([Item("AC-1", "clamp(-3, 0, 10) gives 0")], lambda: tests) == ()


def test_blanks_in_an_example_are_the_same_however_a_document_folds_them() -> None:
    tests = [("tests/test_title.py", b"assert title('a  b') == 'A  B'")]
    assert unstated_examples([Item("AC-1", "title('a b') gives 'A B'")], lambda: tests) == ()


def unstated(tests: dict[str, str]) -> tuple[str, ...]:
    return unstated_examples([Item("AC-1", SLUG)], lambda: ((path, text.encode()) for path, text in tests.items()))
