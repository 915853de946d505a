"""What Gemini CLI really printed, and what flyball makes of it; an API failure ends it with the lowest bits of the HTTP status."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay, tokens

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.gemini import DEFAULTS, GEMINI
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "gemini"
SESSION = "0d04f32c-9bac-4658-9f10-b492d2cea9c5"
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)


def played(name: str, **how: Any) -> TurnEnded:
    return replay(GEMINI, RECORDED / f"{name}.jsonl", **{"now": NOW, **how})


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model=wanted.pop("model", ""), folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def test_a_run_that_says_success_is_ok_with_its_last_message_and_what_it_used() -> None:
    turn = played("edit")

    assert (turn.kind, turn.final_message) == ("ok", "Done: it says world now.")
    assert turn.session == SESSION
    assert tokens(turn.usage) == (200, 40)


@pytest.mark.req("C2")
def test_a_resumed_run_reports_its_own_usage_alone() -> None:
    turn = played("resumed", session="c777f7d7-6330-4945-b3c3-cb8cfb1c5aa4", before=Usage(200, 40))

    assert tokens(turn.usage) == (100, 20)


def test_a_conversation_the_model_never_answered_in_is_not_gone_on_with() -> None:
    assert played("daily-quota", code=173).session == ""
    assert played("daily-quota", code=173, session=SESSION).session != ""


def test_a_message_in_pieces_is_put_together_again(tmp_path: Path) -> None:
    events = [
        {"type": "message", "role": "assistant", "content": "Hello ", "delta": True},
        {"type": "message", "role": "assistant", "content": "world.", "delta": True},
        {"type": "result", "status": "success", "stats": {}},
    ]
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events))

    assert replay(GEMINI, stream).final_message == "Hello world."


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "code", "kind"),
    [
        ("daily-quota", 173, "usage_limit"),
        ("minute-quota", 173, "rate_limited"),
        ("overloaded", 247, "overloaded"),
        ("server-error", 244, "overloaded"),
        ("invalid-key", 144, "not_logged_in"),
        ("unauthorized", 145, "not_logged_in"),
        ("no-auth-method", 41, "not_logged_in"),
        ("no-login", 41, "not_logged_in"),
        ("context-full", 144, "context_full"),
        ("max-turns", 53, "max_turns"),
        ("unknown-session", 42, "context_full"),
        ("untrusted", 55, "crashed"),
    ],
)
def test_each_failure_has_its_kind(name: str, code: int, kind: str) -> None:
    turn = played(name, code=code)

    assert (turn.kind, turn.exit_code) == (kind, code)
    assert turn.detail
    assert turn.detail != "Gemini CLI ended without a result"


@pytest.mark.req("C11")
def test_a_limit_for_a_minute_ends_when_it_says() -> None:
    assert played("minute-quota", code=173).reset_at == NOW + timedelta(seconds=2)


@pytest.mark.req("C11")
def test_a_client_that_was_asleep_on_its_quota_is_limited_until_the_quota_resets() -> None:
    turn = played("asleep", code=None, signal=15)

    assert turn.kind == "killed", "ended from outside, it says nothing of itself"

    turn = played("asleep", code=1)

    assert turn.kind == "usage_limit"
    assert turn.reset_at == NOW + timedelta(hours=8, minutes=44, seconds=7)


def test_an_edit_that_needs_an_approval_nobody_gives_is_a_denial_with_its_name() -> None:
    turn = played("denied")

    assert (turn.kind, turn.detail) == ("denied", "denied: replace /repo/hello.txt")


def test_a_question_it_could_not_ask_is_a_question() -> None:
    turn = played("question")

    assert turn.kind == "question"
    assert [question.text for question in turn.claim.questions] == ["Which?"]


def test_a_status_of_zero_without_a_result_is_a_failure() -> None:
    assert played("terminated").kind == "crashed"


def test_it_is_asked_without_approvals_without_a_second_start_and_with_the_turns_folder() -> None:
    invocation = GEMINI.invoke(asked(model="gemini-2.5-pro", session=SESSION, max_turns=7, args=("--debug",)))

    assert invocation.prompt_on_stdin
    assert invocation.argv[-7:] == (
        "--include-directories",
        "/turn",
        "--model",
        "gemini-2.5-pro",
        "--resume",
        SESSION,
        "--debug",
    )
    assert invocation.argv[3:6] == ("--skip-trust", "--approval-mode", "yolo")
    assert invocation.env["GEMINI_CLI_NO_RELAUNCH"] == "true"
    assert json.loads(invocation.files[DEFAULTS])["model"] == {"maxSessionTurns": 7}


def test_a_fresh_turn_names_no_model_and_no_session_of_its_own() -> None:
    argv = GEMINI.invoke(asked()).argv

    assert not {"--model", "--resume"} & set(argv)


def test_whoever_watches_sees_what_it_says_and_does() -> None:
    events = [json.loads(line) for line in (RECORDED / "edit.jsonl").read_text().splitlines()]

    assert [line for line in map(live_line, map(GEMINI.show, events)) if line] == [
        "I will edit.",
        "replace /repo/hello.txt",
        "Done: it says world now.",
    ]


def test_a_login_is_seen_without_asking_anybody(tmp_path: Path) -> None:
    folder = tmp_path / ".gemini"
    folder.mkdir()

    assert GEMINI.logged_in({}, tmp_path) is False
    assert GEMINI.logged_in({"GEMINI_API_KEY": "k"}, tmp_path) is True
    assert GEMINI.logged_in({"GOOGLE_GENAI_USE_VERTEXAI": "true"}, tmp_path) is None
    (folder / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    assert GEMINI.logged_in({}, tmp_path) is None
    (folder / "oauth_creds.json").write_text("{}")
    assert GEMINI.logged_in({}, tmp_path) is True


def failed(folder: Path, code: int, *before: dict[str, Any], **error: Any) -> TurnEnded:
    """A run that ended with such an error."""
    stream = folder / "failed.jsonl"
    end = {"type": "result", "status": "error", "error": {"type": "unknown", "message": "It failed.", **error}}
    stream.write_text("".join(json.dumps(event) + "\n" for event in (*before, end)))
    return replay(GEMINI, stream, code=code, now=NOW)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "crashed"),
        (401, "not_logged_in"),
        (404, "crashed"),
        (429, "overloaded"),
        (500, "overloaded"),
        (502, "overloaded"),
        (503, "overloaded"),
        (504, "overloaded"),
        (529, "overloaded"),
    ],
)
def test_without_telling_words_the_lowest_bits_of_the_http_status_say_what_failed(
    tmp_path: Path, status: int, kind: str
) -> None:
    assert failed(tmp_path, status & 255).kind == kind


@pytest.mark.parametrize(("code", "name"), [(53, "unknown"), (1, "FatalTurnLimitedError")])
def test_a_cap_on_turns_is_known_by_its_status_or_by_its_name(tmp_path: Path, code: int, name: str) -> None:
    assert failed(tmp_path, code, type=name).kind == "max_turns"


@pytest.mark.parametrize(
    ("tool", "reason", "kind"),
    [
        ("write_file", "policy_violation", "denied"),
        ("write_file", "permission_denied", "denied"),
        ("write_file", "path_not_in_workspace", "denied"),
        ("run_shell_command", "sandbox_expansion_required", "denied"),
        ("run_shell_command", "tool_not_registered", "denied"),
        ("no_such_tool", "tool_not_registered", "ok"),
        ("write_file", "file_write_failure", "ok"),
    ],
)
def test_a_refusal_is_a_denial_and_a_mistake_of_the_models_is_none(
    tmp_path: Path, tool: str, reason: str, kind: str
) -> None:
    events = [
        {"type": "tool_use", "tool_name": tool, "tool_id": "1", "parameters": {}},
        {"type": "tool_result", "tool_id": "1", "status": "error", "error": {"type": reason, "message": "m"}},
        {"type": "result", "status": "success", "stats": {}},
    ]
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events))
    assert replay(GEMINI, stream).kind == kind


def test_a_conversation_in_which_only_a_tool_was_called_is_gone_on_with(tmp_path: Path) -> None:
    begun = {"type": "init", "session_id": SESSION, "model": "m"}
    called = {"type": "tool_use", "tool_name": "glob", "tool_id": "1", "parameters": {}}
    assert failed(tmp_path, 247, begun, called).session == SESSION
    assert failed(tmp_path, 247, begun).session == ""


def test_a_login_is_looked_for_where_its_own_variable_says(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    elsewhere = {"GEMINI_CLI_HOME": str(tmp_path)}
    assert GEMINI.logged_in(elsewhere, Path("/nowhere")) is False
    (tmp_path / ".gemini" / ".env").write_text("GEMINI_API_KEY=k\n")
    assert GEMINI.logged_in(elsewhere, Path("/nowhere")) is None
