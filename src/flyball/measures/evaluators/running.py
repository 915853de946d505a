"""Runs evaluators side by side, each in a process of its own; one that crashes, hangs or cannot be understood fails with its reason."""

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from flyball import process
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import PassResult
from flyball.core.text.scrubbing import decode, one_line, scrub
from flyball.measures.evaluators.contract import EvaluatorAnswer
from flyball.measures.evaluators.ground import TrackGround
from flyball.ports import Confine, Notify, Stop

MODULE = "flyball.measures.evaluators.program"
PYTHONPATH = "PYTHONPATH"
"""Where flyball itself finds packages, evaluators of others among them; no business of the tools."""
CACHING = frozenset({"integration"})
"""Evaluators that start nothing of the project: only they may write what a later evaluation reads."""
Answered = tuple[PassResult, ...] | str
"""The results of an evaluator's measured passes, or why there are none."""


def run_evaluators(
    chosen: Sequence[Chosen],
    ground: TrackGround,
    *,
    tree: Path,
    confine: Confine,
    environment: Mapping[str, str],
    stop: Stop,
    notify: Notify,
) -> dict[str, Answered]:
    def one(name: str) -> Answered:
        notify("evaluator", name)
        scratch = Path(ground.scratch) / name
        cache = ground.cache if name in CACHING else ""
        own = msgspec.structs.replace(ground, evaluator=name, scratch=str(scratch / "tools"), cache=cache)
        return run_evaluator(own, scratch, tree=tree, confine=confine, environment=environment, stop=stop)

    names = [each.name for each in chosen]
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def run_evaluator(
    ground: TrackGround, folder: Path, *, tree: Path, confine: Confine, environment: Mapping[str, str], stop: Stop
) -> Answered:
    """What one evaluator measured of `tree`, confined, for it may start the project; it sees the tree where it is started."""
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / "answer.json"
    cache = [Path(ground.cache)] if ground.cache else []
    # -P: nothing in the tree takes the place of a module.
    argv, cwd, env = confine(
        [sys.executable, "-P", "-m", MODULE],
        tree=tree,
        env=environment,
        writable=[Path(ground.scratch).parents[1], *cache],
    )
    own = {name: value for name, value in env.items() if name != PYTHONPATH}
    ended = process.run(
        argv,
        cwd=cwd,
        env=env,
        stdin=msgspec.json.encode(msgspec.structs.replace(ground, environment=own)),
        stdout=answer,
        stderr=folder / "stderr",
        wall=ground.options.timeout_s,
        stop=stop,
    )
    if ended.ended_by != "exit":
        return f"it did not answer: {ended.detail or ended.ended_by}"
    if ended.code != 0:
        said = one_line(scrub(decode(ended.stderr_tail)))[-300:]
        return f"it crashed ({f'exit {ended.code}' if ended.code is not None else f'signal {ended.signal}'}): {said}"
    try:
        return msgspec.json.decode(answer.read_bytes(), type=EvaluatorAnswer).passes
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        return f"its answer cannot be read: {one_line(str(error))[:200]}"
