"""The live view passes on the last line, at a pace a person can follow, and nothing a screen could be tricked by."""

from datetime import UTC, datetime

import pytest

from flyball.agents.display.live import KEPT, LONGEST_LINE, LiveView


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 5, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.at

    def nonce(self) -> str:
        return "n"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shown():
    return []


@pytest.fixture
def view(clock, shown):
    return LiveView(lambda kind, line: shown.append((kind, line)), clock)


def test_lines_are_put_together_and_scrubbed(view, shown):
    view.take("stdout", b"\x1b[31mhel")
    view.take("stderr", b"aside")
    view.take("stdout", b"lo\x1b[0m\nnext")
    assert shown == [("output", "hello")]


def test_between_two_shows_only_the_last_line_counts(view, shown, clock):
    for number in range(100):
        view.take("stdout", f"line {number}\n".encode())
    clock.at = 0.2
    view.take("stdout", b"more\n")
    assert [line for _, line in shown] == ["line 0", "more"]


def test_the_last_words_are_always_shown(view, shown):
    view.take("stdout", b"one\ntwo\n")
    view.take("stdout", b"three")
    view.flush()
    view.flush()
    assert [line for _, line in shown] == ["two", "three"]


def test_a_progress_bar_is_a_line_each_time(view, shown):
    view.take("stdout", b"10%\r20%\r30%")
    assert shown == [("output", "20%")]


def test_memory_stays_small_on_a_line_without_end(view, shown):
    for _ in range(50):
        view.take("stdout", b"x" * 65536)
    assert len(view._unended["stdout"]) <= KEPT
    view.flush()
    assert shown == [("output", "x" * LONGEST_LINE)]
