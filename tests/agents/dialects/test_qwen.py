"""What Qwen Code really printed, and what flyball makes of it; its caps it tells on standard error alone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay, tokens

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.qwen import DEFAULTS, QWEN
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "qwen"
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)


def played(name: str, **how: Any) -> TurnEnded:
    return replay(QWEN, RECORDED / f"{name}.jsonl", **{"now": NOW, **how})


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model=wanted.pop("model", ""), folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def test_a_result_without_an_error_is_ok_with_its_message_and_what_it_used() -> None:
    turn = played("edit")

    assert (turn.kind, turn.final_message) == ("ok", "Done: it says world now.")
    assert turn.session == "3c1adca4-3088-4f96-ac67-c4dde80d74ac"
    assert tokens(turn.usage) == (300, 60)


@pytest.mark.req("C2")
def test_a_resumed_conversation_reports_its_total_so_that_what_came_before_is_subtracted() -> None:
    turn = played("resumed", session="735890c2-dac4-45e0-92f3-d762b7e7d26d", before=Usage(300, 60))

    assert tokens(turn.usage) == (200, 40), "it asked once more for its memory, which flyball has it do no longer"
    assert turn.session_usage == Usage(500, 100)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "code", "kind"),
    [
        ("unauthorized", 1, "not_logged_in"),
        ("no-login", 1, "not_logged_in"),
        ("context-full", 1, "context_full"),
        ("unknown-session", 1, "context_full"),
        ("max-turns", 53, "max_turns"),
        ("tool-call-budget", 55, "budget"),
        ("usage-limit", 1, "usage_limit"),
    ],
)
def test_each_failure_has_its_kind(name: str, code: int, kind: str) -> None:
    turn = played(name, code=code)

    assert turn.kind == kind
    assert turn.detail
    assert "[API Error" not in turn.final_message


def test_a_conversation_the_model_never_answered_in_is_not_gone_on_with() -> None:
    assert played("usage-limit", code=1).session == ""


@pytest.mark.req("C11")
def test_a_usage_limit_ends_when_it_says() -> None:
    assert played("usage-limit", code=1).reset_at == NOW + timedelta(seconds=3)


@pytest.mark.req("C11")
def test_a_client_that_was_asleep_between_its_tries_is_limited_for_as_long() -> None:
    turn = played("asleep", code=1)

    assert (turn.kind, turn.reset_at) == ("rate_limited", NOW + timedelta(seconds=60))


def test_a_tool_nobody_could_approve_is_a_denial_with_its_name() -> None:
    turn = played("denied")

    assert (turn.kind, turn.detail) == ("denied", "denied: edit /repo/hello.txt")


def test_a_question_it_could_not_ask_is_a_question_with_its_options() -> None:
    turn = played("question")

    assert turn.kind == "question"
    assert [(question.text, question.options) for question in turn.claim.questions] == [("Which?", ("a", "b"))]


@pytest.mark.parametrize(("also", "ended"), [([], ("ok", "")), (["edit"], ("denied", "denied: edit"))])
def test_a_denied_question_is_no_refused_call(tmp_path: Path, also: list[str], ended: tuple[str, str]) -> None:
    denials = [{"tool_name": name, "tool_input": {}} for name in ("ask_user_question", *also)]
    result = {"type": "result", "subtype": "success", "is_error": False, "permission_denials": denials}
    stream = tmp_path / "stream.jsonl"
    stream.write_text(json.dumps(result) + "\n")
    turn = replay(QWEN, stream)
    assert (turn.kind, turn.detail) == ended


def test_a_run_without_a_result_is_a_failure_whatever_its_status(tmp_path: Path) -> None:
    whole = (RECORDED / "edit.jsonl").read_text().splitlines(keepends=True)
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(whole[:-1]))

    assert replay(QWEN, stream).kind == "crashed"
    assert played("terminated", code=130).kind == "killed"


def test_it_is_asked_without_approvals_without_a_second_start_and_with_a_cap_on_turns() -> None:
    invocation = QWEN.invoke(asked(model="qwen3-coder", session="s-1", max_turns=9, args=("--auth-type", "openai")))

    assert invocation.prompt_on_stdin
    assert invocation.argv[3:] == (
        *("--approval-mode", "yolo", "--include-directories", "/turn", "--model", "qwen3-coder", "--resume", "s-1"),
        *("--max-session-turns", "9", "--auth-type", "openai"),
    )
    assert invocation.env["QWEN_CODE_NO_RELAUNCH"] == "true"
    assert json.loads(invocation.files[DEFAULTS])["memory"]["enableManagedAutoMemory"] is False


def test_whoever_watches_sees_what_it_says_and_does() -> None:
    events = [json.loads(line) for line in (RECORDED / "edit.jsonl").read_text().splitlines()]

    assert [line for line in map(live_line, map(QWEN.show, events)) if line] == [
        "read_file /repo/hello.txt",
        "I will edit.",
        "edit /repo/hello.txt",
        "Done: it says world now.",
    ]


def test_a_login_is_seen_without_asking_anybody(tmp_path: Path) -> None:
    folder = tmp_path / ".qwen"
    folder.mkdir()

    assert QWEN.logged_in({}, tmp_path) is False
    assert QWEN.logged_in({"OPENAI_API_KEY": "k"}, tmp_path) is True
    (folder / "settings.json").write_text("{}")
    assert QWEN.logged_in({}, tmp_path) is None
    (folder / "oauth_creds.json").write_text("{}")
    assert QWEN.logged_in({}, tmp_path) is True


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("[API Error: 500 Internal server error]", "overloaded"),
        ("[API Error: 502 Bad gateway]", "overloaded"),
        ("[API Error: 429 Too many requests]", "overloaded"),
        ("[API Error: 401 Incorrect API key provided]", "not_logged_in"),
        ("[API Error: 400 This model's maximum context length is 1000 tokens]", "context_full"),
        ("[API Error: 404 The model does not exist]", "crashed"),
        ("[API Error: Connection error. (cause: fetch failed)]", "overloaded"),
        ("", "crashed"),
    ],
)
def test_each_error_of_its_provider_has_its_kind(tmp_path: Path, message: str, kind: str) -> None:
    stream = tmp_path / "failed.jsonl"
    end = {"type": "result", "subtype": "error_during_execution", "is_error": True, "error": {"message": message}}
    stream.write_text(json.dumps(end) + "\n")
    turn = replay(QWEN, stream, code=1, now=NOW)
    assert (turn.kind, turn.reset_at) == (kind, None)
    assert turn.detail


def test_what_a_subagent_says_is_not_its_last_word_and_its_model_and_session_are_known(tmp_path: Path) -> None:
    def said(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, **more}

    events = [
        {"type": "system", "subtype": "init", "session_id": "s-1", "model": "qwen3-coder"},
        said("Done."),
        said("I looked.", parent_tool_use_id="c1"),
        {"type": "result", "subtype": "success", "is_error": False, "usage": {"input_tokens": 1, "output_tokens": 1}},
    ]
    stream = tmp_path / "told.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events))
    turn = replay(QWEN, stream)
    assert (turn.kind, turn.final_message, turn.session) == ("ok", "Done.", "s-1")
