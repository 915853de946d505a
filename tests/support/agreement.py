"""Reads a whole loop and looks for a word that contradicts a deed: health against remedy, decision and every screen (M22)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from flyball.core.failures.signature import digest
from flyball.core.fold.evolve import evolve
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import REMEDIES, Thresholds
from flyball.core.model.events import Event, Judged, Moved, PersonSpoke
from flyball.core.model.state import State
from flyball.projections.files.loop_files import VERDICT, render
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lanes import most_stuck
from flyball.projections.views.lines import line
from flyball.projections.views.standing import leading_judgement
from flyball.projections.views.status import status

SICK = {"STALLED", "REGRESSING", "FLIP-FLOPPING"}


def check_words(events: Sequence[Event]) -> None:
    """Assert that no word of the monitor, and no screen, contradicts what was done."""
    state: State | None = None
    history = TaskHistory()
    met: set[str] = set()
    running: dict[str, list[str]] = {}
    for event in events:
        state = evolve(state, event)
        history.add(event)
        if isinstance(event.fact, Judged):
            _check_verdict(event.fact, met)
            assert f", {event.fact.verdict.health}: " in (line(event, state) or "")
            met |= _failures(event.fact.observation)
            _check_attempts(event.fact, running)
        if isinstance(event.fact, Moved | PersonSpoke):
            running.clear()
        if state.stopped is not None:
            _check_screens(state, history)


def _check_verdict(fact: Judged, met: set[str]) -> None:
    verdict = fact.verdict
    assert verdict.remedy in REMEDIES[verdict.health], verdict
    if fact.rung or fact.breaker.state == "OPEN":
        assert verdict.health != "PROGRESSING", fact
    if fact.rung:
        assert verdict.remedy == ("rollback" if fact.rung.startswith("rollback") else "fresh-context"), fact
    if "nothing repeats" in verdict.evidence:
        assert not met & _failures(fact.observation), verdict


def _check_attempts(fact: Judged, running: dict[str, list[str]]) -> None:
    """The same error in three attempts at the same item running is no progress, whatever was restored between them (M14)."""
    for item, error in fact.observation.failed.items():
        before = running.get(item, [])
        running[item] = [*before, error.fine] if before[-1:] == [error.fine] else [error.fine]
        if len(running[item]) >= Thresholds().same_error:
            assert fact.verdict.health != "PROGRESSING", (item, fact.verdict)
    for item in fact.observation.passed:
        running.pop(item, None)


def _failures(seen: Observation) -> set[str]:
    if seen.gate_held:
        return set()
    names = {f"failure:{seen.fine}"} if seen.fine else set()
    failing = seen.coarse if seen.failing is None else digest(sorted({*seen.failing}))
    return names | {f"failing:{failing}"} if failing else names


def _check_screens(state: State, history: TaskHistory) -> None:
    """What each screen says of a loop that stopped."""
    files = render(state, history)
    page = next(row for row in files["loop-state.md"].splitlines() if row.startswith("**Status**"))
    shown = {status(state, history).health, page.removeprefix("**Status**: "), json.loads(files[VERDICT])["health"]}
    assert len(shown) == 1, shown
    (health,) = shown
    told = leading_judgement(state, history)
    last = told.health if told is not None else ""
    if state.decision == "DONE":
        assert health == "PROGRESSING"
    if state.decision == "BLOCKED":
        assert health != "PROGRESSING"
        if most_stuck(state).loop.breaker.state == "OPEN" and last != "BLOCKED":
            assert health in SICK, (health, state.stopped)
