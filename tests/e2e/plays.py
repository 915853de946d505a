"""Runs the installed command over a small repository with a scripted agent: files, a request, and what the agent does each turn."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FINISHED = {"report": {"status": "complete", "exit_signal": True, "summary": "finished"}}
AT_WORK = {"report": {"status": "in_progress", "exit_signal": False, "summary": "more to do"}}
APPROVES = {
    "when": {"role": ["reviewer", "qa", "critic"]},
    "do": [{"report": {"verdict": "pass", "exit_signal": True}}],
}

Action = Mapping[str, Any]


class Play(NamedTuple):
    """How a run ended."""

    exit_code: int
    status: dict[str, Any]
    events: list[dict[str, Any]]
    stderr: str
    root: Path

    @property
    def decision(self) -> str:
        return str(self.status.get("decision", ""))

    @property
    def reason(self) -> str:
        return str(self.status.get("reason", ""))

    @property
    def text(self) -> str:
        return json.dumps(self.events) + json.dumps(self.status)

    @property
    def prompts(self) -> list[str]:
        effects = (event["fact"].get("effect") or {} for event in self.events)
        return [effect["prompt"] for effect in effects if effect.get("effect") == "run_agent"]

    def branch_file(self, path: str) -> str:
        shown = subprocess.run(
            ["git", "show", f"{self.status['branch']}:{path}"],
            cwd=self.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return shown.stdout


def play(
    folder: Path,
    files: Mapping[str, str],
    request: str,
    turns: Sequence[Sequence[Action]],
    *flags: str,
    workflow: str = "quick",
    reviewer: Mapping[str, Any] = APPROVES,
    settings: str = "",
    first: Sequence[Mapping[str, Any]] = (),
) -> Play:
    """Run one task; the last of the `turns` is repeated for as long as flyball asks. The `first` steps fit before all others."""
    root = make_repository(folder / "project", files)
    steps = [*first, reviewer]
    steps += [{"when": {"iteration": number}, "do": list(turn)} for number, turn in enumerate(turns[:-1], 1)]
    steps += [{"do": list(turns[-1])}]
    (folder / "script.yaml").write_text(json.dumps({"steps": steps}))
    agent = f'[agents.player]\ntype = "scripted"\nscript = "{folder}/script.yaml"\n'
    (root / "flyball.toml").write_text(f'agent = "player"\n{settings}\n{agent}')
    flyball(root, "trust", "--yes")
    done = flyball(root, "run", request, "--workflow", workflow, "--unattended", "--json", *flags)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return Play(done.returncode, lines[-1] if lines else {}, lines[:-1], done.stderr, root)


def make_repository(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


def flyball(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    home = root.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FLYBALL_HOME": str(home / "home")}
    return subprocess.run(
        [sys.executable, "-m", "flyball", *words], cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False
    )  # fmt: skip
