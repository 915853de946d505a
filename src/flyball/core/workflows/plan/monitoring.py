"""MONITOR: the health of the plan as a whole, batch by batch, before anything of the batch is on the branch."""

from __future__ import annotations

from flyball.core.advice.batch import BatchResult, Failure, Review, of_batch
from flyball.core.health.monitor import Cure, follow
from flyball.core.loop import questions
from flyball.core.loop.step import Step, record
from flyball.core.model.effects import Question
from flyball.core.model.events import GateVerdict, Judged, Moved
from flyball.core.model.state import Lane, State
from flyball.core.workflows.plan.record import Batch, PlanRecord, record_of


def monitor(state: State, lane: Lane) -> Step:
    """Judge the batch once; go on, or ask where no remedy is left."""
    known = record_of(state)
    assert known.batch is not None
    judged = lane.loop.judged
    if judged is None:
        return record(judge(state, lane, known.batch))
    if judged.verdict.cure in {Cure.STOP, Cure.ASK} and not lane.loop.reset:
        return questions.put(state, lane, _spent(state, judged))
    return record(Moved("CHECKPOINT", lane.stage, judged.verdict.evidence))


def result_of(known: PlanRecord, batch: Batch) -> BatchResult:
    """The batch as the monitor reads it: only what the review approved and the gates held has passed."""
    passed = tuple(each.item for each in batch.taken)
    failed = {item: "\n".join(reasons) for item, (_, reasons, _) in batch.returned.items()} | known.failures
    attempted = tuple(dict.fromkeys((*batch.attempted, *known.failures)))
    rejected = tuple(item for item in attempted if item not in passed)
    return BatchResult(
        batch=attempted,
        review=Review("CHANGES REQUESTED" if rejected else "APPROVED", passed, rejected),
        passed=passed,
        failed=tuple(Failure(item, text) for item, text in failed.items()),
    )


def judge(state: State, lane: Lane, batch: Batch) -> Judged:
    """The verdict on a batch."""
    known = record_of(state)
    result = result_of(known, batch)
    seen = of_batch(result, known.batches.iterations + 1)
    _, verdict = follow(known.batches, seen, state.task.settings.monitor)
    missing = tuple(f"{each.id}: {each.error}" for each in result.failed)
    held = not missing
    return Judged(
        stage=lane.stage,
        iteration=lane.loop.iteration + 1,
        turn=batch.reviewed.turn if batch.reviewed else 0,
        gate_1=GateVerdict(
            held,
            "the gates hold on the integrated tree and the review approves every subtask",
            missing,
            {"subtasks": len(result.batch), "subtasks_accepted": len(result.passed)},
        ),
        gate_2=held,
        observation=seen,
        verdict=verdict,
        breaker=lane.loop.breaker,
        progress=bool(result.passed),
        can_exit=held,
        score=float(len(result.passed)),
        rejected=not held,
        findings=batch.reviewed.findings if batch.reviewed else (),
        batch=True,
    )


def _spent(state: State, judged: Judged) -> Question:
    """What a person is asked when no remedy is left, with the whole story."""
    text = f"The plan does not move: {judged.verdict.evidence}"
    story = [f"{item}: {'; '.join(work.reasons)}" for item, work in record_of(state).rework.items()]
    return Question("plan-stalled", text, questions.FOUR_CHOICES, detail="\n".join((*judged.gate_1.missing, *story)))
