"""A workflow of another package: WRITE until the gates hold, a note of it in the journal, SHIP."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.loop import gates, kernel, opening, prompts, questions, shipping
from flyball.core.loop.kernel import Stage
from flyball.core.loop.role import WORKING, Role, role_named
from flyball.core.loop.step import Step, record
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.events import Fact, Moved, TaskReopened
from flyball.core.model.state import Lane, Record, State

CARDS = (Role("writer", "Does what is asked for.", WORKING, "Do what is asked for, with a test."),)


class Noted(Fact, frozen=True, omit_defaults=True, tag="notes.noted"):
    """The work was noted down."""

    text: str


class Notes(Record, frozen=True):
    """What is remembered of them."""

    texts: tuple[str, ...] = ()


def notes_of(state: State) -> Notes:
    assert isinstance(state.record, Notes)
    return state.record


def _noted(state: State, fact: Noted) -> None:
    state.record = Notes((*notes_of(state).texts, fact.text))


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    context = (prompts.request(state), prompts.criteria(state))
    return prompts.compose(state, lane, role_named(role, CARDS), purpose, context=context)


WRITE = Stage("WRITE", "writer", "green", gates.green, brief, product=True)


def next_step(state: State, lane: Lane) -> Step:
    first = opening.prepare(state)
    if first is not None:
        return first
    if lane.to_ask:
        return questions.put(state, lane, lane.to_ask[0])
    if lane.loop.consent_wanted:
        return questions.put(state, lane, questions.protected_change(lane))
    if lane.stage == "SHIP":
        return shipping.ship(state, lane, "gates passed")
    if lane.loop.exiting:
        return _written(state, lane)
    return kernel.iterate(state, lane, WRITE, lambda wanted: replace(wanted, tests_may_grow=True))


def _written(state: State, lane: Lane) -> Step:
    kernel.accept(state, lane, WRITE)
    if not notes_of(state).texts:
        return record(Noted(f"written in {lane.loop.iteration} iterations"))
    return record(Moved("SHIP", "WRITE", kernel.why_left(lane)))


def _reopened(state: State, lane: Lane) -> Step:
    return record(TaskReopened(state.feedback, ()), Moved("WRITE", lane.stage, "reopened by a person"))


WORKFLOW = Workflow(
    name="notes",
    stages=("WRITE", "SHIP"),
    roles=("writer",),
    next=next_step,
    skipped=lambda _state, lane: Moved("SHIP", lane.stage, "skipped by a person", forced=True),
    brief=brief,
    reopened=_reopened,
    record=Notes(),
    folds={Noted: _noted},
    facts=(Noted,),
    lines={Noted: lambda fact: f"noted: {fact.text}"},
    notes={Noted: lambda fact: (f"The work was {fact.text}.",)},
    cards=CARDS,
    author="writer",
    verifying=frozenset({"WRITE"}),
    closing="SHIP",
    demo=Demo("flyball_notes", "docs/discount.md"),
)
