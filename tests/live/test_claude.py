"""Claude Code for real: driven through flyball against a scripted model."""

import json

import pytest
from tests.live.conftest import LONG
from tests.live.looking import left_behind, published, terminated
from tests.support.model_script import Call, Fault, ModelAnswer

from flyball.agents.dialects.claude import CLAUDE

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PLAN_LIMIT = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    "anthropic-ratelimit-unified-5h-utilization": "1",
}


def limited(seconds):
    reset = {f"anthropic-ratelimit-unified-{name}": f"{{now+{seconds}}}" for name in ("reset", "5h-reset")}
    return ModelAnswer(fault=Fault(429, "rate_limit_error", "This would exceed your limit.", {**PLAN_LIMIT, **reset}))


def offline(server, *, plan=False):
    key = {"CLAUDE_CODE_OAUTH_TOKEN": "dummy"} if plan else {"ANTHROPIC_API_KEY": "dummy"}
    return {
        **key,
        "ANTHROPIC_BASE_URL": server.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }


def called(name, **inputs):
    return ModelAnswer(calls=(Call(name, inputs),))


@pytest.fixture(autouse=True)
def _there(live):
    live.program("claude")


@pytest.mark.req("C2")
def test_an_edit_a_conversation_that_goes_on_and_what_each_turn_cost(live):
    readme = live.repository / "README.md"
    server = live.serve(
        called("Read", file_path=str(readme)),
        called("Edit", file_path=str(readme), old_string="small", new_string="tiny"),
        live.reported("edited"),
        live.reported("again"),
    )
    prompt = 'Edit it, then report {"nonce": "{nonce}"}.\n'
    first = live.turn(CLAUDE, env=offline(server), prompt=LONG + prompt)
    assert (first.kind, first.detail) == ("ok", "")
    assert "word Edit it, then report" in str(server.requests[-1].body)
    assert "tiny calculator" in readme.read_text()
    assert (first.claim.summary, first.claim.exit_signal, first.claim.source) == ("edited", True, "fenced-block")
    assert (first.usage.input_tokens, first.usage.output_tokens, first.usage.estimated) == (300, 60, False)
    assert first.usage.usd > 0
    assert any("Edit" in line for line in live.shown(CLAUDE))
    going_on = {"session": first.session, "session_usage": first.session_usage}
    second = live.turn(CLAUDE, env=offline(server), prompt=prompt, **going_on)
    assert (second.kind, second.session, second.claim.summary) == ("ok", first.session, "again")
    assert (second.usage.input_tokens, second.usage.output_tokens) == (100, 20)
    assert "edited" in str(server.requests[-1].body["messages"])


def test_it_can_write_its_report_but_not_its_users_settings(live):
    settings = live.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    report = '{"nonce": "\'$FLYBALL_NONCE\'", "status": "complete", "summary": "by file"}'
    server = live.serve(
        ModelAnswer(shell=f"echo '{report}' > $FLYBALL_REPORT_FILE; echo evil > ~/.claude/settings.json"),
        ModelAnswer(say="Done."),
    )
    ended = live.turn(CLAUDE, env=offline(server))
    assert (ended.kind, ended.claim.source, ended.claim.summary) == ("ok", "report-file", "by file")
    assert settings.read_text() == "{}"


def test_a_denial_is_named(live):
    server = live.serve(
        called("Write", file_path=str(live.repository / "x"), content="x"), ModelAnswer(say="I was not allowed.")
    )
    args = ("--permission-mode", "dontAsk", "--allowedTools", "Read")
    ended = live.turn(CLAUDE, env=offline(server), cli={"args": args})
    assert ended.kind == "denied"
    assert "Write" in ended.detail
    assert not (live.repository / "x").exists()


def test_a_conversation_that_is_gone_asks_for_a_fresh_one(live):
    ended = live.turn(CLAUDE, env=offline(live.serve()), session="01234567-89ab-4def-8123-456789abcdef")
    assert (ended.kind, "No conversation found" in ended.detail) == ("context_full", True)


@pytest.mark.req("C11")
def test_a_usage_limit_is_waited_out_and_the_task_goes_from_red_to_done(live):
    def write(path, text):
        return called("Write", file_path=str(live.repository / path), content=text)

    ran = live.run("claude", env=offline(live.serve(limited(5), *live.whole_task(write)), plan=True))
    assert (ran.code, ran.status.get("decision")) == (0, "DONE"), ran.stderr
    assert [turn["kind"] for turn in ran.turns()] == ["usage_limit", *["ok"] * 5]
    assert "5-hour limit" in ran.turns()[0]["detail"]
    assert ran.facts("guard.held")
    assert ran.status["usage"]["usd"] > 0
    assert "def multiply" in published(live, ran.status["branch"], "calc/__init__.py")


def test_a_question_is_put_to_a_person(live):
    options = [{"label": "SQLite", "description": "small"}, {"label": "Postgres", "description": "large"}]
    question = {"question": "Which database?", "header": "DB", "multiSelect": False, "options": options}
    server = live.serve(called("AskUserQuestion", questions=[question]), ModelAnswer(say="I need an answer."))
    ran = live.run("claude", env=offline(server))
    assert ran.code == 3, ran.stderr
    assert [turn["kind"] for turn in ran.turns()] == ["question"]
    asked = json.dumps(ran.status["questions"])
    assert "Which database?" in asked
    assert "Postgres" in asked


def test_without_a_login_there_is_no_agent(live):
    env = {name: value for name, value in offline(live.serve()).items() if "KEY" not in name}
    ran = live.run("claude", env=env)
    assert ran.code == 6, ran.stderr
    assert "/login" in ran.stderr + json.dumps(ran.status)


def test_sigterm_leaves_no_process(live):
    server = live.serve(ModelAnswer(say="Working.", calls=(Call("Bash", {"command": "tail -f /dev/null"}),)))
    assert terminated(live, "claude", server, env=offline(server)) == 130
    assert left_behind(live) == []
