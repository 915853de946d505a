"""Feedback on finished work: what it asks for, and what that becomes."""

from datetime import UTC, datetime

import pytest
from tests.support.builders import short_tdd_run
from tests.support.simulator import Honest, Simulator

from flyball.core.decide import decide
from flyball.core.fold.evolve import evolve
from flyball.core.loop.feedback import as_criteria, wishes
from flyball.core.model.effects import Measure
from flyball.core.model.events import (
    Begun,
    Event,
    ItemsSet,
    Moved,
    PersonSpoke,
    SessionStarted,
    TaskReopened,
    TaskStopped,
)
from flyball.core.model.state import State
from flyball.core.model.task import Item
from flyball.core.workflows.backlog.proposals import from_feedback
from flyball.core.workflows.backlog.values import Backlog, Issue

pytestmark = pytest.mark.req("C66")
AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("say goodbye,\n  too", ("say goodbye, too",)),
        ("Missing:\n- wave\n* [ ] bow\n2. nod\n- wave", ("wave", "bow", "nod")),
        ("a - b is no list", ("a - b is no list",)),
        ("\x1b[31mred\x1b[0m", ("red",)),
    ],
)
def test_each_item_of_a_list_is_a_wish_and_any_other_text_is_one(text, wanted):
    assert wishes(text) == wanted


def test_criteria_are_numbered_after_those_there_are():
    known = (Item("AC-2", "a"), Item("AC-7", "b"), Item("own", "c"))
    assert as_criteria(("x", "y"), known) == (Item("AC-8", "x"), Item("AC-9", "y"))
    assert as_criteria(("x",), ()) == (Item("AC-1", "x"),)


def test_issues_get_ids_of_their_own_and_none_twice():
    known = Issue(id="ENHANCE-004@aaaaaa", title="Wave", file="high.md", stated="proposed")
    backlog = Backlog(issues=(known,), finished=("ENHANCE-009@bbbbbb",))
    made = from_feedback(("wave", "bow", "bow", "nod"), backlog, AT)
    assert [new.issue.title for new in made] == ["bow", "nod"]
    assert [new.issue.id.partition("@")[0] for new in made] == ["ENHANCE-010", "ENHANCE-011"]
    assert {(new.issue.file, new.source) for new in made} == {("high.md", "person")}
    assert from_feedback(("bow",), backlog, AT) == made[:1]


def heard(state: State, *facts: object) -> State:
    for fact in facts:
        state = evolve(state, Event(state.seq + 1, state.now, state.epoch, fact))  # type: ignore[arg-type]
    return state


def test_a_task_that_is_done_begins_again_with_the_tests_of_what_is_new():
    state = heard(short_tdd_run().state, PersonSpoke("reopen", "say goodbye"))
    assert state.stopped is None
    reopened, items, moved = decide(state).facts
    assert isinstance(reopened, TaskReopened)
    assert isinstance(items, ItemsSet)
    assert moved == Moved("RED", "SHIP", "reopened by a person")
    assert {item.status for item in items.items[:-1]} == {"completed"}
    assert (items.items[-1].text, items.items[-1].status) == ("say goodbye", "not-started")
    state = heard(state, reopened, items, moved)
    assert (state.baseline, state.round_base, state.main.tests_accepted) == (None, state.main.head, state.main.head)
    assert [effect.id for effect in decide(state).effects] == ["save/reopened-1"]


def test_a_test_must_be_new_against_the_round_and_all_else_is_seen_since_the_task_began():
    world = Honest()
    simulator = Simulator(world)
    simulator.run()
    world.stage_done.clear()
    simulator.append(PersonSpoke("reopen", "say goodbye"), SessionStarted(1, "simulated", "0"))
    assert simulator.run().decision == "DONE"
    begun = [fact.effect for fact in simulator.of(Begun) if isinstance(fact, Begun)]
    bases = [(effect.kind, effect.base) for effect in begun if isinstance(effect, Measure)]
    first, second = bases[: len(bases) // 2], bases[len(bases) // 2 :]
    assert {base for _kind, base in first} == {"base"}
    assert [kind for kind, base in second if base == simulator.known.round_base] == ["baseline", "red"]
    assert [kind for kind, base in second if base == "base"] == ["green", "refactor", "document", "qa"]


def test_feedback_that_reaches_a_task_somebody_took_up_already_is_guidance():
    state = heard(short_tdd_run().state, PersonSpoke("reopen", "one"))
    state = heard(state, *decide(state).facts, PersonSpoke("reopen", "two"))
    assert state.guidance[-2:] == ("one", "two")
    assert not state.feedback


def test_an_aborted_task_hears_no_feedback_but_can_be_taken_back():
    state = heard(short_tdd_run().state, TaskStopped("aborted", "aborted by a person"), PersonSpoke("reopen", "x"))
    assert state.stopped is not None
    assert heard(state, PersonSpoke("reopen")).stopped is None
