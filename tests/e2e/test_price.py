"""What a small feature costs: turns, and runs of the whole suite as the suite itself counts them."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C18")]

ROOT = Path(__file__).resolve().parents[2]
AGENT = """case $FLYBALL_ROLE in
implementer) echo $FLYBALL_SUBTASK >part-$FLYBALL_SUBTASK.txt; verdict= ;;
*) verdict='"verdict": "pass",' ;;
esac
printf '{"nonce": "%s", %s "status": "complete", "exit_signal": true}' $FLYBALL_NONCE "$verdict" >$FLYBALL_REPORT_FILE
"""


def test_an_honest_small_feature_takes_few_turns_and_few_full_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "price.py"), "quick", "tdd"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
    costs = {row[0]: (int(row[1]), int(row[2]), row[-1]) for row in rows}
    assert costs == {"quick": (2, 3, "DONE"), "tdd": (4, 5, "DONE")}


def test_a_plan_with_lanes_runs_its_gate_once_for_each_subtask_and_each_batch(tmp_path: Path) -> None:
    repository, calls = tmp_path / "repository", tmp_path / "calls"
    repository.mkdir()
    (tmp_path / "agent.sh").write_text(AGENT)
    lines = [f"- [ ] **1.{n}** part {n} — Files: `part-1.{n}.txt` | Acceptance: there" for n in range(1, 5)]
    (tmp_path / "plan.md").write_text("# Four parts\n\n" + "\n".join(lines) + "\n")
    user = ("-c", "user.name=U", "-c", "user.email=u@localhost")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repository, check=True)
    subprocess.run(["git", *user, "commit", "-q", "--allow-empty", "-m", "Start"], cwd=repository, check=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "flyball", "run", "--from", str(tmp_path / "plan.md"), "--workflow", "plan"),
            *("--parallel", "2", "--unattended", "--json", "--sandbox", "none"),
            *("--agent-command", f"sh {tmp_path / 'agent.sh'}", "--gate", f"test=echo x >>{calls}"),
        ],
        cwd=repository,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "FLYBALL_HOME": str(tmp_path / "home")},
        capture_output=True,
        check=True,
    )
    # The untouched tree, four subtasks, and the tree with the work of each of two batches.
    assert len(calls.read_text().split()) == 1 + 4 + 2
