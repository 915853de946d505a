"""One reviewer of the task's own lane: what it says of each subtask, and what is done about one that says nothing."""

from __future__ import annotations

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, Rejection
from flyball.core.loop import panel, questions
from flyball.core.loop.batches import choosing
from flyball.core.loop.gates import APPROVING
from flyball.core.loop.step import ComesFirst, first, record
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
) -> tuple[RunAgent, Claim]:
    """The turn of a reviewer on a disposable copy of `commit` and what it says, or what comes before that.

    Silence is no approval and no reason to send work back: the review is made again, and at last a person is asked.
    """
    if state.batches.unread >= UNREAD:
        text = f"{lane.stage}: the {role} was asked {plural(state.batches.unread, 'time')} and gave no verdict."
        first(questions.put(state, lane, Question("no-verdict", text, questions.FOUR_CHOICES)))
    answers = panel.convene(state, lane, brief, (role,), commit=commit, purpose=purpose)
    effect, turn = answers[role]
    claim = turn.claim
    if claim.verdict or claim.approved or claim.rejected or claim.findings:
        return effect, claim
    raise ComesFirst(record(ReviewUnread(effect.turn, role)))


def judge_batch(state: State, batch: Batch, number: int, role: str, claim: Claim) -> BatchReviewed:
    """What the review says of each subtask. An answer that leaves one open is asked about once; after that the whole batch goes back."""
    reviewed = [each.item for each in batch.taken]
    done = [item.id for item in state.items if item.status == "completed"]
    why = {each.id: each.reason or claim.summary or "the review rejected it" for each in claim.rejected}
    if claim.verdict == "fail" and len(reviewed) == 1:
        why.setdefault(reviewed[0], claim.summary or "the review rejected it")
    unclear: list[str] = []
    for finding in (f for f in claim.findings if f.blocks):
        owners = _subtasks_of(state, reviewed, finding, set(why))
        unclear += [] if owners else [f"the finding '{finding.message}' names no subtask and no file of one"]
        for item in owners:
            why[item] = f"{why[item]}; {finding.message}" if item in why else finding.message
    unclear += [f"'{id_}' is the id of no subtask" for id_ in why if id_ not in {*reviewed, *done}]
    if claim.verdict == "fail" and not why:
        unclear.append("the verdict is fail, and no subtask is rejected")
    elif claim.verdict not in APPROVING or claim.approved:
        unnamed = [item for item in reviewed if item not in why and item not in claim.approved]
        unclear += [f"{item} is neither approved nor rejected" for item in unnamed]
    if unclear and not state.batches.unread:
        raise ComesFirst(record(ReviewUnread(number, role, "; ".join(unclear))))
    rejected = {item: why.get(item) or unclear[0] for item in ((*reviewed, *why) if unclear else why)}
    return BatchReviewed(
        number,
        tuple(item for item in reviewed if item not in rejected),
        tuple(Rejection(item, rejected[item]) for item in reviewed if item in rejected),
        claim.findings,
        tuple(Rejection(item, rejected[item]) for item in done if item in rejected),
    )


def _subtasks_of(state: State, reviewed: list[str], finding: Finding, rejected: set[str]) -> list[str]:
    """The subtasks a blocking finding is on: those whose files it names, else those that are rejected anyway, else the only one."""
    files = {item: choosing.find(state.items, item).files for item in reviewed}
    owners = [item for item in reviewed if finding.file and is_declared(finding.file, files[item])]
    return owners or [item for item in reviewed if item in rejected] or (reviewed if len(reviewed) == 1 else [])
