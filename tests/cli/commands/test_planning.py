"""Plans with real git and real gates: a planner edits plan.md, every role has its context, a rejected subtask goes back alone."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.stage import told_to_run

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


def run_plan(repository: Path, flyball, agent: str, *options: str):
    """`flyball run --workflow plan` with a program of Python as the agent, on a repository with one test."""
    (repository / "test_one.py").write_text("def test_one():\n    assert True\n")
    for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a test"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True)
    program = shlex.join(["env", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-c", agent])
    gate = f"test={sys.executable} -m pytest -q --junitxml={{junit}}"
    return flyball(
        "run", "add mul", "--workflow", "plan", "--unattended", *options, "--agent-command", program, "--gate", gate,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.req("O37", "O10")
@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_a_plan_written_into_the_file_is_worked_to_and_each_role_has_its_context(
    repository: Path, site, flyball, sandbox: str
):
    done = run_plan(repository, flyball, AGENT, "--sandbox", sandbox)
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


@pytest.mark.slow
@pytest.mark.req("O2", "O22")
def test_the_exported_orchestrator_is_followed_word_for_word(repository: Path, flyball):
    (repository / "test_one.py").write_text("def test_one():\n    assert True\n")
    command = json.dumps(["env", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-c", AGENT])
    gate = json.dumps(f"{sys.executable} -m pytest -q --junitxml={{junit}}")
    settings = f'agent = "a"\nsandbox = "none"\n\n[agents.a]\ncommand = {command}\n\n[gates]\ntest = {gate}\n'
    (repository / "flyball.toml").write_text(settings)
    for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a test"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True)
    assert flyball("trust", "--yes").code == 0
    given = {"REQUEST": "add mul", "WORDS": "the mul task", "TASK": "001-add-mul", "QUESTION": "ask/1", "TEXT": "yes"}
    tasks, go_on, run, look, answer, resume, report = told_to_run("orchestrator", **given)
    assert "No task yet" in flyball(*tasks).out
    assert flyball(*run).code == 3
    assert [question["text"] for question in json.loads(flyball(*look).out)["questions"]] == ["Is this the plan?"]
    assert flyball(*answer).code == 0
    assert "001-add-mul" in flyball(*tasks).out
    done = flyball(*go_on)
    assert (done.code, json.loads(flyball(*look).out)["decision"]) == (0, "DONE"), done.err
    assert flyball(*report).out.startswith("# Report: 001-add-mul")
    assert "finished" in flyball(*resume).err


REJECTED_ONCE = """
import json, os, pathlib, re, sys
prompt, role = sys.stdin.read(), os.environ["FLYBALL_ROLE"]
said = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True, "summary": role}
if role == "planner":
    said["plan"] = "".join(f"- [ ] **1.{n}** part {n} — Files: `p{n}.py`, `test_p{n}.py` | Acceptance: `p{n}()` is {n}\\n" for n in (1, 2, 3))
elif "reviewer" in role:
    said["verdict"] = "pass"
    if "## Subtask 1.2" in prompt and "# better" not in pathlib.Path("p2.py").read_text():
        said |= {"verdict": "fail", "approved": ["1.1"], "rejected": [{"id": "1.2", "reason": "it must be better"}]}
else:
    n = re.search(r"## Subtask 1[.](\\d)", prompt)[1]
    better = "# better\\n" if "it must be better" in prompt else ""
    pathlib.Path(f"p{n}.py").write_text(f"def p{n}():\\n    return {n}\\n{better}")
    pathlib.Path(f"test_p{n}.py").write_text(f"from p{n} import p{n}\\n\\n\\ndef test_p{n}():\\n    assert p{n}() == {n}\\n")
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.req("O31", "O38", "C16")
def test_the_tests_of_a_rejected_subtask_are_not_asked_of_the_others(repository: Path, site, flyball):
    """Its work was measured with theirs on the candidate tip; what is accepted is the tip without it."""
    done = run_plan(repository, flyball, REJECTED_ONCE, "--sandbox", "none")
    assert done.code == 0, done.err + done.out
    assert "caught" not in done.out + done.err
    (record,) = site.journal.tasks()
    assert [item.status for item in site.state(record.id).items] == ["completed"] * 3
