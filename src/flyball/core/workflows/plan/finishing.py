"""FINAL_REVIEW and REPORT: the whole goal is reviewed once more, and what is found wanting is worked on."""

import itertools
from collections.abc import Iterable, Iterator

from flyball.core.claims.values import Claim
from flyball.core.loop import questions, shipping
from flyball.core.loop.batches.reviewing import review_by
from flyball.core.loop.feedback import wishes
from flyball.core.loop.gates import APPROVING
from flyball.core.loop.step import Step, record
from flyball.core.memory.recording import panel_revisions
from flyball.core.model.effects import Question
from flyball.core.model.events import Fact, ItemChanged, ItemsSet, Moved, TaskReopened
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.plan import planning
from flyball.core.workflows.plan.facts import FinalReviewed
from flyball.core.workflows.plan.prompts import REVIEWER, brief
from flyball.core.workflows.plan.record import record_of

ROUNDS = 3


def final_review(state: State, lane: Lane) -> Step:
    if planning.following(state) != lane.stage:
        return record(Moved(planning.following(state), lane.stage, "subtasks are open again"))
    rounds = record_of(state).final_rounds
    if rounds >= ROUNDS:
        why = [f"{item}: {'; '.join(work.reasons)}" for item, work in state.batches.rework.items()]
        text = f"The final review asked for changes {plural(rounds, 'time')}"
        question = Question("final-review-rejected", text, questions.FOUR_CHOICES, detail="\n".join(why))
        return questions.put(state, lane, question)
    said = review_by(state, lane, brief, REVIEWER, commit=lane.head, purpose="final")
    return record(*panel_revisions(state, lane), *weigh(state, lane, said[0].turn, said[1]))


def weigh(state: State, lane: Lane, number: int, claim: Claim) -> Iterator[Fact]:
    """Approved, or subtasks to be done again and new ones for what no subtask covers."""
    blocking = [f for f in claim.findings if f.blocks]
    known = {item.id for item in state.items}
    again = tuple(each for each in claim.rejected if each.id in known)
    if claim.verdict in APPROVING and not blocking and not again:
        yield FinalReviewed(number, True, findings=claim.findings)
        yield Moved("REPORT", lane.stage, "the final review approved the whole")
        return
    wanted = [(f.message, (f.file,) if f.file else ()) for f in blocking]
    wanted += [(each.reason or each.id, ()) for each in claim.rejected if each.id not in known]
    if not wanted and not again:
        wanted = [(claim.summary or "the final review rejected the work and gave no reason", ())]
    new = new_subtasks(state, wanted, "F")
    yield FinalReviewed(number, False, again, claim.findings)
    yield ItemsSet((*state.items, *new), "review")
    yield from (ItemChanged(each.id, "in-progress") for each in again)
    scaffold = any(i.kind == "scaffold" and i.id in {each.id for each in again} for i in state.items)
    told = first_few([*(each.id for each in again), *(item.id for item in new)], 5)
    yield Moved("SCAFFOLD" if scaffold else "EXECUTE", lane.stage, f"the final review asks for {told}", rejected=True)


def new_subtasks(state: State, wanted: Iterable[tuple[str, tuple[str, ...]]], letter: str) -> tuple[Item, ...]:
    known = {item.id for item in state.items}
    first = sum(id.startswith(f"{letter}.") for id in known) + 1
    names = (name for name in (f"{letter}.{number}" for number in itertools.count(first)) if name not in known)
    return tuple(
        Item(name, " ".join(text.split()), files=files, acceptance=(" ".join(text.split()),))
        for name, (text, files) in zip(names, wanted, strict=False)
    )


def report(state: State, lane: Lane) -> Step:
    """Deliver the branch; what a person left out is named, and what they opened after the final review is worked on first."""
    if planning.following(state) != "FINAL_REVIEW":
        return record(Moved(planning.following(state), lane.stage, "subtasks are open again"))
    return shipping.ship(state, lane, "; ".join((shipping.gates_told(state, lane), *_account(state))))


def _account(state: State) -> Iterator[str]:
    """How each subtask came to be done, or was left out; only what this task worked on was reviewed."""
    known, doubted = record_of(state).imported, unverified_items(state)
    others = [item.id for item in state.items if item.status == "completed" and item.id not in _worked_here(state)]
    ticked = [id for id in others if id in known.ticked and id not in doubted]
    before = len(others) - len(ticked) - len(doubted)
    done = sum(item.status == "completed" for item in state.items)
    yield f"{plural(done - len(others), 'subtask')} reviewed and accepted"
    if before:
        yield f"{before} {'was' if before == 1 else 'were'} done before"
    if ticked:
        yield f"{len(ticked)} ticked by a person while the measurements held: {first_few(ticked, 8)}"
    if doubted:
        yield f"{len(doubted)} ticked by a person, not verified: {first_few(doubted, 8)}"
    there = {item.id for item in state.items}
    left = (*state.batches.left_out, *(id for id in dict.fromkeys(known.dropped) if id not in there))
    if left:
        yield f"left out by a person: {', '.join(left)}"


def _worked_here(state: State) -> frozenset[str]:
    return frozenset(id for batch in state.batches.accepted for id in batch.items)


def unverified_items(state: State) -> tuple[str, ...]:
    ticks, here = record_of(state).imported.unverified, _worked_here(state)
    done = (item.id for item in state.items if item.status == "completed")
    return tuple(id for id in done if id in ticks and id not in here)


def reopen(state: State, lane: Lane) -> Step:
    """Feedback is new subtasks beside those that are done."""
    new = new_subtasks(state, ((wish, ()) for wish in wishes(state.feedback)), "R")
    return record(
        TaskReopened(state.feedback, tuple(item.id for item in new)),
        ItemsSet((*state.items, *new), "person"),
        Moved("GATHER", lane.stage, "reopened by a person"),
    )
