"""The pages in a real browser: every width and theme, axe, keyboard, live changes, two people, a server that dies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from tests.web.conftest import asking, long_story, put

from flyball.core.model.effects import Wait
from flyball.core.model.events import Begun, Ended, LearningRecorded, TaskStopped
from flyball.core.model.outcomes import Waited
from flyball.core.model.task import EffectId, Item, TaskId
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.testing.builders import Story, short_tdd_run, tdd_task
from flyball.web.access import token_of
from flyball.wiring.site import Site

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed; `make test` installs it"),
]
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = (375, 768, 1280)
HOSTILE = (
    '<script>document.title="owned"</script><img src=x onerror="document.title=1"> \x1b[31mred\u202etxt ' + "w" * 300
)


class Server:
    """`flyball serve` as a process of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {**os.environ, "FLYBALL_HOME": str(home)}
        self.port = 0
        self.begin()

    def begin(self, *more: str) -> None:
        command = [sys.executable, "-m", "flyball", "serve", "--port", str(self.port), *more]
        self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                return
        raise AssertionError("the server did not begin")

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class World:
    """A home with one task for each state, and the tasks pages are looked at with."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.root = place / "ledger"
        self.root.mkdir()
        (self.root / "README.md").write_text("# rows\n")
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
            subprocess.run([*git, *words], cwd=self.root, check=True)
        os.environ["FLYBALL_HOME"] = str(place / "home")
        self.site = Site.find(self.root)
        self.tasks: dict[str, TaskId] = {}
        for name, story in stories().items():
            self.tasks[name] = put(self.site, story)

    def path(self, name: str) -> str:
        return f"/t/{self.site.home.name}/{self.tasks[name]}"


def pictured() -> Story:
    """Twelve items in two lanes, thirty-seven iterations, a wait, money, a question."""
    names = ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "3.1", "3.2", "3.3", "3.4", "4.1"]
    after = {"1.2": ("1.1",), "1.3": ("1.1",), "2.4": ("1.1",), "2.1": ("1.2", "1.3"), "3.2": ("1.3",), "2.2": ("2.1",)}
    after |= {"2.3": ("2.1",), "3.1": ("2.1",), "3.3": ("3.2",), "3.4": ("3.2",), "4.1": ("2.2", "2.3", "3.1")}
    items = tuple(Item(name, f"Subtask {name} of the import", depends_on=after.get(name, ())) for name in names)
    task = tdd_task(request="Import bank statements")
    task = replace(
        task, items=items, settings=replace(task.settings, limits=replace(task.settings.limits, budget_usd=10.0))
    )
    story = Story(task).start()
    for n in range(37):
        failing = tuple(f"tests/a.py::t{i}" for i in range(48 - n))
        story.iterate(
            failing=failing,
            signal=n in {5, 31},
            missing=failing[:2],
            rejected=n == 24,
            restore_to="base0000" if n == 22 else "",
        )
        if n == 12:
            until = story.at + timedelta(minutes=69)
            story.add(Begun(Wait(EffectId("wait/1"), until=until, reason="usage limit of claude: resets at 11:40")))
            story.add(Ended(EffectId("wait/1"), Waited()), after_s=69 * 60)
    story.add(LearningRecorded(1, "decision", "yield postings", choice="a generator"))
    return story.ask(asking().state.questions[EffectId("ask/1")].question)


def stories() -> dict[str, Story]:
    hostile = replace(
        tdd_task(request=HOSTILE), items=(Item("AC-1", HOSTILE), Item("AC-2", HOSTILE, depends_on=("AC-1",)))
    )
    return {
        "pictured": pictured(),
        "fresh": Story(),
        "long": long_story(500, request="Five hundred iterations"),
        "hostile": asking(hostile, text=HOSTILE, detail=HOSTILE * 9),
        "done": short_tdd_run(),
        "paused": Story().start().iterate().add(TaskStopped("paused", "paused by a person")),
        "limit": Story().start().iterate().add(TaskStopped("limit", "the budget is used up: $5.87 of $6.00")),
        "aborted": Story().start().iterate().add(TaskStopped("aborted", "by a person")),
        "asking": asking(),
        "keyboard": asking(),
        "twice": asking(),
        "live": Story().start().iterate(failing=("a::b",)),
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    kept = os.environ.get("FLYBALL_HOME")
    yield World(tmp_path_factory.mktemp("web"))
    os.environ.pop("FLYBALL_HOME", None) if kept is None else os.environ.update(FLYBALL_HOME=kept)


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[Server]:
    begun = Server(world.site.home.home)
    yield begun
    begun.end()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


Opened = Callable[..., Page]


@pytest.fixture
def opened(chromium: Browser, server: Server, world: World) -> Iterator[Opened]:
    """A page of a browser that has opened the link; what its console complains of fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_(path: str, width: int = 1280, scheme: str = "light", **more: object) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 812}, color_scheme=scheme, **more)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: _own(request, server, wrong))
        page.goto(f"{server.address}/?token={token_of(world.site.home.home)}")
        page.goto(server.address + path)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


def _own(request: Request, server: Server, wrong: list[str]) -> None:
    if not request.url.startswith((server.address, "data:")):
        wrong.append(f"a request to {request.url}")


def until(page: Page, true: str, seconds: float = 15) -> None:
    """Wait for something a page shows by itself; the page's policy forbids to do so inside of it."""
    end = time.monotonic() + seconds
    while not page.evaluate(true):
        assert time.monotonic() < end, true
        page.wait_for_timeout(100)


def fits(page: Page) -> None:
    """Nothing scrolls sideways."""
    wide, seen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide == seen, f"{page.url} is {wide} wide at {seen}"


def clean(page: Page) -> None:
    """Axe finds nothing."""
    page.evaluate(Path(AXE_FILE_PATH).read_text())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", tags)
    told = [
        f"{v['id']}: {v['nodes'][0]['html'][:160]} {v['nodes'][0].get('failureSummary', '')[:200]}"
        for v in found["violations"]
    ]
    assert told == [], f"{page.url} at {page.viewport_size}"


def legible(page: Page) -> None:
    small = page.evaluate(
        "[...document.querySelectorAll('.plot text')].filter(t => t.getBoundingClientRect().width &&"
        " parseFloat(getComputedStyle(t).fontSize) * t.getCTM().a < 10.4).length"
    )
    assert small == 0


PAGES = ("", "/report", "/iterations?wrong=1", "/question/ask-1", "/turn/6", "/say", "/say/abort", "/checkpoints")


@pytest.mark.req("V9", "V10")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_of_the_pictured_task_fits_and_axe_finds_nothing(
    opened: Opened, server: Server, world: World, width: int, scheme: str
) -> None:
    page = opened("/", width, scheme)
    for path in ("/", "/start", *(f"{world.path('pictured')}{tail}" for tail in PAGES)):
        page.goto(server.address + path)
        fits(page)
        clean(page)
        legible(page)


@pytest.mark.req("V9", "V10", "V11")
@pytest.mark.parametrize("name", ["fresh", "long", "hostile", "done", "paused", "limit", "aborted"])
def test_the_other_tasks_fit_too_and_what_an_agent_wrote_does_nothing(
    opened: Opened, server: Server, world: World, name: str
) -> None:
    page = opened(world.path(name), 375)
    for tail in ("", "/report"):
        page.goto(server.address + world.path(name) + tail)
        fits(page)
        clean(page)
        assert "owned" not in page.title() or name == "hostile"
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server.address + world.path(name))
    fits(page)
    if name == "hostile":
        page.goto(server.address + world.path(name) + "/question/ask-1")
        assert "<script>" in page.locator("h1").inner_text()
        assert page.evaluate("document.images.length") == 0


@pytest.mark.req("V9")
def test_targets_on_a_phone_are_large_enough_for_a_thumb(opened: Opened, server: Server, world: World) -> None:
    page = opened(world.path("pictured"), 375)
    for tail in ("", "/question/ask-1", "/say/modify"):
        page.goto(server.address + world.path("pictured") + tail)
        small = page.evaluate(
            "[...document.querySelectorAll('.button, select, textarea, summary, input[type=text], input[type=number], label.option')]"
            ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 120))"
        )
        assert small == []


@pytest.mark.req("V9", "V10")
def test_what_matters_is_seen_without_scrolling(opened: Opened, server: Server, world: World) -> None:
    page = opened(world.path("pictured"), 375)
    for width, height in ((1280, 800), (375, 812)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(server.address + world.path("pictured"))
        for found in (page.locator(".chip").first, page.locator("p.lead"), page.get_by_role("link", name="Answer")):
            box = found.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height


@pytest.mark.req("V10")
def test_no_motion_where_none_is_wanted(opened: Opened, world: World) -> None:
    page = opened(world.path("pictured"), reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.req("V10")
def test_a_question_is_answered_by_keyboard_alone_and_the_journal_holds_the_word(opened: Opened, world: World) -> None:
    page = opened("/")
    before = world.site.journal.pending(world.tasks["keyboard"])
    page.goto(page.url.rstrip("/") + world.path("keyboard"))
    page.keyboard.press("a")
    page.wait_for_url("**/question/ask-1")
    page.locator("input[name=answer]").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#answer-button").inner_text() == "Answer half-up"
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.id") != "answer-button":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#given")
    assert before == []
    assert [w.text for w in world.site.journal.pending(world.tasks["keyboard"])] == ["half-up"]


@pytest.mark.req("V10")
def test_keys_work_and_none_fires_in_a_text_field(opened: Opened, server: Server, world: World) -> None:
    page = opened("/")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.hasAttribute('data-open')")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.goto(server.address + world.path("pictured"))
    page.keyboard.press("r")
    page.wait_for_url("**/report")
    page.goto(server.address + world.path("pictured") + "/turn/6")
    page.keyboard.press("]")
    page.wait_for_url("**/turn/7")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url(server.address + "/")
    page.goto(server.address + world.path("pictured") + "/say/modify")
    page.locator("textarea").fill("")
    page.locator("textarea").type("ghart?")
    assert page.locator("textarea").input_value() == "ghart?"
    assert "/say/modify" in page.url


@pytest.mark.req("V6")
def test_two_browsers_at_once_the_first_counts_and_the_second_is_told(opened: Opened, world: World) -> None:
    path = world.path("twice") + "/question/ask-1"
    one, two = opened(path), opened(path)
    one.get_by_role("button", name="Answer").click()
    one.wait_for_selector("#given")
    two.locator("textarea").fill("as the tests say")
    two.get_by_role("button", name="Answer").click()
    two.wait_for_selector("#refused")
    assert "answered already" in two.locator("#refused").inner_text()
    assert len(world.site.journal.pending(world.tasks["twice"])) == 1


def shift(page: Page) -> float:
    return float(page.evaluate("window.__shift"))


WATCH_SHIFTS = (
    "window.__shift = 0; new PerformanceObserver(l => l.getEntries().forEach(e => {"
    " if (!e.hadRecentInput) window.__shift += e.value }))"
    ".observe({type: 'layout-shift', buffered: true})"
)


@pytest.mark.req("V8")
def test_changes_arrive_by_themselves_and_move_nothing_that_is_being_read(opened: Opened, world: World) -> None:
    task = world.tasks["live"]
    lease = Lease.take(world.site.journal, world.site.home.locks, task_scope(task), this_process(datetime.now(UTC)))
    page = opened(world.path("live"))
    until(page, "document.querySelector('.chip').dataset.glyph === 'running'")
    page.evaluate(WATCH_SHIFTS)
    page.locator("#failing-table summary").click()
    page.wait_for_timeout(700)
    page.evaluate("window.__shift = 0; window.__table = document.getElementById('failing-table')")
    story = Story().start().iterate(failing=("a::b",))
    seen = len(story.events)
    story.iterate(failing=()).iterate(failing=())
    begun = time.monotonic()
    for event in story.events[seen:]:
        world.site.journal.append(task, [event.fact], epoch=lease.epoch, at=datetime.now(UTC))
    until(page, "[...document.querySelectorAll('.figure dd')][2].textContent.trim().startsWith('3')")
    assert time.monotonic() - begun < 5, "on a loaded machine; within a second on an idle one"
    assert page.evaluate("window.__table === document.getElementById('failing-table') && window.__table.open")
    assert shift(page) <= 0.02
    lease.release()
    until(page, "document.querySelector('.chip').dataset.glyph === 'lost'")


@pytest.mark.req("V8")
def test_a_server_that_dies_is_shown_and_one_that_comes_back_heals_the_page(
    opened: Opened, server: Server, world: World
) -> None:
    page = opened(world.path("pictured"))
    until(page, "document.getElementById('live-word').textContent === 'Live'")
    server.end(signal.SIGKILL)
    page.wait_for_selector("#lost:not([hidden])", timeout=14_000)
    assert "Lost contact" in page.locator("#live-word").inner_text()
    server.begin()
    page.wait_for_selector("#lost[hidden]", state="attached", timeout=15_000)
    assert page.locator("#live-word").inner_text() == "Live"


@pytest.mark.req("V10")
def test_without_scripts_a_page_shows_the_same_and_a_form_works(opened: Opened, world: World) -> None:
    page = opened(world.path("asking") + "/question/ask-1", java_script_enabled=False)
    page.get_by_role("button", name="Answer").click()
    assert [w.text for w in world.site.journal.pending(world.tasks["asking"])] == ["half-even"]


@pytest.mark.req("V20")
def test_the_report_is_printed_on_light_ground_whatever_the_theme(opened: Opened, world: World) -> None:
    page = opened(world.path("done") + "/report", 1280, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4").startswith(b"%PDF")
