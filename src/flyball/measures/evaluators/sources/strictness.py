"""How strict a project is with itself about types: what it asks of nobody counts against nobody."""

from __future__ import annotations

import ast
import configparser
import tomllib
from collections.abc import Iterator
from typing import Any

from flyball.measures.evaluators.ground import PYTHON, SourceTree, TrackTrees
from flyball.measures.sources import parse

UNTYPED = ("ANN001", "ANN201", "ANN202", "ANN205", "ANN206")
"""Parameters and results without a type."""
ANY = ("ANN401",)
MOST = 0.75
"""Of the functions of a typed project so many say what they return."""
ENOUGH = 5
"""Functions that show a habit; fewer in the tree before the track, and the track's own are counted."""
_RUFF = (("ruff.toml", ()), (".ruff.toml", ()), ("pyproject.toml", ("tool", "ruff")))


def not_asked_for(trees: TrackTrees) -> frozenset[str]:
    """Rules that hold for neither tree: a track cannot loosen them, and need not be stricter than its project."""
    types = _is_asked_for(trees, "ANN001", "disallow_untyped_defs", "disallow_incomplete_defs", "strict")
    types = types or any(path.endswith("py.typed") for path in trees.head.written) or _has_habit(trees)
    without_any = _is_asked_for(trees, "ANN401", "disallow_any_explicit", "reportExplicitAny")
    return frozenset((*(() if types else UNTYPED), *(() if without_any else ANY)))


def _is_asked_for(trees: TrackTrees, code: str, *names: str) -> bool:
    return any(_says(tree, *names) or _ruff_asks(tree, code) for tree in (trees.head, trees.base))


def _has_habit(trees: TrackTrees) -> bool:
    counted = [_functions(tree) for tree in (trees.base, trees.head)]
    every, typed = counted[0] if counted[0][0] >= ENOUGH else counted[1]
    return every >= ENOUGH and typed >= MOST * every


def _functions(tree: SourceTree) -> tuple[int, int]:
    """How many functions the product has, and how many of them say what they return."""
    modules = filter(None, (parse(tree.text(path).encode()) for path in tree.product(*PYTHON)))
    nodes = [node for module in modules for node in ast.walk(module)]
    every = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    typed = [node.returns is not None for node in every if node.name != "__init__"]
    return len(typed), sum(typed)


def _says(tree: SourceTree, *names: str) -> bool:
    """Whether a type checker's settings switch one of these on for the whole project."""
    given = [str(section.get(name, "")).lower() for section in _checkers(tree) for name in names]
    return bool({"true", "error", "1", "yes", "on"} & set(given))


def _checkers(tree: SourceTree) -> Iterator[dict[str, Any]]:
    tools = _toml(tree, "pyproject.toml").get("tool", {})
    yield from (tools[name] for name in ("mypy", "pyright", "basedpyright") if isinstance(tools.get(name), dict))
    for path in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        read = configparser.RawConfigParser(strict=False)
        try:
            read.read_string(tree.text(path))
        except configparser.Error:
            continue
        if read.has_section("mypy"):
            yield dict(read["mypy"])


def _ruff_asks(tree: SourceTree, code: str) -> bool:
    """Whether ruff's settings select a rule and do not ignore it."""
    for path, steps in _RUFF:
        section = _toml(tree, path)
        for step in steps:
            section = section.get(step, {})
        for one in (section, section.get("lint", {})):
            if _lists(one, ("select", "extend-select"), code) and not _lists(one, ("ignore", "extend-ignore"), code):
                return True
    return False


def _lists(section: Any, keys: tuple[str, ...], code: str) -> bool:
    given = [name for key in keys for name in (section.get(key) or () if isinstance(section, dict) else ())]
    return any(name == "ALL" or (name and code.startswith(str(name))) for name in given)


def _toml(tree: SourceTree, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(tree.text(path))
    except tomllib.TOMLDecodeError:
        return {}
