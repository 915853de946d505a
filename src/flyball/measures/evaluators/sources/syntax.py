"""flyball's own rules on syntax trees, by ast-grep: Python, TypeScript, JavaScript, CSS."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import MARKUP, PYTHON, SCRIPTS, STYLES, SourceTree, is_product
from flyball.measures.evaluators.toolbox import Toolbox

_LANGUAGES = {
    **dict.fromkeys(PYTHON, "python"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((*STYLES, *MARKUP), "css"),
}
_STYLING = re.compile(
    r"""<style\b[^>]*>(?P<sheet>.*?)</style>|(?<=[\s"'])style=(?P<quote>["'])(?P<inline>[^{}]*?)(?P=quote)""", re.DOTALL
)
_MAIL = re.compile(r"mail", re.IGNORECASE)
"""Mail programs read neither style sheets nor tokens."""


class SyntaxRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule, in ast-grep's words."""

    id: str
    pass_name: str = msgspec.field(name="pass")
    languages: tuple[str, ...] = ()
    message: str = ""
    action: str = ""
    utils: dict[str, Any] = {}
    rule: dict[str, Any] = {}
    tests: bool = False


@cache
def syntax_rules() -> tuple[SyntaxRule, ...]:
    raw = yaml.safe_load((Path(__file__).parent / "rules.yaml").read_text(encoding="utf-8"))
    return msgspec.convert(raw, tuple[SyntaxRule, ...])


def language_of(path: str) -> str:
    """The language a file is parsed as; empty for what is not parsed."""
    return _LANGUAGES.get("." + path.rpartition(".")[2], "")


def styles_in(markup: str) -> str:
    """The style sheets and styles of a page, each on the line it stands on; everything else is blank."""
    kept, end = "", 0
    for found in _STYLING.finditer(markup):
        start = found.start("sheet") if found["sheet"] is not None else found.start("inline")
        kept += _blank(markup[end:start])
        kept += found["sheet"] if found["sheet"] is not None else f"a {{ {found['inline']} }}"
        end = found.end()
    return kept + _blank(markup[end:])


def _blank(text: str) -> str:
    return "\n" * text.count("\n")


class Syntax:
    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._roots: dict[tuple[Path, str], Any] = {}

    def root(self, tree: SourceTree, path: str) -> Any:
        key = (tree.root, path)
        if key not in self._roots:
            language = language_of(path)
            self._toolbox.require("ast-grep")
            import ast_grep_py  # noqa: PLC0415 - an extra

            text = styles_in(tree.text(path)) if path.endswith(MARKUP) else tree.text(path)
            self._roots[key] = ast_grep_py.SgRoot(text, language).root() if language and text else None
        return self._roots[key]

    def find(
        self, tree: SourceTree, path: str, rule: dict[str, Any], utils: dict[str, Any] | None = None
    ) -> Iterator[Any]:
        root = self.root(tree, path)
        if root is not None:
            yield from root.find_all({"rule": rule, "utils": utils or {}})

    def defects(self, tree: SourceTree, pass_name: str) -> Iterator[TrackDefect]:
        rules = [rule for rule in syntax_rules() if rule.pass_name == pass_name]
        for path in tree.of(*SCRIPTS, *PYTHON, *STYLES, *MARKUP):
            if path.endswith(MARKUP) and _MAIL.search(path):
                continue
            for rule in rules:
                if language_of(path) in rule.languages and (rule.tests or is_product(path)):
                    for node in self.find(tree, path, rule.rule, rule.utils):
                        first, last = lines_of(node)
                        yield tree.defect(rule.id, rule.message, path, first, end_line=last, action=rule.action)


def lines_of(node: Any) -> tuple[int, int]:
    """The first and last line of a node, from one."""
    place = node.range()
    return place.start.line + 1, place.end.line + 1
