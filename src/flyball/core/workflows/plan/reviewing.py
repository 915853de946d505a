"""One reviewer of the task's own lane, and what is done about one that says nothing."""

from __future__ import annotations

from flyball.core.claims.claims import Claim
from flyball.core.loop import panel, questions
from flyball.core.loop.step import Step, record
from flyball.core.model.effects import Question, RunAgent
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan.facts import ReviewUnread
from flyball.core.workflows.plan.prompts import brief
from flyball.core.workflows.plan.record import record_of

UNREAD = 3


def review_by(state: State, lane: Lane, role: str, *, commit: str, purpose: str) -> Step | tuple[RunAgent, Claim]:
    """The turn of a reviewer on a disposable copy of `commit` and what it says, or what comes before that.

    Silence is no approval and no reason to send work back: the review is made again, and at last a person is asked.
    """
    if record_of(state).unread >= UNREAD:
        return questions.put(state, lane, _silent(state, lane, role))
    answers = panel.convene(state, lane, brief, (role,), commit=commit, purpose=purpose)
    if isinstance(answers, Step):
        return answers
    effect, turn = answers[role]
    claim = turn.claim
    if claim.verdict or claim.approved or claim.rejected or claim.findings:
        return effect, claim
    return record(ReviewUnread(effect.turn, role))


def _silent(state: State, lane: Lane, role: str) -> Question:
    told = plural(record_of(state).unread, "time")
    text = f"{lane.stage}: the {role} was asked {told} and gave no verdict."
    return Question("no-verdict", text, questions.FOUR_CHOICES)
