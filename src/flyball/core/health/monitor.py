"""Is the loop going anywhere? One health, one recommendation and one remedy for every iteration (M10 to M19).

Pure: `history, verdict = follow(history, seen)`, for flyball's own workflows and for any other loop. The first matching rule
gives the health.
"""

from itertools import takewhile

from msgspec.structs import replace

from flyball.core.health.history import History, Result
from flyball.core.health.observation import REMEMBERED_FAILURES, Observation, observe
from flyball.core.health.table import HealthCase, Own, Signal, count_outlived, find_health, gains
from flyball.core.health.verdict import REMEDIES, Blocker, Confidence, Health, Remedy, Thresholds, Trend, Verdict
from flyball.core.text.quantities import plural

_RECOMMENDATION = {
    Health.PROGRESSING: "continue",
    Health.STALLED: "retry-with-change",
    Health.REGRESSING: "rollback",
    Health.FLIP_FLOPPING: "rollback",
}
_DEFAULTS = Thresholds()
_ENOUGH_HISTORY = 3
_AGREEING_SIGNALS = 2
_LONGEST_EVIDENCE = 1000


def follow(
    history: History, seen: Observation, thresholds: Thresholds = _DEFAULTS, own: Own | None = None
) -> tuple[History, Verdict]:
    """The history with one more iteration, and the verdict on it; `own` is what only a loop of flyball's own has."""
    history = observe(history, seen)
    verdict = assess(history, seen, thresholds, own)
    reason = (
        "" if own or not history.results else _end_of_patience(HealthCase(history, seen, thresholds), verdict.remedy)
    )
    return history, change_remedy(verdict, Remedy.STOP, reason) if reason else verdict


def assess(history: History, seen: Observation, thresholds: Thresholds = _DEFAULTS, own: Own | None = None) -> Verdict:
    """The verdict on `seen`, which `observe` has already put into the history.

    Health, remedy and evidence come from the same signals, so that none can contradict another (M22).
    """
    case = HealthCase(history, seen, thresholds, own)
    health, signals = _health(case)
    verdict = Verdict(
        health=health,
        recommendation=_recommendation(health, REMEDIES[health][0], blockers := _blockers(seen)),
        remedy=REMEDIES[health][0],
        confidence=_confidence(history, health, signals),
        trend=_trend(history, seen),
        evidence=_one_line(signals[0].text if signals else _course(history)),
        blockers=blockers,
    )
    if verdict.remedy is Remedy.ROLLBACK and any(result.restored for result in case.in_context[1:]):
        verdict = change_remedy(verdict, Remedy.FRESH_CONTEXT, "a rollback in this context did not help")
    if seen.gate_held and not seen.budget_gone and seen.kind != "optimise":
        return verdict
    # What only the breaker counted does not repeat itself: there the ladder alone says when nothing is left.
    struck = any(signal.struck for signal in signals)
    reason = _end_of_remedies(case, Remedy.CONTINUE if struck else verdict.remedy) if history.results else ""
    if not reason or (health is Health.BLOCKED and not seen.budget_gone):
        return verdict
    if verdict.health is not Health.PROGRESSING and case.last.summary in verdict.evidence:
        reason = reason.removesuffix(f": {case.last.summary}")  # which the evidence says already
    return change_remedy(verdict, Remedy.STOP, reason)


def change_remedy(verdict: Verdict, remedy: Remedy, reason: str) -> Verdict:
    """The verdict with another remedy and its reason; a loop that needs one is not PROGRESSING but STALLED (M22)."""
    progressing = verdict.health is Health.PROGRESSING
    health = Health.STALLED if progressing else verdict.health
    told = not reason or reason in verdict.evidence
    evidence = reason if progressing else verdict.evidence if told else f"{verdict.evidence}; {reason}"
    return replace(
        verdict,
        health=health,
        remedy=remedy,
        recommendation=_recommendation(health, remedy, verdict.blockers),
        evidence=_one_line(evidence),
    )


def _health(case: HealthCase) -> tuple[Health, list[Signal]]:
    seen, history = case.seen, case.history
    if blockers := _blockers(seen):
        return Health.BLOCKED, [Signal(f"{one.id}: {one.type}: {one.description}".rstrip(": ")) for one in blockers]
    held = seen.gate_held and seen.kind != "optimise"
    return (None if held else find_health(case)) or (Health.PROGRESSING, gains(history))


def _recommendation(health: Health, remedy: Remedy, blockers: tuple[Blocker, ...]) -> str:
    if health is not Health.BLOCKED:
        return "escalate" if remedy is Remedy.STOP else _RECOMMENDATION[health]
    types = {blocker.type for blocker in blockers}
    if "missing-review" in types:
        return "run-review"
    if types & {"external", "fundamental"}:
        return "escalate"
    return f"unblock:[{_one_line(blockers[0].description or blockers[0].id)}]"


def _blockers(seen: Observation) -> tuple[Blocker, ...]:
    if not seen.reviewed:
        return (Blocker("review", "missing-review", "the batch has no review"),)
    return seen.blocked


def _one_line(text: str) -> str:
    return " ".join(text[: 2 * _LONGEST_EVIDENCE].split())[:_LONGEST_EVIDENCE]


def _course(history: History) -> str:
    """What is said where no signal speaks; "nothing repeats" only where that is known of the whole task (M22)."""
    if history.iterations <= 1:
        return "first iteration"
    last = history.results[-1]
    if last.failure_known:
        course = "a failure seen before in this task"
    elif last.set_known:
        course = "the tests that failed before in this task fail in another way"
    elif history.forgetful:
        course = f"new among the last {REMEMBERED_FAILURES} failures"
    else:
        course = "nothing repeats"
    return f"iteration {last.iteration}: {course}" + (f": {last.summary}" if last.summary else "")


def _confidence(history: History, health: Health, signals: list[Signal]) -> Confidence:
    if history.iterations < _ENOUGH_HISTORY:
        return Confidence.LOW
    if health is Health.BLOCKED:
        return Confidence.HIGH
    rates = _last_rates(history)
    worse = health is Health.PROGRESSING and len(rates) > 1 and rates[1] < rates[0]
    strong = len(signals) >= _AGREEING_SIGNALS or any(signal.beyond for signal in signals)
    return Confidence.HIGH if strong and not worse else Confidence.MEDIUM


def _trend(history: History, seen: Observation) -> Trend:
    if seen.kind == "optimise" and seen.metric is not None:
        return Trend.STABLE if history.search.dry or history.iterations <= 1 else Trend.IMPROVING
    rates = _last_rates(history)
    if len(rates) < 2 or rates[0] == rates[1]:
        return Trend.STABLE
    return Trend.IMPROVING if rates[1] > rates[0] else Trend.DECLINING


def _last_rates(history: History) -> list[float]:
    return [result.rate for result in history.results if result.rate is not None][-2:]


def _end_of_remedies(case: HealthCase, remedy: Remedy) -> str:
    """Why no further remedy is worth trying, or nothing."""
    history, limits = case.history, case.limits
    if case.seen.budget_gone:
        return "the budget is gone"
    if len(history.broken_on) >= limits.broken_trees:
        return f"gate broken on {plural(len(history.broken_on), 'different tree')}: {case.seen.gate_broken}"
    if remedy is Remedy.CONTINUE:
        return ""
    named = f": {case.last.summary}" if case.last.summary else ""
    if (contexts := count_outlived(case)) >= limits.endings_before_stop:
        return f"the same failure ended {plural(contexts, 'earlier context')}{named}"
    if remedy is Remedy.FRESH_CONTEXT and history.contexts >= limits.contexts:
        return f"{plural(history.contexts, 'context is', 'contexts are')} spent{named}"
    return ""


def _end_of_patience(case: HealthCase, remedy: Remedy) -> str:
    """Why a loop that flyball does not drive should end: fresh contexts do not help it, or it follows no advice.

    A loop that got past another failure is given one context more; one whose edits are known to differ, twice as many.
    """
    results, failure, limit = case.history.results, case.last.failure, case.limits.same_failure
    if remedy is Remedy.ASK or failure is None or case.seen.context is None or not case.counts_repetition:
        return ""
    row = list(takewhile(lambda result: result.failure == failure, reversed(results)))
    alike = [result for result in results if result.failure == failure]
    differ = len({result.edit for result in row} - {None}) == len(row)
    least = 2 * limit if differ else limit + (len(alike) < len(results))
    if _contexts(row) >= least or _contexts(alike) >= 2 * limit:
        return f"the same failure in {_contexts(alike)} contexts: {case.last.summary or failure}"
    stale = len(case.in_context) - len({result.failing_set or result.failure for result in case.in_context})
    if remedy is not Remedy.CONTINUE and stale >= limit:
        return f"{plural(stale, 'iteration')} of this context repeated an earlier one, and no advice was followed"
    return ""


def _contexts(results: list[Result]) -> int:
    return len({result.context for result in results})
