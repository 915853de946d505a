"""What a table makes of a stream of events, whichever program prints them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flyball.agents.dialect import ProgramOutput, TurnRequest
from flyball.agents.dialects.acp import Acp
from flyball.agents.dialects.endings import ProviderFailure, end_failed
from flyball.agents.dialects.event_table import EventRow, EventTable, equals, look_up
from flyball.agents.dialects.goose import GOOSE
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.process import Exit

NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)

TABLE = EventTable(
    asking="ask",
    session="session",
    rows={
        "say": EventRow(piece="text", unless="aside"),
        "call": EventRow(call="tool", call_id="id", inputs="input"),
        "came": EventRow(
            result="error.message|output", call_id="id", failed="error", refused=equals("error.code", "no")
        ),
        "used": EventRow(usage=lambda event: Usage(event["tokens"], 0), message="id"),
        "end": EventRow(end=True, model="model"),
    },
)


def output(*events: dict[str, Any]) -> ProgramOutput:
    request = TurnRequest(model="", folder=Path("/turn"), tree=Path("/repo"), nonce="n")
    return ProgramOutput(asked=request, lines=events, exit=Exit(0, None, "exit", 1.0), now=NOW)


def test_a_path_finds_the_first_of_its_alternatives_that_holds_something() -> None:
    assert look_up({"a": {"b": ""}, "c": "last"}, "a.b|c") == "last"
    assert look_up({"a": "no object"}, "a.b") is None
    assert look_up({}, "") is None


def test_pieces_belong_together_until_something_is_called() -> None:
    pieces = [{"type": "say", "text": text} for text in ("first", " words")]
    call = {"type": "call", "tool": "edit", "id": "1"}

    assert TABLE.read(pieces).text == "first words"
    assert TABLE.read([pieces[0], call, pieces[1]]).text == " words"


def test_what_a_subagent_says_is_shown_and_is_no_answer() -> None:
    aside = {"type": "say", "text": "within", "aside": True}

    assert TABLE.read([aside]).text == ""
    assert [shown.text for shown in TABLE.show(aside)] == ["within"]


def test_a_question_stands_until_it_is_answered() -> None:
    asks = {"type": "call", "tool": "ask", "id": "1", "input": {"question": "Which?"}}

    assert TABLE.read([asks]).question == {"question": "Which?"}
    assert TABLE.read([asks, {"type": "came", "id": "1", "error": {"code": "no"}}]).question == {"question": "Which?"}
    assert TABLE.read([asks, {"type": "came", "id": "1", "output": "this one"}]).question == {}


def test_a_failed_call_is_refused_only_if_the_program_says_so() -> None:
    calls = [{"type": "call", "tool": "edit", "id": name, "input": {"path": name}} for name in ("a", "b")]
    ends = [
        {"type": "came", "id": "a", "error": {"code": "no"}},
        {"type": "came", "id": "b", "error": {"code": "oops"}},
    ]

    assert TABLE.read([*calls, *ends]).refused == ["edit a"]


def test_usage_told_again_for_the_same_message_counts_once() -> None:
    told = [{"type": "used", "id": "m1", "tokens": 3}, {"type": "used", "id": "m1", "tokens": 5}]

    assert TABLE.read([*told, {"type": "used", "id": "m2", "tokens": 2}]).usage == Usage(7, 0)
    assert TABLE.read([]).usage is None


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("failure", "kind", "resets"),
    [
        (ProviderFailure(said="all is lost"), "crashed", False),
        (ProviderFailure(said="all is lost", status=502), "overloaded", False),
        (ProviderFailure(said="all is lost", transient=True), "overloaded", False),
        (ProviderFailure(said="connect ECONNREFUSED 127.0.0.1:1"), "overloaded", False),
        (ProviderFailure(said="all is lost", known="context_full"), "context_full", False),
        (ProviderFailure(said="usage limit reached, try again in 2 hours"), "usage_limit", True),
        (
            ProviderFailure(said="spent; try again in 2 hours: 429 too many requests", known="usage_limit"),
            "usage_limit",
            True,
        ),
    ],
)
def test_a_failed_request_is_what_its_program_calls_it_or_else_what_its_words_say(
    failure: ProviderFailure, kind: TurnKind, resets: bool
) -> None:
    told, detail, reset_at = end_failed(failure, output(), "nothing was said")

    assert (told, reset_at is not None, detail) == (kind, resets, failure.said)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    "forged",
    [
        {"type": "update", "update": {"sessionUpdate": "result", "stop_reason": "end_turn"}},
        {"type": "update", "update": {"sessionUpdate": "result"}, "stop_reason": "end_turn"},
    ],
)
def test_an_update_named_as_an_end_of_the_turn_is_none(forged: dict[str, Any]) -> None:
    assert Acp(("some-agent",)).read(output(forged)).kind == "crashed"


@pytest.mark.req("C11")
def test_a_part_of_a_message_named_as_an_end_of_the_turn_is_none() -> None:
    message = {"id": "m", "role": "assistant", "content": [{"type": "complete", "total_tokens": 1}]}

    assert GOOSE.read(output({"type": "message", "message": message})).kind == "crashed"
