"""Code that somebody commented out: neighbouring comments that parse as statements."""

import ast
import re
from collections.abc import Iterator, Sequence

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SCRIPTS, SourceTree
from flyball.measures.evaluators.sources.syntax import Syntax, language_of, lines_of
from flyball.measures.sources import parse

_STATEMENTS = ("lexical_declaration", "variable_declaration", "if_statement", "for_statement", "for_in_statement", "return_statement", "while_statement", "function_declaration", "class_declaration", "import_statement", "export_statement", "throw_statement", "try_statement")  # fmt: skip
_CALL = re.compile(r"^[\w.$]+\(.*\);$|^[\w.$\[\]]+ = .+;$", re.MULTILINE)
_PROSE = re.compile(r"^\s*//\s*(?:eslint|oxlint|biome|prettier|@ts-|#|/|TODO|FIXME|region|endregion)", re.IGNORECASE)
_NO_CODE = (ast.Expr, ast.AnnAssign, ast.Pass)
"""Statements that formulas, examples of values and remarks are as well."""
_BEGINNINGS = {
    **dict.fromkeys(("except", "finally"), "try:\n    pass\n"),
    **dict.fromkeys(("elif", "else"), "if x:\n    pass\n"),
}
"""What stands before a clause that was commented out alone."""
_SPOKEN = re.compile(r"^\s*\w+ \(", re.MULTILINE)


def is_commented_python(lines: Sequence[str]) -> bool:
    """Whether lines of one comment are statements as a whole, or two of them at its beginning or end are; no formula within prose."""
    texts = [re.sub(r"^\s*#+ ?", "", line) for line in lines]
    if _statements(texts) > 0:
        return True
    parts = [part for n in range(1, len(texts) - 1) for part in (texts[n:], texts[:-n])]
    return any(_statements(part) > 1 for part in parts)


def _statements(texts: Sequence[str]) -> int:
    text = "\n".join(texts)
    first = next((line for line in texts if line.strip()), "")
    inset = len(first) - len(first.lstrip())
    before = _BEGINNINGS.get(first.strip().partition(" ")[0].rstrip(":"), "")
    whole = before + "\n".join(line[inset:] for line in texts)
    module = None if _SPOKEN.search(text) else parse(whole.encode())
    return sum(map(_weight, module.body)) if module is not None else 0


def _weight(node: ast.stmt) -> int:
    """How many statements a node counts for: one with a body is never alone."""
    calls = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await | ast.Yield)
    given = isinstance(node, ast.AnnAssign) and node.value is not None
    return 2 if hasattr(node, "body") else int(calls or given or not isinstance(node, _NO_CODE))


def commented_scripts(syntax: Syntax, tree: SourceTree) -> Iterator[TrackDefect]:
    text, action = "code is commented out", "remove it: the history keeps it"
    for path in tree.of(*SCRIPTS):
        if re.search(r"/[/*]", tree.text(path)) and syntax.root(tree, path) is not None:
            for first, last, block in (*_line_comments(syntax, tree, path), *_block_comments(syntax, tree, path)):
                if _is_code(block, language_of(path)):
                    yield tree.defect("commented-code", text, path, first, end_line=last, action=action)


def _block_comments(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[tuple[int, int, str]]:
    """Comments in one piece, as lines of their own; those with two stars are for readers of documents."""
    for node in syntax.find(tree, path, {"kind": "comment", "regex": r"^/\*[^*!]"}):
        inner = node.text().removeprefix("/*").removesuffix("*/").strip("\n")
        yield (*lines_of(node), "\n".join("//" + re.sub(r"^\s*\* ?", "", line) for line in inner.split("\n")))


def _line_comments(syntax: Syntax, tree: SourceTree, path: str) -> list[tuple[int, int, str]]:
    """Comments of one line each, those on neighbouring lines as one."""
    found: list[tuple[int, int, str]] = []
    for node in syntax.find(tree, path, {"kind": "comment", "regex": "^//"}):
        line, _ = lines_of(node)
        if found and line == found[-1][1] + 1:
            first, _, text = found.pop()
            found.append((first, line, f"{text}\n{node.text()}"))
        else:
            found.append((line, line, node.text()))
    return found


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
