"""The pages in a real browser: every width and theme, axe, thumbs, paper, a task without end."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.web.browser.conftest import Opened
from tests.web.browser.stage import MARKS, Server, World, clean, fits, in_home, looks_well, repository
from tests.web.conftest import long_story, put

from flyball.wiring.site import Site

pytestmark = MARKS
PAGES = ("", "/report", "/iterations?wrong=1", "/question/ask-1", "/turn/6", "/say", "/say/abort", "/checkpoints")


@pytest.mark.req("V9", "V10")
@pytest.mark.parametrize(
    "pages",
    [
        *((("pictured", tail),) for tail in ("", "/report")),
        tuple(("pictured", tail) for tail in PAGES[2:]),
        (
            ("", "/"),
            ("", "/start"),
            ("changed", "/diff"),
            ("changed", "/diff?comment=1:2"),
            ("changed", "/diff?view=split"),
            ("changed", "/say/rollback"),
        ),
    ],
    ids=["task", "report", "the others", "home, start and diff"],
)
def test_every_page_fits_every_width_and_axe_finds_nothing_by_day_or_night(
    opened: Opened, server: Server, world: World, pages: tuple[tuple[str, str], ...]
) -> None:
    page = opened("/static/icon.svg")
    for name, tail in pages:
        page.goto(server.address + (world.path(name) if name else "") + tail)
        looks_well(page)


@pytest.mark.req("V9", "V10")
@pytest.mark.parametrize("name", ["fresh", "done", "paused", "limit", "aborted"])
def test_the_other_tasks_fit_too(opened: Opened, server: Server, world: World, name: str) -> None:
    page = opened(world.path(name), 375)
    clean(page)
    page.goto(server.address + world.path(name) + "/report")
    fits(page)
    page.goto(server.address + world.path(name))
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    fits(page)


@pytest.mark.req("V9", "V10")
def test_on_a_phone_targets_are_large_what_matters_is_seen_at_once_and_nothing_moves(
    opened: Opened, server: Server, world: World
) -> None:
    page = opened(world.path("pictured"), 375, reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().length") == 0
    for height, width in ((812, 375), (800, 1280)):
        page.set_viewport_size({"width": width, "height": height})
        for found in (page.locator(".chip").first, page.locator("p.lead"), page.get_by_role("link", name="Answer")):
            box = found.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height
    page.set_viewport_size({"width": 375, "height": 600})
    page.goto(f"{server.address}{world.path('pictured')}/question/ask-1")
    assert page.locator("#answer-button").evaluate("e => e.getBoundingClientRect().bottom <= innerHeight")
    page.set_viewport_size({"width": 375, "height": 812})
    for path in ("", "/question/ask-1", "/say/modify", "/say/rollback"):
        page.goto(server.address + world.path("pictured") + path)
        assert small_targets(page) == []
    page.goto(f"{server.address}{world.path('changed')}/diff?comment=1:2")
    assert small_targets(page) == []


def small_targets(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.button, select, textarea, summary, input[type=text], input[type=number], label.option')]"
        ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 120))"
    )
    return found


@pytest.mark.req("V20")
def test_the_report_is_printed_on_light_ground_whatever_the_theme(opened: Opened, world: World) -> None:
    page = opened(world.path("done") + "/report", 1280, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4").startswith(b"%PDF")


LARGEST_PAGE = 400_000
TALLEST = 30 * 812
"""Thirty screens of a phone's height: whoever looks for the end still finds it."""


@pytest.mark.req("V3", "V12")
def test_a_task_of_ten_thousand_iterations_has_pages_of_a_size_that_can_be_used(opened: Opened, tmp_path: Path) -> None:
    root = tmp_path / "endless"
    root.mkdir()
    (root / "a").write_text("a\n")
    with in_home(tmp_path / "home"):
        site = Site.find(repository(root))
        task = put(site, long_story(10_000, most_failing=3), at_once=500)
    server = Server(site.home.home)
    try:
        here = f"{server.address}/t/{site.home.name}/{task}"
        page = opened("/static/icon.svg", 375, of=server)
        for tail in ("", "/iterations?before=5000", "/checkpoints", "/say/rollback", "/turn/5000", "/report"):
            before = server.cpu_s
            answer = page.request.get(here + tail)
            measured = f"{tail}: {answer.status}, {len(answer.body())} bytes, {server.cpu_s - before:.1f} s of a core"
            assert answer.status == 200, measured
            assert len(answer.body()) < LARGEST_PAGE, measured
            assert server.cpu_s - before < 4, measured
        for tail in ("", "/checkpoints"):
            page.goto(here + tail)
            fits(page)
            assert page.evaluate("document.documentElement.scrollHeight") < TALLEST, tail
    finally:
        server.end()
