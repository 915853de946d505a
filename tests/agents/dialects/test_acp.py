"""What agents really answered over the Agent Client Protocol, and what flyball makes of it."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay, tokens

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.acp import Acp
from flyball.agents.dialects.claude import CLAUDE
from flyball.agents.dialects.gemini import GEMINI
from flyball.agents.dialects.table import speaking_acp
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded

RECORDED = Path(__file__).parents[1] / "recorded" / "acp"
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)
ANY = Acp(("some-agent", "--acp"))


def played(name: str, **how: Any) -> TurnEnded:
    return replay(ANY, RECORDED / f"{name}.jsonl", **{"now": NOW, **how})


def told(folder: Path, *events: dict[str, Any]) -> TurnEnded:
    stream = folder / "stream.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events))
    return replay(ANY, stream, now=NOW)


def chunk(text: str) -> dict[str, Any]:
    return {"type": "update", "update": {"sessionUpdate": "agent_message_chunk", "content": {"text": text}}}


@pytest.mark.parametrize(
    ("name", "message", "used"),
    [
        ("goose-edit", "Done: it says world now.", (100, 20)),
        ("goose-resumed", "Again.", (100, 20)),
        ("gemini-edit", "Done: it says world now.", (200, 40)),
        ("copilot-edit", "Done.", (200, 40)),
    ],
)
def test_a_turn_that_ended_is_ok_with_its_last_message_and_what_was_told_of_its_usage(
    name: str, message: str, used: tuple[int, int]
) -> None:
    turn = played(name)

    assert (turn.kind, turn.final_message, tokens(turn.usage)) == ("ok", message, used)
    assert turn.session


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gemini-daily-quota", "usage_limit"),
        ("gemini-unauthorized", "not_logged_in"),
        ("gemini-no-login", "not_logged_in"),
        ("goose-rate-limit", "overloaded"),
        ("goose-unauthorized", "not_logged_in"),
        ("goose-unknown-session", "context_full"),
        ("copilot-weekly-limit", "usage_limit"),
        ("missing", "not_installed"),
    ],
)
def test_each_failure_has_its_kind_however_an_agent_tells_it(name: str, kind: str) -> None:
    turn = played(name)

    assert turn.kind == kind
    assert turn.detail
    assert turn.final_message == ""


@pytest.mark.req("C11")
def test_a_limit_told_as_if_the_model_had_said_it_ends_when_it_says() -> None:
    assert played("copilot-weekly-limit").reset_at == NOW + timedelta(hours=2)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"errorKind": "rate_limit"}, "overloaded"),
        ({"codexErrorInfo": "usageLimitExceeded"}, "usage_limit"),
        ({"codexErrorInfo": "contextWindowExceeded"}, "context_full"),
        ({"codexErrorInfo": "unauthorized"}, "not_logged_in"),
        ({"details": "something else"}, "crashed"),
        (None, "crashed"),
    ],
)
def test_what_an_agent_puts_into_the_data_of_an_error_is_read(tmp_path: Path, data: Any, kind: str) -> None:
    error = {"type": "error", "code": -32603, "message": "Internal error", "data": data}

    assert told(tmp_path, error).kind == kind


@pytest.mark.req("C11")
def test_a_limit_the_model_merely_writes_about_is_none(tmp_path: Path) -> None:
    end = {"type": "result", "stop_reason": "end_turn"}

    assert told(tmp_path, chunk("I handle `Error: 429 rate limit exceeded` now."), end).kind == "ok"


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("max_tokens", "context_full"),
        ("max_turn_requests", "max_turns"),
        ("refusal", "crashed"),
        ("cancelled", "crashed"),
    ],
)
def test_a_turn_that_stopped_early_says_why(tmp_path: Path, reason: str, kind: str) -> None:
    turn = told(tmp_path, {"type": "result", "stop_reason": reason})

    assert turn.kind == kind
    assert turn.detail


def test_a_permission_that_could_only_be_refused_is_a_denial_with_its_name(tmp_path: Path) -> None:
    refused = {"type": "permission", "tool": "shell", "input": {"command": "git push"}, "granted": False}

    turn = told(tmp_path, refused, {"type": "result", "stop_reason": "end_turn"})

    assert (turn.kind, turn.detail) == ("denied", "denied: shell git push")


def test_an_agent_that_broke_off_has_crashed_whatever_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "stream.stderr").write_text("starting\nError: no folder to write to\n")

    turn = told(tmp_path, {"type": "error", "kind": "crashed", "message": "the connection to the agent broke"})

    assert (turn.kind, turn.detail) == ("crashed", "the connection to the agent broke: Error: no folder to write to")


def test_a_turn_without_a_result_is_a_failure(tmp_path: Path) -> None:
    assert told(tmp_path, chunk("I will")).kind == "crashed"


def test_a_change_of_mode_in_the_middle_of_an_answer_is_not_part_of_it(tmp_path: Path) -> None:
    end = {"type": "result", "stop_reason": "end_turn"}

    assert (
        told(tmp_path, chunk("It "), chunk("[MODE_UPDATE] autoEdit"), chunk("works."), end).final_message == "It works."
    )


def test_the_client_is_run_as_the_turns_program_with_the_agents_command_behind_it() -> None:
    asked = TurnRequest(model="m-1", folder=Path("/turn"), tree=Path("/repo"), nonce="n", session="s-1")

    assert ANY.invoke(asked).argv == (
        *(sys.executable, "-P", "-m", "flyball.agents.acp_client", "--model", "m-1", "--session", "s-1"),
        *("--", "some-agent", "--acp"),
    )


def test_a_known_programs_folders_and_variables_go_with_its_command() -> None:
    assert speaking_acp(("/opt/bin/gemini", "--acp")).homes == GEMINI.homes
    assert speaking_acp(("claude-agent-acp",)).variables == CLAUDE.variables
    assert speaking_acp(("some-agent",)).homes == ()


def test_whoever_watches_sees_what_it_says_and_does() -> None:
    events = [json.loads(line) for line in (RECORDED / "goose-edit.jsonl").read_text().splitlines()]

    assert [line for line in map(live_line, map(ANY.show, events)) if line] == [
        "I will write.",
        "shell · echo world > hello.txt",
        "Done: it says world now.",
    ]
