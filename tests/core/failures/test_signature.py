"""Signatures of failures: the same one again, and another one."""

import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.failures.masks import mask, plain
from flyball.core.failures.signature import signature

PYTEST = """\
{progress}
=================================== FAILURES ===================================
___________________________________ test_add ___________________________________
{worker}
tmp_path = PosixPath('/tmp/pytest-of-{user}/pytest-{run}/test_add0')

    def test_add(tmp_path):
>       assert parse_row(tmp_path) == 5
E       assert {got} == 5
E        +  where {got} = parse_row(<rows.Table object at {address}>)

{file}:{line}: AssertionError
----------------------------- Captured stdout call -----------------------------
started at {clock}
=========================== short test summary info ============================
FAILED tests/test_rows.py::test_add - assert {got} == 5
1 failed, 1 passed in {seconds}s
"""
RUN = {
    "progress": ".F                [100%]",
    "worker": "",
    "user": "ann",
    "run": "3",
    "got": "-1",
    "address": "0x7fb77d61a990",
    "file": "tests/test_rows.py",
    "line": "7",
    "clock": "1794779650.1275616",
    "seconds": "0.06",
}
OTHER_RUN = {
    "progress": "F.                [100%]",
    "worker": "[gw1] linux -- Python 3.11.7 /opt/venv/bin/python",
    "user": "root",
    "run": "12/popen-gw1",
    "address": "0x7f5a90640e50",
    "line": "30",
    "clock": "1794779999.5",
    "seconds": "1.95",
}

TSC_PLAIN = "src/m.ts({line},7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
TSC_PRETTY = """\
\x1b[96msrc/m.ts\x1b[0m:\x1b[93m{line}\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType 'string' is not assignable to type 'number'.

\x1b[7m{line}\x1b[0m const a: number = "x";
\x1b[7m \x1b[0m \x1b[91m      ~\x1b[0m


Found 1 error in src/m.ts\x1b[90m:{line}\x1b[0m
"""

CASES = {
    "unittest": "F\n======\nFAIL: test_a (test_m.T.test_a)\n------\nTraceback (most recent call last):\n"
    '  File "{root}/test_m.py", line {n}, in test_a\n    self.assertEqual(f(), 2)\nAssertionError: {v} != 2\n\n'
    "Ran 1 test in 0.00{n}s\n\nFAILED (failures=1)\n",
    "go": "--- FAIL: TestAdd (0.0{n}s)\n    m_test.go:{n}: got {v}\nFAIL\nFAIL\tm\t0.0{n}s\nFAIL\n",
    "cargo": "   Compiling m v0.1.0 ({root})\nrunning 2 tests\ntest t::ok ... ok\ntest t::adds ... FAILED\n\nfailures:\n\n"
    "---- t::adds stdout ----\n\nthread 't::adds' (10{n}3) panicked at src/lib.rs:{n}:40:\nassertion `left == right` failed\n"
    "  left: {v}\n right: 5\n\ntest result: FAILED. 1 passed; 1 failed; finished in 0.{n}s\n",
    "jest": "FAIL ./m.test.js\n  ✕ adds ({n} ms)\n  ✓ ok\n\n  ● adds\n\n    Expected: 5\n    Received: {v}\n\n"
    "    > {n} | test('adds', f)\n        |    ^\n\n      at Object.toBe (m.test.js:{n}:31)\n\nTime:        0.{n} s\n",
    "node": "TAP version 13\n# Subtest: adds\nnot ok {n} - adds\n  ---\n  duration_ms: 3.5{n}\n"
    "  location: '{root}/m.test.js:{n}:1'\n  error: '{v} == 5'\n  stack: |-\n    Test.run (node:internal/test:7{n}:25)\n  ...\n",
    "eslint": "\n{root}/src/m.js\n  {n}:24  error  'q{v}' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n",
    "mypy": 'm.py:{n}: error: Argument {v} to "f" has incompatible type "str"\nFound 1 error in 1 file (checked 1 source file)\n',
    "ruff": "F401 [*] `m{v}` imported but unused\n --> m.py:{n}:8\n  |\n{n} | import m\n  |        ^\n  |\nFound 1 error.\n",
    "javac": "{root}/M.java:{n}: error: incompatible types: T{v} cannot be converted to int\n        int x = f();\n              ^\n1 error\n",
    "make": "make[1]: Entering directory '{root}'\nmake[1]: *** [Makefile:{n}: test] Error {v}\nmake[1]: Leaving directory '{root}'\n",
    "npm": 'npm error Missing script: "test{v}"\nnpm error A complete log of this run can be found in: '
    "{root}/_logs/2026-11-15T21_56_22_4{n}Z-debug-0.log\n",
}


@pytest.mark.req("M20")
def test_two_pytest_runs_of_one_failure_have_one_signature():
    assert signature(PYTEST.format(**RUN)) == signature(PYTEST.format(**RUN | OTHER_RUN))


@pytest.mark.req("M21")
def test_a_small_number_makes_another_failure_of_the_same_test():
    one, other = signature(PYTEST.format(**RUN)), signature(PYTEST.format(**RUN | {"got": "6"}))
    assert one.coarse == other.coarse
    assert one.fine != other.fine


@pytest.mark.req("M20")
def test_tsc_says_the_same_with_colours_and_excerpts_as_without():
    assert signature(TSC_PLAIN.format(line=1)).fine == signature(TSC_PRETTY.format(line=24)).fine


@pytest.mark.req("M20")
@pytest.mark.parametrize("tool", CASES)
def test_folders_lines_and_times_do_not_change_a_signature(tool):
    one = CASES[tool].format(root="/srv/w/ahgsylyz/proj", n=7, v=4)
    other = CASES[tool].format(root="/home/ann/qqwe/proj", n=23, v=4)
    assert signature(one) == signature(other)


@pytest.mark.req("M21")
@pytest.mark.parametrize("tool", CASES)
def test_what_a_tool_says_does_change_a_signature(tool):
    one = CASES[tool].format(root="/srv/w/ahgsylyz/proj", n=7, v=4)
    other = CASES[tool].format(root="/srv/w/ahgsylyz/proj", n=7, v=5)
    assert signature(one).fine != signature(other).fine


@pytest.mark.req("M20")
def test_the_order_of_tests_does_not_matter():
    first, second = "FAILED a.py::test_x - boom\n", "FAILED b.py::test_y - bang\n"
    heading = "===== short test summary info =====\n"
    assert signature(heading + first + second) == signature(heading + second + first)


@pytest.mark.req("M21")
def test_failing_ids_from_a_report_decide_the_coarse_signature():
    text = "anything at all"
    assert signature(text, ["a", "b"]).coarse == signature("something else", ["b", "a"]).coarse
    assert signature(text, ["a"]).coarse != signature(text, ["b"]).coarse


@pytest.mark.req("M17")
@pytest.mark.req("M21")
@pytest.mark.parametrize(
    "text",
    [
        "===== FAILURES =====\n____ test_a ____\n\n>       assert total(3)  # an error if it is negative\nE       ValueError: 3\n\na.py:4: ValueError\n",
        'Traceback (most recent call last):\n  File "a.py", line 3, in total\n    return cut(3)  # no error here\nValueError: 3\n',
        "> 12 |   // error: rounded down\n     |   ^\nValueError: 3\n",
    ],
    ids=["pytest", "a traceback", "an excerpt"],
)
def test_a_line_of_source_is_not_shown_as_the_failure(text: str):
    assert signature(text).summary.startswith("ValueError: 3")


def test_the_summary_names_the_error_and_the_function():
    text = (
        'Traceback (most recent call last):\n  File "/x/app.py", line 3, in parse_row\n    int(r)\nTypeError: bad row\n'
    )
    assert signature(text).summary == "TypeError: bad row in parse_row"


def test_output_of_an_unknown_tool_is_told_apart_too():
    assert signature("bad thing\n").fine != signature("other thing\n").fine
    assert signature("").fine == signature("").fine


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<X object at 0x7fb77d61a990>", "<X object at 0x7f5a90640e50>"),
        ("no /tmp/tmpab12cd9_/x.txt", "no /tmp/tmpzz12cd9_/x.txt"),
        ("at 2026-11-15T21:56:22.479Z", "at 2026-11-16T08:00:01Z"),
        ("took 0.25 s", "took 17 ms"),
        ("job 3f2b8c1e-1111-4222-8333-444455556666", "job 00000000-aaaa-4bbb-8ccc-dddddddddddd"),
        ("connect 127.0.0.1:43211", "connect 127.0.0.1:5002"),
        ("--randomly-seed=12345", "--randomly-seed=7"),
        ("worker pid 4121 died", "worker pid 99 died"),
        ("{'b', 'a', 'c'}", "{'c', 'b', 'a'}"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("commit 3f2b8c1", "commit 99aa00b"),
        ("at file:///home/ann/shop/cart.mjs:3:1", "at file:///srv/b/7/cart.mjs:12:1"),
    ],
)
@pytest.mark.req("M20")
def test_each_cause_of_difference_is_masked(one, other):
    assert mask(plain(one)) == mask(plain(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("got 6", "got -1"),
        ("GET /api/users", "GET /v2/users"),
        ("expected 2024", "expected 2025"),
        ("code E0308", "code E0382"),
    ],
)
@pytest.mark.req("M21")
def test_what_differs_between_failures_is_not_masked(one, other):
    assert mask(one) != mask(other)


@pytest.mark.req("M21")
def test_a_failing_target_of_make_decides_the_coarse_signature():
    stopped = "make: *** No rule to make target '{}', needed by '{}'.  Stop.\n"
    one, other = signature(stopped.format("a.csv", "report")), signature(stopped.format("b.csv", "report"))
    assert one.coarse == other.coarse
    assert one.fine != other.fine
    assert signature("make: *** [Makefile:9: report] Error 1\n").coarse == one.coarse
    assert signature(stopped.format("a.csv", "summary")).coarse != one.coarse


@pytest.mark.slow
def test_a_huge_output_is_read_in_bounded_time_and_keeps_its_end():
    noise = "x" * 5_000 + "\n" + "{" * 3_000 + "\n" + "some line 12:13\n" * 60_000
    one, other = signature(noise + "ValueError: a\n"), signature(noise + "ValueError: b\n")
    assert one.fine != other.fine


@settings(deadline=None, max_examples=80)
@given(st.text(max_size=400), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_has_a_signature_and_always_the_same(text, failing):
    assert signature(text, failing) == signature(text, failing)
    assert "\n" not in signature(text, failing).summary


LINES = st.lists(st.from_regex(r"(FAILED|ERROR) [a-z]{1,6}\.py::test_[a-z]{1,6} - [A-Za-z0-9 ]{0,12}", fullmatch=True))


@pytest.mark.req("M20")
@settings(deadline=None, max_examples=40)
@given(LINES, st.randoms(use_true_random=False))
def test_failing_tests_may_come_in_any_order(lines, chance):
    mixed = list(lines)
    chance.shuffle(mixed)
    heading = ["===== short test summary info ====="]
    one, other = signature("\n".join(heading + lines)), signature("\n".join(heading + mixed))
    assert (one.coarse, one.fine) == (other.coarse, other.fine)


@pytest.mark.req("M21")
@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=200), max_size=6))
def test_what_was_signed_before_does_not_matter(texts):
    assert [signature(text) for text in texts] == [signature(text) for text in reversed(texts)][::-1]


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="EF>|^ ~\"':/\\.0123456789abx\n=_-(){}[]", max_size=400))
def test_text_that_looks_like_tool_output_is_read_without_complaint(text):
    assert signature(text).fine
