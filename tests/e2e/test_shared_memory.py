"""Two tasks of one repository, really run: what the first decides and the tree confirms, the second is given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

AGENT = """
import json, os, sys
from pathlib import Path
prompt = sys.stdin.read()
report = {"nonce": os.environ["FLYBALL_NONCE"], "exit_signal": True, "status": "complete", "verdict": "pass"}
if os.environ["FLYBALL_ROLE"] == "implementer":
    with Path("rates.txt").open("a") as file:
        file.write("# turn of " + os.environ["FLYBALL_TASK"] + "\\n")
    report["decisions"] = [{"title": "Rates of currencies", "choice": "keep the rates in rates.txt as plain numbers",
                            "alternatives": ["a database"], "invalidated_if": "path rates.json exists"}]
Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
"""


def flyball(root: Path, *words: str) -> str:
    home = root.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FLYBALL_HOME": str(home / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "flyball", *words], cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.req("O40", "O41")
def test_a_decision_of_one_task_is_found_given_checked_and_dropped(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "rates.txt").write_text("EUR=1\n")
    (tmp_path / "agent.py").write_text(AGENT)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    agent = f"{sys.executable} -E -S {tmp_path / 'agent.py'}"
    run = ("run", "--workflow", "quick", "--agent-command", agent, "--gate", "test=true", "--unattended")
    flyball(root, *run, "Show the rates of all currencies")
    (first,) = json.loads(flyball(root, "learnings", "--json"))
    assert (first["state"], first["files"]) == ("kept", ["rates.txt"])
    subprocess.run([*git, "merge", "-q", f"flyball/{first['task']}"], cwd=root, check=True, capture_output=True)

    assert "would be shown" in flyball(root, "learnings", "rates of currencies")
    flyball(root, *run, "--new", "Round the rates of currencies")
    rows = json.loads(flyball(root, "learnings", "--json"))
    assert [row["id"] for row in rows] == [first["id"]], "the second task said the same: not recorded again"
    prompt = flyball(root, "logs", "2", "--turn", "1")
    assert f"- {first['id']} Rates of currencies: keep the rates in rates.txt as plain numbers" in prompt
    assert f"{first['id']} " in prompt.partition("learnings it was given\n")[2]
    assert "Learnings given to turns" in flyball(root, "report", "2")

    (root / "rates.json").write_text("{}")
    assert json.loads(flyball(root, "learnings", "rates of currencies", "--json"))[0]["state"] == "stale"
    (root / "rates.json").unlink()
    flyball(root, "learnings", "drop", first["id"], "--because", "rates come from the bank now")
    assert "keep the rates in rates.txt as plain numbers" not in flyball(root, "prompt", "implementer", "2")
