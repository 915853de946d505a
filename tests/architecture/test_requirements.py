"""Every requirement that docs/requirements.md calls built is covered by a test that names it."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \| (yes|no) \|$")
IN_A_NAME = re.compile(r"(?<![a-z0-9])([a-z]\d+)(?![a-z0-9])", re.IGNORECASE)


def table() -> dict[str, bool]:
    text = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    return {row[1]: row[3] == "yes" for row in map(ROW.match, text.splitlines()) if row}


def named(source: str) -> tuple[set[str], set[str]]:
    """The numbers in the names of tests and those in `req` marks."""
    tests = " ".join(re.findall(r"^\s*(?:async )?def test_(\w+)", source, re.MULTILINE)).replace("_", " ")
    classes = " ".join(re.findall(r"^\s*class Test(\w+)", source, re.MULTILINE))
    names = {number.upper() for number in IN_A_NAME.findall(tests)} | set(re.findall(r"[A-Z]\d+", classes))
    marks = re.findall(r"\bmark\.req\(([^)]*)\)", source)
    return names, {number for mark in marks for number in re.findall(r"[\"'](\w+)[\"']", mark)}


@cache
def covered() -> tuple[set[str], set[str]]:
    """What all tests name; the samples of this file are none."""
    files = (path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    found = [named(path.read_text(encoding="utf-8")) for path in files]
    return set().union(*(names for names, _ in found)), set().union(*(marks for _, marks in found))


def test_every_built_requirement_is_named_by_a_test() -> None:
    names, marks = covered()
    assert sorted(number for number, built in table().items() if built and number not in names | marks) == []


def test_every_mark_names_a_requirement_of_the_table() -> None:
    assert sorted(covered()[1] - set(table())) == []


def test_every_row_of_the_table_is_well_formed_and_stands_once() -> None:
    text = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"^\| [A-Z]\d", line)]
    assert [row for row in rows if not ROW.match(row)] == []
    assert len(rows) == len(table())
    assert len(rows) > 0


@pytest.mark.parametrize(
    ("source", "names", "marks"),
    [
        ("def test_a_deleted_test_is_named_c42(): ...", {"C42"}, set()),
        ("class TestC42:\n    def test_x(self): ...", {"C42"}, set()),
        ("@pytest.mark.req('M12', 'M13')\ndef test_x(): ...", set(), {"M12", "M13"}),
        ("x = pytest.param(1, marks=pytest.mark.req('O1'))", set(), {"O1"}),
        ("def helper_c42(): ...\ndef test_utf8_and_sha256(): ...", set(), set()),
    ],
)
def test_numbers_are_read_from_names_and_marks(source: str, names: set[str], marks: set[str]) -> None:
    assert named(source) == (names, marks)
