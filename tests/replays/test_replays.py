"""Journals that an earlier flyball wrote fold as they did, and everything that is shown can be drawn from them."""

import json
import re
from collections.abc import Callable

import msgspec
import pytest
from tests.replays.replay import EXPECTED, GOLDEN, HERE, JOURNAL, events_of, names, outputs, recorded, summary

from flyball.core.decide import decide
from flyball.core.fold.evolve import evolve, fold
from flyball.core.model.batch_events import BatchReviewed, SubtaskIntegrated
from flyball.core.model.effects import Restore
from flyball.core.model.events import Begun, Ended, Event, Judged, PersonSpoke, SessionStarted
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import State
from flyball.core.workflows.backlog.facts import Reviewed
from flyball.core.workflows.registry import WORKFLOWS
from flyball.core.workflows.track.facts import BusinessSynced, TrackEvaluated
from flyball.projections.files.loop_files import render
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lines import json_line, line
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown
from flyball.projections.views.status import status

pytestmark = pytest.mark.req("C5")
LARGEST = 100_000


def state_of(name: str) -> State:
    state = fold(recorded(name))
    assert state is not None
    return state


def test_each_workflow_has_a_recording():
    assert {state_of(name).task.workflow for name in names()} == set(WORKFLOWS)


@pytest.mark.parametrize("name", names())
def test_a_recorded_journal_amounts_to_what_it_did(name):
    assert summary(recorded(name)) == json.loads((HERE / f"{name}{EXPECTED}").read_text())


@pytest.mark.parametrize("name", names())
def test_every_output_of_a_recorded_journal_is_the_same(name):
    """After a wanted change: `tools/record-replays --outputs`, and read the difference."""
    kept = {str(path.relative_to(GOLDEN / name)): path.read_text() for path in (GOLDEN / name).rglob("*.*")}
    assert outputs(recorded(name)) == kept


@pytest.mark.parametrize("name", names())
def test_event_by_event_and_in_one_go_it_is_the_same(name):
    events = recorded(name)
    state: State | None = None
    for event in events:
        state = evolve(state, event)
        decide(state)
    assert state == fold(events)
    for cut in range(1, len(events)):
        assert fold(events[cut:], fold(events[:cut])) == state


@pytest.mark.parametrize("name", names())
def test_it_is_read_and_written_without_a_loss(name):
    stored = (HERE / f"{name}{JOURNAL}").read_bytes()
    events = events_of(stored)
    assert events_of(b"\n".join(map(json_line, events))) == events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("name", names())
def test_everything_shown_can_be_drawn_from_it(name):
    events = recorded(name)
    chronicle = TaskHistory()
    state: State | None = None
    for event in events:
        state = evolve(state, event)
        chronicle.add(event)
        assert json.loads(msgspec.json.encode(status(state, chronicle)))["task"] == state.task.id
        assert "\n" not in (line(event, state) or "")
        assert json.loads(json_line(event))
    assert state is not None
    assert status(state, chronicle).state == state.decision == "DONE"
    text = markdown(report(state, chronicle))
    assert state.task.id in text
    assert render(state, chronicle)["report.md"] == text
    assert decide(state).effects == ()


def a_trick(event: Event) -> bool:
    fact = event.fact
    return isinstance(fact, Ended) and isinstance(fact.outcome, Measured) and bool(fact.outcome.measurement.tricks)


def a_rollback(event: Event) -> bool:
    return isinstance(event.fact, Begun) and isinstance(event.fact.effect, Restore)


def an_answer(event: Event) -> bool:
    return isinstance(event.fact, PersonSpoke) and event.fact.word == "answer"


def a_resumption(event: Event) -> bool:
    return isinstance(event.fact, SessionStarted) and event.epoch > 1


def a_rejection(event: Event) -> bool:
    return isinstance(event.fact, Judged) and event.fact.rejected


def a_failed_review(event: Event) -> bool:
    return isinstance(event.fact, Reviewed) and event.fact.validation.result == "fail"


def a_conflict(event: Event) -> bool:
    return isinstance(event.fact, SubtaskIntegrated) and event.fact.result == "conflicted"


def a_rejected_subtask(event: Event) -> bool:
    return isinstance(event.fact, BatchReviewed) and bool(event.fact.rejected)


def a_failed_evaluation(event: Event) -> bool:
    return isinstance(event.fact, TrackEvaluated) and event.fact.evaluation.verdict == "FAIL"


def a_sync_of_documents(event: Event) -> bool:
    return isinstance(event.fact, BusinessSynced)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tdd-troubled", a_trick),
        ("tdd-troubled", a_rollback),
        ("tdd-troubled", an_answer),
        ("tdd-troubled", a_resumption),
        ("quick", a_rejection),
        ("backlog", a_failed_review),
        ("plan", a_conflict),
        ("plan", a_rejected_subtask),
        ("track", a_failed_evaluation),
        ("track", a_sync_of_documents),
        ("track", a_resumption),
    ],
)
def test_the_recordings_hold_what_they_are_kept_for(name: str, wanted: Callable[[Event], bool]):
    assert any(map(wanted, recorded(name)))


def test_the_honest_one_holds_nothing_of_it():
    kept = (a_trick, a_rollback, an_answer, a_resumption, a_rejection)
    assert not [event for event in recorded("tdd-honest") if any(wanted(event) for wanted in kept)]


@pytest.mark.parametrize("name", names())
def test_they_are_small_and_name_no_machine(name):
    text = (HERE / f"{name}{JOURNAL}").read_text()
    assert len(text.encode()) < LARGEST
    assert set(re.findall(r'"host": *"([^"]*)"', text)) == {"host"}
    assert set(re.findall(r'"pid": *(\d+)', text)) == {"1"}
    assert not re.search(r"(?<!/replay)/(home|root|Users|work|var)/", text)
