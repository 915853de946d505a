"""What a task may take is forecast from what finished tasks of its workflow took in this repository."""

import json
import sys
from datetime import UTC, datetime, timedelta

import pytest

from flyball.core.model.events import TaskStopped
from flyball.core.model.outcomes import Usage
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Settings, Task, TaskId
from flyball.projections.views.forecast import compare_forecast, describe_forecast, make_forecast

AGENT = """
import json, os, pathlib, sys
sys.stdin.read()
pathlib.Path("NOTES.md").open("a").write(f"{os.environ['FLYBALL_NONCE']}\\n")
report = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True, "summary": "noted", "verdict": "pass", "findings": []}
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
"""
AT = datetime(2026, 1, 5, tzinfo=UTC)


def test_a_run_begins_with_what_earlier_ones_took_and_its_report_compares(repository, flyball, tmp_path):
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    program = f"{sys.executable} {agent}"
    how = (
        "--workflow",
        "quick",
        "--unattended",
        "--sandbox",
        "none",
        "--gate",
        "test=true",
        "--agent-command",
        program,
    )
    estimate = ("run", "--estimate", "--workflow", "quick")
    assert "no task of quick is finished in this repository yet" in flyball(*estimate).out
    first = flyball("run", "Note one", *how)
    assert (first.code, "forecast: none, because no task of quick is finished" in first.err) == (0, True), first.err
    assert "(of 1 finished quick task here)" in flyball(*estimate).out
    assert "no task of tdd" in flyball("run", "--estimate", "--workflow", "tdd").out, "another workflow says nothing"
    second = flyball("run", "Note two", *how)
    assert "forecast: median 2 turns, " in second.err
    assert "- Forecast: median 2 turns, " in flyball("report", "2").out
    assert json.loads(flyball("report", "2", "--format", "json").out)["forecast"]["tasks"] == 1
    assert json.loads(flyball("report", "1", "--format", "json").out)["forecast"] is None
    assert len(json.loads(flyball("list", "--json").out)) == 2, "an estimate opens nothing"


def finished(turns: int, minutes: float, usd: float | None, *, blocked: bool = False) -> State:
    task = Task(TaskId(f"00{turns}-x"), "quick", "x", Settings(), AT)
    return State(
        task, AT, {"main": Lane("main", "SHIP")}, turns=turns, elapsed=timedelta(minutes=minutes),
        usage=Usage(1, 1, usd), stopped=TaskStopped("blocked" if blocked else "done", ""),
    )  # fmt: skip


def test_half_and_four_fifths_of_the_tasks_are_told_and_money_after_five():
    tasks = [finished(n, n, n / 10) for n in (5, 3, 1, 4)]
    few = make_forecast([finished(99, 99, 9.9, blocked=True), *tasks])
    assert few is not None
    assert (few.tasks, few.turns, few.usd) == (4, (3, 5), None)
    forecast = make_forecast([*tasks, finished(2, 2, 0.2)])
    assert forecast is not None
    assert describe_forecast(forecast, "quick") == (
        "median 3 turns, 3 min 0 s, 0.30 USD; 80th percentile 4 turns, 4 min 0 s, 0.40 USD (of 5 finished quick tasks here)"
    )
    unknown = make_forecast([*tasks, finished(2, 2, None)])
    assert unknown is not None
    assert unknown.usd is None, "a task of unknown price makes no median cheaper"


def test_no_more_than_the_latest_tasks_are_looked_at():
    looked = []

    def tasks():
        for number in range(1, 99):
            looked.append(number)
            yield finished(number, 1, None)

    forecast = make_forecast(tasks())
    assert forecast is not None
    assert (forecast.tasks, forecast.turns, len(looked)) == (20, (10, 16), 20)


@pytest.mark.parametrize(
    ("turns", "seconds", "sentence"),
    [
        (4, 240.0, "within the 80th percentile"),
        (5, 240.0, "more turns than the 80th percentile"),
        (5, 241.0, "more turns and time than the 80th percentile"),
    ],
)
def test_what_a_task_took_is_compared(turns, seconds, sentence):
    forecast = make_forecast([finished(4, 4, None)])
    assert forecast is not None
    assert compare_forecast(forecast, turns, seconds) == sentence
