"""When limits end, in the words providers use."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from flyball.core.providers.reset_times import FURTHEST, JUST_PASSED, known_zones, reset_time

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def at(day: int, hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("usage limit … resets at 11:43pm (UTC)", at(16, 23, 43)),
        ("You've hit your 5-hour limit · resets 11:43pm (UTC)", at(16, 23, 43)),
        ("weekly limit · resets Nov 18, 5:19am (UTC)", at(18, 5, 19)),
        ("resets Nov 18 at 5am", at(18, 5)),
        ("resets Nov 18th, 2026, 5:19 a.m. (UTC)", at(18, 5, 19)),
        ("resets November 18, 05:19 UTC", at(18, 5, 19)),
        ("try again at 11:48 PM.", at(16, 23, 48)),
        ("try again at 11:48 AM", at(17, 11, 48)),
        ("Please try again at 09:00", at(17, 9)),
        ("resets 12am", at(17, 0)),
        ("resets 12pm (PST)", at(16, 20)),
        ("resets 1:30pm (+02:00)", at(17, 11, 30)),
        ("resets 3am (Europe/Paris)", at(17, 2)),
        ("try again in 1h 20m", at(16, 13, 20)),
        ("try again in 1 hour and 20 minutes.", at(16, 13, 20)),
        ("try again in 32s", at(16, 12, 0, 32)),
        ("Please try again in 1.2s. Visit", NOON + timedelta(seconds=1.2)),
        ("Try again in 5 days 2 hours 1 minute", at(21, 14, 1)),
        ("try again in about 3 minutes", at(16, 12, 3)),
        ("wait 90 seconds", at(16, 12, 1, 30)),
        ("Retry-After: 7200", at(16, 14)),
        ("retry-after=30", at(16, 12, 0, 30)),
        ("< retry-after: 30", at(16, 12, 0, 30)),
        ('"retry-after-ms": "1500"', NOON + timedelta(seconds=1.5)),
        ('"retryDelay": "32s"', at(16, 12, 0, 32)),
        ("{'retry_after': 20}", at(16, 12, 0, 20)),
        ("Retrying after 32201345ms...", NOON + timedelta(milliseconds=32201345)),
        ("Your quota will reset after 8h44m7s.", at(16, 20, 44, 7)),
        ('"resetsAt":1794873600', at(17, 0)),
        ("reset_at=1794873600000", at(17, 0)),
        ("anthropic-ratelimit-unified-reset: 1794873600", at(17, 0)),
        ('"resets_in_seconds": 90', at(16, 12, 1, 30)),
        ("Claude AI usage limit reached|1794873600", at(17, 0)),
        ("resets at 2026-11-17T03:00:00Z", at(17, 3)),
        ("reset_time: 2026-11-17 03:00 UTC", at(17, 3)),
        ("available again at 2026-11-17T03:00:00.123456+01:00", datetime(2026, 11, 17, 2, 0, 0, 123456, tzinfo=UTC)),
        ("Retry-After: Tue, 17 Nov 2026 03:00:00 GMT", at(17, 3)),
        ("retry-after: 17-Nov-2026 03:00:00 +0200", at(17, 1)),
        ("try again in 0s; if that fails, try again in 10m", at(16, 12, 10)),
    ],
)
def test_c11_a_reset_is_read_from_a_providers_words(text: str, expected: datetime) -> None:
    zones = {"Europe/Paris": timezone(timedelta(hours=1))}
    assert reset_time(text, NOON, lambda name: zones.get(name) or known_zones(name)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "usage limit reached",
        "2026-11-17T03:00:00Z ERROR 429 Too Many Requests",
        "took 3m 20s in all",
        "resets at 2026-11-15T03:00:00Z",
        "resets at 2026-12-25T03:00:00Z",
        "resetsAt: 1694873600",
        "resetsAt: 9994873600",
        "try again in 300 days",
        "Retry-After: 999999999",
        "resets 25:99",
        "resets 13pm",
        "resets Feb 30, 5am",
        "resets Foo 3, 5am",
        "Retry-After: Tue, 17 Foo 2026 03:00:00 GMT",
        "resets at 11:58am",
        "please try again",
        "reset the password of 3 users",
    ],
)
def test_what_names_no_plausible_time_is_unknown(text: str) -> None:
    assert reset_time(text, NOON) is None


def test_a_time_without_a_zone_is_one_of_the_zone_it_is_read_in() -> None:
    new_york = datetime(2026, 11, 16, 22, 0, tzinfo=ZoneInfo("America/New_York"))
    assert reset_time("resets 11pm", new_york) == at(17, 4)
    assert reset_time("resets 9pm", new_york) == at(18, 2)


def test_a_date_without_a_year_may_be_in_the_next() -> None:
    eve = datetime(2026, 12, 30, 12, 0, tzinfo=UTC)
    assert reset_time("resets Jan 2, 3am (UTC)", eve) == datetime(2027, 1, 2, 3, 0, tzinfo=UTC)


@given(st.text(max_size=300), st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_any_text_gives_a_time_within_eight_days_or_none(text: str, now: datetime) -> None:
    for told in (text, f"resets at {text}", f"try again in {text}", f"Retry-After: {text}"):
        found = reset_time(told, now)
        assert found is None or now < found <= now + FURTHEST


@given(st.integers(0, 7), st.integers(0, 23), st.integers(0, 59), st.integers(1, 59))
def test_a_duration_in_any_parts_adds_up(days: int, hours: int, minutes: int, seconds: int) -> None:
    text = f"try again in {days}d {hours}h {minutes}m {seconds}s"
    assert reset_time(text, NOON) == NOON + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


@given(st.integers(1, 12), st.integers(0, 59), st.sampled_from(["am", "pm", "AM", " PM"]), st.integers(-11, 11))
def test_a_time_of_day_is_always_the_next_one(hour: int, minute: int, half: str, offset: int) -> None:
    now = NOON.astimezone(timezone(timedelta(hours=offset)))
    found = reset_time(f"resets at {hour}:{minute:02}{half}", now)
    if found is None:
        today = now.replace(hour=hour % 12 + 12 * ("p" in half.lower()), minute=minute)
        assert now - JUST_PASSED < today <= now
    else:
        local = found.astimezone(now.tzinfo)
        assert timedelta() < found - now <= timedelta(days=1)
        assert (local.hour % 12, local.minute) == (hour % 12, minute)


@given(st.datetimes(datetime(2026, 11, 16, 12, 1), datetime(2026, 11, 24, 11, 59)))
def test_time_stamps_are_read_exactly(moment: datetime) -> None:
    wanted = moment.replace(microsecond=0, tzinfo=UTC)
    assert reset_time(f"resetsAt: {int(wanted.timestamp())}", NOON) == wanted
    assert reset_time(f"resets at {wanted.isoformat()}", NOON) == wanted
