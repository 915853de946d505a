"""When nobody reviews: only as asked, only where the measurements are enough, and everybody who looks is told."""

from pathlib import Path

import pytest
from tests.e2e.plays import FINISHED, Play, flyball, make_repository, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C40", "C18")]

REQUEST = "Teach the calculator to multiply: `mul(6, 7)` gives 42."
FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}
GATE = ("--gate", "test=python3 -m pytest -q -p no:cacheprovider")
PRODUCT = {"append": {"calc.py": "\n\ndef mul(a, b):\n    return a * b\n"}}
TEST = {"write": {"test_mul.py": "from calc import mul\n\n\ndef test_ac_1_mul():\n    assert mul(6, 7) == 42\n"}}
REMARKED = {
    "append": {"calc.py": "\n\ndef mul(a, b):\n    try:\n        return a * b\n    except Exception:\n        pass\n"}
}


def played(
    folder: Path, *actions: object, flags: tuple[str, ...] = (), settings: str = "", request: str = REQUEST
) -> Play:
    return play(folder, FILES, request, [[*actions, FINISHED]], *GATE, *flags, settings=settings)  # type: ignore[list-item]


def roles(ended: Play) -> list[str]:
    effects = (event["fact"].get("effect") or {} for event in ended.events)
    return [effect["role"] for effect in effects if effect.get("effect") == "run_agent"]


def test_a_small_change_that_a_new_test_notices_needs_no_review_where_that_is_asked_for(tmp_path: Path) -> None:
    ended = played(tmp_path, PRODUCT, TEST, flags=("--review", "auto"))
    assert (ended.exit_code, roles(ended)) == (0, ["implementer"]), ended.reason + ended.stderr
    told = (
        "nobody reviewed this work: 9 changed lines of at most 100, no remark, and a new test fails without the change"
    )
    assert told in ended.reason
    [left] = [event["fact"] for event in ended.events if event["fact"].get("previous") == "REVIEW"]
    assert (left["unreviewed"], left["reason"]) == (True, told)
    report = ended.branch_file(f".loop/{ended.status['task']}/report.md")
    assert "**Done: gates passed; nobody reviewed this work.**" in report
    assert f"## Who reviewed\n\n- **{told}**" in report
    page = flyball(ended.root, "report", "--format", "html").stdout
    assert told in page


@pytest.mark.parametrize(
    ("actions", "settings", "flags"),
    [
        ((PRODUCT, TEST), "", ()),
        ((PRODUCT, TEST), "[code]\nsmall_change = 8\n", ("--review", "auto")),
        ((REMARKED, TEST), "", ("--review", "auto")),
    ],
    ids=["nobody asked to leave it out", "the change is not small", "something in it is remarked on"],
)
def test_every_other_change_is_reviewed(
    actions: tuple[object, ...], settings: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    ended = played(tmp_path, *actions, settings=settings, flags=flags)
    assert (ended.exit_code, roles(ended)) == (0, ["implementer", "reviewer"]), ended.reason + ended.stderr
    assert "nobody reviewed" not in ended.text


def test_a_change_that_only_old_tests_notice_is_reviewed(tmp_path: Path) -> None:
    same = {"write": {"calc.py": "def add(a, b):\n    total = a + b\n    return total\n"}}
    ended = played(tmp_path, same, settings='review = "auto"', request="Rename nothing, simplify `add`: same results")
    assert (ended.exit_code, roles(ended)) == (0, ["implementer", "reviewer"]), ended.reason + ended.stderr


def test_what_nobody_ever_reviews_needs_a_new_test_of_its_own(tmp_path: Path) -> None:
    other = {"write": {"calc.py": "def add(a, b):\n    return b + a\n"}}
    ended = played(
        tmp_path / "old", other, settings='review = "never"', request="Let `add` take the second number first"
    )
    assert (ended.exit_code, set(roles(ended))) == (3, {"implementer"}), ended.reason + ended.stderr
    assert "nobody but its author reviews it: add such a test" in ended.text
    ended = played(tmp_path / "new", PRODUCT, TEST, settings='review = "never"')
    assert (ended.exit_code, roles(ended)) == (0, ["implementer"]), ended.reason + ended.stderr
    assert "nobody reviewed this work: `review` is never" in ended.reason


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--review", "sometimes"), '"always", "auto" or "never"'),
        (("--review", "never", "--workflow", "plan"), "the workflow plan always holds its reviews"),
    ],
)
def test_a_review_that_cannot_be_left_out_is_refused_before_any_turn(
    words: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    root = make_repository(tmp_path / "project", FILES)
    done = flyball(root, "run", REQUEST, "--agent-command", "true", *GATE, *words, "--unattended")
    assert (done.returncode, problem in done.stderr) == (2, True), done.stderr
