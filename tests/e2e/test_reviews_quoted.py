"""Reviews of real runs: quotations are looked up in the trees that the reviewer was shown, and a further look is limited to the fix."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.plays import FINISHED, Play, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C16", "C2")]

REQUEST = "Teach the calculator to multiply: `mul(6, 7)` gives 42."
FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n" + "\n" * 20 + "LIMIT = 10\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}
GATE = ("--gate", "test=python3 -m pytest -q -p no:cacheprovider")
WORK: list[dict[str, Any]] = [
    {"replace": {"path": "calc.py", "old": "    return a / 2\n", "new": "    return a / 2\n\n\ndef mul(a, b):\n    return a * b\n"}},
    {"write": {"test_mul.py": "from calc import mul\n\n\ndef test_ac_1_mul():\n    assert mul(6, 7) == 42\n"}},
    FINISHED,
]  # fmt: skip
MENDED: list[dict[str, Any]] = [{"replace": {"path": "calc.py", "old": "    return a * b\n", "new": '    """The product."""\n    return a * b\n'}}, FINISHED]  # fmt: skip


SHOWN = """set -e
git rev-parse --verify -q flyball/start > /dev/null
git diff --name-only flyball/start -- . ':!.loop' | grep -qx calc.py
git diff flyball/seen -- . ':!.loop' | grep -q 'The product'
! git diff flyball/seen -- . ':!.loop' | grep -q '^+def mul'"""
"""What a reviewer can see in its copy at a further look."""


def reviewed(folder: Path, *reports: Mapping[str, Any], mended: bool = False) -> Play:
    """One task whose reviewer reports these things in its turns, and whose author mends the work after the first, if at all."""
    first: list[dict[str, Any]] = [{"when": {"turn": 1}, "do": WORK}]
    for number, each in enumerate(reports, 2):
        turn = number + (mended and number > 2)
        looking = [{"run": SHOWN}] if mended and number > 2 else []
        first.append(
            {"when": {"turn": turn, "role": "reviewer"}, "do": [*looking, {"report": {"exit_signal": True, **each}}]}
        )
    return play(folder, FILES, REQUEST, [MENDED], *GATE, first=first)


def against(quote: str, **more: Any) -> dict[str, Any]:
    found = {"severity": "major", "file": "calc.py", "line": 10, "message": "it is wrong", "quote": quote, **more}
    return {"verdict": "fail", "findings": [found]}


def roles(ended: Play) -> list[str]:
    effects = (event["fact"].get("effect") or {} for event in ended.events)
    return [effect["role"] for effect in effects if effect.get("effect") == "run_agent"]


def rejections(ended: Play) -> int:
    return sum(
        bool(event["fact"].get("rejected")) for event in ended.events if event["fact"].get("fact") == "stage.moved"
    )


def test_a_quotation_that_stands_nowhere_rejects_nothing_and_the_reviewer_is_asked_once_more(tmp_path: Path) -> None:
    ended = reviewed(tmp_path, against("return eval(a) * b"))
    assert (ended.exit_code, roles(ended)) == (0, ["implementer", "reviewer", "reviewer"]), ended.reason + ended.stderr
    assert rejections(ended) == 0
    report = ended.branch_file(f".loop/{ended.status['task']}/report.md")
    assert "reviewer found major: it is wrong (calc.py:10): void" in report


def test_two_reports_without_a_finding_that_counts_approve_nothing(tmp_path: Path) -> None:
    ended = reviewed(tmp_path, against("return eval(a) * b"), against("return eval(a) * b"))
    assert (ended.exit_code, rejections(ended)) == (3, 0), ended.reason + ended.stderr
    assert "nothing is approved or rejected" in ended.reason


@pytest.mark.parametrize(
    "report",
    [
        against("return  a*b".replace("*", " * ")),
        against("    return a / 2\n", message="half was changed"),
        {"verdict": "fail", "findings": [{"severity": "major", "file": "CHANGELOG.md", "message": "it is not there"}]},
        {"verdict": "fail", "findings": [{"severity": "major", "message": "no test multiplies with zero"}]},
    ],
    ids=["other white space", "a line that was there before", "a file that is missing", "a test that is missing"],
)
def test_an_honest_finding_sends_the_work_back_and_the_next_look_sees_the_fix(
    tmp_path: Path, report: dict[str, Any]
) -> None:
    beside = {"severity": "major", "file": "calc.py", "line": 33, "message": "the limit is low", "quote": "LIMIT = 10"}
    later = {"verdict": "warn", "findings": [beside], "earlier": [{"id": "F2.1", "gone": True}]}
    ended = reviewed(tmp_path, report, later, mended=True)
    assert (ended.exit_code, rejections(ended)) == (0, 1), ended.reason + ended.stderr
    assert roles(ended) == ["implementer", "reviewer", "implementer", "reviewer"]


def test_an_earlier_finding_that_is_not_gone_sends_the_work_back_again(tmp_path: Path) -> None:
    later = {"verdict": "pass", "earlier": [{"id": "F2.1", "gone": False, "because": "nothing was done"}]}
    ended = reviewed(tmp_path, against("return a * b"), later, mended=True)
    assert rejections(ended) == 2, ended.reason + ended.stderr
    first, second = [prompt for prompt in ended.prompts if ": reviewer for task" in prompt.partition("\n")[0]][:2]
    for prompt in (first, second):
        assert "- test_mul.py::test_ac_1_mul: AC-1\n" in prompt
        assert "- test: passed. 2 passed\n" in prompt
    assert "\n- calc.py +4 −0\n- test_mul.py +5 −0\n" in first
    assert "`git diff flyball/seen -- . ':!.loop'` shows it: 1 file changed, +1 −0.\n- calc.py +1 −0\n" in second
