"""A client that sleeps on a limit within its process is noticed, so that the wait is the loop's."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from flyball.agents.dialect import Dialect, TurnRequest
from flyball.agents.dialects.codex import CODEX
from flyball.agents.dialects.opencode import OPENCODE
from flyball.agents.run.cli import SleepWatch
from flyball.process import StopFlag

AGAIN = b'{"type":"error","message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)"}\n'
FAILED = b'level=ERROR message="stream error" modelID=m session.id=s small=false agent=build error="Rate limit"\n'
TITLE = FAILED.replace(b"small=false", b"small=true")
ASKED = TurnRequest(model="", folder=Path("/turn"), tree=Path("/repo"), nonce="n")


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 16, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    def nonce(self) -> str:
        return "n"


def watching(dialect: Dialect, clock: Hands) -> SleepWatch:
    return SleepWatch(StopFlag(), clock, dialect.invoke(ASKED).retrying, 180.0)


@pytest.mark.req("C11")
@pytest.mark.parametrize(("dialect", "stream", "line"), [(CODEX, "stdout", AGAIN), (OPENCODE, "stderr", FAILED)])
def test_silence_after_the_word_that_it_tries_again_is_sleep(dialect: Dialect, stream: str, line: bytes) -> None:
    clock = Hands()
    watch = watching(dialect, clock)
    watch.take(stream, line[:20])
    watch.take(stream, line[20:])
    clock.seconds = 179.0
    assert not watch.is_set()
    clock.seconds = 180.0
    assert watch.is_set()
    assert watch.sleeping
    assert watch.reason.startswith("it went to sleep on a limit: ")


@pytest.mark.parametrize(
    ("dialect", "stream", "line"),
    [(CODEX, "stdout", b'{"type":"turn.started"}\n'), (OPENCODE, "stdout", b"{}\n"), (OPENCODE, "stderr", TITLE)],
)
def test_whoever_says_anything_else_after_it_is_awake(dialect: Dialect, stream: str, line: bytes) -> None:
    clock = Hands()
    watch = watching(dialect, clock)
    watch.take(*(("stdout", AGAIN) if dialect is CODEX else ("stderr", FAILED)))
    watch.take(stream, line)
    clock.seconds = 10_000.0
    assert not watch.is_set()
    assert watch.reason == ""


def test_a_long_wait_that_is_told_is_sleep_at_once_and_a_stop_is_a_stop() -> None:
    watch = SleepWatch(StopFlag(), Hands())
    watch.take("stderr", b"Retrying in 30s\n")
    assert not watch.is_set()
    watch.set("enough")
    assert (watch.is_set(), watch.sleeping, watch.reason) == (True, False, "enough")
    told = SleepWatch(StopFlag(), Hands())
    told.take("stderr", b"Attempt 1 failed. Retrying after 3600000ms...\n")
    assert (told.is_set(), told.sleeping) == (True, True)
