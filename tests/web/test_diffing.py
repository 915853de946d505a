"""V5: a real diff by file, and comments on its lines that become guidance and are marked once delivered."""

from __future__ import annotations

import re

import pytest
from tests.support.builders import Story
from tests.web.conftest import Serve, add, now, place, put, say, worked_on

from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Begun, PersonSpoke
from flyball.core.model.task import EffectId
from flyball.wiring.site import Site

pytestmark = pytest.mark.req("V5")


def test_a_diff_has_colours_numbers_and_no_markup_of_the_code(site: Site, serve: Serve) -> None:
    task = worked_on(site)
    browser = serve()
    for query in ("", "?turn=1", "?since=start"):
        text = browser.get(f"{place(site, task)}/diff{query}").text
        assert "dedupe.py" in text
        assert '<span class="k">return</span>' in text
        assert "&lt;script&gt;" in text
        assert "<script>" not in text
        assert '· 1 file, <span class="plus">+3</span>' in text


def test_a_diff_says_the_width_of_each_column_before_any_row_that_spans_them(site: Site, serve: Serve) -> None:
    text = serve().get(f"{place(site, worked_on(site))}/diff").text
    columns = '<col class="g old"><col class="g"><col class="m"><col>'
    assert text.count(f'<table class="lines"><colgroup>{columns}</colgroup><tbody>') == text.count("<table")


def test_two_comments_become_one_guidance_as_previewed_and_are_marked_as_delivered(site: Site, serve: Serve) -> None:
    task = worked_on(site)
    browser = serve()
    here = place(site, task)
    page = browser.get(f"{here}/diff").text
    older, newer = (re.search(rf'name="{side}" value="([0-9a-f]+)"', page) for side in ("older", "newer"))
    assert older
    assert newer
    fields: dict[str, object] = {"older": older[1], "newer": newer[1], "back": f"{here}/diff"}
    fields |= {
        "path": ["dedupe.py", "dedupe.py"],
        "line": ["2", "3"],
        "comment": ["Put the sign in.", "Return it whole."],
    }
    preview = say(browser, f"{here}/comments/preview", **fields)  # type: ignore[arg-type]
    shown = re.search(r'<pre class="raw" id="preview">(.*?)</pre>', preview.text, re.DOTALL)
    assert shown
    assert say(browser, f"{here}/comments", **fields).status_code == 303  # type: ignore[arg-type]
    (word,) = site.journal.pending(task)
    assert word.word == "modify"
    assert '- dedupe.py:2 (`key = "<script>"`): Put the sign in.' in word.text
    assert "- dedupe.py:3 (`return key`): Return it whole." in word.text
    assert shown[1].replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"') == word.text
    site.journal.append(task, [PersonSpoke("modify", word.text, inbox=word.id)], epoch=0, at=now(), taking=[word.id])
    assert "not delivered yet" in browser.get(f"{here}/diff").text
    turn = RunAgent(EffectId("turn/1"), "tester", "RED", "scripted", "", "do", 1, 1, at=now())
    add(site, task, Begun(turn))
    assert browser.get(f"{here}/diff").text.count("delivered with turn 1") == 2


def test_without_scripts_a_line_is_commented_on_by_its_number(site: Site, serve: Serve) -> None:
    task = worked_on(site)
    text = serve().get(f"{place(site, task)}/diff?comment=1:2").text
    assert '<textarea name="comment"' in text
    assert 'name="line" value="2"' in text


@pytest.mark.parametrize("number", ["9" * 5000, "²", "-1", "0", ""])
def test_an_address_with_an_odd_number_is_answered_without_it(site: Site, serve: Serve, number: str) -> None:
    browser, here = serve(), place(site, worked_on(site))
    for question in ("iteration={}", "turn={}", "comment={}:1", "comment=1:{}"):
        assert browser.get(f"{here}/diff?{question.format(number)}").status_code in {200, 404}, question


def test_a_comment_on_no_line_of_the_diff_is_refused(site: Site, serve: Serve) -> None:
    task = worked_on(site)
    fields = {"older": "0" * 40, "newer": "0" * 40, "path": "dedupe.py", "line": "2", "comment": "x"}
    assert say(serve(), f"{place(site, task)}/comments", **fields).status_code == 400
    assert site.journal.pending(task) == []


def test_a_diff_stands_side_by_side_on_wish_and_needs_no_script_to_be_reached(site: Site, serve: Serve) -> None:
    here = place(site, worked_on(site))
    browser = serve()
    unified, split = browser.get(f"{here}/diff?turn=1").text, browser.get(f"{here}/diff?turn=1&view=split").text
    assert 'href="?turn=1&amp;view=split"' in unified
    assert 'class="lines split"' in split
    assert 'class="x came"' in split
    assert "dedupe.py" in split
    for page in (unified, split):
        assert "data-comment" not in page, "a script makes the buttons"
        assert 'tabindex="-1"' not in page.partition('id="comments"')[2], "without one a line is reached by its number"


def test_a_diff_of_an_iteration_is_its_turns_and_one_of_an_item_without_work_says_so(site: Site, serve: Serve) -> None:
    task = worked_on(site)
    browser = serve()
    assert browser.get(f"{place(site, task)}/diff?item=9.9").status_code == 404
    done = put(site, Story().start().iterate(failing=("a::b",)))
    assert "iteration=1" in browser.get(place(site, done)).text
