"""What one honest small feature costs: a bare loop, and each workflow of flyball.

    python benchmarks/price.py [NAME ...]

One agent does the same feature everywhere, as well as it can, in as few turns as it is given. The gate is pytest with a plugin that counts:
a run is full if every test of the tree was run, and partial otherwise. Processor time is that of everything flyball started, git
included, without what agents and gates used. Prompt tokens are an estimate: characters divided by 4. The bare loop starts the agent once, with the
request as its prompt, and runs the gate once.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "agents"))

from sample import make_sample_repository  # noqa: E402 - found by the path above

REQUEST = "Teach the calculator to multiply: `multiply(6, 7)` in `calc` gives 42."
OLD_FILES = ("small", "large", "mixed", "negative")
CHARACTERS_PER_TOKEN = 4

AGENT = '''"""Does the feature: what the role of this turn is asked for."""

import json, os, pathlib, sys

role, stage = os.environ["FLYBALL_ROLE"], os.environ["FLYBALL_STAGE"]
prompt = sys.stdin.read()
plan = """### Acceptance Criteria
- [ ] multiply(6, 7) gives 42
"""
report = {"status": "complete", "exit_signal": True, "summary": "as asked"}


def add(path, text):
    file = pathlib.Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    old = file.read_text() if file.exists() else ""
    if text not in old:
        file.write_text(old + text)


if role in {"planner", "tester"}:
    report["plan"] = plan
if stage == "RED" or role in {"implementer", "fixer"}:
    add("tests/test_multiply.py", "import calc\\n\\n\\ndef test_ac_1_multiply():\\n    assert calc.multiply(6, 7) == 42\\n")
if stage == "GREEN" or role in {"implementer", "fixer"}:
    add("calc/__init__.py", '\\n\\ndef multiply(a: float, b: float) -> float:\\n    """The product of two numbers."""\\n    return a * b\\n')
if stage == "DOCUMENT":
    add("README.md", "\\nIt can also `multiply`.\\n")
    add("CHANGELOG.md", "- multiply\\n")
    add("docs/decisions/0001-plain-functions.md", "# Plain functions\\n\\nAccepted: `multiply` keeps no state.\\n")
if stage in {"QA", "REVIEW", "VALIDATE"} or role not in {"planner", "tester", "implementer", "fixer", "refactorer", "documenter"}:
    report.update(verdict="pass", findings=[])
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps({"nonce": os.environ["FLYBALL_NONCE"], **report}))
used = os.times()
with open(os.environ.get("PRICE_TURNS") or sys.argv[1], "a") as file:
    print(len(prompt), used.user + used.system, file=file)
'''

PLUGIN = '''"""Counts runs of pytest: full or partial, and their processor time."""

import os

seen = {"all": 0, "ran": set()}


def pytest_collection_modifyitems(session, items):
    seen["all"] = len(items)


def pytest_runtest_logstart(nodeid, location):
    seen["ran"].add(nodeid)


def pytest_sessionfinish(session):
    used = os.times()
    with open(LOG, "a") as file:
        kind = "full" if len(seen["ran"]) >= seen["all"] else "partial"
        print(kind, used.user + used.system + used.children_user + used.children_system, file=file)
'''

ISSUE = f"""# High

---
id: FEAT-001@3f9a1c
title: Multiply
created: 2026-01-05
type: feature
priority: high
status: proposed
tags: []
---

### Problem

{REQUEST}

### Acceptance Criteria

- [ ] multiply(6, 7) gives 42
"""
CONSTITUTION = "# Constitution\n\n- Every change has a test that fails without it.\n"
PLAN = f"""# Multiply

{REQUEST}

- [ ] **1.1** multiply — Files: `calc/__init__.py`, `tests/test_multiply.py` | Acceptance: multiply(6, 7) gives 42
"""


class Price(NamedTuple):
    """What one way to the feature cost."""

    name: str
    turns: int
    full: int
    partial: int
    flyball_s: float
    prompt_tokens: int
    decision: str

    @property
    def row(self) -> str:
        used = f"{self.flyball_s:.1f} s" if self.flyball_s else "—"
        return f"| {self.name} | {self.turns} | {self.full} | {self.partial} | {used} | {self.prompt_tokens:,} | {self.decision} |"


HEADER = (
    "| | turns | full runs of the suite | partial runs | processor time of flyball | prompt tokens (estimate) | ends |\n"
    "|---|---|---|---|---|---|---|"
)
WAYS: dict[str, tuple[str, ...]] = {
    "bare loop": (),
    "quick": ("--workflow", "quick", REQUEST),
    "tdd": ("--workflow", "tdd", REQUEST),
    "backlog": ("--from", ".work"),
    "plan": ("--workflow", "plan", "--from", "plan.md"),
}


class Shop:
    """A folder with the repository, the agent and the counting gate; tasks are run in it one after another."""

    def __init__(self, folder: Path, program: tuple[str, ...] = ("-m", "flyball")) -> None:
        self.folder = folder
        self.program = program
        self.runs, self.turns = folder / "runs.log", folder / "turns.log"
        old = {f"tests/test_{file}.py": _old_tests(file) for file in OLD_FILES}
        more = {".work/agent/issues/high.md": ISSUE, "plan.md": PLAN, ".work/constitution.md": CONSTITUTION}
        self.repository = make_sample_repository(folder / "repository", {**old, **more})
        (folder / "agent.py").write_text(AGENT)
        tools = folder / "tools"
        tools.mkdir()
        (tools / "price_counting.py").write_text(PLUGIN.replace("LOG", repr(str(self.runs))))
        self.gate = (
            f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH={shlex.quote(str(tools))} {shlex.quote(sys.executable)} "
            "-m pytest -q -p no:cacheprovider -p price_counting"
        )
        self.agent = [sys.executable, "-E", str(folder / "agent.py"), str(self.turns)]

    def buy(self, name: str, words: tuple[str, ...] = (), *, flags: tuple[str, ...] = ()) -> Price:
        """The feature in one way, and what it cost; files of the counters begin anew."""
        for log in (self.runs, self.turns):
            log.write_text("")
        used = _children_s()
        decision = self._flyball((*(words or WAYS[name]), *flags)) if name != "bare loop" else self._bare()
        used = _children_s() - used
        runs = [line.split() for line in self.runs.read_text().splitlines()]
        turns = [line.split() for line in self.turns.read_text().splitlines()]
        used -= sum(float(each[1]) for each in (*runs, *turns))
        kinds = [kind for kind, _ in runs]
        characters = sum(int(length) for length, _ in turns)
        return Price(
            name,
            turns=len(turns),
            full=kinds.count("full"),
            partial=kinds.count("partial"),
            flyball_s=used if name != "bare loop" else 0.0,
            prompt_tokens=round(characters / CHARACTERS_PER_TOKEN),
            decision=decision,
        )

    def events(self) -> list[dict[str, Any]]:
        """The journal of the only task."""
        done = subprocess.run(
            [sys.executable, "-m", "flyball", "logs", "--json"],
            cwd=self.repository,
            env=self._environment,
            capture_output=True,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _flyball(self, words: tuple[str, ...]) -> str:
        done = subprocess.run(
            [
                *(sys.executable, *self.program, "run", *words, "--unattended", "--json", "--sandbox", "none"),
                *("--agent-command", shlex.join(self.agent), "--gate", f"test={self.gate}"),
            ],
            cwd=self.repository,
            env=self._environment,
            capture_output=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        return str(json.loads(lines[-1]).get("decision")) if lines else done.stderr.decode(errors="replace")

    def _bare(self) -> str:
        own = {"FLYBALL_ROLE": "implementer", "FLYBALL_STAGE": "", "FLYBALL_NONCE": ""}
        own["FLYBALL_REPORT_FILE"] = str(self.folder / "report.json")
        env = {**self._environment, **own}
        subprocess.run(self.agent, cwd=self.repository, env=env, input=REQUEST.encode(), check=True)
        gate = subprocess.run(self.gate, shell=True, cwd=self.repository, env=env, capture_output=True, check=False)
        return "the gate passes" if gate.returncode == 0 else "the gate fails"

    @property
    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "FLYBALL_HOME": str(self.folder / "home")}


def _old_tests(file: str) -> str:
    tests = (
        f"def test_{file}_{word}():\n    assert add({n}, 1) == {n + 1}\n"
        for n, word in enumerate(("first", "second", "third", "fourth", "fifth"))
    )
    return "from calc import add\n\n\n" + "\n\n".join(tests)


def _children_s() -> float:
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    print(HEADER)
    for name in sys.argv[1:] or WAYS:
        with tempfile.TemporaryDirectory(prefix="flyball-price-") as folder:
            print(Shop(Path(folder)).buy(name).row, flush=True)


if __name__ == "__main__":
    main()
