"""What only the process can tell overrules what its dialect read, and nothing else does; and what a turn used is its own share."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.recordings import A_TURN, NONCE

from flyball.agents.dialect import ProgramOutput, TurnReading, TurnRequest
from flyball.agents.run.frame import ProgramRun, TurnOrder
from flyball.agents.run.transcript import Transcript
from flyball.agents.run.turn_reading import UNFINISHED, settle_turn
from flyball.core.model.outcomes import TurnEnded, TurnKind, Usage
from flyball.process import Exit

NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=2)
WELL, BADLY = Exit(0, None, "exit", 1.2346), Exit(3, None, "exit", 1.0)
KILLED = Exit(None, 9, "exit", 1.0)
IDLE, WALL = Exit(None, 15, "idle", 9.0, detail="silent"), Exit(None, 15, "wall", 9.0, detail="too long")
STOPPED = Exit(None, 15, "stop", 1.0, detail="the loop stops")
MISSING = Exit(None, None, "missing", 0.0, detail="claude is not there")
LIMITED = "You've hit your usage limit. Try again in 2 hours.\n"


def ended(reading: TurnReading, end: Exit, *, stderr: str = "", slept: str = "", **asked: Any) -> TurnEnded:
    before = asked.pop("before", Usage())
    wanted = TurnRequest(
        model=asked.pop("model", ""), folder=Path("/turn/shared"), tree=Path("/repo"), nonce=NONCE, session="s-1"
    )
    end = msgspec.structs.replace(end, stderr_tail=stderr.encode())
    heard = ProgramOutput(asked=wanted, lines=(), exit=end, now=NOW, stderr_text=stderr)
    turn = TurnOrder(A_TURN, wanted.tree, Path("/turn"), NONCE)
    silent = timedelta(minutes=15) if end.ended_by == "idle" else timedelta()
    ran = ProgramRun(turn, Transcript(turn.folder, b""), end, None, "", {}, NOW, NOW - silent)
    return settle_turn(reading, heard, ran, slept=slept, before=before)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("read", "end", "stderr", "slept", "kind"),
    [
        ("ok", WELL, "", "", "ok"),
        ("ok", WELL, LIMITED, "", "ok"),
        ("ok", BADLY, "", "", "crashed"),
        ("ok", BADLY, LIMITED, "", "usage_limit"),
        ("ok", KILLED, "", "", "killed"),
        ("ok", KILLED, LIMITED, "", "killed"),
        ("ok", IDLE, "", "", "timed_out"),
        ("ok", WALL, "", "", "timed_out"),
        ("ok", STOPPED, "", "", "interrupted"),
        ("ok", MISSING, "", "", "not_installed"),
        ("crashed", WELL, "", "", "crashed"),
        ("crashed", WELL, LIMITED, "", "usage_limit"),
        ("crashed", IDLE, LIMITED, "", "usage_limit"),
        ("crashed", STOPPED, "", "it went to sleep", "overloaded"),
        ("crashed", STOPPED, LIMITED, "it went to sleep", "usage_limit"),
        ("killed", WELL, "", "", "killed"),
        ("killed", BADLY, "", "", "killed"),
        ("denied", BADLY, "", "", "denied"),
        ("denied", BADLY, LIMITED, "", "denied"),
        ("denied", IDLE, "", "", "denied"),
        ("denied", IDLE, LIMITED, "", "usage_limit"),
        ("denied", STOPPED, "", "", "interrupted"),
        ("max_turns", BADLY, "", "", "max_turns"),
        ("not_logged_in", BADLY, LIMITED, "", "not_logged_in"),
        ("not_logged_in", MISSING, "", "", "not_installed"),
        ("overloaded", STOPPED, "", "it went to sleep", "overloaded"),
    ],
)
def test_a_reading_and_an_end_make_one_outcome(
    read: TurnKind, end: Exit, stderr: str, slept: str, kind: TurnKind
) -> None:
    assert ended(TurnReading(kind=read), end, stderr=stderr, slept=slept).kind == kind


@pytest.mark.req("C11")
@pytest.mark.parametrize("end", [WELL, BADLY, IDLE, KILLED])
def test_a_limit_whose_end_the_program_named_is_kept_however_it_ended(end: Exit) -> None:
    turn = ended(TurnReading(kind="usage_limit", detail="spent", reset_at=LATER), end, stderr="rate limit exceeded\n")
    assert (turn.kind, turn.reset_at, turn.detail) == ("usage_limit", LATER, "spent")


@pytest.mark.req("C11")
def test_a_limit_whose_end_stands_on_standard_error_alone_has_it() -> None:
    turn = ended(TurnReading(kind="overloaded", detail="busy"), IDLE, stderr=LIMITED)
    assert (turn.kind, turn.reset_at) == ("usage_limit", LATER - timedelta(minutes=15)), "counted from its last word"


def test_an_end_of_a_limit_does_not_outlive_the_limit() -> None:
    assert ended(TurnReading(kind="crashed", reset_at=LATER), BADLY).reset_at is None


def test_a_turn_that_failed_always_says_why() -> None:
    assert ended(TurnReading(kind="crashed"), WELL).detail == UNFINISHED
    assert ended(TurnReading(kind="crashed", detail="no result"), BADLY).detail.startswith("no result (exit status 3")
    assert ended(TurnReading(kind="crashed"), BADLY).detail.startswith("exit status 3")
    assert ended(TurnReading(kind="crashed", detail="no result"), WELL).detail == "no result"
    assert ended(TurnReading(kind="ok"), STOPPED).detail == "the loop stops"


def test_the_status_of_a_program_that_was_ended_is_nobodys() -> None:
    assert [ended(TurnReading(kind="ok"), end).exit_code for end in (WELL, BADLY, IDLE, STOPPED)] == [0, 3, None, None]
    assert ended(TurnReading(kind="ok"), WELL).seconds == 1.235


@pytest.mark.req("C2")
@pytest.mark.parametrize(
    ("session", "cumulative", "used", "total"),
    [
        ("s-1", True, Usage(200, 40, 0.2), Usage(300, 60, 0.3)),
        ("s-1", False, Usage(300, 60, 0.3), Usage(400, 80, 0.4)),
        ("s-2", True, Usage(300, 60, 0.3), Usage(300, 60, 0.3)),
        ("s-2", False, Usage(300, 60, 0.3), Usage(300, 60, 0.3)),
    ],
    ids=["a total", "its own", "a total of another conversation", "its own in another conversation"],
)
def test_a_turn_is_charged_what_it_used_and_its_conversation_what_all_of_it_did(
    session: str, *, cumulative: bool, used: Usage, total: Usage
) -> None:
    reading = TurnReading(kind="ok", usage=Usage(300, 60, 0.3), cumulative=cumulative, session=session)
    turn = ended(reading, WELL, before=Usage(100, 20, 0.1))
    assert (turn.usage, turn.session_usage, turn.session) == (used, total, session)


def test_a_conversation_is_gone_on_with_unless_the_program_was_not_there() -> None:
    assert [ended(TurnReading(kind="ok"), end).session for end in (WELL, KILLED, MISSING)] == ["s-1", "s-1", ""]


@pytest.mark.parametrize(("told", "asked"), [("gpt-5", ""), ("", "gpt-5"), ("gpt-5", "nobody-knows-this-one")])
def test_tokens_are_priced_by_the_model_that_was_used_or_else_asked_for(told: str, asked: str) -> None:
    turn = ended(TurnReading(kind="ok", usage=Usage(1_000_000, 0), model=told), WELL, model=asked)
    assert turn.usage.usd
    assert turn.usage.estimated
