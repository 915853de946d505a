"""Signals that a failure will not heal here, and reasons why no cure is worth trying any more (M18).

Measured on recorded loops: inside one conversation the same failure does not heal, in a fresh one every fifth does.
So a repetition inside a context ends the context, and only a failure that outlived fresh contexts ends the loop.
"""

from flyball.core.health.observation import History, Observation, Result
from flyball.core.health.signals import Signal
from flyball.core.health.verdict import Cure, Thresholds
from flyball.core.text.quantities import plural


def repetitions(history: History, seen: Observation, limits: Thresholds) -> list[Signal]:
    """The signals inside this context that the failure will not heal in it; a loop that tells of no context has none."""
    if seen.context is None or seen.kind == "optimise":
        return []
    context = _results_in_context(history, seen)
    now = context[-1]
    failures = [one.iteration for one in context if now.failure is not None and one.failure == now.failure]
    sets = [one.iteration for one in context if now.failing_set is not None and one.failing_set == now.failing_set]
    edits = [one.iteration for one in context if now.edit is not None and one.edit == now.edit]
    idle = [one.iteration for one in context[-limits.unchanged_in_context :] if one.idle]
    rules = (
        ("same failure", failures, limits.same_failure_in_context, f": {now.summary or now.failure}"),
        ("same failing set", sets, limits.same_failing_set_in_context, ""),
        ("same edit", edits, limits.same_edit_in_context, ""),
        ("tree unchanged", idle, limits.unchanged_in_context, ""),
    )
    return [
        Signal(f"{what} {len(found)}x in one context{named}, iterations {_listed(found)}", len(found) > threshold)
        for what, found, threshold, named in rules
        if len(found) >= threshold
    ]


def is_rollback_spent(history: History, seen: Observation) -> bool:
    """Whether a tree was put back in this context already."""
    return any(result.restored for result in _results_in_context(history, seen)[1:])


def end_of_cures(history: History, seen: Observation, remedy: Cure, limits: Thresholds) -> str:
    """Why no further cure is worth trying, or nothing."""
    if seen.budget_gone:
        return "the budget is gone"
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


def _results_in_context(history: History, seen: Observation) -> list[Result]:
    return [result for result in history.results if result.context == seen.context]


def _listed(iterations: list[int]) -> str:
    return ", ".join(str(iteration) for iteration in iterations[-4:])


def _named(history: History) -> str:
    summary = history.results[-1].summary
    return f": {summary}" if summary else ""
