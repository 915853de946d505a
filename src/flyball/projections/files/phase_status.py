"""The status blocks flyball writes: one after each iteration and one when the task stops, with measured numbers."""

from msgspec.structs import replace

from flyball.core.claims import status_block, status_fields as fields
from flyball.core.loop.progress import StageNumbers
from flyball.core.model.events import Event, Judged, TaskStopped
from flyball.core.model.measurement import Measurement, Scalar
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN
from flyball.core.workflows.registry import workflow_of
from flyball.projections.views.lanes import asking_lane, hold_of, last_judged
from flyball.projections.views.standing import forced_stages
from flyball.projections.views.status import progress_percent

_STOPPED: dict[str, fields.Status] = {
    "done": "COMPLETE",
    "blocked": "BLOCKED",
    "aborted": "BLOCKED",
    "error": "BLOCKED",
}


def phase_status(state: State, event: Event) -> str | None:
    """The block this event adds to `phase-status.log`, if it adds one; `state` is the state after the event."""
    if isinstance(event.fact, Judged):
        return status_block.render(_block_of_iteration(state, state.lanes[event.fact.lane], event.fact))
    if isinstance(event.fact, TaskStopped):
        return status_block.render(_block_of_end(state, event.fact))
    return None


def current_block(state: State) -> str:
    """The block of where the task stands now: as it stopped, as its last iteration was judged, or before the first of its stage."""
    if state.stopped is not None:
        return status_block.render(_block_of_end(state, state.stopped))
    lane = last_judged(state)
    if lane is not None and lane.loop.judged is not None:
        return status_block.render(_block_of_iteration(state, lane, lane.loop.judged))
    return status_block.render(_block_before_iterations(state))


def _block_before_iterations(state: State) -> fields.StatusBlock:
    lane, held = state.main, hold_of(state)
    return replace(
        _common_block(state, lane, lane.stage, lane.loop.iteration + 1),
        status="IN_PROGRESS",
        progress_percent=0,
        dual_gate=fields.DualGate(),
        recommendation=held.reason if held else f"no iteration of {lane.stage} has been judged yet",
        **_work(lane.loop.entry or state.baseline),
    )


def _block_of_iteration(state: State, lane: Lane, fact: Judged) -> fields.StatusBlock:
    measured = lane.loop.last
    stuck = fact.breaker.state == "OPEN" or fact.verdict.health == "BLOCKED"
    blockers = tuple(f"{b.type}: {b.description}" for b in fact.verdict.blockers)
    if fact.breaker.state == "OPEN":
        blockers = (*blockers, fact.breaker.reason)
    return replace(
        _common_block(state, lane, fact.stage, fact.iteration),
        status="BLOCKED" if stuck else "IN_PROGRESS",
        progress_percent=workflow_of(state.task).percent(fact.stage, _numbers(measured, fact)),
        dual_gate=_dual_gate(fact),
        blockers=blockers,
        patterns_applied=fact.patterns_applied if fact.stage == status_block.REFACTOR_PHASE else (),
        recommendation=f"{fact.verdict.recommendation} ({fact.verdict.remedy}): {fact.verdict.evidence}",
        **(_qa(state, lane, fact) if fact.stage == status_block.REVIEW_PHASE else _work(measured)),
    )


def _block_of_end(state: State, fact: TaskStopped) -> fields.StatusBlock:
    done = fact.kind == "done"
    status = _STOPPED.get(fact.kind, "IN_PROGRESS")
    lane = asking_lane(state)
    judged = lane.loop.judged
    percent = workflow_of(state.task).percent(lane.stage, _numbers(lane.loop.last, judged)) if judged else 0
    return replace(
        _common_block(state, lane, lane.stage, max(lane.loop.iteration, 1)),
        status=status,
        progress_percent=100 if done else percent,
        dual_gate=_gate_when_done(state) if done else _dual_gate(judged),
        blockers=(fact.reason,) if status == "BLOCKED" else (),
        exit_signal=done,
        recommendation=fact.reason,
        **_work(lane.loop.last or lane.loop.entry or state.baseline),
    )


def _common_block(state: State, lane: Lane, stage: str, iteration: int) -> fields.StatusBlock:
    window = state.window
    limited = any(hit.until > state.now for hit in state.limits.values())
    return fields.StatusBlock(
        timestamp=state.now.isoformat(),
        phase=stage,
        iteration=iteration,
        circuit_breaker=fields.CircuitBreaker(lane.loop.breaker.state, lane.loop.breaker.no_progress),
        rate_limit=fields.RateLimit(
            fields.Calls(window.calls if window else 0, state.task.settings.limits.calls_per_hour),
            "DETECTED" if limited else "OK",
        ),
        extra=_extra(state, lane),
    )


def _extra(state: State, lane: Lane) -> tuple[fields.FieldEntry, ...]:
    """What the format has no field for: the subtask, where the block is of one, and how far the whole task is."""
    overall = fields.FieldEntry("OVERALL_PROGRESS_PERCENT", str(progress_percent(state)))
    return (overall,) if lane.name == MAIN else (fields.FieldEntry("SUBTASK", lane.name), overall)


def _dual_gate(fact: Judged | None) -> fields.DualGate:
    if fact is None:
        return fields.DualGate()
    detail = "; ".join(fact.gate_1.missing[:3]) or fact.gate_1.condition
    return fields.DualGate(fact.gate_1.held, detail, fact.gate_2, fact.can_exit)


def _gate_when_done(state: State) -> fields.DualGate:
    forced = ", ".join(forced_stages(state))
    detail = "every stage passed its gate, and the agent said that it was done"
    if forced:
        detail = f"skipped by a person, not verified: {forced}"
    return fields.DualGate(gate_1=not forced, gate_1_detail=detail, gate_2=True, can_exit=True)


def _work(measured: Measurement | None) -> dict[str, object]:
    if measured is None:
        return {"tests": fields.Tests(), "files": fields.FilesSection()}
    counts, files = measured.counts, measured.files
    failing = max(0, counts.total - counts.passing - counts.skipped)
    return {
        "tests": fields.Tests(counts.passing + failing + counts.skipped, counts.passing, failing, counts.skipped),
        "files": fields.FilesSection(files.created, files.modified, files.deleted),
    }


def _qa(state: State, lane: Lane, fact: Judged) -> dict[str, object]:
    measured = lane.loop.last
    checks = measured.checks if measured else ()
    by_status = {status: sum(c.status == status for c in checks) for status in ("pass", "fail", "n/a")}
    metrics = fields.QaMetrics(
        checks_total=len(checks),
        checks_passing=by_status["pass"],
        checks_failing=by_status["fail"],
        blocking_issues=_whole(fact.gate_1.values.get("blocking_issues")),
        warning_issues=sum(c.status == "fail" and not c.blocking for c in checks),
    )
    extra = _extra(state, lane)
    if by_status["n/a"]:
        extra = (fields.FieldEntry("QA_METRICS", body=(f"CHECKS_UNVERIFIED: {by_status['n/a']}",)), *extra)
    return {
        "qa_metrics": metrics,
        "memory_context": _memory(lane, measured),
        "verdict": str(fact.gate_1.values.get("verdict") or "NONE"),
        "attempt": lane.rejections + (not fact.rejected),
        "extra": extra,
    }


def _memory(lane: Lane, measured: Measurement | None) -> fields.MemoryContext:
    """How often the repository's memory was asked, and what of it stood in the review's prompt."""
    given = lane.recalled.learnings if lane.recalled is not None else ()
    return fields.MemoryContext(
        queries_executed=lane.recalls,
        historical_bugs_found=sum(each.kind == "anti-pattern" for each in given),
        patterns_identified=sum(each.kind == "decision" for each in given),
        adrs_found=measured.files.decision_records if measured else 0,
        file_histories=sum(bool(each.files) for each in given),
    )


def _numbers(measured: Measurement | None, fact: Judged) -> StageNumbers:
    values = fact.gate_1.values
    counts = measured.counts if measured else None
    return StageNumbers(
        criteria=_whole(values.get("criteria_count")),
        criteria_covered=_whole(values.get("criteria_covered")),
        tests_total=counts.total - counts.known_failing - counts.skipped if counts else 0,
        tests_passing=counts.passing if counts else 0,
        green_runs=measured.green_runs if measured else 0,
        iteration=fact.iteration,
        documents=measured.files.documents if measured else 0,
        checks_total=sum(c.status != "n/a" for c in measured.checks) if measured else 0,
        checks_passing=_whole(values.get("checks_passing")),
        approved=values.get("verdict") == "APPROVE",
    )


def _whole(value: Scalar) -> int:
    return value if isinstance(value, int) else 0
