"""Gemini CLI itself, driven by flyball, its model scripted."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from tests.live.conftest import LONG, Live
from tests.live.looking import left_behind, published, terminated
from tests.support.model_script import Call, Fault, ModelAnswer
from tests.support.model_server import ModelServer
from tests.support.recordings import tokens

from flyball.agents.dialects.gemini import GEMINI

pytestmark = pytest.mark.slow

MODEL = "gemini-2.5-pro"
SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"maxAttempts": 2},
    "privacy": {"usageStatisticsEnabled": False},
}


def limited(message: str, quota: str, delay: str) -> ModelAnswer:
    """A provider that says which quota is spent, and for how long."""
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": details}
    return ModelAnswer(fault=Fault(429, body={"error": error}))


DAILY = limited("You exceeded your current quota.", "GenerateRequestsPerDayPerProjectPerModel", "7200s")
CAPACITY = limited(
    "You have exhausted your capacity on this model. Your quota will reset after 8h44m7s.",
    "GenerateRequestsPerMinutePerProjectPerModel",
    "31447s",
)


@pytest.fixture
def gemini(live: Live) -> Live:
    live.program("gemini")
    folder = live.home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(SETTINGS))
    return live


def env(server: ModelServer) -> dict[str, str]:
    return {"GEMINI_API_KEY": "dummy", "GEMINI_MODEL": MODEL, "GOOGLE_GEMINI_BASE_URL": server.url}


def written(gemini: Live, path: str, text: str) -> ModelAnswer:
    """Its shell refuses to substitute commands, so that files are written by its own tool."""
    return ModelAnswer(calls=(Call("write_file", {"file_path": str(gemini.repository / path), "content": text}),))


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_is_implemented_and_goes_to_done_with_a_limit_waited_out_on_the_way(gemini: Live) -> None:
    brief = limited("Resource exhausted.", "GenerateRequestsPerMinutePerProjectPerModel", "2s")
    server = gemini.serve(brief, brief, *gemini.green(partial(written, gemini)))

    ran = gemini.run_with_help("gemini", env=env(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.status
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "rate_limited", *["ok"] * 3]
    assert [fact["agent"] for fact in ran.facts("limit.hit")] == ["gemini"]
    assert "multiply" in published(gemini, ran.status["branch"], "calc/__init__.py")


@pytest.mark.req("C2")
def test_its_own_edit_tool_edits_the_tree_its_settings_stay_as_they_were_and_the_conversation_goes_on(
    gemini: Live,
) -> None:
    path = str(gemini.repository / "README.md")
    edit = {"file_path": path, "old_string": "# calc", "new_string": "# calculator", "instruction": "rename"}
    server = gemini.serve(
        ModelAnswer(say="I will edit.", calls=(Call("replace", edit),)),
        gemini.reported("edited"),
        gemini.reported("two"),
    )

    first = gemini.turn(GEMINI, env=env(server), prompt=LONG + 'Edit, and report with "nonce": "{nonce}".\n')

    assert "word Edit, and report" in str(server.requests[-1].body)
    assert (first.kind, first.claim.exit_signal, tokens(first.usage)) == ("ok", True, (200, 40)), first.detail
    assert (gemini.repository / "README.md").read_text().startswith("# calculator\n")
    assert "I will edit." in gemini.shown(GEMINI)
    assert json.loads((gemini.home / ".gemini" / "settings.json").read_text()) == SETTINGS

    second = gemini.turn(GEMINI, env=env(server), prompt="And now?\n", session=first.session)

    assert (second.kind, second.session, tokens(second.usage)) == ("ok", first.session, (100, 20))
    assert "I will edit." in str(server.requests[-1].body)


@pytest.mark.req("C11")
def test_a_daily_quota_is_a_usage_limit(gemini: Live) -> None:
    turn = gemini.turn(GEMINI, env=env(gemini.serve(DAILY)))

    assert turn.kind == "usage_limit"
    assert "daily quota" in turn.detail


@pytest.mark.req("C11")
def test_a_client_that_goes_to_sleep_for_hours_is_ended_and_limited_until_its_quota_resets(gemini: Live) -> None:
    begun = datetime.now(UTC)
    turn = gemini.turn(GEMINI, env=env(gemini.serve(CAPACITY)))

    assert turn.kind == "usage_limit"
    assert turn.reset_at is not None
    assert turn.reset_at - begun > timedelta(hours=8, minutes=44)
    assert left_behind(gemini) == []


def test_a_tool_the_users_policy_denies_is_a_denial_with_its_name(gemini: Live) -> None:
    policies = gemini.home / ".gemini" / "policies"
    policies.mkdir()
    rule = '[[rule]]\ntoolName = "run_shell_command"\ndecision = "deny"\npriority = 999\n'
    (policies / "mine.toml").write_text(rule)
    server = gemini.serve(
        ModelAnswer(calls=(Call("run_shell_command", {"command": "touch made"}),)),
        ModelAnswer(say="I was not allowed to."),
    )

    turn = gemini.turn(GEMINI, env=env(server))

    assert turn.kind == "denied", gemini.transcript()
    assert "touch made" in turn.detail
    assert not (gemini.repository / "made").exists()


@pytest.mark.e2e
def test_a_question_becomes_a_question_of_flyballs(gemini: Live) -> None:
    asked = {"text": "Floats or integers?", "options": ["floats", "integers"]}
    report = gemini.reported("a question", exit_signal=False, status="needs_clarification", questions=[asked])

    ran = gemini.run("gemini", env=env(gemini.serve(report)))

    assert (ran.code, ran.status["decision"]) == (3, "BLOCKED"), ran.status
    assert [question["text"] for question in ran.status["questions"]] == ["Floats or integers?"]


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(gemini: Live) -> None:
    server = gemini.serve(ModelAnswer(hang=True))

    code = terminated(gemini, "gemini", server, env=env(server))

    assert code == 130
    assert left_behind(gemini) == []
