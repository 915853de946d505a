"""What Claude Code really printed, and what flyball makes of it; an API's failure is a "success" with `is_error`."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.claude import CLAUDE
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "claude"


def played(name: str, **how: Any) -> TurnEnded:
    return replay(CLAUDE, RECORDED / f"{name}.jsonl", **how)


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model=wanted.pop("model", ""), folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def session_of(name: str) -> str:
    return str(json.loads((RECORDED / f"{name}.jsonl").read_text().splitlines()[0])["session_id"])


def test_a_result_without_an_error_is_ok_with_its_words_its_session_and_its_cost() -> None:
    turn = played("ok")

    assert (turn.kind, turn.detail, turn.final_message) == ("ok", "", "Done: it says goodbye.")
    assert turn.session == session_of("ok")
    assert turn.usage == turn.session_usage == Usage(300, 60, 0.0024)


@pytest.mark.req("C2")
def test_the_model_is_the_one_that_answered_last_in_the_main_conversation(tmp_path: Path) -> None:
    told = json.loads((RECORDED / "ok.jsonl").read_text().splitlines()[0])["model"]
    assert played("ok").model == told
    other = {"type": "assistant", "message": {"id": "x", "model": "claude-other-1", "content": []}}
    made_up = {"type": "assistant", "message": {"id": "y", "model": "<synthetic>", "content": []}}
    below = {"type": "assistant", "parent_tool_use_id": "t", "message": {"id": "z", "model": "claude-small-1"}}
    lines = (RECORDED / "ok.jsonl").read_text().splitlines()
    recorded = tmp_path / "switched.jsonl"
    recorded.write_text("\n".join([*lines[:-1], *map(json.dumps, (other, made_up, below)), lines[-1]]))
    assert replay(CLAUDE, recorded).model == "claude-other-1"


@pytest.mark.req("C2")
def test_a_resumed_conversation_tells_its_total_and_the_turn_gets_its_share() -> None:
    turn = played("resumed", session=session_of("resumed"), before=Usage(300, 60, 0.0024))

    assert turn.session == session_of("ok")
    assert turn.session_usage == Usage(400, 80, 0.0032)
    assert turn.usage == Usage(100, 20, 0.0008)


def test_of_several_results_the_last_one_counts() -> None:
    turn = played("subagent")

    assert (turn.kind, turn.final_message) == ("ok", "All is done now.")
    assert turn.usage == Usage(400, 80, 0.0032)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "kind", "named"),
    [
        ("rate-limit-by-key", "overloaded", "Request rejected (429)"),
        ("usage-limit", "usage_limit", "You've hit your 5-hour limit"),
        ("weekly-limit", "usage_limit", "You've hit your weekly limit"),
        ("overloaded", "overloaded", "529 Overloaded"),
        ("server-error", "overloaded", "500 Internal server error"),
        ("timed-out", "overloaded", "Request timed out"),
        ("invalid-key", "not_logged_in", "Invalid API key"),
        ("not-logged-in", "not_logged_in", "Please run /login"),
        ("no-credit", "usage_limit", "Credit balance is too low"),
        ("unknown-model", "crashed", "There's an issue with the selected model"),
        ("context-full", "context_full", "Prompt is too long"),
        ("conversation-gone", "context_full", "No conversation found"),
        ("max-turns", "max_turns", "maximum number of turns (2)"),
        ("budget", "budget", "maximum budget ($0.0001)"),
    ],
)
def test_each_failure_has_its_kind_and_its_own_words(name: str, kind: str, named: str) -> None:
    turn = played(name, code=1)

    assert turn.kind == kind
    assert named in turn.detail


@pytest.mark.req("C11")
@pytest.mark.parametrize("name", ["usage-limit", "weekly-limit"])
def test_a_plans_limit_ends_to_the_second_when_the_event_says_and_not_at_the_minute_of_the_words(name: str) -> None:
    events = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]
    told = [event["rate_limit_info"]["resetsAt"] for event in events if event["type"] == "rate_limit_event"]

    reset_at = played(name, code=1).reset_at

    assert reset_at == datetime.fromtimestamp(told[-1], UTC)
    assert reset_at.second, "words would give the full minute"


@pytest.mark.parametrize("name", ["limit-warning", "retried", "cut-stream", "broken-stream"])
def test_a_warning_or_a_retry_on_the_way_changes_nothing(name: str) -> None:
    turn = played(name)

    assert (turn.kind, turn.reset_at) == ("ok", None)


def test_a_denied_tool_is_named_though_the_run_ended_well() -> None:
    turn = played("denied")

    assert (turn.kind, turn.detail) == ("denied", "denied: Write /repository/new.txt")
    assert turn.final_message == "I was not allowed to write."


def test_a_question_it_could_not_ask_is_asked_by_flyball() -> None:
    turn = played("question")

    assert turn.kind == "question"
    assert [(q.text, q.options) for q in turn.claim.questions] == [("Which database?", ("SQLite", "Postgres"))]


def test_sigterm_leaves_no_result_and_is_a_kill_with_what_was_used_so_far() -> None:
    turn = played("sigterm", code=143)

    assert (turn.kind, "SIGTERM" in turn.detail) == ("killed", True)
    assert turn.session == session_of("sigterm")
    assert turn.usage.input_tokens == 100


def test_sigint_ends_with_status_0_and_is_a_kill_all_the_same() -> None:
    assert played("sigint").kind == "killed"


@pytest.mark.parametrize("code", [1, 137])
def test_a_good_result_of_a_program_that_ended_badly_is_none(code: int) -> None:
    assert played("ok", code=code).kind in ("crashed", "killed")


def test_no_result_at_all_is_a_failure_whatever_the_status(tmp_path: Path) -> None:
    silent = tmp_path / "silent.jsonl"
    silent.write_text('not json\n{"type": "system"}\n[]\n{"type": "result"')

    turn = replay(CLAUDE, silent)

    assert (turn.kind, turn.detail) == ("crashed", "Claude Code ended without a result")


@pytest.mark.parametrize("event", ["{}", '{"type":"assistant"}', '{"type":"assistant","message":{"content":[1,"x",null]}}',
    '{"type":"result","usage":null,"modelUsage":[],"permission_denials":{},"total_cost_usd":"much"}',
    '{"type":"rate_limit_event","rate_limit_info":7}'])  # fmt: skip
def test_events_of_another_shape_do_no_harm(event: str, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text(event + "\n")

    assert replay(CLAUDE, odd).kind == "crashed"
    assert live_line(CLAUDE.show(json.loads(event))) == ""


def test_it_is_asked_without_permissions_of_its_own_with_the_prompt_on_standard_input() -> None:
    invocation = CLAUDE.invoke(asked())

    assert invocation.argv[:5] == ("claude", "-p", "--output-format", "stream-json", "--verbose")
    assert "bypassPermissions" in invocation.argv
    assert invocation.prompt_on_stdin
    assert invocation.env["IS_SANDBOX"] == "1"


def test_model_session_caps_and_the_users_words_are_passed_on() -> None:
    wanted = asked(model="opus", session="s-1", max_turns=7, budget_usd=1.5, args=("--effort", "high"))

    line = " ".join(CLAUDE.invoke(wanted).argv)

    for words in ("--model opus", "--resume s-1", "--max-turns 7", "--max-budget-usd 1.5"):
        assert words in line
    assert line.endswith("--effort high")


def test_who_may_only_read_has_no_tool_to_edit_with() -> None:
    assert "--disallowedTools Edit Write" in " ".join(CLAUDE.invoke(asked(access="read")).argv)


def test_what_it_does_is_shown_a_line_each() -> None:
    events = [json.loads(line) for line in (RECORDED / "ok.jsonl").read_text().splitlines()]

    shown = [line for event in events if (line := live_line(CLAUDE.show(event)))]

    assert shown == [
        "Read hello.txt",
        "I will edit.",
        "Edit hello.txt",
        "Done: it says goodbye.",
    ]


def test_a_retry_is_shown() -> None:
    events = [json.loads(line) for line in (RECORDED / "retried.jsonl").read_text().splitlines()]

    assert any("trying again in" in live_line(CLAUDE.show(event)) for event in events)


@pytest.mark.parametrize(
    ("environment", "files", "found"),
    [
        ({}, {}, False),
        ({"ANTHROPIC_API_KEY": "k"}, {}, True),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "t"}, {}, True),
        ({"ANTHROPIC_API_KEY": ""}, {}, False),
        ({}, {".claude/.credentials.json": "{}"}, True),
        ({}, {".claude/settings.json": '{"apiKeyHelper": "pass"}'}, None),
        ({}, {".claude.json": "not json"}, False),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, {}, None),
    ],
)
def test_a_login_is_seen_without_calling_anybody(
    environment: dict[str, str], files: dict[str, str], found: bool | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert CLAUDE.logged_in(environment, tmp_path) is found


def test_credentials_are_looked_for_where_its_own_variable_says(tmp_path: Path) -> None:
    (tmp_path / ".credentials.json").write_text("{}")

    assert CLAUDE.logged_in({"CLAUDE_CONFIG_DIR": str(tmp_path)}, Path("/nowhere")) is True


def test_the_reset_of_a_limit_is_not_that_of_an_earlier_warning(tmp_path: Path) -> None:
    lines = (RECORDED / "usage-limit.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    warned = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": 1}}
    both = tmp_path / "both.jsonl"
    both.write_text("\n".join(json.dumps(event) for event in [warned, *events]))

    reset_at = replay(CLAUDE, both, code=1).reset_at

    assert reset_at is not None
    assert reset_at > datetime(2026, 11, 16, tzinfo=UTC)


def failed(folder: Path, *before: dict[str, Any], **result: Any) -> TurnEnded:
    """A run that ended with such a result, which is an error unless it says otherwise."""
    stream = folder / "failed.jsonl"
    end = {"type": "result", "subtype": "success", "is_error": True, "result": "It failed.", **result}
    stream.write_text("".join(json.dumps(event) + "\n" for event in (*before, end)))
    return replay(CLAUDE, stream, code=1)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("authentication_failed", "not_logged_in"),
        ("oauth_org_not_allowed", "not_logged_in"),
        ("account_on_hold", "not_logged_in"),
        ("verification_required", "not_logged_in"),
        ("cloud_credential_error", "not_logged_in"),
        ("billing_error", "usage_limit"),
        ("overloaded", "overloaded"),
        ("server_error", "overloaded"),
        ("invalid_request", "crashed"),
        ("model_not_found", "crashed"),
        ("max_output_tokens", "crashed"),
        ("unknown", "crashed"),
    ],
)
def test_each_word_for_an_error_it_knows_has_its_kind(tmp_path: Path, error: str, kind: str) -> None:
    assert failed(tmp_path, {"type": "assistant", "error": error, "message": {}}).kind == kind


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("max_turns", "max_turns"),
        ("budget_exhausted", "budget"),
        ("prompt_too_long", "context_full"),
        ("blocking_limit", "context_full"),
        ("rapid_refill_breaker", "context_full"),
        ("aborted_streaming", "killed"),
        ("aborted_tools", "killed"),
        ("api_error", "crashed"),
        ("model_error", "crashed"),
        ("malformed_tool_use_exhausted", "crashed"),
    ],
)
def test_each_reason_it_ends_for_has_its_kind(tmp_path: Path, reason: str, kind: str) -> None:
    assert failed(tmp_path, terminal_reason=reason).kind == kind


@pytest.mark.parametrize(
    ("subtype", "kind"),
    [("error_max_turns", "max_turns"), ("error_max_budget_usd", "budget"), ("error_else", "crashed")],
)
def test_a_cap_that_was_reached_is_known_by_its_subtype_too(tmp_path: Path, subtype: str, kind: str) -> None:
    turn = failed(tmp_path, subtype=subtype, is_error=False, result="")
    assert turn.kind == kind
    assert subtype in turn.detail


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("limit", "result", "kind"),
    [
        ({"status": "rejected", "resetsAt": 1794786228}, {"api_error_status": 429}, "usage_limit"),
        ({}, {"api_error_status": 429, "api_error": "usage_limit_reached"}, "usage_limit"),
        ({"status": "allowed_warning", "resetsAt": 1794786228}, {"api_error_status": 429}, "overloaded"),
        ({"status": "rejected", "resetsAt": 1794786228}, {"api_error_status": 529}, "overloaded"),
        ({}, {"api_error_status": 502}, "overloaded"),
        ({}, {"result": "Unable to connect to API"}, "overloaded"),
        ({}, {"result": "Connection error."}, "overloaded"),
    ],
)
def test_a_plan_is_spent_only_if_it_is_the_plan_that_refused(
    tmp_path: Path, limit: dict[str, Any], result: dict[str, Any], kind: str
) -> None:
    turn = failed(tmp_path, {"type": "rate_limit_event", "rate_limit_info": limit}, **result)
    assert (turn.kind, turn.reset_at is not None) == (kind, kind == "usage_limit" and "resetsAt" in limit)


def test_a_run_that_a_hook_ended_without_words_keeps_the_last_ones_of_the_model(tmp_path: Path) -> None:
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Done."}, {"type": "text", "text": ""}]
    said = {"type": "assistant", "session_id": "s-1", "message": {"id": "m", "content": parts}}
    turn = failed(tmp_path, said, is_error=False, result="")
    assert (turn.final_message, turn.session) == ("Done.", "s-1")


def test_its_own_folder_may_be_written_to() -> None:
    assert "--add-dir /turn" in " ".join(CLAUDE.invoke(asked()).argv)
