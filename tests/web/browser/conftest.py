"""One home and one server for all that is looked at in a browser, one browser for a file of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from tests.web.browser.stage import ARGUMENTS, CHROMIUM, Server, World

from flyball.web.access import COOKIE


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[Server]:
    begun = Server(world.site.home.home)
    yield begun
    begun.end()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Not for longer: while it lives, nothing else of this process can have a loop of its own."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


Opened = Callable[..., Page]


@pytest.fixture
def opened(chromium: Browser, server: Server) -> Iterator[Opened]:
    """A page of a browser that has opened the link before; what its console complains of fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_(path: str, width: int = 1280, scheme: str = "light", of: Server = server, **more: object) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 812}, color_scheme=scheme, **more)  # type: ignore[arg-type]
        contexts.append(context)
        context.add_cookies([{"name": COOKIE, "value": of.gate.cookie, "url": of.address}])
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: _own(request, of, wrong))
        page.goto(of.address + path)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


def _own(request: Request, server: Server, wrong: list[str]) -> None:
    if not request.url.startswith((server.address, "data:")):
        wrong.append(f"a request to {request.url}")
