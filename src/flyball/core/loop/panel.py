"""A panel: reviewers look at one tree, each on a disposable copy of its own, and are weighed together.

    convene   one turn for each seat, as many side by side as the task allows
    count     a turn that crashed, was limited or interrupted is set aside and made again, and so once is a report that rests on void findings
    answers   once every seat has one that counts, the workflow weighs them

QA is a panel of one, a backlog's validators of four.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flyball.core.claims import looks
from flyball.core.claims.values import Claim
from flyball.core.loop import kernel, questions, reviewing
from flyball.core.loop.step import NOTHING, ComesFirst, Step, first, record
from flyball.core.loop.workflow import Brief
from flyball.core.model.batch_events import SeatAnswered
from flyball.core.model.effects import CountDay, Recall, RunAgent
from flyball.core.model.events import Fact, TurnSetAside
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, Panel, State
from flyball.core.model.task import MAIN
from flyball.core.text.scrubbing import clean

DETAIL_SHOWN = 600
Answers = Mapping[str, tuple[RunAgent, TurnEnded]]
Read = Callable[[RunAgent, TurnEnded], tuple[Fact, ...]]


def convene(
    state: State,
    lane: Lane,
    brief: Brief,
    seats: Sequence[str],
    *,
    commit: str = "",
    purpose: str = "",
    read: Read = lambda _effect, _turn: (),
) -> Answers:
    """What the seats answered on `commit` (the lane's head, where none is named), or what comes before that.

    `read` says which facts the workflow makes of an answer as it comes.
    """
    panel = lane.panel or Panel()
    for key, effect in panel.turns.items():
        if key in panel.ended:
            turn = kernel.turn_that_counts(state, lane, effect, panel.ended[key])
            turn = reviewing.number_findings(lane, effect, turn)
            if purpose != "consent":
                first(_ask_again(state, lane, panel, effect, turn.claim))
            first(record(SeatAnswered(effect.turn, effect.role, lane=lane.name), *read(effect, turn)))
    taken = {*panel.answers, *(effect.role for effect in panel.turns.values())}
    missing = [seat for seat in seats if seat not in taken]
    room = (state.task.settings.parallel or len(seats)) - len(panel.turns)
    if missing and room > 0:
        copy = missing[0] if lane.name == MAIN else f"{lane.name}-{missing[0]}"
        wanted = kernel.spawn(state, lane, brief, role=missing[0], purpose=purpose, copy=copy, commit=commit)
        if any(isinstance(effect, RunAgent | Recall | CountDay) for effect in wanted.effects):
            raise ComesFirst(wanted)
        # A guard holds: those that may run do, and it is asked again when they have ended.
        raise ComesFirst(NOTHING if panel.turns else wanted)
    if panel.turns or missing:
        raise ComesFirst(NOTHING)
    return {seat: panel.answers[seat] for seat in seats}


def _ask_again(state: State, lane: Lane, panel: Panel, effect: RunAgent, claim: Claim) -> Step | None:
    """What is done about a report that rests on findings of which none counts: it neither rejects nor approves the work.

    The reviewer is told which those are and asked once more. Where it rejects the work for such reasons again, a person is asked.
    """
    if effect.role not in panel.void and looks.rests_on_void(claim):
        detail = "; ".join(f"{each.message} ({each.aside})" for each in claim.findings if each.aside)
        return record(TurnSetAside(effect.turn, "void", clean(detail, DETAIL_SHOWN), lane=lane.name))
    return questions.put(state, lane, questions.void_review(lane, effect.role, claim)) if looks.is_void(claim) else None
