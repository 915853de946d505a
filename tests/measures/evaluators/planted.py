"""Lays out trees for evaluators and runs one on them, in this process or in its own."""

import os
import tempfile
from pathlib import Path

from flyball import process
from flyball.core.evaluation.findings import Changes
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.measures.evaluators.ground import TrackGround, TrackTrees
from flyball.measures.evaluators.running import run_evaluator
from flyball.measures.evaluators.toolbox import Toolbox
from flyball.workspace.sandbox import Unconfined

CACHE = Path(tempfile.gettempdir()) / f"flyball-tool-cache-{os.getuid()}"
"""Compiled rules of a tool, which take it ten seconds to make."""


def lay_out(root: Path, files: dict[str, str]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def ground_of(
    folder: Path, name: str, files: dict[str, str], before: dict[str, str] | None = None, **more
) -> TrackGround:
    """A track that wrote `files`, or what differs in them from `before`, line by line."""
    before = before or {}
    lay_out(folder / "head", files)
    lay_out(folder / "base", before)
    spans = {}
    for path, text in files.items():
        old = set(before.get(path, "").split("\n")) if path in before else set()
        lines = [n for n, line in enumerate(text.split("\n"), 1) if path not in before or line not in old]
        if lines:
            spans[path] = tuple((n, n) for n in lines)
    scratch = folder / "scratch" / name / "tools"
    return TrackGround(
        name, str(folder / "base"), str(scratch), tuple(files), tuple(before), Changes(spans), cache=str(CACHE), **more
    )


def trees_of(folder: Path, files: dict[str, str], before: dict[str, str] | None = None, **more) -> TrackTrees:
    ground = ground_of(folder, "here", files, before, **more)
    return TrackTrees(ground, folder / "head", Toolbox(Path(ground.scratch), os.environ, ground.cache, 120))


def answer_of(ground: TrackGround, folder: Path):
    """What the evaluator's own process answers."""
    stop, environment = process.StopFlag(), dict(os.environ)
    return run_evaluator(
        ground, folder / "run", tree=folder / "head", confine=Unconfined(), environment=environment, stop=stop
    )


def options(**given) -> EvaluatorOptions:
    return EvaluatorOptions(**given)


def found(results, name: str) -> list[str]:
    """The findings of a pass as `file:line rule`."""
    return [f"{each.place} {each.rule}" for result in results if result.name == name for each in result.findings]
