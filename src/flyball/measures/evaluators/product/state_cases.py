"""Code that tells states apart case by case, and gives no answer for one that is declared."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SourceTree
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of

_NAME = re.compile(r"[\"'](\w[\w -]*)[\"']|[A-Z]\w*\.(\w+)")
_CASES = {"case_clause", "switch_case", "switch_default"}


def plain(name: str) -> str:
    """A state's name as it is compared: without quotes, owner, case and separators."""
    return re.sub(r"[\s_-]+", "", name.strip(" `*\"'").rpartition(".")[2].lower())


def left_out(syntax: Syntax, tree: SourceTree, path: str, states: Collection[str]) -> Iterator[TrackDefect]:
    """Declared states for which a switch or match returns nothing, while it returns something for most others."""
    kind = "match_statement" if path.endswith(PYTHON) else "switch_statement"
    for node in syntax.find(tree, path, {"kind": kind}):
        named = _named(node)
        if named and named <= set(states) and 2 * len(named) > len(states) and _is_last(node):
            for state in sorted(set(states) - named):
                text = f"{state} is declared and gets no case here, so it gets no answer"
                yield tree.defect("state-left-out", text, path, lines_of(node)[0], action=f"add a case for {state}")


def _named(node: Any) -> set[str]:
    """The states that have a case, where each case returns and none takes the rest; else none."""
    cases = [each for each in node.field("body").children() if each.kind() in _CASES]
    found: set[str] = set()
    for at, case in enumerate(cases):
        head = case.text().partition(":")[0]
        names = {plain(one or other) for one, other in _NAME.findall(head)}
        falls_through = case.text().rstrip().endswith(":") and at + 1 < len(cases)
        if not names or not (falls_through or re.search(r"\b(?:return|throw|raise)\b", case.text())):
            return set()
        found |= names
    return found


def _is_last(node: Any) -> bool:
    """Whether nothing behind a statement answers for what it leaves out."""
    return all(each.kind() in ("}", "comment") for each in node.next_all())
