"""Opens pages in a real headless browser at three widths, and says what is wrong with them."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from flyball import process
from flyball.clock import system_clock
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.core.text.scrubbing import decode, one_line, scrub
from flyball.measures.evaluators.browsing.pages import PageQueue, PageReply
from flyball.measures.evaluators.toolbox import BROWSER, Toolbox, ToolFailed

WIDTHS = (375, 768, 1024)
HEIGHT = 800
LOAD_MS = 15_000
TABS = 40
PAUSE_S = 0.1
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars")  # fmt: skip
_GOOD_PRACTICE = ("aria-allowed-role", "aria-dialog-name", "empty-heading", "heading-order", "label-title-only", "presentation-role-conflict", "scope-attr-valid", "skip-link", "tabindex")  # fmt: skip
"""Rules of axe that no criterion of WCAG asks for and that hold on every page; landmarks and headings are the probe's."""


class PageFinding(msgspec.Struct, frozen=True):
    """What is wrong with a page; `html` and `text` are of the element it is about."""

    rule: str
    message: str
    page: str
    html: str = ""
    text: str = ""


class PagesSeen(msgspec.Struct, frozen=True):
    findings: tuple[PageFinding, ...] = ()
    pages: tuple[str, ...] = ()
    shots: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def look_at_pages(
    options: EvaluatorOptions, tree: Path, toolbox: Toolbox, queue: PageQueue, shots: Path | None
) -> PagesSeen:
    """Start the project where that is to be done, and look at each page of the queue."""
    for name in BROWSER:
        toolbox.require(name)
    with _serve(options, tree, toolbox) as url:
        return _visit_pages(url.rstrip("/"), toolbox, queue, shots)


@contextmanager
def _serve(options: EvaluatorOptions, tree: Path, toolbox: Toolbox) -> Iterator[str]:
    if not options.start:
        yield options.url
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    url = options.url or f"http://127.0.0.1:{port}"
    stop, folder = process.StopFlag(), toolbox.folder("start")
    ended: list[process.Exit] = []

    def run_server() -> None:
        end = process.run(
            ["/bin/sh", "-c", f"exec 2>&1\n{options.start}"],
            cwd=tree,
            env=toolbox.environment | {"PORT": str(port), "HOST": "127.0.0.1"},
            stdout=folder / "output",
            stderr=folder / "stderr",
            stop=stop,
            wall=options.timeout_s,
        )
        ended.append(end)

    server = threading.Thread(target=run_server, daemon=True)
    server.start()
    try:
        _await_listening(url, options, ended)
        yield url
    finally:
        stop.set()
        server.join()


def _await_listening(url: str, options: EvaluatorOptions, ended: list[process.Exit]) -> None:
    place, until = urlsplit(url), system_clock.monotonic() + options.start_timeout_s
    while True:
        if ended:
            said = one_line(scrub(decode(ended[0].stdout_tail)))[-200:]
            raise ToolFailed(f"the start command `{options.start}` ended before it listened: {said or ended[0].detail}")
        with suppress(OSError), socket.create_connection((place.hostname or "", place.port or 80), timeout=1):
            return
        if system_clock.monotonic() > until:
            raise ToolFailed(
                f"the start command `{options.start}` does not listen on {url} after {options.start_timeout_s:g} s; "
                "make it use the port in $PORT, or set url below [evaluators]"
            )
        threading.Event().wait(PAUSE_S)


def _visit_pages(url: str, toolbox: Toolbox, queue: PageQueue, shots: Path | None) -> PagesSeen:
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - an extra

    findings: list[PageFinding] = []
    pictures: list[str] = []
    notes: list[str] = []
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=toolbox.require("chromium"), args=list(_ARGUMENTS))
            asking = browser.new_context().request
            for page in queue.pages(lambda page: _reply(asking, url, page)):
                for width in WIDTHS:
                    visit = _Visit(browser, url, page, width, notes)
                    findings += visit.look()
                    if shots is not None:
                        pictures.append(visit.picture(shots))
                    if width == WIDTHS[0]:
                        queue.tell(page, *visit.contents())
                    visit.context.close()
            browser.close()
    except Error as error:
        raise ToolFailed(f"the browser failed: {one_line(str(error))[:300]}") from error
    told = dict.fromkeys((*notes, *queue.notes))
    return PagesSeen(tuple(dict.fromkeys(findings)), tuple(queue.opened), tuple(pictures), tuple(told))


def _reply(asking: Any, url: str, page: str) -> PageReply:
    """What the server answers; a request that fails or leads elsewhere is no page of the project."""
    from playwright.sync_api import Error  # noqa: PLC0415 - an extra

    if not url.startswith("http"):
        return PageReply(0)
    try:
        reply = asking.get(f"{url}/{page.lstrip('/')}", max_redirects=0, timeout=LOAD_MS)
    except Error:
        return PageReply(0)
    kind = reply.headers.get("content-type", "")
    target = urljoin(reply.url, reply.headers.get("location", "")) if 300 <= reply.status < 400 else ""
    location = target.removeprefix(url) if target.startswith(f"{url}/") else ""
    return PageReply(reply.status, kind, decode(reply.body()) if "html" in kind else "", location)


class _Visit:
    def __init__(self, browser: Any, url: str, page: str, width: int, notes: list[str]) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": HEIGHT}, reduced_motion="reduce")
        self._page = self.context.new_page()
        self._page.set_default_timeout(LOAD_MS)
        self._name, self._width, self._url, self._notes = page, width, url, notes
        self._host = urlsplit(url).hostname or ""
        self._said: list[str] = []
        self._served = ""
        self._page.on("console", lambda each: self._said.append(each.text) if each.type == "error" else None)
        self._page.on("pageerror", lambda error: self._said.append(str(error)))
        self._page.on("response", self._on_response)
        self.context.route("**/*", self._on_request)

    def _on_response(self, response: Any) -> None:
        if response.status >= 400 and "favicon" not in response.url:
            self._said.append(f"{response.status} for {urlsplit(response.url).path}")

    def _on_request(self, route: Any) -> None:
        """Nothing is fetched from elsewhere: what a page shows must not depend on the network of the day."""
        host = urlsplit(route.request.url).hostname or ""
        if host in _LOOPBACK or host == self._host or not route.request.url.startswith("http"):
            route.continue_()
        else:
            self._notes.append(f"not fetched, for it lies outside this machine: {host}")
            route.abort()

    def look(self) -> list[PageFinding]:
        address = f"{self._url}/{self._name.lstrip('/')}"
        answer = self._page.goto(address, wait_until="load", timeout=LOAD_MS)
        with suppress(Exception):
            self._served = answer.text()
        with suppress(Exception):
            self._page.wait_for_load_state("networkidle", timeout=2000)
        probe = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")
        found = [
            PageFinding(each["rule"], each["message"], self._name, each["html"], each["text"])
            for each in self._page.evaluate(probe)
        ]
        found += self._axe()
        if self._width == WIDTHS[-1]:
            found += self._focus()
        outside = [text for text in self._said if "ERR_FAILED" not in text]
        return found + [
            PageFinding("console", f"the console shows an error: {one_line(text)[:200]}", self._name)
            for text in dict.fromkeys(outside)
        ]

    def _axe(self) -> list[PageFinding]:
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - an extra

        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        more = {name: {"enabled": True} for name in _GOOD_PRACTICE}
        said = Axe().run(self._page, options={"runOnly": {"type": "tag", "values": tags}, "rules": more}).response
        found = []
        for violation in said["violations"]:
            for node in violation["nodes"][:20]:
                html = str(node["html"])
                opening = html.split(">", maxsplit=1)[0] + ">"
                text = one_line(unescape(re.sub(r"<[^>]*>", "", html))).strip()[:60]
                found.append(PageFinding(violation["id"], str(violation["help"]), self._name, opening, text))
        return found

    def contents(self) -> tuple[str, list[str]]:
        """What the page holds, as it was served and as it stands now, and the pages of the project it links to."""
        body = f"{self._served}\n{self._page.content()}"
        targets = self._page.evaluate("[...document.querySelectorAll('a[href]:not([download])')].map((a) => a.href)")
        inside = [target.partition("#")[0] for target in targets if target.startswith(f"{self._url}/")]
        return body, [target.removeprefix(self._url) for target in dict.fromkeys(inside)]

    def _focus(self) -> list[PageFinding]:
        """Walk by Tab; an element that looks the same with and without focus shows nobody where they are."""
        found: list[PageFinding] = []
        seen: set[str] = set()
        for _ in range(TABS):
            self._page.keyboard.press("Tab")
            element = self._page.evaluate_handle("document.activeElement").as_element()
            facts = self._page.evaluate(
                "e => e && e !== document.body ? {html: e.outerHTML.slice(0, 200).split('>')[0] + '>', key: e.outerHTML.slice(0, 400) + e.getBoundingClientRect().top} : null",
                element,
            )
            if not facts or facts["key"] in seen:
                break
            seen.add(facts["key"])
            if not self._changes_with_focus(element):
                found.append(PageFinding("focus", "focus cannot be seen", self._name, facts["html"]))
        return found

    def _changes_with_focus(self, element: Any) -> bool:
        element.scroll_into_view_if_needed()
        box = element.bounding_box()
        if not box or box["width"] < 2 or box["height"] < 2:
            return True
        clip = {
            "x": max(0, box["x"] - 8), "y": max(0, box["y"] - 8),
            "width": box["width"] + 16, "height": box["height"] + 16,
        }  # fmt: skip
        focused = self._page.screenshot(clip=clip, animations="disabled", caret="hide")
        element.evaluate("e => e.blur()")
        blurred = self._page.screenshot(clip=clip, animations="disabled", caret="hide")
        element.evaluate("e => e.focus({focusVisible: true, preventScroll: true})")
        return bool(focused != blurred)

    def picture(self, folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{re.sub(r'[^A-Za-z0-9]+', '-', self._name).strip('-') or 'index'}-{self._width}.png"
        self._page.screenshot(path=str(folder / name), full_page=True, animations="disabled", caret="hide")
        return name
