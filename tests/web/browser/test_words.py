"""What people do on the pages, in a real browser: keys, answers, comments, rollback, two at once, changes as they come, read-only."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page
from tests.support.builders import Story
from tests.web.browser.conftest import Opened
from tests.web.browser.stage import MARKS, Server, World, clean, fits, until
from tests.web.conftest import worked_on

from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope

pytestmark = MARKS


def tab_to(page: Page, found: str) -> None:
    """Go on from where the focus is, as somebody without a mouse does."""
    for _ in range(60):
        if page.evaluate(f"document.activeElement.matches({found!r})"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no key leads to {found} on {page.url}")


@pytest.mark.req("V6", "V10")
def test_a_question_is_answered_by_keyboard_alone_and_the_journal_holds_the_word(opened: Opened, world: World) -> None:
    page = opened(world.path("keyboard"))
    page.keyboard.press("a")
    page.wait_for_url("**/question/ask-1")
    tab_to(page, "input[name=answer]")
    page.keyboard.press("ArrowDown")
    assert page.locator("#answer-button").inner_text() == "Answer half-up"
    page.keyboard.press("Tab")
    tab_to(page, "#answer-button")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", "focus can be seen"
    page.keyboard.press("Enter")
    page.wait_for_selector("#given")
    assert world.words("keyboard") == [("answer", "half-up")]


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


@pytest.mark.req("V5", "V6", "V10")
def test_lines_are_commented_on_by_mouse_and_by_keyboard_and_become_guidance(opened: Opened, world: World) -> None:
    page = opened(world.path("changed"), 375)
    page.keyboard.press("d")
    page.wait_for_url("**/diff")
    tab_to(page, "[data-comment]")
    page.keyboard.press("Enter")
    page.keyboard.type("Say what it accepts <b>.")
    page.keyboard.press("Escape")
    page.locator("[data-comment]").nth(1).click()
    page.keyboard.type("Put the sign in.")
    fits(page)
    clean(page)
    assert page.locator("#send-count").inner_text() == "2 comments become guidance"
    page.reload()
    assert page.locator("textarea").all_text_contents() == ["", ""], "set as values, not as markup"
    assert [area.input_value() for area in page.locator("textarea").all()] == [
        "Say what it accepts <b>.",
        "Put the sign in.",
    ]
    page.locator("textarea").first.focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/diff?said=sent")
    ((word, text),) = world.words("changed")
    assert word == "modify"
    assert "- dedupe.py:1 (`def accept(posting):`): Say what it accepts <b>." in text
    assert '- dedupe.py:2 (`key = "<script>"`): Put the sign in.' in text
    assert page.locator("textarea").count() == 0, "what was sent is no draft any more"


@pytest.mark.req("V6")
def test_a_checkpoint_is_gone_back_to_by_clicking(opened: Opened, world: World) -> None:
    task = worked_on(world.site)
    file = world.site.workspace(world.site.state(task).task).root / "dedupe.py"
    assert file.exists()
    page = opened(f"/t/{world.site.home.name}/{task}", 375)
    for name in ("More", "Checkpoints"):
        page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("listitem").filter(has_text="start").get_by_role("link", name="Roll back…").click()
    assert page.locator("select[name=to] option:checked").inner_text().startswith("start ·")
    page.get_by_role("button", name="Roll back").click()
    page.wait_for_selector("#message")
    assert "kept as a checkpoint" in page.locator("#message").inner_text()
    assert not file.exists()
    assert page.locator(".chip").first.inner_text().startswith("PAUSED")


@pytest.mark.req("V6", "V8")
def test_two_browsers_at_once_the_first_counts_and_the_second_sees_it_and_is_told(opened: Opened, world: World) -> None:
    path = world.path("twice")
    one, two, watching = opened(f"{path}/question/ask-1"), opened(f"{path}/question/ask-1"), opened(path)
    two.locator("textarea").fill("as the tests say")
    two.locator("textarea").blur()
    one.get_by_role("button", name="Answer").click()
    one.wait_for_selector("#given")
    two.wait_for_selector("#given")
    assert "Saved: half-even" in two.locator("#given").inner_text()
    assert two.locator("textarea").input_value() == "as the tests say", "what is being written stays"
    watching.get_by_text("You said answer to ask/1: half-even").wait_for()
    two.get_by_role("button", name="Answer").click()
    two.wait_for_selector("#refused")
    assert "answered already" in two.locator("#refused").inner_text()
    assert len(world.words("twice")) == 1


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
    page.locator("#failing-table summary").click()
    page.evaluate(WATCH_SHIFTS)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate("window.__shift = 0; window.__table = document.getElementById('failing-table')")
    home = opened("/", 375)
    home.evaluate(WATCH_SHIFTS)
    home.evaluate("window.__shift = 0")
    story = Story().start().iterate(failing=("a::b",))
    seen = len(story.events)
    story.iterate(failing=()).iterate(failing=())
    begun = time.monotonic()
    for event in story.events[seen:]:
        world.site.journal.append(task, [event.fact], epoch=lease.epoch, at=datetime.now(UTC))
    until(page, "[...document.querySelectorAll('.figure dd')][2].textContent.trim().startsWith('3')")
    assert time.monotonic() - begun < 5, "on a loaded machine; within a second on an idle one"
    assert page.evaluate("window.__table === document.getElementById('failing-table') && window.__table.open")
    row = f"""document.querySelector('a[href="{world.path("live")}"]').closest('[data-row]')"""
    until(home, f"{row}.querySelector('.num b').textContent === '0'")
    assert max(page.evaluate("window.__shift"), home.evaluate("window.__shift")) <= 0.02
    lease.release()
    until(page, "document.querySelector('.chip').dataset.glyph === 'lost'")


@pytest.mark.req("V5", "V10")
def test_without_scripts_a_page_shows_the_same_and_forms_work(opened: Opened, server: Server, world: World) -> None:
    page = opened(world.path("asking") + "/question/ask-1", java_script_enabled=False)
    page.get_by_role("button", name="Answer").click()
    assert world.words("asking") == [("answer", "half-even")]
    task = worked_on(world.site)
    page.goto(f"{server.address}/t/{world.site.home.name}/{task}/diff")
    page.get_by_role("link", name="3", exact=True).click()
    page.locator("textarea").fill("Return it whole.")
    page.get_by_role("button", name="Send as guidance").click()
    (said,) = world.site.journal.pending(task)
    assert "- dedupe.py:3 (`return key`): Return it whole." in said.text


@pytest.mark.req("V11")
def test_a_read_only_server_shows_everything_and_nothing_on_it_acts(opened: Opened, world: World) -> None:
    server = Server(world.site.home.home, "--read-only")
    try:
        page = opened("/", 1280, of=server)
        for name, tail in (
            *(("pictured", tail) for tail in ("", "/question/ask-1", "/turn/6", "/say", "/say/abort", "/checkpoints")),
            ("changed", "/diff"),
            ("changed", "/diff?comment=1:2"),
            ("paused", "/say/resume"),
            ("limit", ""),
            ("done", ""),
            ("", "/start"),
            ("", "/"),
        ):
            page.goto(server.address + (world.path(name) if name else "") + tail)
            acting = page.evaluate(
                "[...document.querySelectorAll('form[method=post]')].map(f => f.getAttribute('action')).filter(a => a !== '/theme')"
            )
            assert acting == [], page.url
            assert page.locator("textarea, [data-comment]").count() == 0, page.url
            page.keyboard.press("c")
            assert page.locator("textarea").count() == 0, page.url
            assert "read-only" in page.locator("footer").inner_text()
            fits(page)
        clean(page)
    finally:
        server.end()


@pytest.mark.req("V11")
def test_the_link_is_opened_once_and_what_is_kept_of_it_no_script_can_read(opened: Opened, server: Server) -> None:
    page = opened("/static/icon.svg")
    page.context.clear_cookies()
    assert "parse the rows" not in ((page.goto(f"{server.address}/") and page.content()) or "")
    page.goto(f"{server.address}/?token={server.gate.token}")
    assert page.url == f"{server.address}/"
    assert page.evaluate("document.cookie") == ""
    assert server.gate.token not in page.content()
    page.reload()
    assert page.locator("h1").is_visible()
