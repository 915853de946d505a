"""The replay of recorded loops, on loops made up here: what is kept, saved and caught is counted right."""

from __future__ import annotations

import importlib
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def replay(monkeypatch) -> Iterator[ModuleType]:
    """The program as a module; nobody else is to find it by so short a name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("replay")
    for name in ("replay", "thresholds"):
        sys.modules.pop(name, None)


def iteration(context: int, status: str, error: str, edit: str) -> dict[str, Any]:
    return {
        "t": context, "status": status, "out": error, "fails": [], "edit_hash": edit,
        "applied": [] if status == "edit_error" else ["a.py"], "asst": edit, "cost": 1.0,
    }  # fmt: skip


def doomed(name: str) -> dict[str, Any]:
    """Six contexts of four iterations that always fail alike."""
    its = [iteration(n // 4, "test_fail", "ValueError: row 3", f"e{n}") for n in range(24)]
    return {"id": f"{name}__1", "resolved": False, "its": its}


def healed(name: str) -> dict[str, Any]:
    """A first context that repeats itself, and a second that passes at once."""
    its = [iteration(0, "test_fail", "ValueError: row 3", f"e{n}") for n in range(4)]
    return {"id": f"{name}__2", "resolved": True, "its": [*its, iteration(1, "pass", "", "e9")]}


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "loops.jsonl.xz"
    records = [doomed("one"), healed("one"), doomed("two"), healed("two")]
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, records)).encode()))
    return path


@pytest.mark.req("M18")
def test_the_monitor_keeps_what_passes_and_saves_what_is_doomed(replay, traces):
    loops = replay.load(traces)
    let_run = [replay.replay(loop, replay.POLICIES["let it run"]) for loop in loops]
    governed = [replay.replay(loop, replay.POLICIES["flyball monitor"]) for loop in loops]
    assert [outcome.usd for outcome in let_run] == [24, 5, 24, 5]
    assert [outcome.usd for outcome in governed] == [6, 3, 6, 3]
    reached = replay.score(governed, let_run)
    assert (reached.passes, reached.resolved, reached.uncaught, reached.unstopped) == (1, 1, 0, 0)
    assert reached.saved == pytest.approx(1 - 18 / 58)


@pytest.mark.parametrize(
    ("policy", "passes", "usd"),
    [
        ("max 3 iterations", 0, 3),
        ("max 10 iterations", 1, 10),
        ("identical edit 3x", 1, 24),
        ("three failed edits", 1, 24),
        ("breaker: raw error text 5x", 1, 5),
    ],
)
def test_policies_of_the_known_kind_stop_the_loop_where_their_count_is_reached(replay, traces, policy, passes, usd):
    bad, good, *_ = replay.load(traces)
    assert replay.replay(good, replay.POLICIES[policy]).passed == passes
    assert replay.replay(bad, replay.POLICIES[policy]).usd == usd


def test_the_row_of_the_monitor_is_what_the_thresholds_by_default_give(replay, traces):
    for loop in replay.load(traces):
        default = replay.monitor(replay.Thresholds())
        assert replay.replay(loop, default) == replay.replay(loop, replay.POLICIES["flyball monitor"])


def test_the_table_and_the_choice_are_printed(replay, traces, capsys, monkeypatch):
    monkeypatch.setattr(replay, "BOOTSTRAPS", 40)
    assert replay.main([str(traces)]) == 0
    thresholds = importlib.import_module("thresholds")
    monkeypatch.setattr(thresholds, "candidates", lambda: [replay.Thresholds(), replay.Thresholds(contexts=4)])
    assert thresholds.main([str(traces)]) == 0
    printed = capsys.readouterr().out
    assert "4 loops, 2 pass, 2 of them resolved" in printed
    assert "flyball monitor" in printed
    assert "one standard error: one (2 loops) left out: the defaults" in printed
    assert "one standard error: on repositories left out: 100.0%, 100.0%, 69.0%, 0.0%, 0.0%, 75.0%" in printed


def as_run(carries: str, counts: list[int]) -> dict[str, Any]:
    """A loop of fresh contexts of which only the number of failing tests is known; 0 is green."""
    its = [
        {"t": n, "status": "test_fail" if count else "pass", "out": f"{count} failed, 9 passed", "fails": None,
         "edit_hash": None, "applied": None, "asst": None, "cost": 1.0}
        for n, count in enumerate(counts, 1)
    ]  # fmt: skip
    return {"id": "loop", "task": "task", "carries": carries, "resolved": False, "its": its}


@pytest.mark.req("M18")
def test_loops_of_fresh_contexts_are_replayed_as_they_ran_and_stopped_where_nothing_moves(
    replay, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(replay, "BOOTSTRAPS", 40)
    path = tmp_path / "outer.jsonl"
    records = [as_run("tree", [7] * 10), as_run("tree", [7, 7, 7, 3, 3, 0]), as_run("feedback", [7, 4, *[7] * 8])]
    path.write_text("\n".join(map(json.dumps, records)))
    governed = [replay.replay(loop, replay.POLICIES["flyball monitor"]) for loop in replay.load(path)]
    assert [(outcome.passed, outcome.usd) for outcome in governed] == [(False, 5), (True, 6), (False, 8)]
    assert replay.main([str(path), str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("outer.jsonl: 3 loops, 1 pass, 0 of them resolved") == 2
    assert "not recorded" in printed


def test_without_traces_there_is_nothing_to_replay(replay, capsys):
    assert replay.main([]) == 0
    assert replay.main(["a", "b"]) == 2
    assert "usage:" in capsys.readouterr().err
