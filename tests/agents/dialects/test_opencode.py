"""What OpenCode really printed, and what flyball makes of it; there is no final event, and a denial ends it with status 0."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.opencode import OPENCODE
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "opencode"
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)


def played(name: str, **how: Any) -> TurnEnded:
    return replay(OPENCODE, RECORDED / f"{name}.jsonl", **{"now": NOW, **how})


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model=wanted.pop("model", ""), folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def test_a_run_whose_last_step_stopped_is_ok_with_its_last_message_and_the_sum_of_its_steps() -> None:
    turn = played("edit")

    assert (turn.kind, turn.final_message) == ("ok", "Done: it says world now.")
    assert turn.session == "ses_e1da9cb2dffe9R3Hr6wSyFReqK"
    assert turn.usage == Usage(200, 40, 0.00028)


@pytest.mark.req("C2")
def test_a_resumed_run_reports_its_own_usage_alone() -> None:
    turn = played("resumed", session="ses_e1d9bd0cfffeT2Jvr1ywuHvUsB", before=Usage(200, 40, 0.00028))

    assert turn.usage == Usage(100, 20, 0.00014)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rate-limit", "rate_limited"),
        ("quota", "usage_limit"),
        ("overloaded", "rate_limited"),
        ("unauthorized", "not_logged_in"),
        ("context-full", "context_full"),
        ("unknown-session", "context_full"),
        ("no-model", "crashed"),
    ],
)
def test_each_failure_has_its_kind(name: str, kind: str) -> None:
    turn = played(name, code=1)

    assert turn.kind == kind
    assert turn.detail


def test_a_fault_of_its_own_is_told_in_the_words_of_its_log() -> None:
    assert played("no-model", code=1).detail.startswith("ProviderModelNotFoundError: Model not found")


@pytest.mark.req("C11")
def test_a_limit_ends_when_the_header_says() -> None:
    assert played("rate-limit", code=1).reset_at == NOW + timedelta(seconds=1)


@pytest.mark.req("C11")
def test_a_client_that_fell_silent_on_a_limit_is_limited() -> None:
    assert played("asleep", code=1).kind == "overloaded"


def test_a_permission_that_was_rejected_is_a_denial_with_its_name_though_the_status_is_zero() -> None:
    turn = played("denied", code=0)

    assert (turn.kind, turn.detail) == ("denied", "denied: bash touch z")


def test_a_path_outside_the_tree_that_was_rejected_is_a_denial() -> None:
    assert played("denied-outside", code=0).detail == "denied: write /var/tmp/flyball-x"


def test_a_tool_the_users_rules_deny_is_a_denial_though_the_model_went_on() -> None:
    turn = played("denied-by-rule", code=0)

    assert (turn.kind, turn.detail) == ("denied", "denied: bash")


def test_a_tool_that_never_existed_is_none() -> None:
    assert played("unknown-tool").kind == "ok"


def test_a_question_it_could_not_ask_is_its_last_message() -> None:
    turn = played("question")

    assert turn.kind == "question"
    assert [question.text for question in turn.claim.questions] == ["I need to know: which way?"]


def test_a_run_that_ended_between_its_steps_is_a_failure_whatever_its_status(tmp_path: Path) -> None:
    whole = (RECORDED / "edit.jsonl").read_text().splitlines(keepends=True)
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(whole[:4]))

    turn = replay(OPENCODE, stream, code=0)

    assert turn.kind == "crashed"
    assert "'tool-calls'" in turn.detail
    assert turn.usage == Usage(100, 20, 0.00014)
    assert played("terminated", code=None, signal=15).kind == "killed"


def test_an_error_it_got_over_is_no_failure(tmp_path: Path) -> None:
    whole = (RECORDED / "edit.jsonl").read_text()
    error = (RECORDED / "unauthorized.jsonl").read_text()
    stream = tmp_path / "stream.jsonl"
    stream.write_text(error + whole)

    assert replay(OPENCODE, stream).kind == "ok"


def test_it_is_asked_without_permissions_and_to_say_on_standard_error_what_fails() -> None:
    invocation = OPENCODE.invoke(asked(model="anthropic/claude-sonnet-5", session="ses_1", args=("--variant", "high")))

    assert invocation.prompt_on_stdin
    assert invocation.argv == (
        *("opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto"),
        *("--model", "anthropic/claude-sonnet-5", "--session", "ses_1", "--variant", "high"),
    )


def test_whoever_watches_sees_what_it_says_and_does() -> None:
    def shown(name: str) -> list[str]:
        events = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]
        return [line for line in map(live_line, map(OPENCODE.show, events)) if line]

    assert shown("edit") == ["I will edit.", "edit /repo/hello.txt", "Done: it says world now."]
    assert shown("unauthorized") == ["Incorrect API key provided: dummy."]


def test_a_login_is_seen_without_asking_anybody_and_free_models_need_none(tmp_path: Path) -> None:
    assert OPENCODE.logged_in({}, tmp_path) is None
    assert OPENCODE.logged_in({"ANTHROPIC_API_KEY": "k"}, tmp_path) is True
    kept = tmp_path / ".local/share/opencode/auth.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"anthropic": {"type": "api", "key": "k"}}')
    assert OPENCODE.logged_in({}, tmp_path) is True


def failed(folder: Path, name: str = "APIError", **data: Any) -> TurnEnded:
    """A run that ended with such an error."""
    stream = folder / "failed.jsonl"
    error = {"name": name, "data": {"message": "It failed.", **data}}
    stream.write_text(json.dumps({"type": "error", "sessionID": "ses_1", "error": error}) + "\n")
    return replay(OPENCODE, stream, code=1, now=NOW)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("ContextOverflowError", {}, "context_full"),
        ("MessageOutputLengthError", {}, "context_full"),
        ("ProviderAuthError", {}, "not_logged_in"),
        ("APIError", {"statusCode": 401}, "not_logged_in"),
        ("APIError", {"statusCode": 429}, "overloaded"),
        ("APIError", {"statusCode": 500}, "overloaded"),
        ("APIError", {"statusCode": 418, "isRetryable": True}, "overloaded"),
        ("APIError", {"statusCode": 418, "isRetryable": False}, "crashed"),
        ("APIError", {"message": "Unable to connect. Is the computer able to access the url?"}, "overloaded"),
        ("APIError", {"statusCode": 402, "responseBody": '{"error": {"code": "insufficient_quota"}}'}, "usage_limit"),
        ("APIError", {"statusCode": 418, "responseBody": "<html>"}, "crashed"),
        ("UnknownError", {}, "crashed"),
    ],
)
def test_each_error_has_its_kind(tmp_path: Path, name: str, data: dict[str, Any], kind: str) -> None:
    turn = failed(tmp_path, name, **data)
    assert (turn.kind, turn.reset_at) == (kind, None)
    assert turn.detail


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "30"}, 30), ({"retry-after-ms": "2500"}, 2.5), ({"date": "now", "age": "30"}, None)],
)
def test_only_a_header_that_is_about_trying_again_says_when(
    tmp_path: Path, headers: dict[str, str], seconds: float | None
) -> None:
    turn = failed(tmp_path, statusCode=429, responseHeaders=headers)
    assert turn.kind == ("rate_limited" if seconds else "overloaded")
    assert turn.reset_at == (NOW + timedelta(seconds=seconds) if seconds else None)


def told(folder: Path, *events: dict[str, Any]) -> TurnEnded:
    stream = folder / "stream.jsonl"
    stream.write_text("".join(json.dumps({"sessionID": "ses_1", **event}) + "\n" for event in events))
    return replay(OPENCODE, stream)


STOP = {"type": "step_finish", "part": {"reason": "stop", "tokens": {}, "cost": 0}}


@pytest.mark.req("C2")
def test_tokens_of_the_cache_and_of_reasoning_are_counted_and_steps_added_up(tmp_path: Path) -> None:
    tokens = {"input": 100, "output": 20, "reasoning": 7, "cache": {"read": 30, "write": 5}}
    step = {"type": "step_finish", "part": {"reason": "tool-calls", "tokens": tokens, "cost": 0.001}}
    last = {"type": "step_finish", "part": {"reason": "stop", "tokens": tokens, "cost": 0.002}}
    assert told(tmp_path, step, last).usage == Usage(270, 54, 0.003)


@pytest.mark.parametrize(
    ("tool", "state", "kind"),
    [
        ("question", {"status": "error", "input": {}}, "question"),
        ("question", {"status": "completed", "input": {}}, "ok"),
        ("invalid", {"status": "completed", "input": {"tool": "question", "error": "unavailable tool"}}, "question"),
        ("invalid", {"status": "completed", "input": {"tool": "bash", "error": "unavailable tool"}}, "denied"),
        ("invalid", {"status": "completed", "input": {"tool": "bash", "error": "bad arguments"}}, "ok"),
        ("invalid", {"status": "completed", "input": {"tool": "made_up", "error": "unavailable tool"}}, "ok"),
    ],
)
def test_what_could_not_be_asked_is_a_question_and_what_was_not_offered_a_denial(
    tmp_path: Path, tool: str, state: dict[str, Any], kind: str
) -> None:
    called = {"type": "tool_use", "part": {"tool": tool, "state": state}}
    assert told(tmp_path, called, {"type": "text", "part": {"text": "Which"}}, STOP).kind == kind


def test_a_question_of_a_run_that_did_not_end_is_none(tmp_path: Path) -> None:
    called = {"type": "tool_use", "part": {"tool": "question", "state": {"status": "error", "input": {}}}}
    assert told(tmp_path, called).kind == "crashed"


def test_what_it_adds_itself_is_no_word_of_the_models(tmp_path: Path) -> None:
    own = {"type": "text", "part": {"text": "summary", "synthetic": True, "messageID": "m"}}
    assert (
        told(tmp_path, {"type": "text", "part": {"text": "Done.", "messageID": "m"}}, own, STOP).final_message
        == "Done."
    )
