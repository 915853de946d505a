"""`init` and a whole task on projects of other stacks, each with a test that always failed, by the runners themselves, in the sandbox."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C7", "C31", "C41")]

WORKER = """\
import json, os, pathlib, sys

stage, work = os.environ["FLYBALL_STAGE"], json.loads(sys.argv[1])
sys.stdin.read()
for name, text in work.get(stage, {}).items():
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text(text)
report = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True, "summary": stage}
if stage == "QA":
    report |= {"verdict": "pass", "findings": []}
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
"""
DOCUMENT = "# Multiply\n\n### Acceptance Criteria\n- [ ] mul of 6 and 7 gives 42: it multiplies\n"
DOCUMENTS = {
    "README.md": "# calc\n\nIt can add and mul: it multiplies.\n",
    "CHANGELOG.md": "# Changelog\n\n- add\n- mul multiplies\n",
    "docs/decisions/0001-plain.md": "# Plain functions\n\nAccepted: mul keeps no state.\n",
}
NODE = 'import test from "node:test"; import assert from "node:assert"; import * as calc from "../calc.js";\n'
GO = 'package calc\n\nimport "testing"\n\n'


class Project(msgspec.Struct, frozen=True):
    programs: tuple[str, ...]
    files: dict[str, str]
    red: dict[str, str]
    green: dict[str, str]


PROJECTS = {
    "bats": Project(
        ("bats",),
        {
            "calc.sh": "add() { echo $(($1 + $2)); }\n",
            "test/add.bats": '@test "adds" {\n  . ./calc.sh\n  [ "$(add 1 2)" = 3 ]\n}\n@test "always failed" {\n  false\n}\n',
        },
        {"test/mul.bats": '@test "AC-1 multiplies" {\n  . ./calc.sh\n  [ "$(mul 6 7)" = 42 ]\n}\n'},
        {"calc.sh": "add() { echo $(($1 + $2)); }\nmul() { echo $(($1 * $2)); }\n"},
    ),
    "go": Project(
        ("go", "gotestsum"),
        {
            "go.mod": "module example.org/calc\n\ngo 1.19\n",
            "calc.go": "package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
            "calc_test.go": GO + 'func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n',
            "known_test.go": GO + 'func TestKnown(t *testing.T) {\n\tt.Fatal("known")\n}\n',
        },
        {"mul_test.go": GO + '// AC-1\nfunc TestAC1Mul(t *testing.T) {\n\tif Mul(6, 7) != 42 {\n\t\tt.Fatal("no")\n\t}\n}\n'},
        {"mul.go": "package calc\n\n// Mul multiplies.\nfunc Mul(a, b int) int { return a * b }\n"},
    ),
    "node": Project(
        ("node", "npm"),
        {
            "package.json": '{"name": "calc", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}\n',
            "calc.js": "export const add = (a, b) => a + b;\n",
            "test/add.test.js": NODE
            + 'test("adds", () => assert.equal(calc.add(1, 2), 3));\ntest("always failed", () => assert.equal(1, 2));\n',
        },
        {"test/mul.test.js": NODE + 'test("AC-1 multiplies", () => assert.equal(calc.mul(6, 7), 42));\n'},
        {"calc.js": "export const add = (a, b) => a + b;\nexport const mul = (a, b) => a * b;\n"},
    ),
}  # fmt: skip


def flyball(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    home = root.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FLYBALL_HOME": str(home / "home")}
    command = [sys.executable, "-m", "flyball", *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False)


def laid_out(project: Project, folder: Path) -> Path:
    root = folder / "project"
    common = {"README.md": "# calc\n\nIt can add.\n", "CHANGELOG.md": "# Changelog\n\n- add\n"}
    for name, text in {**common, **project.files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


@pytest.mark.parametrize("stack", PROJECTS)
def test_init_and_a_task_come_to_done_beside_a_test_that_always_failed(stack: str, tmp_path: Path) -> None:
    project = PROJECTS[stack]
    missing = [program for program in project.programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    root = laid_out(project, tmp_path)
    said = flyball(root, "init").stdout
    assert "1 passed, 1 failed" in said
    (tmp_path / "prp.md").write_text(DOCUMENT)
    (tmp_path / "worker.py").write_text(WORKER)
    work = {"RED": project.red, "GREEN": project.green, "DOCUMENT": DOCUMENTS}
    agent = {"command": [sys.executable, "-I", "-S", str(tmp_path / "worker.py"), json.dumps(work)]}
    with (root / "flyball.toml").open("a") as settings:
        settings.write(f"\n[agents.worker]\ncommand = {json.dumps(agent['command'])}\n")
    flyball(root, "trust", "--yes")
    asked = ("run", "--from", "../prp.md", "--workflow", "tdd", "--agent", "worker")
    done = flyball(root, *asked, "--unattended", "--json")
    status: dict[str, Any] = json.loads((done.stdout.splitlines() or ["{}"])[-1])
    assert (done.returncode, status.get("decision"), status.get("turns")) == (0, "DONE", 4), (
        done.stdout[-3000:] + done.stderr
    )
