"""What linters print, read so that a finding is the same wherever its line has moved to."""

from pathlib import Path

import pytest

from flyball.measures.gates.commands import CommandRun
from flyball.measures.quality import lint
from flyball.process import Exit

PRINTED = {
    "ruff": "a.py:{n}:8: F401 [*] `os` imported but unused\nFound 1 error.\n",
    "ruff in full": "F401 [*] `os` imported but unused\n --> a.py:{n}:8\n  |\n{n} | import os\n  |        ^^\n\nFound 1 error.\n",
    "flake8": "./a.py:{n}:1: F401 'os' imported but unused\n",
    "pylint": "************* Module a\na.py:{n}:0: W0611: Unused import os (unused-import)\n",
    "mypy": 'a.py:{n}: error: Name "x" is not defined  [name-defined]\nFound 1 error in 1 file (checked 3 source files)\n',
    "tsc": "src/a.ts({n},5): error TS2304: Cannot find name 'x'.\n",
    "eslint": "\n/tree/src/a.js\n  {n}:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem\n",
    "go vet": "./main.go:{n}:2: result of fmt.Sprintf call not used\n",
    "clippy": "warning: unused variable: `x`\n --> src/main.rs:{n}:9\n  |\n{n} |     let x = 1;\n",
    "unknown": "a.py, line {n}: a name is odd\nchecked in 0.{n} s\n",
}


@pytest.mark.req("C7")
@pytest.mark.parametrize("tool", PRINTED)
def test_a_finding_is_known_again_when_its_line_moved_and_a_second_one_is_new(tool: str) -> None:
    one, moved = PRINTED[tool].format(n=3), PRINTED[tool].format(n=31)
    assert lint.new_findings(one, moved) == ()
    assert lint.new_findings(one, moved + PRINTED[tool].format(n=40)) != ()
    other = moved.replace("os", "sys").replace("x", "y").replace("odd", "strange").replace("fmt.Sprintf", "fmt.Sprint")
    assert lint.new_findings(one, other) != ()


@pytest.mark.req("C7")
def test_what_eslint_says_of_its_findings_in_all_is_no_finding() -> None:
    summed = (
        "\n✖ 1 problem (1 error, 0 warnings)\n  1 error and 0 warnings potentially fixable with the `--fix` option.\n"
    )
    assert len(lint.findings(PRINTED["eslint"].format(n=3) + summed)) == 1


@pytest.mark.req("C7")
def test_a_number_that_grows_in_an_output_without_places_is_new() -> None:
    assert lint.new_findings("3 files would be reformatted\n", "4 files would be reformatted\n") != ()
    assert lint.new_findings("3 files would be reformatted\n", "3 files would be reformatted\n") == ()


def ran(code: int | None, text: str, ended_by: str = "exit") -> CommandRun:
    return CommandRun(Exit(code, None, ended_by, 0.1), text, Path("log"))  # type: ignore[arg-type]


@pytest.mark.req("C7")
@pytest.mark.parametrize(
    ("command", "code", "text", "said"),
    [
        ("ruff check .", 127, "/bin/sh: 1: ruff: not found\n", "not found"),
        (".venv/bin/python -m ruff check .", 1, ".venv/bin/python: No module named ruff\n", "No module named ruff"),
        ("ruff check .", 2, "ruff failed\n  Cause: Failed to parse pyproject.toml\n", "exit 2"),
        ("npx --no-install eslint .", 1, 'npm error npx canceled due to missing packages: ["eslint@9"]\n', "missing packages"),
        ("npx --no-install eslint .", 2, "Oops! Something went wrong! :(\nESLint couldn't find a config\n", "exit 2"),
        ("make lint", 2, "ruff check .\nmake: ruff: No such file\nmake: *** [Makefile:2: lint] Error 127\n", "Error 127"),
        ("mylint", 1, 'Traceback (most recent call last):\n  File "x", line 1\nKeyError: 1\n', "crashed"),
        ("mylint", 64, "usage: mylint FILE\n", "exit 64"),
        ("mylint", -9, "", "it said nothing"),
    ],
)  # fmt: skip
def test_a_linter_that_failed_itself_has_found_nothing(command: str, code: int, text: str, said: str) -> None:
    assert said in lint.why_unusable(command, ran(code, text), 5.0)


@pytest.mark.req("C7")
@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("ruff check .", 0, "All checks passed!\n"),
        ("ruff check .", 1, "a.py:1:8: F401 `os` imported but unused\n"),
        ("make lint", 2, "a.py:1:8: F401 `os` imported but unused\nmake: *** [Makefile:2: lint] Error 1\n"),
        ("pylint a", 20, "a.py:1:0: C0114: Missing module docstring (missing-module-docstring)\n"),
        ("mypy .", 1, "a.py:1: error: Cannot find implementation or library stub for module named 'x' [import-not-found]\n"),
        ("black --check .", 1, "would reformat a.py\nOh no!\n1 file would be reformatted.\n"),
    ],
)  # fmt: skip
def test_a_linter_that_found_something_did_run(command: str, code: int, text: str) -> None:
    assert lint.why_unusable(command, ran(code, text), 5.0) == ""


@pytest.mark.req("C7")
def test_a_linter_that_takes_too_long_did_not_run() -> None:
    assert lint.why_unusable("slow", ran(None, "", "wall"), 5.0) == "timed out after 5 s"
