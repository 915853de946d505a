"""C25: where no turn changed a file there is nothing to undo, and nobody is told that work was undone."""

from pathlib import Path

import pytest
from tests.e2e.plays import FINISHED, flyball, play

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
