"""Which files the opened pages show, and where an element of a page stands in them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from html import unescape

from flyball.measures.evaluators.ground import MARKUP, SourceTree

TEMPLATES = (".html", ".htm", ".jinja", ".jinja2", ".j2", ".ejs", ".hbs")
SOURCES = (*MARKUP, *TEMPLATES, ".tsx", ".jsx", ".js", ".ts", ".py")
NEAR = 600
"""Characters behind an element's opening in which its text begins."""
_FILLED = re.compile(r"\{\{|\{%|\{#|<%|<\?|\$\w|\$\{")
"""What a template engine replaces, so the page does not hold the line as it is written."""


class ShownSources:
    """The templates of a tree against the pages that were opened; a template is told by lines that no other one has."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._bodies: dict[str, str] = {}

    def add(self, page: str, body: str) -> None:
        self._bodies[page] = body

    def shows(self, file: str) -> bool:
        return any(self.is_in(file, body) for body in self._bodies.values())

    def is_in(self, file: str, body: str) -> bool:
        """A third of its own lines is enough: the others may stand behind a condition."""
        lines = self._own.get(file, ())
        return bool(lines) and 3 * sum(line in body for line in lines) >= len(lines)

    def list_unseen(self, files: Iterable[str]) -> tuple[str, ...]:
        return tuple(file for file in files if self._own.get(file) and not self.shows(file))

    def list_untellable(self, files: Iterable[str]) -> tuple[str, ...]:
        """Templates without a line of their own, of which nobody can tell whether a page shows them."""
        return tuple(file for file in files if not self._own.get(file))

    def files_of(self, page: str) -> frozenset[str]:
        body = self._bodies.get(page, "")
        return frozenset(file for file in self._own if self.is_in(file, body))

    @cached_property
    def _own(self) -> dict[str, tuple[str, ...]]:
        lines = {path: _plain(self._tree.text(path)) for path in self._tree.of(*TEMPLATES)}
        known = Counter(line for each in lines.values() for line in each)
        return {path: tuple(line for line in each if known[line] == 1) for path, each in lines.items()}

    def place(self, page: str, html: str, text: str) -> tuple[str, int]:
        """The file and line of an element: the one template of the page, else the one source, that holds it and its text.

        A page as a whole stands in the file of it that is a document.
        """
        own = self.files_of(page)
        if not html and not text:
            whole = [file for file in own if re.search(r"<html\b", self._tree.text(file), re.IGNORECASE)]
            return (whole[0], 1) if len(whole) == 1 else ("", 0)
        text = text.split("\n", maxsplit=1)[0].strip()
        name = re.search(r"\bid=\"[^\"]+\"", html)
        # By its opening with its text behind it, by its id, and by its text alone.
        for hint, behind in ((html, text), (name[0] if name else "", ""), (text if len(text) > 3 else "", "")):
            places = list(self._holding(hint, behind)) if hint else []
            foreign = [each for each in places if not own or not each[0].endswith(TEMPLATES)]
            for chosen in ([each for each in places if each[0] in own], foreign):
                if len({file for file, _ in chosen}) == 1:
                    return chosen[0]
        return "", 0

    def _holding(self, hint: str, text: str) -> Iterator[tuple[str, int]]:
        opening = re.compile(r"\s+".join(re.escape(word) for word in hint.split()))
        for path in self._tree.of(*SOURCES):
            source = self._tree.text(path)
            for match in opening.finditer(source):
                if _begins(source[match.end() : match.end() + NEAR], hint, text):
                    yield path, source.count("\n", 0, match.start()) + 1


def _begins(behind: str, hint: str, text: str) -> bool:
    """Whether a text stands right behind an opening, tags aside, or within it, as the value of a field does."""
    wanted = _squeeze(text)
    return wanted in _squeeze(hint) or _squeeze(unescape(re.sub(r"<[^>]*>", "", behind))).startswith(wanted)


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()


def _plain(text: str) -> frozenset[str]:
    """Lines that a page holds as they are written."""
    stripped = (line.strip() for line in text.split("\n"))
    return frozenset(line for line in stripped if len(line) > 8 and not _FILLED.search(line))
