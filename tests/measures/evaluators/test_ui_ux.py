"""ui-ux: one small page in a real browser, and what happens when it cannot be seen."""

import sys

import pytest
from tests.measures.evaluators.planted import answer_of, found, ground_of, options, trees_of

from flyball.measures.evaluators.toolbox import find_tool
from flyball.measures.evaluators.ui_ux import IN_BROWSER, measure

pytestmark = pytest.mark.req("D21")
BROWSER = all(find_tool(name, __import__("os").environ) for name in ("playwright", "axe", "chromium"))
needs_browser = pytest.mark.skipif(not BROWSER, reason="the browser is not installed: apt install chromium")
SERVE = f"exec {sys.executable} -m http.server $PORT --bind 127.0.0.1"
PAGE = """<!doctype html>
<html>
<head><title>Rooms</title><link rel="icon" href="data:,"></head>
<body><main>
<h1>Rooms</h1>
<p style="color: #ccc; background: #fff">Too pale.</p>
<p id="wide" style="width: 900px">Wide.</p>
<p>Price: undefined</p>
<button id="small" style="width: 20px; height: 20px; outline: none">x</button>
<input name="guest" placeholder="Name" style="min-height: 50px">
<p id="moving" style="animation: spin 1s infinite">Moving.</p>
<style>@keyframes spin { to { opacity: 0.5; } }</style>
<script>console.error("broken")</script>
</main></body></html>
"""


@pytest.mark.slow
@needs_browser
def test_a_page_is_seen_at_three_widths_and_pictures_are_kept(tmp_path):
    ground = ground_of(
        tmp_path, "ui-ux", {"index.html": PAGE}, options=options(start=SERVE), shots=str(tmp_path / "shots")
    )
    results = answer_of(ground, tmp_path)
    assert not isinstance(results, str), results
    assert {"index.html:7 overflow", "index.html:9 target"} <= set(found(results, "responsive"))
    assert "viewport" in " ".join(found(results, "layout"))
    told = found(results, "accessibility")
    for rule in ("color-contrast", "label", "html-has-lang", "focus", "console"):
        assert any(each.endswith(rule) for each in told), (rule, told)
    assert found(results, "animation") == ["index.html:11 motion"]
    assert found(results, "copy") == ["index.html:8 text"]
    assert sorted(path.name for path in (tmp_path / "shots").iterdir()) == [
        "index-1024.png",
        "index-375.png",
        "index-768.png",
    ]
    layout = next(each for each in results if each.name == "layout")
    assert "screenshot: index-375.png" in layout.notes


@pytest.mark.slow
@needs_browser
@pytest.mark.req("D25")
@pytest.mark.parametrize(
    ("start", "url", "said"),
    [
        ("sleep 60", "", "does not listen"),
        ("echo no such script; exit 3", "", "ended before it listened: no such script"),
        (
            f'exec {sys.executable} -c \'import os, socket, time; s = socket.create_server(("127.0.0.1", int(os.environ["PORT"]))); time.sleep(60)\'',
            "",
            "Timeout",
        ),
        ("", "http://127.0.0.1:9", "browser failed"),
    ],
    ids=["never listens", "ends", "never loads", "nobody there"],
)
def test_a_page_that_cannot_be_seen_fails_the_passes_that_need_it(tmp_path, monkeypatch, start, url, said):
    monkeypatch.setattr("flyball.measures.evaluators.browser.LOAD_MS", 1500)
    given = options(start=start, url=url, start_timeout_s=2)
    results = list(measure(trees_of(tmp_path, {"index.html": PAGE}, options=given)))
    failed = [each for each in results if each.status == "fail"]
    assert {each.name for each in failed} == set(IN_BROWSER)
    assert all(said in each.reason for each in failed), failed[0].reason


@pytest.mark.req("D20")
def test_a_missing_browser_fails_the_passes_that_need_it_and_says_how_to_get_one(tmp_path, monkeypatch):
    real = find_tool
    monkeypatch.setattr(
        "flyball.measures.evaluators.toolbox.find_tool",
        lambda name, env: "" if name == "chromium" else real(name, env) or "there",
    )
    results = list(measure(trees_of(tmp_path, {"index.html": PAGE}, options=options(start=SERVE))))
    failed = [each for each in results if each.status == "fail"]
    assert {each.name for each in failed} == set(IN_BROWSER)
    assert all("apt install chromium" in each.reason for each in failed)


def test_without_a_way_to_see_pages_the_sources_are_still_read(tmp_path):
    results = list(measure(trees_of(tmp_path, {"a.css": ".a { width: 17px; }\n.b { transition: height 1s; }\n"})))
    assert found(results, "design tokens") == ["a.css:1 raw-px"]
    assert found(results, "animation") == ["a.css:2 layout-transition"]
    assert {each.name for each in results if each.status == "n/a"} >= {"layout", "responsive"}
