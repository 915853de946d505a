"""A function is called by a verb, or by the noun of what it gives: a lone participle leaves a reader guessing who did what."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "flyball"
IRREGULAR = set(
    "begun bound broken brought built caught chosen done drawn found given gone heard held hidden kept known laid left lost "
    "made met paid said seen sent shown spent taken thought told understood woken written".split()
)
NO_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "red", "seed", "speed", "succeed"}


def is_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or word in NO_PARTICIPLES:
        return False
    return word.endswith("ed") or word in IRREGULAR or word.removeprefix("un") in IRREGULAR


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All but properties, which say what a value is like."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
            if "property" not in decorators and ".setter" not in decorators:
                yield node


@pytest.mark.parametrize("name", ["told", "_kept", "unseen", "_explained", "asked"])
def test_the_rule_knows_a_participle(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["feed", "_on_moved", "kept_aside", "run", "lock", "red"])
def test_the_rule_leaves_other_names_alone(name: str) -> None:
    assert not is_participle(name)


def test_no_function_is_named_by_a_lone_participle() -> None:
    wrong = [
        f"{path.relative_to(SOURCES)}:{node.lineno} {node.name}"
        for path in sorted(SOURCES.rglob("*.py"))
        for node in functions(ast.parse(path.read_text()))
        if is_participle(node.name)
    ]
    assert wrong == []
