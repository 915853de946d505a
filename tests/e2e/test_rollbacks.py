"""C25: a rollback leads to the best tree there was, and where no turn changed a file nothing is said to be undone."""

from pathlib import Path

import pytest
from tests.e2e.plays import AT_WORK, FINISHED, Action, flyball, play

FILES = {
    "calc.py": "def double(n):\n    return n\n",
    "test_calc.py": "from calc import double\n\n\ndef test_double():\n    assert double(3) == 6\n",
    "test_more.py": "def test_more():\n    pass\n",
}


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.req("C14", "C25")
def test_a_liar_that_changes_nothing_is_not_told_that_its_work_was_undone(tmp_path: Path) -> None:
    ended = play(tmp_path, FILES, "Make the failing tests pass", [[FINISHED]], "--gate", "test=python3 -m pytest -q")
    assert ended.decision == "BLOCKED", ended.reason + ended.stderr
    last = ended.prompts[-1]
    assert "undone" not in last
    assert "You signalled that the stage is finished. It was measured, and it is not." in last
    assert "- 1 IMPLEMENT: changed nothing; 1 test fails; said that the stage was finished" in last
    assert "Rolled back" not in flyball(ended.root, "report").stdout


PARTS = {
    "parts.py": "def one():\n    return 0\n\n\ndef two():\n    return 0\n\n\ndef three():\n    return 0\n",
    "test_parts.py": "".join(
        f"def test_{name}():\n    import parts\n\n    assert parts.{name}() == {number}\n\n\n"
        for number, name in enumerate(("one", "two", "three"), 1)
    ),
}


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.req("C14", "C25")
def test_of_failing_tests_that_are_the_work_those_that_were_repaired_stay_so(tmp_path: Path) -> None:
    repaired = PARTS["parts.py"].replace("return 0", "return 1", 1).replace("return 0", "return 2", 1)
    worse = repaired.replace("return 2", "return 0")
    turns: list[list[Action]] = [
        [{"write": {"parts.py": text}}, AT_WORK] for text in (repaired, worse, worse.replace("return 1", "return 9"))
    ]
    right = {"write": {"parts.py": repaired.replace("return 0", "return 3")}}
    gate = ("--gate", "test=python3 -m pytest -q")
    ended = play(tmp_path, PARTS, "Make the failing tests pass", [*turns, [right, FINISHED]], *gate)
    assert ended.decision == "DONE", ended.reason + ended.stderr
    fourth = ended.prompts[3]
    assert "The work of turns 2, 3 was undone: pass rate fell 2x running" in fourth
    assert "test: failed. 2 passed, 1 failed" in fourth
    assert "- 1 IMPLEMENT: parts.py; 3 → 1 tests fail" in fourth
