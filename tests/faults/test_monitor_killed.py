"""`flyball monitor` killed at each point in turn: a report is kept whole or not at all, and the next one goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SWEEP = """
import json, os, sys
from pathlib import Path
from flyball import faults
from flyball.core.advice.batch import BatchResult, Review
from flyball.wiring.tools.monitoring import Loops

def report(item, kill=""):
    child = os.fork()
    if child == 0:
        sys.stderr = open(os.devnull, "w")
        faults.point = faults.killing_at(kill)
        os._exit(Loops.find(Path.cwd()).report("demo", BatchResult((item,), Review("APPROVED"), (item,))).iteration)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

start, known = Path.cwd(), int(sys.argv[1])
for number in range(1, 100):
    (start / str(number)).mkdir()
    os.chdir(start / str(number))
    for item in range(known):
        report(f"before-{item}")
    killed, after = report("killed", str(number)), report("after")
    page = Path(".loop/demo/loop-state.md").read_text()
    print(json.dumps([killed, after, page.count("\\n| "), "| killed |" in page]), flush=True)
    if killed > 0:
        break
"""


@pytest.mark.req("M31")
@pytest.mark.slow
@pytest.mark.parametrize("known", [0, 2])
def test_a_report_killed_anywhere_is_kept_whole_or_not_at_all(tmp_path: Path, monkeypatch, known):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    done = subprocess.run(
        [sys.executable, "-c", SWEEP, str(known)], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    *killed, survived = [json.loads(line) for line in done.stdout.splitlines()]
    assert survived == [known + 1, known + 2, known + 3, True]
    assert len(killed) > 10
    for code, after, rows, shown in killed:
        kept = after == known + 2
        assert (code, after) in {(-9, known + 1), (-9, known + 2)}
        assert (rows, shown) == (after + 1, kept)
    assert {after for _, after, _, _ in killed} == {known + 1, known + 2}
