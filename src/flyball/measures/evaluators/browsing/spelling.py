"""Misspelt words in texts for people, by typos: only what a page shows is spelt, so that no name in the code is a finding."""

import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import MARKUP, SourceTree, TrackTrees
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of

SHOWING = (".tsx", ".jsx")
_SHOWN = ("alt", "title", "placeholder", "aria-label", "content")
_UNSEEN = frozenset({"script", "style", "code", "pre", "template"})
_TEXTS = {"any": [{"kind": "jsx_text"}, {"kind": "string_fragment", "regex": r"[A-Za-z]\S* \S*[A-Za-z]"}]}
_STYLING = {"inside": {"stopBy": "end", "kind": "jsx_attribute", "regex": "^(class|className|style|d|path|src|href)="}}


def misspelt_words(
    syntax: Syntax, trees: TrackTrees, tree: SourceTree, files: Collection[str]
) -> Iterator[TrackDefect]:
    """The words of some files that are misspelt in English; a project of another language is not looked at."""
    spoken = {
        found
        for path in tree.of(*MARKUP)
        for found in re.findall(r"<html[^>]*\blang=[\"']?([a-zA-Z]+)", tree.text(path))
    }
    if spoken and not any(each.lower().startswith("en") for each in spoken):
        return
    toolbox, settings = trees.toolbox, trees.settings("typos")
    folder = toolbox.folder("texts")
    named: list[str] = []
    for path in (each for each in tree.product(*MARKUP, *SHOWING) if each in files):
        lines = [""] * (tree.text(path).count("\n") + 1)
        for line, text in _texts(syntax, tree, path):
            lines[line - 1] += f" {text}"
        (folder / f"{len(named)}.txt").write_text("\n".join(lines), encoding="utf-8")
        named.append(path)
    chosen = ("--config", str(settings)) if settings else ()
    options = ("--isolated", *chosen, "--no-ignore", "--no-check-filenames", "--format", "json")
    raw = toolbox.run("typos", [*options, "."], cwd=folder, codes=(0, 2)) if named else b""
    for said in (msgspec.json.decode(line) for line in raw.splitlines() if line.strip()):
        if said["type"] == "typo":
            path = named[int(said["path"].rpartition("/")[2].partition(".")[0])]
            text, better = f"“{said['typo']}” is misspelt", " or ".join(said["corrections"][:3])
            yield tree.defect("misspelt", text, path, said["line_num"], action=f"write {better}")


def _texts(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[tuple[int, str]]:
    if path.endswith(SHOWING):
        for node in syntax.find(tree, path, _TEXTS | {"not": _STYLING}):
            yield from enumerate(node.text().split("\n"), start=lines_of(node)[0])
    else:
        reader = _Shown()
        reader.feed(tree.text(path))
        yield from reader.texts


class _Shown(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within += [tag] if tag in _UNSEEN else []
        shown = [value for name, value in attrs if name in _SHOWN and value]
        self.texts += [(self.getpos()[0], value.replace("\n", " ")) for value in shown]

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.texts += enumerate(data.split("\n"), start=self.getpos()[0])
