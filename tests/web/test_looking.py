"""V1 to V5, V8 and V12 without a browser: what the pages hold."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, short_tdd_run, tdd_task
from tests.web.conftest import QUESTION, Serve, asking, long_story, place, put

from flyball.clock import system_clock
from flyball.config.home import RepositoryHome, known_repositories
from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Begun, TaskStopped
from flyball.core.model.task import EffectId, Item
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.journal.sqlite import SqliteJournal
from flyball.markup.rendering import asset
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.summary import Known, Place
from flyball.projections.views.situation import Seen
from flyball.web.live import Hub, regions
from flyball.web.reading import measured_of
from flyball.wiring.site import Site
from flyball.wiring.spending import count_day


@pytest.mark.req("V1")
def test_every_repository_of_the_home_is_served_with_all_its_tasks(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    assert known_repositories(site.home.home) == {site.home.name: site.repository.root}
    browser = serve()
    assert task in browser.get("/").text
    assert browser.get(f"/r/{site.home.name}").status_code == 200
    assert browser.get("/r/nothing").status_code == 404
    new = put(site, Story().start())
    assert new in browser.get("/").text, "a task that was opened since is there"


def test_the_page_of_a_repository_sums_what_was_spent_in_it_alone(site: Site, serve: Serve) -> None:
    put(site, short_tdd_run())
    other = RepositoryHome(site.home.home, "other-1").prepare()
    with SqliteJournal.open(other.journal) as journal:
        put(replace(site, journal=journal), short_tdd_run())
    one = count_day(site.home.home, system_clock.now(), site.home.name)
    both = count_day(site.home.home, system_clock.now())
    assert both.known_usd == pytest.approx(2 * one.known_usd)
    assert f"Spent today: {one.known_usd:.2f} USD" in serve().get(f"/r/{site.home.name}").text
    assert f"Spent today: {both.known_usd:.2f} USD" in serve().get("/").text


@pytest.mark.req("V1")
def test_a_repository_that_was_moved_away_is_named_and_hides_no_other(site: Site, serve: Serve, tmp_path: Path) -> None:
    put(site, short_tdd_run())
    gone = site.home.home / "repos" / "gone-1"
    gone.mkdir()
    (gone / "repository").write_text(str(tmp_path / "gone"))
    text = serve().get("/").text
    assert "parse the rows" in text
    assert str(tmp_path / "gone") in text


@pytest.mark.req("V1")
def test_the_home_that_is_served_counts_whatever_the_environment_names(
    site: Site, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = put(site, short_tdd_run())
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "other"))
    assert task in serve().get("/").text
    assert not (tmp_path / "other").exists()


@pytest.mark.req("V2")
def test_home_has_what_needs_a_person_first_and_nothing_twice(site: Site, serve: Serve) -> None:
    ended = put(site, short_tdd_run())
    asks = put(site, asking())
    lost = put(site, Story().start())
    paused = put(site, Story().start().iterate().add(TaskStopped("paused", "paused by a person")))
    text = serve().get("/").text
    order = re.findall(r'data-task="([^"]+)"', text)
    assert order == [asks, lost, paused, ended]
    assert "<h1>2 tasks need you</h1>" in text
    assert "(2) 2 tasks need you" in text


@pytest.mark.req("V2")
def test_home_without_tasks_says_what_to_type(site: Site, serve: Serve) -> None:
    text = serve().get("/").text
    assert "Nothing needs you" in text
    assert "flyball demo" in text


@pytest.mark.req("V3")
def test_a_task_shows_decision_plots_with_tables_iterations_checkpoints_and_limits(site: Site, serve: Serve) -> None:
    task = put(site, long_story(37))
    text = serve().get(place(site, task)).text
    assert text.count('<svg class="plot w') == 6
    assert text.count("The same as a table") == 2
    table = text.partition('id="failing-table"')[2].partition("</table>")[0]
    assert table.count("<tr>") == 38
    for told in (
        "CONTINUE.",
        "Only what went wrong",
        "23 earlier iterations",
        "Checkpoints",
        "Learnings",
        "Calls this hour",
    ):
        assert told in text
    assert len(text) <= 400_000


@pytest.mark.req("V3", "V12")
def test_five_hundred_iterations_weigh_within_their_limit_and_ten_thousand_are_paged(site: Site, serve: Serve) -> None:
    browser = serve()
    task = put(site, long_story(500))
    first = browser.get(place(site, task))
    assert len(first.content) <= 600_000
    page = browser.get(f"{place(site, task)}/iterations?before=200").text
    assert page.count('id="iteration-') == 50
    assert 'id="iteration-199"' in page
    assert len(browser.get(f"{place(site, task)}/report").content) <= 1_000_000


@pytest.mark.req("V3")
def test_before_its_first_verdict_a_task_says_what_it_waits_for(site: Site, serve: Serve) -> None:
    text = serve().get(place(site, put(site, Story()))).text
    assert "the first verdict comes when turn 1 is measured" in text


@pytest.mark.req("V4")
def test_between_a_turn_and_its_verdict_the_page_says_that_it_is_being_measured() -> None:
    story = Story().start().turn()

    def told(*, controlled: bool = True) -> str:
        history = TaskHistory(story.events)
        found = Known(Place("r", "r"), story.state, history, (), Seen(controlled), story.at)
        return measured_of(found, history.turns[0])

    assert told() == "nothing yet: its verdict is still to come"
    assert told(controlled=False) == "nothing: the turn was not judged"
    tree = story.state.checkpoints[-1].commit
    story.add(Begun(Measure(EffectId("measure/1"), kind="gates", candidate=tree, base=tree, accepted=tree)))
    assert told() == "nothing yet: it is being measured"


def running_turn(item: str = "") -> RunAgent:
    return RunAgent(EffectId("turn/1"), "tester", "RED", "scripted", "", prompt="do it", iteration=1, turn=1, item=item)


def test_a_running_turn_is_linked_from_its_task(site: Site, serve: Serve) -> None:
    begun = running_turn()
    task = put(site, Story().start().add(Begun(begun)))
    browser = serve()
    assert f'<a href="{place(site, task)}/turn/1">turn 1, tester</a>' in browser.get(place(site, task)).text
    assert browser.get(f"{place(site, task)}/turn/1").status_code == 200


def test_an_aborted_task_asks_nothing_and_runs_nothing(site: Site, serve: Serve) -> None:
    story = Story(replace(tdd_task(), items=(Item("AC-1", "rows", status="in-progress"),))).start().ask(QUESTION)
    begun = running_turn("AC-1")
    task = put(site, story.add(Begun(begun)).add(TaskStopped("aborted", "aborted by a person")))
    browser, here = serve(), place(site, task)
    text = browser.get(here).text
    assert "<b>ABORTED.</b>" in text
    assert "1 not finished" in text
    for gone in ("BLOCKED", "waits for you", "Answer (a)", "running-turns", "1 running"):
        assert gone not in text, gone
    asked = browser.get(f"{here}/question/ask-1").text
    assert "It needs no answer any more" in asked
    assert "answer-form" not in asked
    assert "waits for an answer" not in browser.get(f"{here}/report").text


def transcript(site: Site, task: str, lines: list[bytes], turn: int = 1) -> Path:
    folder = site.home.turns(task) / f"{turn:04d}-1"  # type: ignore[arg-type]
    folder.mkdir(parents=True)
    (folder / "stdout").write_bytes(b"\n".join(lines) + b"\n")
    return folder


@pytest.mark.req("V4")
def test_a_turn_reads_as_a_conversation_with_prompt_claim_and_measurement(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    transcript(site, task, [b"I read the tests first.", b"Then I write the code."], turn=2)
    text = serve().get(f"{place(site, task)}/turn/2").text
    assert "I read the tests first.\nThen I write the code." in text
    assert "do it" in text, "the prompt"
    assert "complete, done" in text
    assert "11 passed, 1 failed" in text
    assert "≠" in text
    assert "it is done" in text
    assert "1,000 tokens in, 100 out" in text


@pytest.mark.req("V4")
def test_a_transcript_of_a_hundred_megabytes_is_paged_and_never_loaded_whole(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    folder = transcript(site, task, [])
    with (folder / "stdout").open("wb") as file:
        for n in range(100):
            file.write(f"line {n} ".encode() + b"x" * (1024 * 1024 - 10) + b"\n")
    browser = serve()
    for view in ("", "?view=raw", "?view=raw&at=52428800", "?at=99999999"):
        before = system_clock.monotonic()
        answer = browser.get(f"{place(site, task)}/turn/1{view}")
        assert answer.status_code == 200
        assert len(answer.content) < 1_500_000
        assert system_clock.monotonic() - before < 20
    assert "Later" in browser.get(f"{place(site, task)}/turn/1").text
    assert "Earlier" in browser.get(f"{place(site, task)}/turn/1?view=raw&at=52428800").text


@pytest.mark.req("V4")
def test_a_turn_that_left_nothing_says_so(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    assert "This agent left no transcript." in serve().get(f"{place(site, task)}/turn/1").text
    assert serve().get(f"{place(site, task)}/turn/99").status_code == 404


def test_the_regions_of_a_page_are_what_stands_between_their_borders() -> None:
    html = (
        "<title>(1) x</title><div><!--live:head--><h1>a</h1><!--/live:head--></div><!--live:band-->b<!--/live:band-->"
    )
    assert regions(html) == {"head": "<h1>a</h1>", "band": "b", "": "(1) x"}


@pytest.mark.req("V8", "V12")
def test_twenty_pages_on_one_task_are_made_once_and_the_disk_is_asked_once() -> None:
    asked: list[int] = []
    made: list[int] = []

    def version() -> int:
        asked.append(1)
        return 7

    async def make() -> str:
        made.append(1)
        await asyncio.sleep(0)
        return "<!--live:a-->x<!--/live:a-->"

    async def twenty() -> None:
        hub = Hub(version)
        marks = await asyncio.gather(*(hub.version() for _ in range(20)))
        await asyncio.gather(*(hub.page("/t", mark or 7, make) for mark in marks))

    asyncio.run(twenty())
    assert len(made) == 1
    assert len(asked) == 1


@pytest.mark.req("V8")
def test_what_is_there_changes_its_version_and_what_is_not_leaves_it(site: Site, serve: Serve) -> None:
    task = put(site, Story().start())
    sites = serve().app.state.sites  # type: ignore[attr-defined]
    before = sites.version()
    assert sites.version() == before
    site.journal.post(task, "pause", at=system_clock.now())
    assert sites.version() != before


@pytest.mark.req("V8")
def test_a_page_that_joins_late_has_everything_and_holds_up_no_end_of_the_server(site: Site, serve: Serve) -> None:
    here = place(site, put(site, short_tdd_run()))
    browser = serve()
    ending = iter([False, True])
    browser.app.state.hub.ending = lambda: next(ending)  # type: ignore[attr-defined]
    stream = browser.get("/live", params={"path": here}).text
    found = re.search(r"^event: all\ndata: (.*)$", stream, re.MULTILINE)
    assert found
    assert json.loads(found[1]).keys() == regions(browser.get(here).text).keys()


@pytest.mark.req("V41")
def test_metrics_are_there_for_prometheus_with_the_token_as_bearer(site: Site, serve: Serve) -> None:
    from flyball.web.access import token_of

    put(site, short_tdd_run())
    stranger = serve(logged_in=False)
    assert stranger.get("/metrics").status_code == 403
    answer = stranger.get("/metrics", headers={"Authorization": f"Bearer {token_of(site.home.home)}"})
    assert answer.status_code == 200
    assert 'flyball_task_turns_total{repository="ledger",task="001-parse-rows",workflow="tdd"} 6' in answer.text
    assert 'state="DONE"' in answer.text


@pytest.mark.req("V9")
def test_the_page_can_be_installed(serve: Serve) -> None:
    assert len(asset("page.js")) <= 15_000
    manifest = json.loads(serve().get("/static/manifest.webmanifest").text)
    assert manifest["display"] == "standalone"
    assert manifest["start_url"] == "/"
    assert serve().get("/static/../app.py").status_code in {403, 404}


@pytest.mark.req("V8")
def test_no_clock_of_a_page_stands_still(site: Site, serve: Serve) -> None:
    task = put(site, Story().start().iterate())
    lease = Lease.take(site.journal, site.home.locks, task_scope(task), this_process(Story().at))
    browser = serve()
    try:
        page, home = browser.get(place(site, task)).text, browser.get("/").text
    finally:
        lease.release()
    assert re.search(r'<dt>Time</dt><dd class="[a-z]*"><time data-took="', page)
    assert re.search(r"<dt>Time</dt><dd><time data-took=", page), "among the limits, too"
    assert re.search(r'<b><time data-took="[^"]*">[^<]*</time></b>at work', home)
    assert "Last change <time" in regions(page)["facts"], "and told anew with each fact"
    assert "As of" not in page.partition("<footer>")[2]
    stopped = browser.get(place(site, put(site, short_tdd_run()))).text
    assert "data-took" not in stopped


@pytest.mark.req("V3", "V12")
def test_thousands_of_checkpoints_are_paged_and_an_old_one_can_still_be_chosen(site: Site, serve: Serve) -> None:
    task = put(site, long_story(120), at_once=100)
    browser, here = serve(), place(site, task)
    newest = browser.get(f"{here}/checkpoints").text
    assert newest.count("<li data-row>") == 50
    assert ">turn-120</a>" in newest
    older = re.search(r'href="([^"]+before=\d+)">(\d+) earlier checkpoints', newest)
    assert older
    assert int(older[2]) == len(site.view(task).history.checkpoints) - 50
    assert browser.get(older[1]).text.count("<li data-row>") == 50
    form = browser.get(f"{here}/say/rollback?to=turn-3").text
    assert form.count("<option") == 51
    assert " selected>turn-3 ·" in form
    assert ">turn-4 ·" not in form


@pytest.mark.req("V6")
def test_a_deadline_that_has_passed_counts_down_no_more_and_says_what_happens(site: Site, serve: Serve) -> None:
    late = asking(deadline_at=system_clock.now() - timedelta(minutes=5))
    here = place(site, put(site, late))
    browser = serve()
    asked = browser.get(f"{here}/question/ask-1").text
    assert "half-even, is taken once somebody resumes the task, unless you answer first." in asked
    for page in (asked, browser.get(here).text, browser.get("/").text):
        assert "data-until" not in page
    assert "deadline passed" in browser.get(here).text


@pytest.mark.req("V2")
def test_a_card_of_home_names_stage_and_spend(site: Site, serve: Serve) -> None:
    put(site, asking())
    assert re.search(r"ledger · 001 · RED · \$\d", serve().get("/").text)


@pytest.mark.req("V4")
def test_a_reviewers_turn_shows_what_it_found_beside_its_summary(site: Site, serve: Serve) -> None:
    found = Finding("minor", "gcd2(0, -1) raises ZeroDivisionError", "gcd2.py", 7)
    story = Story(stage="GREEN").start().turn(Claim()).leave("QA")
    task = put(site, story.turn(Claim(verdict="pass", findings=(found,))))
    text = serve().get(f"{place(site, task)}/turn/2").text
    assert "<b>minor</b> gcd2(0, -1) raises ZeroDivisionError <code>gcd2.py:7</code>" in text
