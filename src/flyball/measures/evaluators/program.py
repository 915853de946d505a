"""The process of one evaluator: reads its request from standard input and answers on standard output, both JSON.

A process of its own, so that whatever happens in it (a crash of a library, an endless loop, code of another package) ends that
evaluator and nothing else.
"""

import os
import sys
from pathlib import Path

import msgspec

from flyball.core.evaluation.findings import PassResult, together
from flyball.measures.evaluators.contract import Evaluator, EvaluatorAnswer
from flyball.measures.evaluators.ground import TrackGround, TrackTrees
from flyball.measures.evaluators.offered import evaluator
from flyball.measures.evaluators.toolbox import Toolbox


def main() -> None:
    ground = msgspec.json.decode(sys.stdin.buffer.read(), type=TrackGround)
    # What libraries print must not mix with the answer.
    answering = os.dup(1)
    os.dup2(2, 1)
    answer = msgspec.json.encode(evaluate(evaluator(ground.evaluator), ground))
    with os.fdopen(answering, "wb") as out:
        out.write(answer)


def evaluate(chosen: Evaluator, ground: TrackGround) -> EvaluatorAnswer:
    """What the evaluator measures, in the order of its card; a pass it says nothing of is skipped."""
    head = Path.cwd()
    if ground.files and not any(os.path.lexists(head / path) for path in ground.files):
        raise FileNotFoundError(f"none of the track's {len(ground.files)} files can be seen in {head}")
    toolbox = Toolbox(Path(ground.scratch), ground.environment, ground.cache)
    found: dict[str, list[PassResult]] = {}
    for result in chosen.measure(TrackTrees(ground, head, toolbox)):
        found.setdefault(result.name, []).append(result)
    unknown = sorted(set(found) - {each.name for each in chosen.card.passes})
    if unknown:
        raise ValueError(f"it answered for {unknown[0]!r}, which is none of its passes")
    silent = PassResult("", "skipped", reason="the evaluator said nothing of it")
    wanted = [each.name for each in chosen.card.passes if each.measured]
    return EvaluatorAnswer(tuple(together(name, found.get(name, [silent])) for name in wanted))


if __name__ == "__main__":
    main()
