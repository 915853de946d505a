"""The health of the work as a whole, batch by batch, and the remedy; before anything of the batch is on the branch.

STALLED tries each remedy once with the subtasks that failed; REGRESSING drops the batch; FLIP-FLOPPING undoes two. When none is left, a
person is asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from flyball.core.advice.batch import BatchResult, Failure, Review, of_batch
from flyball.core.health.monitor import change_remedy, follow
from flyball.core.health.verdict import Health, Remedy, Verdict, next_rung
from flyball.core.loop import questions
from flyball.core.loop.batches.choosing import open_subtasks, subtask_lanes
from flyball.core.loop.batches.lanes import REPLAN
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.ladder import possible_rungs
from flyball.core.loop.step import Step, record
from flyball.core.model.batches import Batch
from flyball.core.model.effects import Question
from flyball.core.model.events import Judged, Moved
from flyball.core.model.measurement import GateVerdict
from flyball.core.model.state import Lane, State

ROLLBACK_TWO = "rollback-two"


def monitor(rules: BatchRules, state: State, lane: Lane) -> Step:
    """Judge the batch once; go on, or ask where no remedy is left."""
    batch, judged = state.batches.current, lane.loop.judged
    assert batch is not None
    if judged is None:
        return record(judge(rules, state, lane, batch))
    if state.batches.spent and not _may_park(state, batch, judged):
        return questions.put(state, lane, _spent_question(state, judged))
    return record(Moved(rules.settling, lane.stage, f"{judged.verdict.health}: {judged.verdict.evidence}"))


def _may_park(state: State, batch: Batch, judged: Judged) -> bool:
    """Whether what is stalled can wait for a person while something else is ready."""
    stalled = {*judged.observation.batch, *state.batches.parked}
    waiting = stalled - {each.item for each in batch.taken}
    others = (item for item in open_subtasks(state) if item.id not in stalled)
    return judged.verdict.health is Health.STALLED and any(waiting.isdisjoint(item.depends_on) for item in others)


def result_of(state: State, batch: Batch) -> BatchResult:
    """The batch as the monitor reads it: only what the review approved and the gates held has passed."""
    passed = tuple(each.item for each in batch.taken)
    failed = {item: "\n".join(back.reasons) for item, back in batch.returning.items()}
    failed |= {item: gone.detail for item, gone in state.batches.failures.items()}
    attempted = tuple(dict.fromkeys((*batch.attempted, *failed)))
    rejected = tuple(item for item in attempted if item not in passed)
    return BatchResult(
        batch=attempted,
        review=Review("CHANGES REQUESTED" if rejected else "APPROVED", passed, rejected),
        passed=passed,
        failed=tuple(Failure(item, text) for item, text in failed.items()),
        restored=state.batches.restored,
    )


def judge(rules: BatchRules, state: State, lane: Lane, batch: Batch) -> Judged:
    result = result_of(state, batch)
    seen = of_batch(result, state.batches.history.iterations + 1)
    missing = tuple(f"{each.id}: {each.error}" for each in result.failed)
    held = not missing
    seen = replace(seen, gate_held=held)
    _, verdict = follow(state.batches.history, seen, state.task.settings.monitor)
    verdict, rung = choose_remedy(rules, state, result, verdict)
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
        rung=rung,
        lesson=(verdict.evidence,) if rung else (),
        findings=batch.reviewed.findings if batch.reviewed else (),
        batch=True,
    )


def choose_remedy(rules: BatchRules, state: State, result: BatchResult, verdict: Verdict) -> tuple[Verdict, str]:
    """What is tried next; the verdict says STOP where nothing is left."""
    spent = [gone.detail for gone in state.batches.failures.values() if gone.spent]
    if spent and rules.replans(state):
        remedy = Remedy.ASK if verdict.health is Health.BLOCKED else Remedy.FRESH_CONTEXT
        told = spent[0].partition("\n")[0]
        return change_remedy(verdict, remedy, f"every remedy inside the lane was tried: {told}"), REPLAN
    if verdict.remedy in {Remedy.CONTINUE, Remedy.STOP, Remedy.ASK}:
        return verdict, ""
    rung = next_rung(verdict.health, _used_rungs(state, result), _possible_rungs(rules, state))
    return (verdict, rung.name) if rung else (change_remedy(verdict, Remedy.STOP, "every remedy was tried"), "")


def _used_rungs(state: State, result: BatchResult) -> tuple[str, ...]:
    """What was tried with any of the subtasks that failed, and the rollbacks since a batch was last accepted."""
    rework = state.batches.rework
    tried = {rung for each in result.failed if each.id in rework for rung in rework[each.id].rungs}
    return (*tried, *state.batches.recoveries)


def _possible_rungs(rules: BatchRules, state: State) -> frozenset[str]:
    roles = {"default", *(rules.stage_of(state, lane).role for lane in subtask_lanes(state))}
    possible = frozenset().union(*(possible_rungs(state, role) for role in roles))
    return possible | {REPLAN} if rules.replans(state) else possible


def _spent_question(state: State, judged: Judged) -> Question:
    """What a person is asked when no remedy is left, with the whole story."""
    text = f"The plan does not move: {judged.verdict.health}: {judged.verdict.evidence}"
    story = [*judged.gate_1.missing, *_rework_lines(state)]
    story += [f"tried with the whole batch: {rung}" for rung in state.batches.recoveries]
    if judged.verdict.health is Health.FLIP_FLOPPING:
        # Where to see the changes that undo each other: the last trees of the subtasks that reversed.
        own = (c for c in state.checkpoints if c.lane in judged.observation.batch and c.label.startswith("turn-"))
        turns = [c.label.removeprefix("turn-") for c in own][-2:]
        story += [f"compare the changes: flyball diff {state.task.id} --turn {turn}" for turn in turns]
    return Question("batches-stalled", text, questions.FOUR_CHOICES, detail="\n".join(story))


def _rework_lines(state: State) -> Iterator[str]:
    for item, work in state.batches.rework.items():
        tried = f"; tried: {', '.join(work.rungs)}" if work.rungs else ""
        yield f"{item} was sent back ({work.why}): {'; '.join(work.reasons)}{tried}"


def parked_question(state: State) -> Question:
    """What a person is asked when only subtasks are left for which every remedy was tried."""
    text = f"Every remedy was tried with {', '.join(state.batches.parked)}, and nothing else is ready: STALLED"
    return Question("subtasks-parked", text, questions.FOUR_CHOICES, detail="\n".join(_rework_lines(state)))
