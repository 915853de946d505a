"""Code that somebody commented out, in TypeScript and JavaScript: neighbouring comments that parse as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SCRIPTS, SourceTree
from flyball.measures.evaluators.syntax import Syntax, language_of, lines_of

_STATEMENTS = ("lexical_declaration", "variable_declaration", "if_statement", "for_statement", "for_in_statement", "return_statement", "while_statement", "function_declaration", "class_declaration", "import_statement", "export_statement", "throw_statement", "try_statement")  # fmt: skip
_CALL = re.compile(r"^[\w.$]+\(.*\);$|^[\w.$\[\]]+ = .+;$", re.MULTILINE)
_PROSE = re.compile(r"^\s*//\s*(?:eslint|oxlint|biome|prettier|@ts-|#|/|TODO|FIXME|region|endregion)", re.IGNORECASE)


def commented_scripts(syntax: Syntax, tree: SourceTree) -> list[TrackDefect]:
    """Blocks of comments that hold code."""
    found = []
    for path in tree.of(*SCRIPTS):
        if "//" in tree.text(path) and syntax.root(tree, path) is not None:
            found += list(_in_file(syntax, tree, path))
    return found


def _in_file(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[TrackDefect]:
    for first, last, text in _blocks(list(syntax.find(tree, path, {"kind": "comment", "regex": "^//"}))):
        if _is_code(text, language_of(path)):
            yield tree.defect(
                "commented-code",
                "code is commented out",
                path,
                first,
                end_line=last,
                action="remove it: the history keeps it",
            )


def _blocks(comments: list[Any]) -> Iterator[tuple[int, int, str]]:
    first = last = 0
    texts: list[str] = []
    for node in comments:
        line, _ = lines_of(node)
        if texts and line == last + 1:
            texts.append(node.text())
        else:
            if texts:
                yield first, last, "\n".join(texts)
            first, texts = line, [node.text()]
        last = line
    if texts:
        yield first, last, "\n".join(texts)


def _is_code(block: str, language: str) -> bool:
    if any(_PROSE.match(line) for line in block.split("\n")):
        return False
    text = "\n".join(line.removeprefix("//").removeprefix(" ") for line in block.split("\n"))
    if not re.search(r"[;{}()=]", text):
        return False
    import ast_grep_py  # noqa: PLC0415 - an extra

    root = ast_grep_py.SgRoot(text, language).root()
    if root.find(kind="ERROR") is not None:
        return False
    return any(root.find(kind=kind) is not None for kind in _STATEMENTS) or bool(_CALL.search(text))
