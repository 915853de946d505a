"""When a limit ends, as far as a provider's words tell: times of day, dates, durations, time stamps."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

Zones = Callable[[str], tzinfo | None]
"""The time zone of a name in a message, such as `UTC` or `Europe/Paris`; None when it is not known."""

FURTHEST = timedelta(days=8)
"""Weekly limits are the longest there are; a time beyond is a misreading."""
JUST_PASSED = timedelta(minutes=5)
"""A time of day this little ago is today's, not tomorrow's."""
LONGEST_TEXT = 20_000

_ABBREVIATED = (
    "UTC 0 GMT 0 Z 0 BST 1 CET 1 CEST 2 IST 5.5 JST 9 EST -5 EDT -4 CST -6 CDT -5 MST -7 MDT -6 PST -8 PDT -7".split()
)
_OFFSETS = dict(zip(_ABBREVIATED[::2], map(float, _ABBREVIATED[1::2]), strict=True))
_MONTHS = {m: n for n, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}

# What announces a time: without such a word a number in a message is not one.
_LEAD = (
    r"(?:(?:try|available|back)[ ]again|available|re-?set(?:s|ting)?(?:[-_ ]?(?:at|time|in[-_]seconds|date|seconds|tokens|requests))?"
    r"|retry(?:ing)?(?:[-_ ]?(?:after|at|in|delay))?(?P<ms>[-_]ms)?|wait|until|limit[ ]reached(?=\|))"
)
_BETWEEN = r"[\"']?(?:[\s:=|(·,~-]|\b(?:at|on|in|after|for|about|approximately|around|is|again|be|will|quota)\b|[\"'])*"
_ANNOUNCED = re.compile(rf"\b{_LEAD}{_BETWEEN}(?=[\dA-Z])", re.IGNORECASE)

_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?\d*)?[ ]?(Z\b|UTC\b|[+-]\d\d:?\d\d)?")
_HTTP = re.compile(
    r"(?:[A-Z][a-z]{2}, )?(?P<day>\d{1,2})[ -](?P<month>[A-Z][a-z]{2})[ -](?P<year>\d{4})"
    r" (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d) (?P<zone>GMT|UTC|[+-]\d{4})"
)
_UNIX = re.compile(r"(\d{10})(\d{3})?(?:\.\d+)?(?![\d:])")
_UNIT = r"ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?"
_PART = re.compile(rf"(\d{{1,12}}(?:\.\d{{1,9}})?)[ ]?({_UNIT})(?![a-z])[ ,]*(?:and[ ])?", re.IGNORECASE)
_BARE = re.compile(r"(\d{1,9})(?:\.\d+)?(?![\d:.]|[ ]?[ap]\.?m|st\b|nd\b|rd\b|th\b)", re.IGNORECASE)
_DATE = r"(?:(?P<month>[A-Z][a-z]{2})[a-z]*\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?,?(?: at)? )?"
_CLOCK = re.compile(
    rf"{_DATE}(?P<hour>\d{{1,2}})(?::(?P<minute>\d\d))?(?::\d\d)?[ ]?(?P<half>[ap]\.?m\b\.?)?"
    r"(?:[ ]?\(?(?P<zone>[+-]\d\d:?\d\d|[A-Z][A-Za-z]*(?:/[A-Za-z_+-]+)*)\)?)?",
    re.IGNORECASE,
)


def known_zones(name: str) -> tzinfo | None:
    """The zones that need no database: offsets and the usual abbreviations."""
    if name[:1] in "+-" and len(name) > 1:
        hours, minutes = int(name[1:3]), int(name[-2:])
        sign = -1 if name[0] == "-" else 1
        return timezone(sign * timedelta(hours=hours, minutes=minutes)) if hours < 24 and minutes < 60 else None
    offset = _OFFSETS.get(name.upper())
    return None if offset is None else timezone(timedelta(hours=offset))


def reset_time(text: str, now: datetime, zones: Zones = known_zones) -> datetime | None:
    """The first announced time in a text that lies between `now` and eight days later, in UTC.

    `now` is aware; a time without a zone is one of its zone, and on the next day if it has passed today.
    """
    text = text[:LONGEST_TEXT]
    for announced in _ANNOUNCED.finditer(text):
        at = _read(text, announced, now, zones)
        if at is not None and now < at <= now + FURTHEST:
            return at.astimezone(UTC)
    return None


def _read(text: str, announced: re.Match[str], now: datetime, zones: Zones) -> datetime | None:
    start = announced.end()
    try:
        for read in (_iso, _http, _unix):
            at = read(text, start, now)
            if at is not None:
                return at
        delay = _duration(text, start)
        if delay is not None:
            return now + delay
        return _clock(text, start, now, zones) or _bare(text, start, announced, now)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def _iso(text: str, start: int, now: datetime) -> datetime | None:
    found = _ISO.match(text, start)
    if found is None:
        return None
    at = datetime.fromisoformat(found[0].replace("UTC", "Z").replace(" Z", "Z").replace(" +", "+").replace(" -", "-"))
    return at if at.tzinfo else at.replace(tzinfo=now.tzinfo)


def _http(text: str, start: int, _now: datetime) -> datetime | None:
    found = _HTTP.match(text, start)
    if found is None:
        return None
    month = _MONTHS.get(found["month"].lower(), 0)
    day = datetime(int(found["year"]), month, int(found["day"]), tzinfo=known_zones(found["zone"]))
    return day.replace(hour=int(found["hour"]), minute=int(found["minute"]), second=int(found["second"]))


def _unix(text: str, start: int, _now: datetime) -> datetime | None:
    found = _UNIX.match(text, start)
    return datetime.fromtimestamp(int(found[1]), UTC) if found else None


def _duration(text: str, start: int) -> timedelta | None:
    total, position = timedelta(), start
    while part := _PART.match(text, position):
        number, unit = float(part[1]), part[2].lower()
        if unit.startswith(("ms", "milli")):
            total += timedelta(milliseconds=number)
        else:
            total += timedelta(seconds=number * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit[0]])
        position = part.end()
    return total if position > start else None


def _clock(text: str, start: int, now: datetime, zones: Zones) -> datetime | None:
    found = _CLOCK.match(text, start)
    if found is None or not (found["half"] or found["minute"]):
        return None
    zone = (zones(found["zone"]) if found["zone"] else None) or now.tzinfo
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    here = now.astimezone(zone)
    if found["month"]:
        return _on_date(found, hour, minute, here)
    at = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return at + timedelta(days=1) if at <= here - JUST_PASSED else at


def _on_date(found: re.Match[str], hour: int, minute: int, here: datetime) -> datetime | None:
    month = _MONTHS.get(found["month"].lower())
    if month is None:
        return None
    year = int(found["year"] or here.year)
    at = datetime(year, month, int(found["day"]), hour, minute, tzinfo=here.tzinfo)
    passed = not found["year"] and at < here - timedelta(days=1)
    return at.replace(year=year + 1) if passed else at


def _bare(text: str, start: int, announced: re.Match[str], now: datetime) -> datetime | None:
    """A number without a unit is a count of seconds, as in the header Retry-After."""
    found = _BARE.match(text, start)
    if found is None:
        return None
    return now + timedelta(seconds=int(found[1]) / (1000 if announced["ms"] else 1))
