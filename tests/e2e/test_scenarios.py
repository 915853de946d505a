"""The table of agents: each is run for real through the command line, with git, the sandbox and, where it matters, pytest."""

import subprocess
from pathlib import Path

import pytest
from scenarios import SCENARIOS, Outcome, Scenario, run, run_bare

pytestmark = [pytest.mark.e2e]

HONEST, *OTHERS = SCENARIOS


@pytest.mark.req("C4", "C14", "C15", "C16", "C19", "C40", "C42", "M18", "M12", "C11", "C60")
@pytest.mark.parametrize("scenario", OTHERS, ids=lambda s: s.name.replace(" ", "-"))
def test_an_agent_ends_as_it_must(scenario: Scenario, tmp_path: Path) -> None:
    check(scenario, run(scenario, tmp_path))


def check(scenario: Scenario, outcome: Outcome) -> None:
    """It ended as the table says, and what is the user's is as it was."""
    ended = (outcome.status.get("decision"), outcome.exit_code)
    assert ended == (scenario.decision, scenario.exit_code), outcome.stderr
    if scenario.most_turns is not None:
        assert outcome.status["turns"] <= scenario.most_turns
    assert scenario.named in outcome.text
    assert outcome.right or scenario.decision != "DONE", "the work is not what was asked for"
    dirty = "M README.md" if scenario.dirty else ""
    assert _git(outcome.repository, "status", "--porcelain", "--untracked-files=no") == dirty
    assert _git(outcome.repository, "rev-parse", "--abbrev-ref", "HEAD") == "main"


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s.bare], ids=lambda s: s.name.replace(" ", "-"))
def test_a_bare_loop_ends_as_the_table_says(scenario: Scenario, tmp_path: Path) -> None:
    assert run_bare(scenario, tmp_path).ended == scenario.bare


@pytest.mark.req("C6", "C18", "C40")
def test_without_a_document_the_tester_writes_the_criteria_and_four_turns_are_enough(tmp_path: Path) -> None:
    scenario = Scenario("honest", "honest.py", "DONE", 0)
    outcome = run(scenario, tmp_path, document=False)
    assert outcome.exit_code == 0, outcome.stderr
    roles = [
        e["fact"]["effect"]["role"] for e in outcome.events if e["fact"].get("effect", {}).get("effect") == "run_agent"
    ]
    assert roles == ["tester", "implementer", "documenter", "qa"]
    named = next(e["fact"] for e in outcome.events if e["fact"]["fact"] == "items.set")
    assert (named["by"], len(named["items"])) == ("tester", 3)
    left = next(e["fact"]["reason"] for e in outcome.events if e["fact"].get("previous") == "REFACTOR")
    assert left.startswith("no changed function exceeds the limits: the worst complexity is 2, under 10")


@pytest.mark.req("M18")
@pytest.mark.parametrize("program", ["do_nothing.py", "untracked_noise.py"])
def test_a_useless_agent_costs_six_turns_at_most_without_a_document_too(program: str, tmp_path: Path) -> None:
    outcome = run(Scenario("useless", program, "BLOCKED", 3, arguments=("--always",)), tmp_path, document=False)
    assert outcome.exit_code == 3
    assert outcome.status["turns"] <= 6


@pytest.mark.req("C4", "C52", "O46")
def test_the_result_of_an_honest_agent_is_a_branch_that_merges_cleanly_and_holds_the_work(tmp_path: Path) -> None:
    outcome = run(HONEST, tmp_path)
    check(HONEST, outcome)
    branch = outcome.status["branch"]
    trailers = _git(
        outcome.repository, "log", "--reverse", "--format=%(trailers:key=Checkpoint,valueonly)", f"main..{branch}"
    )
    labels = [line.split(" - ")[0] for line in trailers.splitlines() if line]
    assert labels[:3] == ["RED", "GREEN", "DOCUMENT"], "its REFACTOR takes no turn and makes no commit"
    _git(outcome.repository, "merge", "--quiet", branch)
    assert "def multiply" in (outcome.repository / "calc" / "__init__.py").read_text()
    assert _git(outcome.repository, "status", "--porcelain") == "?? flyball.toml"


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, check=True)
    return done.stdout.strip()
