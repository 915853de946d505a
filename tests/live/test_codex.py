"""Codex itself, driven by flyball, its model scripted."""

from datetime import UTC, datetime

import pytest
from tests.live.conftest import LONG, Live
from tests.live.looking import left_behind, published, terminated, tokens
from tests.support.model_script import Call, Fault, ModelAnswer
from tests.support.model_server import ModelServer

from flyball.agents.dialects.codex import CODEX

pytestmark = pytest.mark.slow

ENV = {"OPENAI_API_KEY": "dummy"}
SETTINGS = """\
model = "gpt-5.5"
model_provider = "local"
analytics.enabled = false
features.plugins = false

[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
PATCH = "*** Begin Patch\n*** Update File: README.md\n@@\n-# calc\n+# calculator\n*** End Patch\n"
LATER = datetime(2036, 1, 5, 9, 30, 15, tzinfo=UTC)


def limited(until: int | str) -> ModelAnswer:
    """A spent plan, and when it can be used again, in seconds since 1970."""
    headers = {"used-percent": "100.0", "window-minutes": "300", "reset-at": str(until)}
    error = {"type": "usage_limit_reached", "message": "m", "plan_type": "plus", "resets_at": until}
    return ModelAnswer(
        fault=Fault(
            429, headers={f"x-codex-primary-{name}": said for name, said in headers.items()}, body={"error": error}
        )
    )


@pytest.fixture
def codex(live: Live) -> Live:
    live.program("codex")
    return live


def served(codex: Live, *steps: ModelAnswer) -> ModelServer:
    """A scripted model, and a Codex that is set up for it."""
    server = codex.serve(*steps)
    folder = codex.home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(SETTINGS.replace("{url}", server.url))
    return server


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_whole_task_goes_from_red_to_done_and_waits_out_a_usage_limit_on_the_way(codex: Live) -> None:
    served(codex, limited("{now+5}"), *codex.whole_task())

    ran = codex.run("codex", env=ENV)

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.stderr
    assert [turn["kind"] for turn in ran.turns()] == ["usage_limit", *["ok"] * 5]
    assert [fact["guard"] for fact in ran.facts("guard.held")] == ["provider"]
    assert ran.status["iterations"] == 5
    assert "multiply" in published(codex, ran.status["branch"], "calc/__init__.py")


def test_its_own_patch_tool_edits_the_tree_though_its_settings_are_read_only(codex: Live) -> None:
    served(codex, ModelAnswer(say="I will edit.", calls=(Call("apply_patch", PATCH),)), codex.reported("edited"))

    turn = codex.turn(CODEX, env=ENV, prompt='Edit the file, and report with "nonce": "{nonce}".\n')

    assert (turn.kind, turn.detail, turn.claim.exit_signal) == ("ok", "", True)
    assert (codex.repository / "README.md").read_text().startswith("# calculator\n")
    assert "I will edit." in codex.shown(CODEX)
    assert "trust_level" not in (codex.home / ".codex" / "config.toml").read_text()


@pytest.mark.req("C11")
def test_a_usage_limit_is_told_with_its_end_to_the_second(codex: Live) -> None:
    served(codex, limited(int(LATER.timestamp())))

    turn = codex.turn(CODEX, env=ENV)

    assert (turn.kind, turn.reset_at) == ("usage_limit", LATER)


def test_a_command_the_users_rules_forbid_is_a_denial_with_its_name(codex: Live) -> None:
    served(codex, ModelAnswer(shell="git push origin main"), ModelAnswer(say="I was not allowed to."))
    rules = codex.home / ".codex" / "rules"
    rules.mkdir()
    (rules / "default.rules").write_text('prefix_rule(pattern=["git", "push"], decision="forbidden")\n')

    turn = codex.turn(CODEX, env=ENV)

    assert turn.kind == "denied"
    assert "git push origin main" in turn.detail


@pytest.mark.e2e
def test_a_question_in_its_last_words_becomes_a_question_of_flyballs(codex: Live) -> None:
    served(codex, ModelAnswer(say="I have looked at the code.\n\nFloats or integers?"))

    ran = codex.run("codex", env=ENV)

    assert (ran.code, ran.status["decision"]) == (3, "BLOCKED"), ran.stderr
    assert [question["text"] for question in ran.status["questions"]] == ["Floats or integers?"]


@pytest.mark.req("C2")
def test_a_session_goes_on_and_its_total_is_not_counted_twice(codex: Live) -> None:
    server = served(codex, codex.by_shell("one.txt", "1\n"), codex.reported("one"), codex.reported("two"))

    first = codex.turn(CODEX, env=ENV, prompt="Write one.txt, please.\n")
    second = codex.turn(CODEX, env=ENV, prompt="And now?\n", session=first.session, session_usage=first.session_usage)

    assert [tokens(first), tokens(second)] == [(200, 40), (100, 20)]
    assert second.session == first.session
    assert "Write one.txt, please." in str(server.requests[-1].body)


def test_a_prompt_longer_than_a_command_line_may_be_arrives_whole(codex: Live) -> None:
    server = served(codex, codex.reported("read it"))

    turn = codex.turn(CODEX, env=ENV, prompt=f"{LONG}The end.\n")

    assert turn.kind == "ok"
    assert "word The end." in str(server.requests[-1].body)


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(codex: Live) -> None:
    server = served(codex, ModelAnswer(hang=True))

    code = terminated(codex, "codex", server, env=ENV)

    assert code == 130
    assert left_behind(codex) == []
