"""An evaluator of another package: every source names its licence. Beside it stand some that misbehave."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

from flyball.core.evaluation.catalogue import EvaluatorCard, Pass
from flyball.core.evaluation.findings import PassResult, TrackDefect
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import SourceTree, TrackTrees

MARK = "SPDX-License-Identifier"


def measure(trees: TrackTrees) -> Iterable[PassResult]:
    yield trees.compare("headers", _without_header)


def _without_header(tree: SourceTree) -> Sequence[TrackDefect]:
    files = [path for path in tree.product(".py") if MARK not in tree.text(path).split("\n")[0]]
    return [tree.defect("no-licence", f"{path} names no licence", path, 1, action="name it") for path in files]


def _crash(_trees: TrackTrees) -> Iterable[PassResult]:
    raise RuntimeError("it fell over")


def _say_nothing(_trees: TrackTrees) -> Iterable[PassResult]:
    os._exit(0)


def _hang(_trees: TrackTrees) -> Iterable[PassResult]:
    time.sleep(600)
    return ()


def _invent(_trees: TrackTrees) -> Iterable[PassResult]:
    yield PassResult("something else", "pass")


def _named(name: str) -> EvaluatorCard:
    return EvaluatorCard(
        name, ("licence",) if name == "licences" else (), (name,), (Pass("headers", measured="reading"),)
    )


EVALUATOR = Evaluator(_named("licences"), measure)
CRASHING = Evaluator(_named("crashing"), _crash)
SILENT = Evaluator(_named("silent"), _say_nothing)
HANGING = Evaluator(_named("hanging"), _hang)
STRANGE = Evaluator(_named("strange"), _invent)
