"""V6 and V7 without a browser: every word, what asks first, and what starts apart from the server."""

from __future__ import annotations

import pytest
from tests.support.builders import Story, short_tdd_run, two_lanes_asking
from tests.web.conftest import QUESTION, Serve, asking, place, put, say

from flyball import process
from flyball.config import file as config_file, trust
from flyball.core.model.batch_events import LaneClosed
from flyball.core.model.events import PersonSpoke, TaskStopped
from flyball.web import starting
from flyball.web.live import regions
from flyball.wiring.site import Site


class Commands:
    """Stands in for the detached commands: what would have been run, and how it ends."""

    def __init__(self) -> None:
        self.run: list[list[str]] = []
        self.end = process.Captured(0, b"", b"")

    def __call__(self, argv: list[str], **_: object) -> process.Captured:
        self.run.append(argv[3:])
        return self.end


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands()
    monkeypatch.setattr(starting, "capture", made)
    return made


@pytest.mark.req("V6")
def test_an_answer_is_kept_and_the_second_person_is_told(site: Site, serve: Serve) -> None:
    task = put(site, asking())
    one, two = serve(), serve()
    here = f"{place(site, task)}/question/ask-1"
    open_form = one.get(here).text
    assert 'value="half-even"' in open_form
    assert regions(open_form)["told"] == ""
    assert 'http-equiv="refresh"' not in open_form, "it would take away what is being typed"
    assert say(one, here, answer="half-up").status_code == 303
    assert [(w.word, w.text, w.question) for w in site.journal.pending(task)] == [("answer", "half-up", "ask/1")]
    second = say(two, here, answer="half-even")
    assert second.status_code == 409
    assert "answered already" in second.text
    assert "Saved: half-up" in two.get(here).text
    assert len(site.journal.pending(task)) == 1
    assert "Resume now" in one.get(here).text, "nobody runs the task"
    assert "Saved: half-up" in regions(two.get(here).text)["told"], "whoever has the form open sees it"


@pytest.mark.req("V6")
def test_the_form_of_one_subtasks_question_answers_that_one(site: Site, serve: Serve) -> None:
    task = put(site, two_lanes_asking(QUESTION))
    here, browser = place(site, task), serve()
    assert f'action="{here}/question/2.2-ask-1"' in browser.get(f"{here}/question/2.2-ask-1").text
    assert say(browser, f"{here}/question/2.2-ask-1", answer="half-up").status_code == 303
    assert [(w.text, w.question) for w in site.journal.pending(task)] == [("half-up", "2.2/ask/1")]


@pytest.mark.req("V6")
def test_a_question_that_was_withdrawn_has_no_form_and_its_siblings_still_has(site: Site, serve: Serve) -> None:
    story = two_lanes_asking(QUESTION).add(LaneClosed("2.1", "given up"))
    here, browser = place(site, put(site, story)), serve()
    assert "The task went on without an answer" in browser.get(f"{here}/question/2.1-ask-1").text
    assert 'id="answer-form"' not in browser.get(f"{here}/question/2.1-ask-1").text
    assert 'id="answer-form"' in browser.get(f"{here}/question/2.2-ask-1").text


@pytest.mark.req("V6")
def test_a_word_to_one_subtask_leaves_the_form_of_the_other_ones_question(site: Site, serve: Serve) -> None:
    task = put(site, two_lanes_asking(QUESTION).add(PersonSpoke("reset", question="2.1/ask/1", lane="2.1")))
    here, browser = place(site, task), serve()
    assert "with reset by a person" in browser.get(f"{here}/question/2.1-ask-1").text
    assert 'value="half-even"' in browser.get(f"{here}/question/2.2-ask-1").text


@pytest.mark.req("V6")
def test_a_refused_answer_keeps_what_was_typed(site: Site, serve: Serve) -> None:
    task = put(site, asking(name="choice", options=QUESTION.options[:2], default=None))
    answer = say(serve(), f"{place(site, task)}/question/ask-1", answer="", text="neither of them")
    assert answer.status_code == 409
    assert "is not among the answers" in answer.text
    assert site.journal.pending(task) == []


@pytest.mark.req("V6")
def test_lines_are_kept_with_one_line_end_and_a_refused_form_shows_them_as_typed(site: Site, serve: Serve) -> None:
    task, ended = put(site, asking()), put(site, Story().start().add(TaskStopped("aborted", "by a person")))
    here, browser = place(site, task), serve()
    refused = say(browser, f"{place(site, ended)}/say/modify", text="one\r\ntwo <b>\u200d")
    assert refused.status_code == 409
    assert ">one\ntwo &lt;b&gt;\u200d</textarea>" in refused.text
    say(browser, f"{here}/say/modify", text="one\r\ntwo\rthree\0")
    assert [word.text for word in site.journal.pending(task)] == ["one\ntwo\nthree\ufffd"]


def test_a_link_that_fills_in_the_form_hides_no_sign(site: Site, serve: Serve) -> None:
    assert site.journal.tasks() == []
    assert "a⟨202E⟩b</textarea>" in serve().get("/start", params={"request": "a\u202eb"}).text


@pytest.mark.req("V6")
@pytest.mark.parametrize("word", ["modify", "reset", "skip"])
def test_a_word_reaches_the_task_as_it_would_from_a_terminal(site: Site, serve: Serve, word: str) -> None:
    task = put(site, Story().start().iterate())
    answer = say(serve(), f"{place(site, task)}/say/{word}", text="mind the sign", sure="yes")
    assert answer.status_code == 303
    assert [w.word for w in site.journal.pending(task)] == [word]


@pytest.mark.req("V6")
@pytest.mark.parametrize("word", ["skip", "abort"])
def test_what_cannot_be_undone_asks_first(site: Site, serve: Serve, word: str) -> None:
    task = put(site, Story().start().iterate())
    browser = serve()
    assert "cannot be undone" in browser.get(f"{place(site, task)}/say/{word}").text
    assert say(browser, f"{place(site, task)}/say/{word}").status_code == 409
    assert site.journal.pending(task) == []
    assert site.state(task).stopped is None


@pytest.mark.req("V6")
def test_words_that_do_not_fit_are_refused_with_the_reason(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    browser = serve()
    told = say(browser, f"{place(site, task)}/say/modify", text="more")
    assert told.status_code == 409
    assert "accepts no command" in told.text
    paused = put(site, Story().start())
    assert "is not running" in say(browser, f"{place(site, paused)}/say/pause").text
    assert say(browser, f"{place(site, paused)}/say/dance").status_code == 404
    assert say(browser, f"{place(site, paused)}/say/modify", text=" ").status_code == 409


@pytest.mark.req("V6", "V7")
def test_resume_and_lifting_a_limit_run_a_command_apart_from_the_server(
    site: Site, serve: Serve, commands: Commands
) -> None:
    task = put(site, Story().start().iterate())
    browser = serve()
    assert say(browser, f"{place(site, task)}/say/resume", budget_usd="12.5", max_turns="40").status_code == 303
    assert commands.run == [["resume", task, "--budget-usd", "12.5", "--max-turns", "40", "--detach"]]
    assert say(browser, f"{place(site, task)}/say/resume", max_turns="-1; rm").status_code == 409
    done = put(site, short_tdd_run())
    assert say(browser, f"{place(site, done)}/say/reopen", text="- one more").status_code == 303
    assert commands.run[-1] == ["reopen", done, "- one more", "--detach"]


@pytest.mark.req("V7")
def test_a_form_starts_a_task_with_trusted_settings_and_installed_agents_only(
    site: Site, serve: Serve, commands: Commands
) -> None:
    (site.repository.root / "plan.md").write_text("# Plan\n")
    toml = site.repository.root / "flyball.toml"
    toml.write_text('agent = "mine"\n[agents.mine]\ncommand = ["true"]\n')
    browser = serve()
    fields = {"repo": site.home.name, "request": "--sandbox none; rm -rf /", "workflow": "quick", "max_turns": "5"}
    assert "mine" not in browser.get("/start").text, "nobody agreed to what the file runs"
    assert say(browser, "/start", agent="mine", **fields).status_code == 409
    found = config_file.read(site.repository.root)
    assert found is not None
    trust.record(site.home, found)
    assert "mine" in browser.get("/start").text
    assert say(browser, "/start", agent="mine", document="plan.md", attended="yes", **fields).status_code == 303
    words = [
        "run",
        "--attended",
        "--from",
        "plan.md",
        "--workflow",
        "quick",
        "--agent",
        "mine",
        "--max-turns",
        "5",
        "--new",
        "--detach",
    ]
    assert commands.run == [[*words, "--", "--sandbox none; rm -rf /"]]
    assert say(browser, "/start", attended="no", **fields).status_code == 303
    assert commands.run[-1][:2] == ["run", "--unattended"]


@pytest.mark.req("V7")
@pytest.mark.parametrize(
    "bad",
    [
        {"agent": "sh -c id"},
        {"workflow": "none-such"},
        {"document": "../outside.md"},
        {"document": "/etc/passwd"},
        {"document": "missing.md"},
        {"request": "", "document": ""},
        {"repo": "other-1"},
        {"budget_usd": "much"},
        {"document": "a\0b"},
        {"request": "x" * 200_000},
    ],
)
def test_what_a_form_may_not_start_is_refused_and_nothing_runs(
    site: Site, serve: Serve, commands: Commands, bad: dict[str, str]
) -> None:
    fields = {"repo": site.home.name, "request": "add a page", **bad}
    answer = say(serve(), "/start", **fields)
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert commands.run == []


@pytest.mark.req("V7")
def test_what_the_command_refuses_is_told_and_what_was_typed_is_kept(
    site: Site, serve: Serve, commands: Commands
) -> None:
    commands.end = process.Captured(2, b"", b"flyball: flyball.toml is not trusted. Type: flyball trust\n")
    answer = say(serve(), "/start", repo=site.home.name, request="add a page")
    assert answer.status_code == 409
    assert "flyball.toml is not trusted" in answer.text
    assert '<div class="command"><code>flyball trust</code>' in answer.text.partition('id="refused"')[2][:200]
    assert "add a page" in answer.text


def test_the_theme_is_kept_in_a_cookie_and_no_other_value_is(serve: Serve) -> None:
    browser = serve()
    assert "theme=dark" in say(browser, "/theme", theme="dark", back="/").headers["set-cookie"]
    assert "theme=system" in say(browser, "/theme", theme="<script>", back="/").headers["set-cookie"]
    assert 'data-theme="dark"' in (say(browser, "/theme", theme="dark"), browser.get("/"))[1].text
