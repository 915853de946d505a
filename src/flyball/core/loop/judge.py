"""EVALUATE: the verdict on a turn that was measured. Each policy runs once, here, in this order; its verdict is a fact.

    gates      the stage weighs what was measured (`gates`); the agent's signal is the second gate. Neither is enough alone: an agent
               says that it is done when it is not, and a tree is green before the work is finished
    health     the monitor compares the iteration with those before it (`core/health/monitor.py`)
    breaker    counts turns without progress and with the same error (`core/health/breaker.py`); health looks at its counts, too
    remedy     what is tried about bad health (`ladder`); where nothing is left, the breaker opens

What the agent reported is compared with what was measured, its questions are taken on, and what the turn teaches is recorded.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.claims.values import Claim, Metric
from flyball.core.failures.signature import Signature, signature
from flyball.core.health import breaker as breakers
from flyball.core.health.monitor import assess, change_remedy
from flyball.core.health.observation import Observation, observe
from flyball.core.health.table import HealthCase, Own
from flyball.core.health.verdict import Blocker, Remedy, Verdict
from flyball.core.loop.failures import with_work_failing
from flyball.core.loop.gates import Weigh, Weighed
from flyball.core.loop.ladder import NONE_NEEDED, Recovery, are_rungs_used, recover
from flyball.core.memory.recording import anti_pattern, decisions, revisions
from flyball.core.model.effects import Option, Question, RunAgent
from flyball.core.model.events import Fact, Judged, LearningSource
from flyball.core.model.measurement import Measurement
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.text.documents import is_document

COVERAGE_TOLERANCE = 1.0
"""Percentage points by which a reported coverage may be off."""
_NOTES = (".txt", ".log")
PATTERNS_SHOWN = 20
PATTERN_SHOWN = 120
PROBLEMS_SHOWN = 6
PROBLEM_SHOWN = 300
"""So many problems of a report, and so many characters of each, are told to the next turn."""


def judge(
    state: State,
    lane: Lane,
    weigh: Weigh,
    effect: RunAgent,
    turn: TurnEnded,
    measured: Measurement,
    *,
    strikes: breakers.Strikes | None = None,
) -> Judged:
    claim = turn.claim
    weighed = weigh(state, lane, measured, claim)
    held = weighed.gate.held
    signal = claim.exit_signal and turn.kind == "ok"
    failure = _failure(measured, weighed)
    seen = _observation(lane, turn, measured, weighed, failure)
    thresholds, history = state.task.settings.monitor, observe(lane.loop.history, seen)
    strikes = state.task.settings.breaker.strikes(lane.stage, strikes)
    no_strike = held or HealthCase(history, seen, thresholds).is_in_progress
    error = failure.fine if failure and not no_strike else ""
    struck = breakers.after(lane.loop.breaker, strikes, progress=weighed.progress, gate_held=no_strike, error=error)
    # What a review rejects goes back to a stage that begins anew: there is nothing to remedy in this one.
    own = None if weighed.rejected else Own(struck, strikes, are_rungs_used(state, lane, effect.role))
    verdict = assess(history, seen, thresholds, own)
    best = not measured.caught and _is_best(state, lane, weigh, weighed, seen)
    recovery = NONE_NEEDED
    if not weighed.rejected:
        repeats = assess(history, seen, thresholds).remedy is not Remedy.CONTINUE
        stay = best or weighed.progress or not repeats
        recovery = recover(state, lane, effect.role, verdict, measured, stay=stay)
    if recovery.spent and verdict.remedy not in {Remedy.STOP, Remedy.ASK}:
        verdict = change_remedy(verdict, Remedy.STOP, "")
    return Judged(
        stage=lane.stage,
        iteration=lane.loop.iteration + 1,
        turn=effect.turn,
        gate_1=weighed.gate,
        gate_2=signal,
        observation=seen,
        verdict=verdict,
        breaker=breakers.CLOSED if weighed.rejected else _breaker_after(struck, recovery, verdict),
        progress=weighed.progress,
        can_exit=held and signal,
        false_claim=signal and not held and not weighed.unverified,
        unsignalled=0 if not held or signal or _is_at_work(seen) else lane.loop.unsignalled + 1,
        score=weighed.score,
        best=best,
        rejected=weighed.rejected,
        rung=recovery.rung,
        restore_to=recovery.restore_to,
        fresh_context=bool(recovery.rung) or turn.kind == "context_full",
        lesson=_lesson(lane, turn, weighed, verdict, failure) if recovery.rung else (),
        findings=tuple(
            found if found.id else replace(found, id=f"F{effect.turn}-{found.check or place}")
            for place, found in enumerate(weighed.findings, 1)
        ),
        disagreements=(
            *_disagreements(claim, weighed, measured),
            *_not_shown(claim, measured, "failing", "which fails"),
        ),
        unconfirmed=_not_shown(claim, measured, "", "which is not there"),
        left=claim.left[:PROBLEMS_SHOWN],
        patterns_applied=_patterns_applied(claim),
        report_problems=tuple(problem[:PROBLEM_SHOWN] for problem in claim.problems[:PROBLEMS_SHOWN]),
        questions=() if held and signal else _questions(effect, turn),
        consent_wanted=_consent_wanted(lane, claim, measured),
        lane=lane.name,
    )


def _failure(measured: Measurement, weighed: Weighed) -> Signature | None:
    """What went wrong, comparable between runs: what the failing gates say or, where none fails, what the stage misses."""
    if weighed.gate.held:
        return None
    if measured.signature is not None and (weighed.failing or weighed.by_output or measured.broken):
        return measured.signature
    return signature("\n".join(weighed.gate.missing))


def _observation(
    lane: Lane, turn: TurnEnded, measured: Measurement, weighed: Weighed, failure: Signature | None
) -> Observation:
    held = weighed.gate.held
    batch = lane.item or lane.stage
    unchanged = lane.tree == lane.tree_before or (
        lane.loop.last is not None and not lane.loop.restored and measured.tree == lane.loop.last.tree
    )
    return Observation(
        iteration=lane.loop.iteration + 1,
        context=lane.context,
        batch=(batch,),
        passed=(batch,) if held and not turn.claim.in_progress else (),
        failed={batch: failure} if failure else {},
        blocked=() if held and turn.claim.exit_signal else _blockers(lane, turn.claim, measured),
        tree=measured.tree,
        edit=None if unchanged else f"{lane.tree_before}..{lane.tree}",
        changed_files=() if unchanged else None,
        failing=weighed.failing,
        pass_rate=weighed.rate,
        passing=measured.counts.passing if measured.counts.total and _has_relevant_change(lane, measured) else None,
        coarse=failure.coarse if failure else None,
        fine=failure.fine if failure else None,
        summary=failure.summary if failure else "",
        gate_held=held,
        gate_broken=measured.broken or None,
        restored=lane.loop.restored,
        tricked=bool(measured.caught),
        in_progress=turn.claim.in_progress,
        silent=turn.claim.source == "none",
        uncounted=weighed.uncounted,
        tokens=turn.usage.tokens,
        usd=turn.usage.usd or 0.0,
    )


def _has_relevant_change(lane: Lane, measured: Measurement) -> bool:
    """Whether the stage has changed a file that was as the stage found it, other than notes and documents."""
    before = lane.loop.entry.changed if lane.loop.entry is not None else ()
    changed = (path for path in measured.changed if path not in before and not path.startswith(f"{LOOP}/"))
    return any(not is_document(path) and not path.endswith(_NOTES) for path in changed)


def _is_at_work(seen: Observation) -> bool:
    """Whether a turn that changed its tree says that the work is not finished: that is an answer, and no silence (C40)."""
    return seen.in_progress and seen.changed_files is None


def _blockers(lane: Lane, claim: Claim, measured: Measurement) -> tuple[Blocker, ...]:
    refused = [trick for trick in measured.caught if trick.path in lane.refused]
    repeats = lane.loop.last is not None and lane.loop.last.failing == measured.failing and not claim.in_progress
    if repeats and refused == [*measured.caught] and {c.path for c in claim.protected_changes} & set(lane.refused):
        # Openly asked for once more, and nothing else is left to do: only a person can go on.
        return tuple(Blocker(lane.stage, "external", f"{trick.path}: {trick.detail}") for trick in refused)
    if claim.status != "blocked":
        return ()
    named = tuple(Blocker(lane.stage, b.type, b.description) for b in claim.blockers)
    return named or (Blocker(lane.stage, "external", claim.summary or "the agent says it is blocked"),)


def _breaker_after(breaker: breakers.Breaker, recovery: Recovery, verdict: Verdict) -> breakers.Breaker:
    """A rung begins with a closed breaker; where no rung is left it opens, and holds the lane before the next turn."""
    if recovery.rung:
        return breakers.CLOSED
    return replace(breaker, state="OPEN", reason=verdict.evidence) if recovery.spent else breaker


def _is_best(state: State, lane: Lane, weigh: Weigh, weighed: Weighed, seen: Observation) -> bool:
    """Whether no tree of this stage is as good, the one it began with included; without counts, or while the agent is at work, the latest is the best (C15)."""
    best = lane.loop.best_score
    if best is None and lane.loop.entry is not None:
        best = weigh(state, lane, with_work_failing(state, lane, lane.loop.entry), Claim()).score
    return best is None or weighed.score > best or ((weighed.uncounted or _is_at_work(seen)) and weighed.score == best)


def _lesson(
    lane: Lane, turn: TurnEnded, weighed: Weighed, verdict: Verdict, failure: Signature | None
) -> tuple[str, ...]:
    """Three lines for the next context: what was tried, what failed, what to do otherwise."""
    first_line = next((line.strip() for line in turn.final_message.splitlines() if line.strip()), "")
    tried = turn.claim.summary or first_line or "an approach that left no summary"
    failed = weighed.gate.missing[0] if weighed.gate.missing else (failure.summary if failure else verdict.evidence)
    return (
        f"Tried in {lane.stage}, iteration {lane.loop.iteration + 1}: {tried[:300].rstrip('.')}.",
        f"It failed: {failed[:300].rstrip('.')}.",
        f"Why it was ended: {verdict.evidence[:300]}. Take another approach.",
    )


def _disagreements(claim: Claim, weighed: Weighed, measured: Measurement) -> tuple[str, ...]:
    """Numbers the agent reported that are not what was measured."""
    values = weighed.gate.values
    shares = _coverage(measured)
    return tuple(
        f"{key}: reported {said}, measured {shares.get(key, values.get(key))}"
        for key, said in sorted(claim.metrics.items())
        if (key in values and said != values[key]) or (key in shares and _differs(said, shares[key]))
    )


def _not_shown(claim: Claim, measured: Measurement, found: str, why: str) -> tuple[str, ...]:
    """The criteria whose test or line was looked up, with that result; a claim that was not looked up is none of them."""
    named = (each for each in claim.criteria if measured.shown.get(each.shown_by) == found)
    return tuple(f"{each.id}: shown by {each.shown_by[:PROBLEM_SHOWN]}, {why}" for each in named)[:PROBLEMS_SHOWN]


def _coverage(measured: Measurement) -> dict[str, float]:
    """The percentages of coverage that were measured, by the names agents report them under."""
    if measured.coverage is None:
        return {}
    whole, changed = measured.coverage.percent, measured.coverage.changed_percent
    named = {"coverage": whole, "line_coverage": whole, "changed_coverage": changed}
    return {key: share for key, share in named.items() if share is not None}


def _differs(said: Metric, share: float) -> bool:
    """Whether a reported percentage is another one; runners round in different ways."""
    try:
        told = float(str(said).strip().removesuffix("%"))
    except ValueError:
        return True
    return not abs(told - share) < COVERAGE_TOLERANCE


def _patterns_applied(claim: Claim) -> tuple[str, ...]:
    """The refactorings the agent says it applied; nothing can measure them."""
    said = claim.metrics.get("patterns_applied")
    names = said.split(",") if isinstance(said, str) else ()
    return tuple(name.strip()[:PATTERN_SHOWN] for name in names if name.strip())[:PATTERNS_SHOWN]


def _questions(effect: RunAgent, turn: TurnEnded) -> tuple[Question, ...]:
    return tuple(
        Question(f"agent-{effect.turn}-{n}", q.text, tuple(Option(o, "") for o in q.options), default=q.default or None)
        for n, q in enumerate(turn.claim.questions, 1)
    )


def _consent_wanted(lane: Lane, claim: Claim, measured: Measurement) -> tuple[str, ...]:
    """What was neither refused nor allowed yet; what was allowed and has changed since is asked for anew."""
    changed = {t.path for t in measured.tricks}
    settled = {*lane.refused, *(path for path in lane.consented if path not in changed)}
    return tuple(dict.fromkeys(f"{c.path}: {c.reason}" for c in claim.protected_changes if c.path not in settled))


def learnings(
    state: State, lane: Lane, effect: RunAgent, turn: TurnEnded, judged: Judged, measured: Measurement
) -> tuple[Fact, ...]:
    """The decisions a turn reported, what a reviewer says of earlier ones, and what a rejection or a rollback teaches."""
    decided = decisions(state, lane, effect, turn, measured)
    facts = (*decided, *revisions(state, lane, effect, turn.claim))
    lesson: tuple[LearningSource, str, str]
    if judged.rejected:
        lesson = "review", "the review rejected the work", "; ".join(judged.gate_1.missing)
    elif judged.restore_to:
        lesson = "rollback", judged.verdict.evidence, " ".join(judged.lesson)
    else:
        return facts
    learnt = anti_pattern(state, lane, *lesson, after=len(decided), turn=effect.turn, files=measured.changed)
    return (*facts, learnt)
