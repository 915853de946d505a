"""What lanes gain and cost: 8 independent subtasks with 1, 2 and 4 lanes, and one integration in a repository of 50,000 files.

    python benchmarks/lanes.py [lanes|files ...]

Agents sleep for TURN_S and write one file, the gate sleeps for GATE_S, reviewers answer at once. Ideal are the sleeps alone: as many
turns one after another as there are batches, and one gate for each subtask. Really the tree with the work of a whole batch is gated, too;
the time in gates says what that takes.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SUBTASKS = 8
TURN_S = 6.0
GATE_S = 1.0
LANES = (1, 2, 4)
FILES = 50_000
ROUNDS = 9

AGENT = f"""case $FLYBALL_ROLE in
implementer) sleep {TURN_S}; echo $FLYBALL_SUBTASK >part-$FLYBALL_SUBTASK.txt; said= ;;
*) said='"verdict": "pass",' ;;
esac
printf '{{"nonce": "%s", %s "status": "complete", "exit_signal": true}}' $FLYBALL_NONCE "$said" >$FLYBALL_REPORT_FILE
"""


def lanes(folder: Path) -> None:
    print(f"{SUBTASKS} subtasks, turns of {TURN_S:g} s, gates of {GATE_S:g} s")
    print("| lanes | wall time | ideal | of the ideal | measurements | time in gates | the rest, per subtask |")
    print("|---|---|---|---|---|---|---|")
    for count in LANES:
        wall, gates, seconds = _planned(folder / str(count), count)
        turns = math.ceil(SUBTASKS / count) * TURN_S
        rest = (wall - turns - seconds) / SUBTASKS
        ideal = turns + SUBTASKS * GATE_S
        print(
            f"| {count} | {wall:.1f} s | {ideal:.0f} s | {ideal / wall:.0%} | {gates} | {seconds:.1f} s | {rest:.1f} s |",
            flush=True,
        )


def _planned(folder: Path, count: int) -> tuple[float, int, float]:
    """Play a plan: from the first lane to the last that was closed, how often was measured meanwhile, and how long gates ran."""
    folder.mkdir()
    repository = folder / "repository"
    repository.mkdir()
    (folder / "agent.sh").write_text(AGENT)
    lines = [f"- [ ] **1.{n}** part {n} — Files: `part-1.{n}.txt` | Acceptance: there" for n in range(1, SUBTASKS + 1)]
    (folder / "plan.md").write_text("# Eight parts\n\n" + "\n".join(lines) + "\n")
    _git(repository, "init", "-q", "-b", "main")
    _git(repository, "commit", "-q", "--allow-empty", "-m", "Start")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "flyball", "run", "--from", str(folder / "plan.md"), "--workflow", "plan"),
            *("--parallel", str(count), "--unattended", "--json", "--sandbox", "none"),
            *("--agent-command", f"sh {folder / 'agent.sh'}", "--gate", f"test=sleep {GATE_S}"),
        ],
        cwd=repository,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "FLYBALL_HOME": str(folder / "home")},
        capture_output=True,
        check=True,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()][:-1]
    at = [n for n, event in enumerate(events) if event["fact"]["fact"] in {"lane.opened", "lane.closed"}]
    seen = events[at[0] : at[-1] + 1]
    ended = [event["fact"]["outcome"] for event in seen if event["fact"]["fact"] == "effect.ended"]
    gates = [outcome["measurement"] for outcome in ended if outcome["outcome"] == "measured"]
    wall = (_at(seen[-1]) - _at(seen[0])).total_seconds()
    return wall, len(gates), sum(measurement.get("commands_s", 0.0) for measurement in gates)


def _at(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])


def files(folder: Path) -> None:
    from flyball.core.model.task import Commit, TaskId
    from flyball.workspace.repository import Repository
    from flyball.workspace.workspace import GitWorkspace

    root = folder / "repository"
    root.mkdir()
    _git(root, "init", "-q", "-b", "main")
    _git(root, "fast-import", "--quiet", given=_many())
    _git(root, "reset", "-q", "--hard")
    workspace = GitWorkspace(Repository.find(root), folder / "home", TaskId("001-many"))
    print(f"{FILES:,} files\n| step | time |\n|---|---|")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    _timed("make the task's own checkout", workspace.prepare)
    base = workspace.base
    _timed("open a lane in a new workspace", lambda: workspace.open_lane("1", base))
    saved, integrated, reset = [], [], []
    tip = base
    for number in range(ROUNDS):
        name = str(number)
        reset.append(_timed("", lambda name=name: workspace.open_lane(name, base)))
        lane = workspace.lane(name)
        for place in range(3):
            (lane.root / f"d{place}" / f"f{number}.txt").write_text(f"{number}\n")
        found: list[str] = []
        saved.append(_timed("", lambda lane=lane, found=found: found.append(lane.snapshot("t", "t", at).commit)))
        made: list[Any] = []
        merge = lambda lane=lane, commit=found[0], onto=tip, made=made: made.append(  # noqa: E731 - timed below
            lane.integrate(Commit(commit), base=base, onto=onto, message="m", at=at)
        )
        integrated.append(_timed("", merge))
        tip = made[0].commit
        workspace.close_lane(name)
    for step, times in {
        "open a lane in a used workspace": reset[2:],
        "save a lane": saved[1:],
        "integrate": integrated,
    }.items():
        print(f"| {step}, median of {len(times)} | {statistics.median(times):.2f} s |")


def _many() -> bytes:
    """A commit of many files for git fast-import."""
    lines = ["commit refs/heads/main", "committer U <u@localhost> 1700000000 +0000", "data 5", "Start"]
    for number in range(FILES):
        text = f"file {number}\n" * 20
        lines += [f"M 100644 inline d{number % 500}/f{number // 500}.txt", f"data {len(text)}", text]
    return ("\n".join(lines) + "\n").encode()


def _timed(step: str, do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    took = time.perf_counter() - began
    if step:
        print(f"| {step} | {took:.2f} s |")
    return took


def _git(root: Path, *words: str, given: bytes = b"") -> None:
    user = ("-c", "user.name=U", "-c", "user.email=u@localhost", "-c", "gc.auto=0")
    subprocess.run(["git", *user, *words], cwd=root, input=given, check=True)


def main() -> None:
    chosen = sys.argv[1:] or ["lanes", "files"]
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="flyball-lanes-") as folder:
            {"lanes": lanes, "files": files}[name](Path(folder))


if __name__ == "__main__":
    main()
