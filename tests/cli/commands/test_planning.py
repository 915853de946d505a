"""A planner that edits plan.md is understood, and every role finds context.md in its own tree."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
import json, os, pathlib, re, sys
prompt, role = sys.stdin.read(), os.environ["FLYBALL_ROLE"]
(folder,) = [p for p in pathlib.Path(".loop").iterdir() if p.is_dir()]
said = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True}
said["summary"] = f"{role} has {len((folder / 'context.md').read_text())} characters of context"
if role == "planner":
    (folder / "plan.md").write_text("- [ ] **1.1** mul — Files: `mul.py`, `test_mul.py` | Acceptance: `mul(2, 3)` is 6 | `scaffold: true`\\n")
elif role == "scaffolder":
    (folder / "plan.md").write_text("- [x] **9.9** another plan — Acceptance: nothing\\n")
    pathlib.Path("mul.py").write_text("def mul(a, b):\\n    return a * b\\n")
    pathlib.Path("test_mul.py").write_text("from mul import mul\\n\\n\\ndef test_mul():\\n    assert mul(2, 3) == 6\\n")
else:
    said |= {"verdict": "pass", "approved": ["1.1"] if "1.1" in prompt else []}
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.req("O37", "O10")
@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_a_plan_written_into_the_file_is_worked_to_and_each_role_has_its_context(
    repository: Path, site, flyball, sandbox: str
):
    (repository / "test_one.py").write_text("def test_one():\n    assert True\n")
    for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a test"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True)
    program = shlex.join(["env", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-c", AGENT])
    gate = f"test={sys.executable} -m pytest -q --junitxml={{junit}}"
    done = flyball(
        "run", "add mul", "--workflow", "plan", "--unattended", "--sandbox", sandbox,
        "--agent-command", program, "--gate", gate,
    )  # fmt: skip
    assert done.code == 0, done.err + done.out
    (record,) = site.journal.tasks()
    state = site.state(record.id)
    assert [(item.id, item.acceptance, item.status) for item in state.items] == [
        ("1.1", ("`mul(2, 3)` is 6",), "completed")
    ]
    told = done.out + done.err
    for role in ("planner", "plan-reviewer", "scaffolder", "reviewer"):
        assert f"{role} has " in told
    assert " has 0 characters" not in told
