"""One evaluator's result, of what was measured and what was judged."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import EvaluatorResult, PassResult, broken_evaluator, evaluator_result, together


def weigh_evaluator(
    card: EvaluatorCard,
    chosen: Chosen,
    measured: Sequence[PassResult] | str,
    judged: Sequence[PassResult],
    *,
    measured_only: bool = False,
) -> EvaluatorResult:
    """Each pass of the card, in its order; a text in the place of what was measured says why the evaluator broke."""
    if isinstance(measured, str):
        return broken_evaluator(chosen.name, chosen.chosen_by, measured)
    passes = []
    for each in card.passes:
        own = [one for one in measured if one.name == each.name]
        other = [one for one in judged if one.name == each.name]
        passes.append(together(each.name, own if own and measured_only else [*own, *other]))
    return evaluator_result(chosen.name, chosen.chosen_by, passes, measured_only=measured_only)
