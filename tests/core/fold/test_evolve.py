"""The fold: one draft for a whole journal says the same as a state for each event, and no state ever changes."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from tests.support.builders import Story
from tests.support.simulator import Honest, Simulator

from flyball.core.fold.evolve import evolve, fold
from flyball.core.model.effects import Question
from flyball.core.model.events import Event, PersonSpoke, TaskStopped
from flyball.core.model.state import State
from flyball.core.model.task import EffectId


def a_journal() -> list[Event]:
    simulator = Simulator(Honest())
    simulator.run()
    return simulator.events


def states(events: list[Event]) -> list[State]:
    state: State | None = None
    known: list[State] = []
    for event in events:
        state = evolve(state, event)
        known.append(state)
    return known


def test_folding_a_journal_is_adding_its_events_one_by_one():
    events = a_journal()
    known = states(events)
    for count in range(1, len(events) + 1):
        assert fold(events[:count]) == known[count - 1]


def test_a_state_stays_as_it_was_when_facts_are_added():
    known: list[tuple[State, bytes]] = []
    state: State | None = None
    for event in a_journal():
        state = evolve(state, event)
        known.append((state, msgspec.json.encode(state)))
    assert all(msgspec.json.encode(one) == before for one, before in known)


def test_a_journal_without_events_has_no_state():
    assert fold([]) is None


def test_nobody_was_at_work_between_a_session_and_what_a_person_does_by_hand_later():
    story = Story().start().add(TaskStopped("paused", "by a person"))
    at_work = story.state.elapsed
    assert at_work > timedelta(0)
    by_hand = Event(story.state.seq + 1, story.at + timedelta(hours=9), 2, PersonSpoke("abort"))
    assert evolve(story.state, by_hand).elapsed == at_work


@pytest.mark.req("C68")
def test_waiting_for_a_person_is_no_time_at_work():
    story = Story().start().ask(Question("q", "Which rounding?"))
    at_work = story.state.elapsed
    story.at += timedelta(hours=9)
    story.add(PersonSpoke("answer", "half-even", question=EffectId("ask/1")))
    assert story.state.elapsed == at_work
