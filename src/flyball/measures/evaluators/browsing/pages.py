"""Which pages are opened: those that are set, those of the templates and routes a track changed, and those they link to."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

import msgspec

from flyball.measures.evaluators.browsing.shown import TEMPLATES, ShownSources
from flyball.measures.evaluators.ground import MARKUP, PYTHON, SCRIPTS, TrackTrees, is_product

MOST = 12
"""Pages that are opened beyond those that are set."""
DEEPEST = 4
"""Folders of a file's path that its address may keep."""
_NO_PAGE = re.compile(r"mail|\.component\.html$|(?:^|/)docs?/", re.IGNORECASE)
"""Templates that no address of the project shows by itself: mails, parts of a component, documents."""
_FILE_ROUTES = (
    re.compile(r"(?:^|/)app/(?:(?P<page>.+)/)?page\.[jt]sx?$"),
    re.compile(r"(?:^|/)pages/(?P<page>.+?)(?:/?index)?\.(?:[jt]sx|vue|svelte|astro)$"),
    re.compile(r"(?:^|/)routes/(?:(?P<page>.+)/)?\+page\.svelte$"),
)
"""Files whose place is their address, by custom of Next, Nuxt, Astro and SvelteKit."""
_ROUTES = (
    re.compile(r"@\w+\.(?:route|get)\(\s*['\"](?P<page>/[^'\"<{:*]*)['\"]"),
    re.compile(r"\b(?:app|router|server)\.get\(\s*['\"](?P<page>/[^'\"<{:*]*)['\"]"),
    re.compile(r"<Route\b[^>]*\bpath=\{?['\"](?P<page>/[^'\"<{:*]*)['\"]"),
)
"""Routes without parameters, as Flask, FastAPI, Express and React Router write them."""


class PageReply(msgspec.Struct, frozen=True):
    status: int
    kind: str = ""
    body: str = ""
    location: str = ""

    @property
    def is_page(self) -> bool:
        return self.status < 300 and "html" in self.kind


class PageAddress(msgspec.Struct, frozen=True):
    """An address that a page may have; with `file` it counts only if it shows that file."""

    page: str
    file: str = ""


def changed_templates(trees: TrackTrees) -> tuple[str, ...]:
    """Pages and templates that the track changed and that some address should show."""
    changed = trees.changed_files(*TEMPLATES)
    return tuple(path for path in changed if is_product(path) and not _NO_PAGE.search(path))


def addresses_of(trees: TrackTrees) -> tuple[PageAddress, ...]:
    found = [PageAddress(page, path) for path in changed_templates(trees) for page in _addresses_of_file(path)]
    for path in filter(is_product, trees.changed_files(*SCRIPTS, *MARKUP, *PYTHON, ".astro")):
        found += map(PageAddress, _file_routes(path))
        for number, line in enumerate(trees.head.text(path).split("\n"), start=1):
            if trees.changes.touches(path, number, number):
                found += [PageAddress(match["page"]) for rule in _ROUTES for match in rule.finditer(line)]
    return tuple(dict.fromkeys(found))


def _addresses_of_file(path: str) -> Iterator[str]:
    """`public/rooms.html` may be at /rooms.html and at /rooms; an index is its folder."""
    parts = PurePosixPath(path).parts[-DEEPEST:]
    for tail in (parts[start:] for start in range(len(parts) - 1, -1, -1)):
        whole = "/" + "/".join(tail)
        bare = whole.partition(".")[0]
        yield from (bare.removesuffix("index"),) if bare.endswith("/index") else (whole, bare)


def _file_routes(path: str) -> Iterator[str]:
    for match in filter(None, (rule.search(path) for rule in _FILE_ROUTES)):
        page = match["page"] or ""
        if not re.search(r"[\[_]", page):
            yield "/" + "/".join(part for part in page.split("/") if not part.startswith("("))


class PageQueue:
    """The pages to open, in this order: those set, those tried, and then those that opened ones link to."""

    def __init__(
        self,
        pages: Sequence[str],
        tried: Iterable[PageAddress] = (),
        shown: ShownSources | None = None,
        *,
        most: int = MOST,
    ) -> None:
        self._set, self._tried, self._shown, self._left = pages, tried, shown, most
        self._links: list[str] = []
        self._known: set[str] = set()
        self.opened: list[str] = []
        self.notes: list[str] = []

    def pages(self, ask: Callable[[str], PageReply]) -> Iterator[str]:
        """Each page when its turn has come; whoever opens it tells what it holds before the next."""
        yield from self._set
        self._known |= {_key(page) for page in self._set}
        for each in self._tried:
            if self._left and self._is_wanted(each) and self._is_there(each, ask(each.page)):
                yield self._further(each.page)
        while self._left and self._links:
            page = self._links.pop(0)
            if _key(page) not in self._known and self._is_linked(page, ask(page)):
                yield self._further(page)
        beyond = [page for page in dict.fromkeys(self._links) if _key(page) not in self._known]
        if beyond:
            listed = f"{', '.join(beyond[:MOST])}{' …' * (len(beyond) > MOST)}"
            self.notes.append(f"linked and not opened, see evaluators.pages: {listed}")

    def tell(self, page: str, body: str, links: Iterable[str]) -> None:
        """What an opened page holds, and which pages of the project it links to."""
        self.opened.append(page)
        if self._shown is not None:
            self._shown.add(page, body)
            self._links += links

    def _further(self, page: str) -> str:
        self._known.add(_key(page))
        self._left -= 1
        return page

    def _is_wanted(self, each: PageAddress) -> bool:
        seen = each.file and self._shown is not None and self._shown.shows(each.file)
        return not seen and _key(each.page) not in self._known

    def _is_there(self, each: PageAddress, reply: PageReply) -> bool:
        shows = not each.file or self._shown is None or self._shown.is_in(each.file, reply.body)
        return reply.is_page and shows

    def _is_linked(self, page: str, reply: PageReply) -> bool:
        self._known.add(_key(page))
        if reply.location:
            self._links.insert(0, reply.location)
        elif reply.status >= 400:
            self.notes.append(f"a page links to {page}, which answers {reply.status}")
        return reply.is_page


def _key(page: str) -> str:
    """Addresses with the same path are one page; an index is its folder."""
    path = re.split(r"[?#]", page)[0]
    return "/" + path.lstrip("/").removesuffix("index.html")
