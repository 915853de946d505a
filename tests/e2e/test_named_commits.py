"""The commits that a prompt names are there, under these names, in the git that an agent uses."""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.plays import AT_WORK, FINISHED, Action, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C2", "C25")]

NAMES = "git rev-parse flyball/start flyball/tree flyball/last-good flyball/accepted"
FILES = {"calc.py": "", "test_calc.py": "from calc import *\n\n\ndef test_nothing():\n    pass\n"}
FIRST = {"write": {"double.py": "def double(n):\n    return 2 * n\n"}}
TESTED = {"write": {"test_double.py": "from double import double\n\n\ndef test_ac_1():\n    assert double(2) == 4\n"}}


@pytest.mark.parametrize("sandbox", ["bwrap", "none"])
def test_commits_that_a_prompt_names_resolve_for_the_agent_and_no_ref_of_the_user_moves(
    tmp_path: Path, sandbox: str
) -> None:
    look = {
        "run": f"{NAMES} > seen.txt && git diff --name-only flyball/start >> seen.txt && git status --short >> seen.txt"
    }
    turns: list[list[Action]] = [[FIRST, AT_WORK], [look, TESTED, FINISHED]]
    ended = play(tmp_path, FILES, "Add double.", turns, "--sandbox", sandbox, "--gate", "test=python3 -m pytest -q")
    assert ended.decision == "DONE", ended.reason + ended.stderr
    start, tree, good, tests, *files = ended.branch_file("seen.txt").splitlines()
    head = subprocess.run(["git", "rev-parse", "main"], cwd=ended.root, capture_output=True, text=True, check=True)
    assert {start, tests} == {head.stdout.strip()}
    assert len({start, tree}) == 2
    assert len(good) == 40
    assert files[0] == "double.py", "a new file of the first turn"
    assert f"It is commit {tree[:12]} (`flyball/tree`)" in ended.prompts[1]
    refs = subprocess.run(["git", "for-each-ref"], cwd=ended.root, capture_output=True, text=True, check=True).stdout
    assert sorted(line.split("\t")[1] for line in refs.splitlines()) == [
        f"refs/heads/{ended.status['branch']}",
        "refs/heads/main",
    ]
