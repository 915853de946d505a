"""What Copilot CLI really printed, and what flyball makes of it; tokens stand only in the file it writes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay, tokens

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.copilot import COPILOT, USAGE
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "copilot"
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)


def played(name: str, **how: Any) -> TurnEnded:
    usage = RECORDED / f"{name}.usage"
    files = {USAGE: usage.read_bytes()} if usage.exists() else {}
    return replay(COPILOT, RECORDED / f"{name}.jsonl", **{"now": NOW, "files": files, **how})


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model=wanted.pop("model", ""), folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def test_a_result_with_status_zero_is_ok_with_its_last_message_and_what_it_used() -> None:
    turn = played("edit")

    assert (turn.kind, turn.final_message) == ("ok", "Done: it says world now.")
    assert turn.session == "8f0f0743-c56c-4304-9cb7-1ff5904c8630"
    assert tokens(turn.usage) == (200, 40)


@pytest.mark.req("C2")
def test_a_resumed_conversation_reports_its_total_so_that_what_came_before_is_subtracted() -> None:
    turn = played("resumed", session="adae371e-5141-4ba2-84d7-036b93709f16", before=Usage(200, 40))

    assert tokens(turn.usage) == (100, 20)
    assert turn.session_usage == Usage(300, 60)


def test_without_its_file_nobody_knows_what_was_used() -> None:
    assert played("edit", files={}).usage == Usage(estimated=True)


@pytest.mark.parametrize("written", [b"", b"no JSON", b"[1]", b'{"modelMetrics": ' + b"[" * 200_000])
def test_a_file_of_usage_that_the_agent_broke_ends_nothing(written: bytes) -> None:
    turn = played("edit", files={USAGE: written})

    assert (turn.kind, turn.usage) == ("ok", Usage(estimated=True))


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rate-limit", "overloaded"),
        ("rate-limit-at-once", "overloaded"),
        ("quota", "usage_limit"),
        ("weekly-limit", "usage_limit"),
        ("unauthorized", "not_logged_in"),
        ("no-login", "not_logged_in"),
        ("packed", "not_installed"),
        ("context-full", "context_full"),
        ("unknown-session", "context_full"),
    ],
)
def test_each_failure_has_its_kind(name: str, kind: str) -> None:
    turn = played(name, code=1)

    assert turn.kind == kind
    assert turn.detail


@pytest.mark.req("C11")
def test_a_weekly_limit_ends_when_it_says() -> None:
    assert played("weekly-limit", code=1).reset_at == NOW + timedelta(hours=2)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"errorType": "quota", "message": "m"}, "usage_limit"),
        ({"errorType": "rate_limit", "errorCode": "user_weekly_rate_limited", "message": "m"}, "usage_limit"),
        ({"errorType": "rate_limit", "message": "m", "statusCode": 429}, "overloaded"),
        ({"errorType": "context_limit", "message": "m"}, "context_full"),
        ({"errorType": "authorization", "message": "m"}, "not_logged_in"),
        ({"errorType": "query", "message": "502 m", "statusCode": 502}, "overloaded"),
        (
            {"errorType": "query", "message": "Could not connect to local model provider at http://127.0.0.1:9/v1."},
            "overloaded",
        ),
        ({"errorType": "policy", "message": "not allowed by your organisation"}, "crashed"),
    ],
)
def test_each_type_of_error_has_its_kind(tmp_path: Path, error: dict[str, Any], kind: str) -> None:
    stream = tmp_path / "stream.jsonl"
    end = {"type": "result", "sessionId": "s", "exitCode": 1}
    stream.write_text(json.dumps({"type": "session.error", "data": error}) + "\n" + json.dumps(end) + "\n")

    assert replay(COPILOT, stream, code=1).kind == kind


def test_a_tool_nobody_could_approve_is_a_denial_with_its_name_though_the_status_is_zero() -> None:
    turn = played("denied", code=0)

    assert (turn.kind, turn.detail) == ("denied", "denied: edit /repo/hello.txt")


def test_a_question_it_could_not_ask_is_a_question_with_its_choices() -> None:
    turn = played("question")

    assert turn.kind == "question"
    assert [(question.text, question.options) for question in turn.claim.questions] == [("Which?", ("a", "b"))]


def test_a_status_of_zero_without_a_result_is_a_failure(tmp_path: Path) -> None:
    whole = (RECORDED / "edit.jsonl").read_text().splitlines(keepends=True)
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(whole[:-1]))

    assert replay(COPILOT, stream).kind == "crashed"


def test_a_run_that_was_told_to_stop_was_killed_whatever_its_status(tmp_path: Path) -> None:
    events = [
        {"type": "assistant.idle", "data": {"aborted": True}},
        {"type": "result", "sessionId": "s", "exitCode": 0},
    ]
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events))

    assert replay(COPILOT, stream).kind == "killed"


def test_it_is_asked_without_approvals_and_to_write_down_what_it_used() -> None:
    invocation = COPILOT.invoke(asked(model="gpt-5", session="s-1", args=("--context", "long_context")))

    assert invocation.prompt_on_stdin
    assert {"--yolo", "--no-ask-user"} <= set(invocation.argv)
    assert invocation.argv[6:] == (
        *("--usage-output-file", f"/turn/{USAGE}", "--model", "gpt-5", "--resume=s-1"),
        *("--context", "long_context"),
    )


def test_whoever_watches_sees_what_it_says_does_and_waits_for() -> None:
    def shown(name: str) -> list[str]:
        events = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]
        return [line for line in map(live_line, map(COPILOT.show, events)) if line]

    assert shown("edit") == ["I will edit.", "edit /repo/hello.txt", "Done: it says world now."]
    assert shown("rate-limit")[0].startswith("the model's provider answered 429: ")


def test_a_login_is_seen_without_asking_anybody(tmp_path: Path) -> None:
    assert COPILOT.logged_in({}, tmp_path) is False
    assert COPILOT.logged_in({"COPILOT_GITHUB_TOKEN": "t"}, tmp_path) is True
    assert COPILOT.logged_in({"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1"}, tmp_path) is True
    (tmp_path / ".copilot").mkdir()
    (tmp_path / ".copilot" / "config.json").write_text("{}")
    assert COPILOT.logged_in({}, tmp_path) is None


def told(folder: Path, *events: dict[str, Any]) -> TurnEnded:
    """A run that ended well after these events."""
    stream = folder / "told.jsonl"
    end = {"type": "result", "sessionId": "s-1", "exitCode": 0}
    stream.write_text("".join(json.dumps(event) + "\n" for event in (*events, end)))
    return replay(COPILOT, stream)


def test_what_a_subagent_says_and_an_empty_message_are_not_its_last_words(tmp_path: Path) -> None:
    own = {"type": "assistant.message", "data": {"content": "Done.", "model": "m"}}
    empty = {"type": "assistant.message", "data": {"content": "", "toolRequests": []}}
    subagent = {"type": "assistant.message", "data": {"content": "I looked.", "parentToolCallId": "c1"}}
    assert told(tmp_path, own, empty, subagent).final_message == "Done."


def test_a_question_that_was_answered_and_a_tool_that_failed_are_nothing_to_name(tmp_path: Path) -> None:
    asked_it = {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "ask_user", "arguments": {}}}
    answered = {"type": "tool.execution_complete", "data": {"toolCallId": "1", "success": True}}
    failed = {"type": "tool.execution_complete", "data": {"toolCallId": "2", "success": False, "error": {"code": "x"}}}
    assert told(tmp_path, asked_it, answered, failed).kind == "ok"


def test_an_error_it_got_over_is_no_failure(tmp_path: Path) -> None:
    error = {"type": "session.error", "data": {"errorType": "rate_limit", "message": "m", "statusCode": 429}}
    said = {"type": "assistant.message", "data": {"content": "Done."}}
    assert told(tmp_path, error, said).kind == "ok"
    assert told(tmp_path, said, error).kind == "overloaded"


def test_its_settings_are_looked_for_where_its_own_variable_says(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert COPILOT.logged_in({"COPILOT_HOME": str(tmp_path)}, Path("/nowhere")) is None
