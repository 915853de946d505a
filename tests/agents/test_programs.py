"""The programs that play agents in scenarios do what their first line says."""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from tests.agents.sample import CRITERIA, make_sample_repository

from flyball.agents.run.frame import Patience
from flyball.core.text.criteria import criteria
from flyball.process import StopFlag

PROMPT = "".join(f"- AC-{number}: {text}\n" for number, text in enumerate(CRITERIA, start=1))
ELSEWHERE = {"acp_agent", "forgetful_documenter", "package_worker", "shell_worker"}
NAMES = sorted({path.stem for path in (Path(__file__).parent / "programs").glob("*.py")} - ELSEWHERE)


@pytest.fixture
def sample(turns):
    make_sample_repository(turns.tree)
    return turns


def run_tests(tree: Path) -> tuple[int, str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def red(turns):
    assert turns.program("honest", stage="RED", role="tester", prompt=PROMPT).kind == "ok"


@pytest.mark.slow
def test_the_sample_repository_is_clean_and_green(sample):
    status = subprocess.run(["git", "status", "--porcelain"], cwd=sample.tree, capture_output=True, check=True)
    assert status.stdout == b""
    code, said = run_tests(sample.tree)
    assert (code, "1 passed" in said) == (0, True)


def test_the_honest_one_plans_criteria_that_can_be_read(sample):
    claim = sample.program("honest", stage="RED", role="planner").claim
    assert tuple(criterion.text for criterion in criteria(claim.plan)) == CRITERIA


@pytest.mark.slow
def test_the_honest_one_goes_through_every_stage(sample):
    red(sample)
    code, said = run_tests(sample.tree)
    assert (code, "4 failed, 1 passed" in said) == (1, True)
    ended = sample.program("honest", stage="GREEN", prompt=PROMPT)
    assert (ended.kind, ended.claim.exit_signal) == ("ok", True)
    code, said = run_tests(sample.tree)
    assert (code, "5 passed" in said) == (0, True)
    for stage in ("REFACTOR", "DOCUMENT", "QA"):
        assert sample.program("honest", stage=stage).claim.exit_signal
    assert "`multiply`" in (sample.tree / "README.md").read_text()
    assert "`power`" in (sample.tree / "CHANGELOG.md").read_text()
    assert len(list((sample.tree / "docs" / "decisions").iterdir())) == 1


@pytest.mark.parametrize("name", ["babbler", "binary", "daemon_forker", "usage_limit_once"])
def test_the_odd_but_honest_ones_do_their_work(sample, name):
    arguments = {"babbler": ("--bytes", "3000000"), "usage_limit_once": ("--at-turn", "2")}.get(name, ())
    ended = sample.program(name, *arguments, stage="RED", role="tester", prompt=PROMPT)
    assert (ended.kind, ended.claim.exit_signal) == ("ok", True)
    assert "test_ac_3_power" in (sample.tree / "tests" / "test_features.py").read_text()
    assert ended.stray_processes == (3 if name == "daemon_forker" else 0)


def test_the_honest_one_may_take_three_turns(sample):
    red(sample)
    signals = [sample.program("honest", "--turns", "3", stage="GREEN").claim.exit_signal for _ in range(3)]
    assert signals == [False, False, True]


def test_the_limited_one_is_limited_once(sample, tmp_path):
    state = ("--state", str(tmp_path / "state"), "--seconds", "2")
    first, second = (sample.program("usage_limit_once", *state, stage="RED", prompt=PROMPT) for _ in range(2))
    assert (first.kind, first.reset_at is not None) == ("usage_limit", True)
    assert second.kind == "ok"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("liar", lambda tree: (tree / "tests" / "test_features.py").exists()),
        ("editor_of_tests", lambda tree: "assert True" in (tree / "tests" / "test_features.py").read_text()),
        ("deleter_of_tests", lambda tree: not (tree / "tests" / "test_features.py").exists()),
        ("skipper", lambda tree: "mark.skip" in (tree / "tests" / "test_features.py").read_text()),
        ("conftest_patcher", lambda tree: "_exit(0)" in (tree / "conftest.py").read_text()),
    ],
)
def test_the_cheats_claim_to_be_finished_without_the_work(sample, name, made):
    red(sample)
    ended = sample.program(name, stage="GREEN", prompt=PROMPT)
    assert (ended.kind, ended.claim.exit_signal) == ("ok", True)
    assert made(sample.tree)
    assert "multiply" not in (sample.tree / "calc" / "__init__.py").read_text()


@pytest.mark.parametrize("always", [(), ("--always",)])
def test_the_trickster_does_a_part_of_the_work_and_plays_its_trick_once_or_until_a_person_speaks(sample, always):
    red(sample)
    tests, wanted = sample.tree / "tests" / "test_features.py", (sample.tree / "tests" / "test_features.py").read_text()
    for heading, honest in (("iteration 1", False), ("iteration 2", not always), ("Guidance from a person", True)):
        tests.write_text(wanted)
        prompt = f"## Report of GREEN, {heading}\n"
        ended = sample.program("trickster", "--trick", "weaken", *always, stage="GREEN", prompt=prompt)
        assert (ended.kind, ended.claim.exit_signal) == ("ok", True)
        assert (tests.read_text() == wanted) is honest
    assert "def multiply" in (sample.tree / "calc" / "__init__.py").read_text()


@pytest.mark.parametrize("tests", ["none", "first", "each"])
def test_the_one_that_goes_part_by_part_says_it_is_finished_with_the_last(sample, tests):
    (sample.tree / "parts").mkdir()
    words, before = ("--tests", tests, "--groundwork", "2"), 2 + (tests == "first")
    ended = [sample.program("part_by_part", *words, stage="IMPLEMENT", prompt="") for _ in range(before + 5)]
    assert [each.claim.exit_signal for each in ended] == [False] * (before + 4) + [True]
    assert len(list((sample.tree / "parts").glob("*.py"))) == 2 + 5


def test_the_obedient_one_writes_tests_when_it_is_told_to(sample):
    tests = sample.tree / "tests" / "test_features.py"
    assert sample.program("obedient", stage="IMPLEMENT", prompt=PROMPT).claim.exit_signal
    assert not tests.exists()
    sample.program("obedient", stage="IMPLEMENT", prompt=f"{PROMPT}no test notices this change: add one\n")
    assert "test_ac_3_power" in tests.read_text()


def test_the_one_that_runs_tests_leaves_byte_code_behind(sample):
    red(sample)
    assert sample.program("runs_tests", stage="GREEN", prompt=PROMPT).claim.exit_signal
    assert list(sample.tree.rglob("*.pyc"))


@pytest.mark.slow
def test_the_edited_tests_would_pass(sample):
    red(sample)
    sample.program("editor_of_tests", stage="GREEN", prompt=PROMPT)
    code, said = run_tests(sample.tree)
    assert (code, "5 passed" in said) == (0, True)


def test_the_flip_flopper_goes_to_and_fro(sample):
    red(sample)
    seen = []
    for _ in range(4):
        sample.program("flip_flopper", stage="GREEN", prompt=PROMPT)
        seen.append((sample.tree / "calc" / "__init__.py").read_text())
    assert seen[0] == seen[2] != seen[1] == seen[3]


def test_the_idle_ones_change_nothing_that_counts(sample):
    ended = sample.program("do_nothing", stage="RED")
    assert (ended.kind, ended.claim.exit_signal) == ("ok", False)
    sample.program("untracked_noise", "--always", stage="RED")
    sample.program("untracked_noise", stage="GREEN")
    sample.program("old_edit", stage="GREEN")
    edited = (sample.tree / "README.md").read_text()
    sample.program("old_edit", stage="GREEN")
    assert (sample.tree / "README.md").read_text() == edited
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=sample.tree, capture_output=True, text=True, check=True
    )
    assert status.stdout.splitlines() == [" M README.md", "?? notes-2.txt", "?? notes-3.txt"]


def test_the_crasher_crashes(sample):
    assert "answer could not be read" in sample.program("crasher").detail
    assert "SIGSEGV" in sample.program("crasher", "--signal").detail


@pytest.mark.slow
def test_memory_does_not_grow_with_what_the_babbler_prints(sample):
    size = 256 * 1024 * 1024
    tracemalloc.start()
    ended = sample.program("babbler", "--bytes", str(size), stage="REFACTOR")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (ended.kind, ended.claim.exit_signal) == ("ok", True)
    assert (sample.transcript / "stdout").stat().st_size > size
    assert most < 8 * 1024 * 1024


@pytest.mark.req("C60")
@pytest.mark.parametrize("name", ["never_ending", "sigterm_ignorer"])
def test_the_endless_ones_are_ended(sample, name):
    ended = sample.program(name, patience=Patience(wall_s=0.5, idle_s=None, grace_s=0.3))
    assert ended.kind == "timed_out"
    talking = sample.program("never_ending", "--talking", patience=Patience(wall_s=0.5, idle_s=60.0), stop=StopFlag())
    assert "time limit" in talking.detail


def test_every_program_is_tried_here():
    source = Path(__file__).read_text()
    assert [name for name in NAMES if f'"{name}"' not in source] == []
