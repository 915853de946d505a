import signal
import subprocess
import sys

import pytest

from flyball import faults

POINTS = "from flyball import faults\nfor name in ('a', 'b', 'a', 'b'):\n    faults.point(name)\n    print(name, flush=True)\n"


def run(order: str) -> subprocess.CompletedProcess[str]:
    environment = {"FLYBALL_FAULT_KILL": order}
    return subprocess.run([sys.executable, "-c", POINTS], env=environment, capture_output=True, text=True, check=False)


def test_a_point_does_nothing_by_default() -> None:
    assert faults.point is faults.nothing


@pytest.mark.parametrize(
    ("order", "printed", "name"), [("1", "", "a"), ("4", "aba", "b"), ("b:2", "aba", "b"), ("a:1", "", "a")]
)
def test_the_process_is_killed_at_the_point_asked_for(order: str, printed: str, name: str) -> None:
    ended = run(order)
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout.replace("\n", "") == printed
    assert f"killed at {name}\n" in ended.stderr


@pytest.mark.parametrize("order", ["5", "c:1", ""])
def test_a_run_that_never_reaches_the_point_survives(order: str) -> None:
    ended = run(order)
    assert (ended.returncode, ended.stdout.replace("\n", ""), ended.stderr) == (0, "abab", "")


@pytest.mark.parametrize("order", ["soon", "a:", "0", "a:-1"])
def test_an_order_that_means_nothing_is_refused(order: str) -> None:
    with pytest.raises(ValueError, match="FLYBALL_FAULT_KILL"):
        faults.killing_at(order)
