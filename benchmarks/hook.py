"""How long `flyball hook stop` keeps an agent waiting, as a ratio to a bare Python start in the same run.

python benchmarks/hook.py [silent|task|backlog|focused|changed ...]
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROUNDS = 25
TARGET = 6.0
ISSUES = 50


def silent(_folder: Path, _home: Path) -> None:
    """Nothing governs the folder."""


def task(folder: Path, home: Path) -> None:
    """An unfinished task works in the folder."""
    from flyball.documents.governed import govern

    known = {"task": "001-x", "decision": "CONTINUE", "stage": "GREEN", "reason": "a test fails", "missing": ["test_x"]}
    govern(str(home), str(folder), "001-x", verdict=json.dumps(known), lock=str(home / "none"))


def backlog(folder: Path, _home: Path) -> None:
    """The folder has a backlog of open issues."""
    issues = folder / ".work" / "agent" / "issues"
    if issues.exists():
        return
    issues.mkdir(parents=True)
    block = "---\nid: FEAT-{0:03}@a1b2c3\ntitle: Feature {0}\nstatus: proposed\n---\n\nDo it.\n\n"
    (issues / "high.md").write_text("# High\n\n" + "".join(block.format(n) for n in range(1, ISSUES + 1)))


def focused(folder: Path, home: Path) -> None:
    """The same, and since the last time something was written beside the issues."""
    backlog(folder, home)
    _add(folder / ".work" / "agent" / "focus.md")


def changed(folder: Path, home: Path) -> None:
    """The same, and since the last time an issue was changed."""
    backlog(folder, home)
    _add(folder / ".work" / "agent" / "issues" / "high.md")


def _add(path: Path) -> None:
    with path.open("a") as file:
        file.write("More.\n")


def measured(prepare: Callable[[Path, Path], None]) -> tuple[float, float]:
    """Median seconds of the processor for the hook and for a bare start, taken in turns; other load on the machine must not count."""
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name) / "project", Path(name) / "home"
        folder.mkdir()
        event = json.dumps({"session_id": "s", "cwd": str(folder), "stop_hook_active": False}).encode()
        program = [str(Path(sys.executable).with_name("flyball")), "hook", "stop"]
        env = {"PATH": os.defpath, "HOME": name, "FLYBALL_HOME": str(home)}
        own, bare = [], []
        for _ in range(ROUNDS + 1):
            prepare(folder, home)
            own.append(_seconds(program, event, env))
            bare.append(_seconds([sys.executable, "-c", "pass"], event, env))
        return statistics.median(own[1:]), statistics.median(bare[1:])


def _seconds(command: list[str], stdin: bytes, env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=stdin, env=env, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


CASES = {"silent": silent, "task": task, "backlog": backlog, "focused": focused, "changed": changed}


def main() -> None:
    """Print one line a case; exit 1 when a target is missed."""
    missed = 0
    print(f"{'case':10} {'hook':>9} {'python':>9} {'ratio':>6} {'target':>7}")
    for name in sys.argv[1:] or CASES:
        own, bare = measured(CASES[name])
        missed += own / bare > TARGET
        print(f"{name:10} {own:9.4f} {bare:9.4f} {own / bare:6.2f} {f'<= {TARGET}':>7}", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
