"""Numbers that a script sorts without saying how: it sorts their digits as words, 10 before 9."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SCRIPTS, SourceTree
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of

_SORTS = {
    "kind": "call_expression",
    "all": [
        {"has": {"field": "function", "kind": "member_expression", "has": {"field": "property", "regex": "^(sort|toSorted)$"}}},
        {"has": {"field": "arguments", "regex": r"^\(\s*\)$"}},
    ],
}  # fmt: skip
_NUMBER = re.compile(r"\b(\w+)\??\s*:\s*number\s*[;,)}=\n]")
_WORD = re.compile(r"\b(\w+)\??\s*:\s*string\b")
_NUMBERS = re.compile(r"\b(\w+)\??\s*:\s*(?:readonly\s+)?(?:number\[\]|(?:Readonly)?(?:Array|Set)<number>)")
_MAPPED = re.compile(r"\.map\(\s*(?:(?:async\s*)?\(?[^()]*\)?\s*=>\s*[\w.$]*?\.?(\w+)|(Number|parseFloat))\s*\)$")
_KEEPING = re.compile(r"\.(?:slice|filter|concat)\([^()]*\)$")


def sorted_as_words(syntax: Syntax, tree: SourceTree, files: Collection[str]) -> Iterator[TrackDefect]:
    """Sorts without a comparison of what is declared as numbers."""
    scripts = [
        path for path in tree.product(*SCRIPTS) if path in files and re.search(r"ort(?:ed)?\(\s*\)", tree.text(path))
    ]
    texts = [tree.text(path) for path in tree.product(*SCRIPTS)] if scripts else []
    single = {name for text in texts for name in _NUMBER.findall(text)} - {
        name for text in texts for name in _WORD.findall(text)
    }
    for path in scripts:
        many = set(_NUMBERS.findall(tree.text(path)))
        for node in syntax.find(tree, path, _SORTS):
            if _holds_numbers(node, single, many):
                text = f"`{' '.join(node.text().split())[-60:]}` sorts numbers as words, 10 before 9"
                yield tree.defect("numbers-as-words", text, path, lines_of(node)[1], action="sort((a, b) => a - b)")


def _holds_numbers(node: Any, single: Collection[str], many: Collection[str]) -> bool:
    """Whether a list is one of numbers: written out, declared so, or made by taking a number of each thing."""
    subject = node.field("function").field("object").text()
    while kept := _KEEPING.search(subject):
        subject = subject[: kept.start()]
    copied = re.fullmatch(r"\[\s*\.\.\.([\w.$]+)\s*\]", subject)
    name = (copied[1] if copied else subject).rpartition(".")[2]
    if name in many or re.fullmatch(r"\[\s*-?\d[\d_.]*(?:\s*,\s*-?\d[\d_.]*)*\s*,?\s*\]", subject):
        return True
    mapped = _MAPPED.search(subject)
    return bool(mapped and (mapped[2] or mapped[1] in single))
