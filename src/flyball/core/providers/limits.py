"""Recognises from a provider's own words why an agent could not work: a limit, an overload, a missing login.

Only what the program itself says is read: its exit status, the last lines of its standard error, or an error object it ends with.
What an agent quotes on standard output is never looked at here.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec

from flyball.core.providers.reset_times import Zones, known_zones, reset_time
from flyball.core.text.scrubbing import scrub

LimitKind = Literal["usage_limit", "rate_limited", "overloaded", "not_logged_in"]

LINES = 5
LONGEST_LINE = 4_000
DETAIL = 500
TEMPORARY_FAILURE = 75
"""The exit status EX_TEMPFAIL of sysexits.h: try again later."""

_STATUS = r"(?:\bHTTP(?:/[\d.]+)?|\bstatus(?:[ _]code)?|\bcode|\bAPI Error|\bError|\bresponse)\W{0,4}"
# From the most to the least telling; the first that matches names the kind.
_WORDS: dict[LimitKind, str] = {
    "usage_limit": (
        r"\b(?:usage|session|weekly|daily|monthly|5-hour|five-hour|plan|opus|sonnet|request) limits?"
        r"(?: has been| have been| was| is)? (?:reached|exceeded|hit)\b"
        r"|\b(?:hit|reached|exceeded) (?:your|the) (?:[\w-]+ ){0,3}(?:limit|quota)\b"
        r"|\bquota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b|\bexhausted your (?:[\w-]+ ){0,3}(?:quota|capacity)\b"
        r"|(?<!rate[ -])\blimits? (?:reached|exceeded)\b.{0,40}\b(?:resets?|try again)\b"
        r"|\byour quota will reset\b|\busage_limit_(?:reached|exceeded)\b|\blimit reached\|\d{10}|\binsufficient_quota\b"
    ),
    "not_logged_in": (
        r"\bnot (?:logged|signed) in\b|\bplease (?:run )?[`'\"/\w ]{0,20}\b(?:log ?in|sign ?in)\b|\blogin required\b"
        r"|\b(?:invalid|incorrect|missing|no|expired) (?:\w+ ){0,2}api[ _-]?key\b|\bapi[ _-]?key (?:\w+ ){0,2}(?:invalid|missing|not (?:set|found|valid))\b"
        r"|\b(?:oauth |access |auth )token (?:has |is )?expired\b|\bauthentication_(?:error|failed)\b|\binvalid_api_key\b"
        rf"|\b401 unauthorized\b|{_STATUS}401\b"
    ),
    "rate_limited": (
        r"\brate[ -]?limit(?:s|ed|ing)?(?: \w+){0,4}? (?:exceeded|reached|hit)\b|\b(?:hit|reached|exceeded) (?:\w+ ){0,3}rate[ -]?limits?\b"
        r"|\b(?:was|been|being|are|is) rate[ -]?limited\b|\brate_limit(?:_error|_exceeded)\b|\bRateLimitError\b|\btoo many requests\b"
        rf"|\bRESOURCE_EXHAUSTED\b|{_STATUS}429\b|\b429\b \W?(?:too many|resource|rate)"
    ),
    "overloaded": (
        rf"\boverloaded(?:_error)?\b|{_STATUS}(?:529|503)\b|\b503 service unavailable\b|\bservice (?:is )?(?:temporarily )?unavailable\b"
        r"|\bserver (?:is )?(?:busy|at capacity)\b|\bat capacity\b"
    ),
}
_TEXTS = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _WORDS.items())
_LONG_RETRY = re.compile(r"\bretrying (?:in|after)\b", re.IGNORECASE)
_SHORT_RETRY_S = 60.0

# A program that fails by its own fault ends with one of these, whatever words the message quotes.
_OWN_FAULT = re.compile(
    r"(?:[\w.]+\.)?(?:Assertion|Attribute|FileNotFound|Import|Index|Key|Lookup|ModuleNotFound|Name|NotImplemented|Recursion"
    r"|Syntax|Indentation|Type|Value|UnicodeDecode|UnicodeEncode|Reference|Range|ZeroDivision)Error\b"
)
_SOURCE_LINE = re.compile(r'\s*File "[^"]*", line \d+')

_CODES: dict[str, LimitKind] = {
    **dict.fromkeys(
        ("usage_limit", "usage_limit_reached", "usage_limit_exceeded", "insufficient_quota"), "usage_limit"
    ),
    **dict.fromkeys(("quota_exceeded", "quota_exhausted"), "usage_limit"),
    **dict.fromkeys(("not_logged_in", "authentication_error", "authentication_failed", "401"), "not_logged_in"),
    **dict.fromkeys(("unauthenticated", "invalid_api_key"), "not_logged_in"),
    **dict.fromkeys(("rate_limit", "rate_limited", "rate_limit_error", "rate_limit_exceeded", "429"), "rate_limited"),
    **dict.fromkeys(("too_many_requests", "resource_exhausted"), "rate_limited"),
    **dict.fromkeys(("overloaded", "overloaded_error", "server_overloaded", "529", "503"), "overloaded"),
    **dict.fromkeys(("unavailable", "service_unavailable"), "overloaded"),
}
_CODE_FIELDS = frozenset(
    "type code status status_code error kind reason api_error api_error_type api_error_status error_status".split()
)
_TEXT_FIELDS = ("message", "result", "detail", "error", "error_description")


class Limit(msgspec.Struct, frozen=True):
    """Why an agent could not work, in its provider's words, and when that ends if they say so.

    A rate limit without an end is an `overloaded`, to be retried with growing pauses; an overload with one is `rate_limited`.
    """

    kind: LimitKind
    detail: str
    reset_at: datetime | None = None


def recognise(stderr_tail: str, exit_code: int | None, now: datetime, zones: Zones = known_zones) -> Limit | None:
    """What the end of standard error and the exit status say; a program that ended well said nothing of the kind.

    `exit_code` is None for a program that was ended by a signal or a time-out.
    """
    if exit_code == 0:
        return None
    lines = _last_lines(stderr_tail)
    for kind, pattern in _TEXTS:
        said = next((line for line in reversed(lines) if pattern.search(line)), None)
        if said is not None:
            reset = reset_time(said, now, zones) or reset_time("\n".join(lines), now, zones)
            return _limit(kind, said, reset)
    waiting = long_retry(stderr_tail, now, zones)
    if waiting is None and exit_code == TEMPORARY_FAILURE:
        said = lines[-1] if lines else "no message"
        return _limit("overloaded", f"exit status 75 (try again later): {said}", reset_time(said, now, zones))
    return waiting


def long_retry(stderr_tail: str, now: datetime, zones: Zones = known_zones) -> Limit | None:
    """A client that says it sleeps for longer than a minute is limited, even if it does not use the word."""
    said = next((line for line in reversed(_last_lines(stderr_tail)) if _LONG_RETRY.search(line)), None)
    reset = reset_time(said, now, zones) if said else None
    if said is None or reset is None or (reset - now).total_seconds() < _SHORT_RETRY_S:
        return None
    return _limit("rate_limited", said, reset)


def recognise_error(error: Any, now: datetime, zones: Zones = known_zones) -> Limit | None:
    if not isinstance(error, dict):
        return None
    fields = list(_fields(error))
    kinds = {_CODES.get(str(value).lower()) for name, value in fields if name in _CODE_FIELDS}
    texts = [value for name, value in fields if name in _TEXT_FIELDS and isinstance(value, str)]
    kind = next((kind for kind in _WORDS if kind in kinds), None)
    # The words tell a spent allowance from a plain 429; they also speak where there is no code.
    spoken = next((kind for kind, pattern in _TEXTS for text in texts if pattern.search(text[:LONGEST_LINE])), None)
    if kind is None or (kind == "rate_limited" and spoken == "usage_limit"):
        kind = spoken
    if kind is None:
        return None
    whole = json.dumps(error, ensure_ascii=False, default=str)
    return _limit(kind, next(iter(texts), "") or whole, reset_time(whole, now, zones))


def says_error(value: Any) -> bool:
    """Whether an object calls itself an error, as the last line of a stream does; one with a mere `error` field does not."""
    return isinstance(value, dict) and (value.get("type") == "error" or value.get("is_error") is True)


def _limit(kind: LimitKind, said: str, reset: datetime | None) -> Limit:
    if kind == "rate_limited" and reset is None:
        kind = "overloaded"
    elif kind == "overloaded" and reset is not None:
        kind = "rate_limited"
    detail = " ".join(scrub(said).split())[:DETAIL]
    return Limit(kind, detail, None if kind == "not_logged_in" else reset)


def _last_lines(text: str) -> list[str]:
    """The last lines that are not empty, without the source lines of a traceback and the program's own faults."""
    lines = [line[:LONGEST_LINE] for line in text.splitlines() if line.strip()]
    kept = []
    for index, line in enumerate(lines):
        if index < len(lines) - LINES:
            continue
        quoted = index > 0 and bool(_SOURCE_LINE.match(lines[index - 1]))
        if not quoted and not _SOURCE_LINE.match(line) and not _OWN_FAULT.match(line.strip()):
            kept.append(line)
    return kept


def _fields(error: dict[str, Any], depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in error.items():
        if isinstance(value, dict) and depth < 3:
            yield from _fields(value, depth + 1)
        elif isinstance(value, str | int) and not isinstance(value, bool):
            yield name, value
