"""The user's own budget of a day holds over the tasks of all repositories; a run that meets it waits for the next local day."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from tests.cli.stage import until

from flyball.clock import SystemClock, local_day
from flyball.core.model.effects import CountDay, Effect, RunAgent, Wait
from flyball.core.model.events import Begun, Ended, Fact, Held
from flyball.core.model.outcomes import DayCounted, Interrupted, Waited
from flyball.projections.views.situation import sentence, situation
from flyball.wiring.site import Site

AGENT = """
import json, os, pathlib, sys
sys.stdin.read()
pathlib.Path("NOTES.md").open("a").write(f"{os.environ['FLYBALL_NONCE']}\\n")
report = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True, "summary": "noted", "verdict": "pass", "findings": []}
report["metrics"] = json.loads(sys.argv[1])
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
"""
PRICED = '{"usd": 0.9, "input_tokens": 300, "output_tokens": 100}'
FREE = '{"input_tokens": 300, "output_tokens": 100}'
PATIENCE_S = 60
E = TypeVar("E", bound=Effect)


class ShiftedClock:
    """The machine's clock, as far ahead as a test wants it."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[ShiftedClock]:
    """Where this machine is, it is about noon: no day ends by itself while a test runs."""
    shifted = ShiftedClock()
    monkeypatch.setenv("TZ", f"<noon>{datetime.now(UTC).hour - 12:+d}")
    time.tzset()
    monkeypatch.setattr(SystemClock, "now", lambda _self: shifted.now())
    yield shifted
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def how(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)

    def options(metrics: str = PRICED) -> tuple[str, ...]:
        command = f"{sys.executable} {agent} '{metrics}'"
        named = ("--workflow", "quick", "--unattended", "--sandbox", "none", "--gate", "test=true")
        return (*named, "--agent-command", command)

    return options


@pytest.fixture
def another(one_commit: Path, tmp_path: Path) -> Path:
    """A second repository of the same user."""
    return Path(shutil.copytree(one_commit, tmp_path / "another"))


def budget(repository: Path, text: str) -> None:
    home = repository.parent / "home"
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text(text)


def facts(repository: Path) -> list[Fact]:
    site = Site.find(repository)
    return [event.fact for record in site.journal.tasks() for event in site.journal.read(record.id)]


def begun(repository: Path, kind: type[E]) -> list[E]:
    return [fact.effect for fact in facts(repository) if isinstance(fact, Begun) and isinstance(fact.effect, kind)]


def started(place: Path, *command: str) -> subprocess.Popen[bytes]:
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=place, stdout=nowhere, stderr=nowhere, start_new_session=True)


def waiting_sentence(repository: Path) -> str:
    """What is the case with the repository's only task once it waits."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        site = Site.find(repository)
        for record in site.journal.tasks():
            state = site.state(record.id)
            if any(isinstance(effect, Wait) for effect in state.open.values()):
                return sentence(state, situation(state))
        time.sleep(0.05)
    return "it did not wait"


@pytest.mark.req("C1")
def test_the_tasks_of_all_repositories_share_a_day_and_the_next_day_is_waited_for(
    repository, another, flyball, how, clock, monkeypatch
):
    budget(repository, "budget_usd_per_day = 2\n")
    first = flyball("run", "Note one", *how())
    assert first.code == 0, first.err
    assert "the day's budget" not in first.err, "two turns of 0.9 are within the budget"
    monkeypatch.chdir(another)
    seen: list[str] = []

    def look() -> None:
        seen.append(waiting_sentence(another))
        clock.ahead = timedelta(hours=13)

    looking = threading.Thread(target=look)
    looking.start()
    ends = local_day(clock.now())[1]
    second = flyball("run", "Note two", *how())
    looking.join()
    told = "the day's budget reached (1.8 of 2 USD; the next turn may take 0.9), in all repositories: no turn begins before"
    assert (second.code, told in second.err) == (0, True), second.err
    assert seen[0].startswith("WAITING until ")
    assert seen[0].endswith(" UTC (the day's budget)")
    happened = facts(another)
    (held,) = [fact for fact in happened if isinstance(fact, Held)]
    assert (held.guard, held.until) == ("budget", ends)
    outcomes = [fact.outcome for fact in happened if isinstance(fact, Ended)]
    counted = [outcome for outcome in outcomes if isinstance(outcome, DayCounted)]
    assert [(day.turns, day.known_usd) for day in counted] == [(2, 1.8), (0, 0.0), (1, 0.9)], "each belief is a fact"
    assert sum(isinstance(outcome, Waited) for outcome in outcomes) == 1
    assert [turn.turn for turn in begun(another, RunAgent)] == [1, 2], "waiting costs no turn"


@pytest.mark.slow
@pytest.mark.req("C1")
def test_a_turn_under_way_in_another_repository_has_its_share_of_the_day(repository, another, flyball, how, clock):
    budget(repository, "budget_usd_per_day = 2.6\n")
    assert flyball("run", "Note one", *how(), "--max-turns", "1").code == 4
    asked = [sys.executable, "-m", "flyball", "run", "Note two", *how()]
    other = started(another, *asked, "--agent-command", "sleep 60")
    until(lambda: bool(begun(another, RunAgent)))
    mine = started(repository, *asked)
    until(lambda: bool(begun(repository, Wait) or begun(repository, RunAgent)[1:]))
    for each in (mine, other):
        os.killpg(each.pid, signal.SIGKILL)
        each.wait()
    (held,) = [fact for fact in facts(repository) if isinstance(fact, Held)]
    assert held.reason == "the day's budget reached (0.9 of 2.6 USD; the next turn may take 1.8)"
    assert held.until is not None
    assert held.until < local_day(clock.now())[1], "the other turn may be cheap, so the day is counted again soon"
    assert len(begun(repository, RunAgent)) == 1, "that of the first task"


@pytest.mark.slow
@pytest.mark.req("C1")
def test_a_killed_run_that_waited_waits_on_and_goes_on_at_once_under_a_higher_budget(
    repository, flyball, how, clock, monkeypatch
):
    budget(repository, "budget_tokens_per_day = 900\n")
    assert flyball("run", "Note one", *how()).code == 0
    command = [sys.executable, "-m", "flyball", "run", "Note two", *how()]
    for round_ in range(2):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as running:
            ends = time.monotonic() + PATIENCE_S
            while len(begun(repository, Wait)) <= round_ and time.monotonic() < ends:
                time.sleep(0.1)
            os.killpg(running.pid, signal.SIGKILL)
        command = [sys.executable, "-m", "flyball", "resume", "2"]
    waits = begun(repository, Wait)
    assert [wait.until for wait in waits] == [local_day(clock.now())[1]] * 2, "only what is left is waited"
    assert len(begun(repository, RunAgent)) == 2, "those of the first task"
    budget(repository, "budget_tokens_per_day = 9000\n")
    resumed = flyball("resume", "2")
    assert resumed.code == 0, resumed.err
    assert "the day's budget" not in resumed.err
    broken = [f for f in facts(repository) if isinstance(f, Ended) and isinstance(f.outcome, Interrupted)]
    assert [each.outcome.detail for each in broken] == ["the day is counted anew"] * 2


@pytest.mark.req("C13")
def test_a_day_s_budget_of_money_that_cannot_be_kept_is_refused_or_stops_the_task(repository, flyball, how, clock):
    budget(repository, "budget_usd_per_day = 2\n")
    refused = flyball("run", "Note one", "--agent", "codex", "--gate", "test=true", "--unattended", "--sandbox", "none")
    assert (refused.code, "The budget of 2 USD cannot be kept: codex" in refused.err) == (2, True), refused.err
    stopped = flyball("run", "Note one", *how(FREE))
    assert (stopped.code, "1 turn has no known price, so the budget of 2 USD" in stopped.out) == (4, True), stopped.out
    budget(repository, "budget_usd_per_day = 2\nbudget_tokens_per_day = 9000\n")
    assert flyball("resume", "1").code == 0, "a budget of tokens bounds such turns"


@pytest.mark.req("C13")
def test_the_list_shows_what_the_day_took_in_all_repositories(repository, another, flyball, how, clock, monkeypatch):
    assert "Today" not in flyball("list").out
    assert flyball("run", "Note one", *how()).code == 0
    assert begun(repository, CountDay) == [], "without a budget nothing is counted"
    assert flyball("list").out.splitlines()[-1] == "Today, in all repositories: 1.80 USD, 800 tokens"
    (row,) = json.loads(flyball("list", "--json").out)
    assert row["today"] == {"tokens": 800, "usd": 1.8, "known_usd": 1.8}
    monkeypatch.chdir(another)
    assert flyball("run", "Note two", *how(FREE)).code == 0
    budget(repository, "budget_usd_per_day = 20\nbudget_tokens_per_day = 1_000_000\n")
    told = "Today, in all repositories: at least 1.80 USD of 20, 1,600 tokens of 1,000,000"
    assert flyball("list").out.splitlines()[-1] == told
    clock.ahead = timedelta(days=1)
    assert flyball("list").out.splitlines()[-1] == "Today, in all repositories: 0.00 USD of 20, 0 tokens of 1,000,000"
    (row,) = json.loads(flyball("list", "--json").out)
    assert row["today"] == {"tokens": 0, "usd": 0.0, "known_usd": 0.0}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("budget_usd_per_day = 0\n", "line 1: budget_usd_per_day: expected a finite number greater than 0"),
        ("\nbudget_per_day = 1\n", "line 2: budget_per_day: there is no such key (did you mean budget_"),
        ("budget_usd_per_day\n", "line 1: this is not valid TOML"),
    ],
)
def test_settings_that_are_not_what_was_expected_are_named_and_nothing_begins(repository, flyball, how, text, problem):
    budget(repository, text)
    refused = flyball("run", "Note one", *how())
    assert (refused.code, f"settings.toml, {problem}" in refused.err) == (2, True), refused.err
    assert "No task yet" in flyball("list").out
