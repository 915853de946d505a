"""A whole task on a project with installed dependencies: an agent may try others, gates and the user see none of it."""

import json
import subprocess
import sys

import pytest

from flyball.core.model.outcomes import Measured
from flyball.workspace.sandbox import Unavailable, available

AGENT = """\
import json, os, pathlib, sys

sys.stdin.read()
seen = pathlib.Path(".venv/installed").read_text()
if os.environ["FLYBALL_STAGE"] != "REVIEW":
    pathlib.Path(".venv/installed").write_text("worse")
pathlib.Path("node_modules/easy").mkdir(parents=True, exist_ok=True)
pathlib.Path("work.txt").write_text(f"{seen}, {len(os.listdir('.venv'))} there")
report = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True, "summary": "done"}
report |= {"verdict": "pass", "findings": []}
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
"""
GATE = "test=grep -q 'as installed' .venv/installed && test ! -e node_modules"


@pytest.mark.slow
@pytest.mark.req("C43")
@pytest.mark.skipif(isinstance(available(), Unavailable), reason="bubblewrap does not work here")
def test_an_agent_writes_a_copy_of_the_users_environment_and_leaves_none_of_its_own(
    repository, flyball, site, tmp_path
):
    (repository / ".gitignore").write_text(".venv\nnode_modules\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["add", "-A"], ["commit", "-q", "-m", "Ignore environments"]):
        subprocess.run([*git, *words], cwd=repository, check=True)
    (repository / ".venv").mkdir()
    (repository / ".venv" / "installed").write_text("as installed")
    (tmp_path / "agent.py").write_text(AGENT)
    agent = f"{sys.executable} -I -S {tmp_path / 'agent.py'}"
    done = flyball("run", "do it", "--workflow", "quick", "--unattended", "--agent-command", agent, "--gate", GATE)
    (record,) = site.journal.tasks()
    measured = [
        event.fact.outcome.measurement
        for event in site.journal.read(record.id)
        if isinstance(getattr(event.fact, "outcome", None), Measured)
    ]
    assert [gate.output for each in measured for gate in each.gates if not gate.passed] == [], done.err
    assert len(measured) > 1
    assert (repository / ".venv" / "installed").read_text() == "as installed"
    assert not (repository / "node_modules").exists()
    workspace = site.workspace(site.state(record.id).task)
    assert (workspace.root / "work.txt").read_text() == "as installed, 1 there"
    assert json.loads(flyball("status", "--json").out)["decision"] == "DONE", done.err
