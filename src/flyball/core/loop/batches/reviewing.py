"""One reviewer of the task's own lane: what it says of each subtask, and what is done about one that says nothing."""

from __future__ import annotations

from flyball.core.claims.claims import Claim
from flyball.core.claims.findings import BLOCKING, Finding
from flyball.core.claims.values import Rejection
from flyball.core.loop import panel, questions
from flyball.core.loop.batches import choosing
from flyball.core.loop.step import Step, record
from flyball.core.loop.undeclared import is_declared
from flyball.core.loop.workflow import Brief
from flyball.core.model.batch_events import BatchReviewed, ReviewUnread
from flyball.core.model.batches import Batch
from flyball.core.model.effects import Question, RunAgent
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import plural

UNREAD = 3


def review_by(
    state: State, lane: Lane, brief: Brief, role: str, *, commit: str, purpose: str
) -> Step | tuple[RunAgent, Claim]:
    """The turn of a reviewer on a disposable copy of `commit` and what it says, or what comes before that.

    Silence is no approval and no reason to send work back: the review is made again, and at last a person is asked.
    """
    if state.batches.unread >= UNREAD:
        text = f"{lane.stage}: the {role} was asked {plural(state.batches.unread, 'time')} and gave no verdict."
        return questions.put(state, lane, Question("no-verdict", text, questions.FOUR_CHOICES))
    answers = panel.convene(state, lane, brief, (role,), commit=commit, purpose=purpose)
    if isinstance(answers, Step):
        return answers
    effect, turn = answers[role]
    claim = turn.claim
    if claim.verdict or claim.approved or claim.rejected or claim.findings:
        return effect, claim
    return record(ReviewUnread(effect.turn, role))


def weigh(state: State, batch: Batch, number: int, claim: Claim) -> BatchReviewed:
    """A reviewer's word on each subtask. What it names counts; a verdict alone is on all; a blocking finding is on whose file it is."""
    reviewed = [each.item for each in batch.taken]
    why = {each.id: each.reason or claim.summary or "the review rejected it" for each in claim.rejected}
    for finding in (f for f in claim.findings if f.severity in BLOCKING):
        for item in _subtasks_of(state, reviewed, finding, set(why)):
            why[item] = f"{why[item]}; {finding.message}" if item in why else finding.message
    for item in _rejected_by_verdict(reviewed, claim, set(why)):
        why.setdefault(item, claim.summary or "the review did not approve it")
    done = [item.id for item in state.items if item.status == "completed"]
    return BatchReviewed(
        number,
        tuple(item for item in reviewed if item not in why),
        tuple(Rejection(item, why[item]) for item in reviewed if item in why),
        claim.findings,
        tuple(Rejection(item, why[item]) for item in done if item in why),
    )


def _rejected_by_verdict(reviewed: list[str], claim: Claim, named: set[str]) -> list[str]:
    """What a verdict turns down without naming it: all but the approved; a list of approvals without a verdict means the rest is not."""
    silent = [item for item in reviewed if item not in claim.approved]
    if claim.verdict == "fail" and not named:
        return silent or reviewed
    return silent if not claim.verdict and claim.approved else []


def _subtasks_of(state: State, reviewed: list[str], finding: Finding, rejected: set[str]) -> list[str]:
    """The subtasks a blocking finding is on: those whose files it names, else those that are rejected anyway, else all."""
    files = {item: choosing.find(state.items, item).files for item in reviewed}
    owners = [item for item in reviewed if finding.file and is_declared(finding.file, files[item])]
    return owners or [item for item in rejected if item] or reviewed
