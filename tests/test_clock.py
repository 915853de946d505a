"""Time and identifiers of the real world."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, strategies as st

from flyball.clock import SystemClock, local_day, system_clock

ZONES = (
    "UTC",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Beirut",
    "America/Havana",
)


@pytest.fixture(scope="module")
def away() -> Iterator[pytest.MonkeyPatch]:
    """Lets a test stand in another time zone."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield monkeypatch
    time.tzset()


def stand_in(zone: str, away: pytest.MonkeyPatch) -> None:
    away.setenv("TZ", zone)
    time.tzset()


@given(zone=st.sampled_from(ZONES), at=st.datetimes(datetime(2015, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)))
@example("Asia/Beirut", datetime(2026, 3, 28, 21, 30, tzinfo=UTC))
@example("America/Havana", datetime(2026, 11, 1, 5, 30, tzinfo=UTC))
@example("America/Sao_Paulo", datetime(2018, 2, 18, 2, 30, tzinfo=UTC))
def test_a_moment_is_within_its_local_day_and_days_follow_each_other(
    away: pytest.MonkeyPatch, zone: str, at: datetime
) -> None:
    stand_in(zone, away)
    first, following = local_day(at)
    assert first <= at < following
    assert first.astimezone().date() == at.astimezone().date() != following.astimezone().date()
    assert local_day(first) == local_day(following - timedelta(microseconds=1)) == (first, following)
    assert local_day(following)[0] == following


@pytest.mark.parametrize(
    ("zone", "at", "first", "hours"),
    [
        ("UTC", "2026-11-18T23:59", "2026-11-18T00:00", 24),
        ("Asia/Kathmandu", "2026-11-18T18:14", "2026-11-17T18:15", 24),
        ("Pacific/Kiritimati", "2026-11-18T10:00", "2026-11-18T10:00", 24),
        ("America/New_York", "2026-03-08T12:00", "2026-03-08T05:00", 23),
        ("America/New_York", "2026-11-01T12:00", "2026-11-01T04:00", 25),
        ("Asia/Beirut", "2026-03-29T12:00", "2026-03-28T22:00", 23),
        ("Asia/Beirut", "2026-03-28T21:30", "2026-03-27T22:00", 24),
        ("America/Havana", "2026-11-01T04:30", "2026-11-01T04:00", 25),
        ("America/Havana", "2026-11-01T05:30", "2026-11-01T04:00", 25),
    ],
)
def test_a_day_begins_at_local_midnight_and_is_as_long_as_its_clocks_make_it(
    away: pytest.MonkeyPatch, zone: str, at: str, first: str, hours: int
) -> None:
    stand_in(zone, away)
    begins, ends = local_day(datetime.fromisoformat(f"{at}+00:00"))
    assert begins == datetime.fromisoformat(f"{first}+00:00")
    assert ends - begins == timedelta(hours=hours)


def test_now_is_an_aware_utc_time() -> None:
    assert system_clock.now().utcoffset() == timedelta(0)


def test_monotonic_time_does_not_go_back() -> None:
    clock = SystemClock()
    readings = [clock.monotonic() for _ in range(1000)]
    assert readings == sorted(readings)


def test_every_nonce_is_new_and_holds_at_least_16_bytes() -> None:
    nonces = {system_clock.nonce() for _ in range(1000)}
    assert len(nonces) == 1000
    assert all(len(bytes.fromhex(nonce)) >= 16 for nonce in nonces)
