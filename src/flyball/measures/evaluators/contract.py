"""What an evaluator is to flyball, of its own or of another package: a card, and a function that measures.

The function is called in a process of its own, with both trees. It yields a result for each pass of the card that has a
measured part; a pass it says nothing of is skipped. It may raise: then the evaluator fails, with the reason.
"""

from collections.abc import Callable, Iterable

import msgspec

from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.findings import PassResult
from flyball.measures.evaluators.ground import TrackTrees


class Evaluator(msgspec.Struct, frozen=True):
    """An evaluator that can be dispatched."""

    card: EvaluatorCard
    measure: Callable[[TrackTrees], Iterable[PassResult]]


class EvaluatorAnswer(msgspec.Struct, frozen=True):
    passes: tuple[PassResult, ...]
