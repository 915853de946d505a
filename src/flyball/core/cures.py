"""What to do about a verdict: cures are tried before a person is asked (M18).

Measured on recorded loops: inside one conversation the same failure does not heal, in a fresh one every fifth does.
So a repetition inside a context ends the context, and only a failure that outlived fresh contexts ends the loop.
"""

from flyball.core.observation import History, Observation, Result
from flyball.core.quantities import plural
from flyball.core.verdict import Cure, Health, Thresholds

_DEFAULT = {
    Health.PROGRESSING: Cure.CONTINUE,
    Health.STALLED: Cure.FRESH_CONTEXT,
    Health.REGRESSING: Cure.ROLLBACK,
    Health.FLIP_FLOPPING: Cure.ROLLBACK,
    Health.BLOCKED: Cure.ASK,
}


def cure(history: History, seen: Observation, health: Health, limits: Thresholds) -> tuple[Cure, str]:
    """The cure, and the reason where it is not the health's own."""
    if seen.budget_gone:
        return Cure.STOP, "the budget is gone"
    if health is Health.BLOCKED or seen.gate_held:
        return (Cure.ASK if health is Health.BLOCKED else Cure.CONTINUE), ""
    remedy, reason = _remedy(history, seen, health, limits)
    verdict = _end_of_cures(history, seen, remedy, limits)
    return (Cure.STOP, verdict) if verdict else (remedy, reason)


def _end_of_cures(history: History, seen: Observation, remedy: Cure, limits: Thresholds) -> str:
    """Why no further cure is worth trying, or nothing."""
    if len(history.broken_on) >= limits.broken_trees:
        return f"gate broken on {plural(len(history.broken_on), 'different tree')}: {seen.gate_broken}"
    if remedy is Cure.CONTINUE:
        return ""
    failure = history.results[-1].failure
    outlived = sum(failure in ending.failures for ending in history.endings) if failure else 0
    if outlived >= limits.endings_before_stop:
        return f"the same failure ended {plural(outlived, 'earlier context')}{_named(history)}"
    if remedy is Cure.FRESH_CONTEXT and history.contexts >= limits.contexts:
        return f"{plural(history.contexts, 'context is', 'contexts are')} spent{_named(history)}"
    return ""


def _remedy(history: History, seen: Observation, health: Health, limits: Thresholds) -> tuple[Cure, str]:
    context = [result for result in history.results if result.context == seen.context]
    if _DEFAULT[health] is Cure.ROLLBACK and any(result.restored for result in context[1:]):
        return Cure.FRESH_CONTEXT, "a rollback in this context did not help"
    if health is Health.PROGRESSING and seen.kind != "optimise":
        reason = _repetition(context, limits)
        return (Cure.FRESH_CONTEXT, reason) if reason else (Cure.CONTINUE, "")
    return _DEFAULT[health], ""


def _repetition(context: list[Result], limits: Thresholds) -> str:
    """The signal inside this context that the failure will not heal in it, or nothing."""
    now = context[-1]
    again = [result.iteration for result in context if now.failure is not None and result.failure == now.failure]
    if len(again) >= limits.same_failure_in_context:
        return f"same failure {len(again)}x in one context: {now.summary or now.failure}, iterations {_listed(again)}"
    again = [one.iteration for one in context if now.failing_set is not None and one.failing_set == now.failing_set]
    if len(again) >= limits.same_failing_set_in_context:
        return f"same failing set {len(again)}x in one context, iterations {_listed(again)}"
    again = [result.iteration for result in context if now.edit is not None and result.edit == now.edit]
    if len(again) >= limits.same_edit_in_context:
        return f"same edit {len(again)}x in one context, iterations {_listed(again)}"
    idle = [one.iteration for one in context[-limits.unchanged_in_context :] if one.idle]
    if len(idle) >= limits.unchanged_in_context:
        return f"tree unchanged {len(idle)}x in one context, iterations {_listed(idle)}"
    return ""


def _listed(iterations: list[int]) -> str:
    return ", ".join(str(iteration) for iteration in iterations[-4:])


def _named(history: History) -> str:
    summary = history.results[-1].summary
    return f": {summary}" if summary else ""
