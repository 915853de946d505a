"""Why an agent could not work, as its program says it, and as it merely quotes it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from flyball.core.providers.limits import LimitKind, recognise, recognise_error, says_error

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
TEN_PM = datetime(2026, 11, 16, 22, 0, tzinfo=UTC)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("stderr", "kind", "reset"),
    [
        ("Claude AI usage limit reached|1794866400", "usage_limit", True),
        ("You've hit your 5-hour limit · resets 10pm (UTC)", "usage_limit", True),
        ("You've hit your Opus limit · resets 10:00pm (UTC)", "usage_limit", True),
        ("You've hit your weekly limit · resets 10pm", "usage_limit", True),
        ("ERROR: You've hit your usage limit. Upgrade to Pro, or try again at 10:00 PM.", "usage_limit", True),
        ("You have reached your daily quota limit. Your quota will reset after 10h0m0s.", "usage_limit", True),
        ("Quota exceeded for metric requests_per_day; retryDelay: 36000s", "usage_limit", True),
        ("You have exhausted your capacity on this model. Your quota will reset after 10h.", "usage_limit", True),
        ("5-hour limit reached ∙ resets 10pm", "usage_limit", True),
        ("usage limit reached", "usage_limit", False),
        (
            "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 10h.",
            "rate_limited",
            True,
        ),
        ("openai.RateLimitError: Error code: 429 - {'retry_after': 36000}", "rate_limited", True),
        ("HTTP/1.1 429 Too Many Requests\nRetry-After: 36000\n", "rate_limited", True),
        ("HTTP/1.1 429 Too Many Requests", "overloaded", False),
        ("API Error: Request rejected, status 429", "overloaded", False),
        ("API Error: 529 Overloaded. This is a server-side issue.", "overloaded", False),
        ("Error: 503 Service Unavailable", "overloaded", False),
        ('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded", False),
        ("Retrying after 36000000ms...", "rate_limited", True),
        ("Not logged in · Please run /login", "not_logged_in", False),
        ("Invalid API key · Fix external API key", "not_logged_in", False),
        ("unexpected status 401 Unauthorized: Missing bearer", "not_logged_in", False),
        ("Error: OPENAI API key not set", "not_logged_in", False),
        ("\x1b[31mError: usage limit reached, resets 10pm\x1b[0m", "usage_limit", True),
    ],
)
def test_c11_a_limit_is_recognised_at_the_end_of_stderr(stderr: str, kind: LimitKind, reset: bool) -> None:
    limit = recognise(f"starting\n\n{stderr}\n", 1, NOW)
    assert limit is not None
    assert (limit.kind, limit.reset_at) == (kind, TEN_PM if reset else None)
    assert "\x1b" not in limit.detail


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "Segmentation fault",
        "error: the rate limiter module does not compile",
        "warning: rate limit is not configured",
        "2 failed, 429 passed in 12.0s",
        "test_503_is_retried FAILED",
        "line 529: syntax error",
        "AssertionError: expected 'usage limit reached' in ''",
        "ValueError: rate limit exceeded must be a number",
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    raise_if("usage limit reached")\nOSError: no',
        "npm error code ERESOLVE\nRetrying in 5s\nnpm error giving up",
        "usage limit reached, resets 10pm\n" + "then it went on\n" * 6 + "and failed for another reason",
        "the method is overloading __add__",
        "fatal: could not log in the user table",
    ],
)
def test_c11_ordinary_failures_are_no_limit(stderr: str) -> None:
    assert recognise(stderr, 1, NOW) is None


@pytest.mark.req("C11")
def test_c11_a_program_that_ended_well_is_not_limited() -> None:
    assert recognise("usage limit reached, resets 10pm", 0, NOW) is None


def test_a_program_that_sleeps_on_a_limit_and_is_ended_is_limited() -> None:
    limit = recognise("Attempt 1 failed with status 429. Retrying after 7200000ms...", None, NOW)
    assert limit is not None
    assert (limit.kind, limit.reset_at) == ("rate_limited", NOW + timedelta(hours=2))


def test_exit_status_75_asks_to_be_tried_again_later() -> None:
    limit = recognise("the licence server is away", 75, NOW)
    assert limit is not None
    assert (limit.kind, limit.reset_at) == ("overloaded", None)
    assert "licence server" in limit.detail
    assert recognise("", 75, NOW) is not None


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("error", "kind", "reset"),
    [
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}, "overloaded", False),
        (
            {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": {"retryDelay": "36000s"}}},
            "rate_limited",
            True,
        ),
        ({"error": {"code": 429, "message": "Quota exceeded. Your quota will reset after 10h"}}, "usage_limit", True),
        ({"type": "usage_limit", "reset_at": "2026-11-16T22:00:00Z"}, "usage_limit", True),
        ({"type": "usage_limit_reached", "resetsAt": 1794866400}, "usage_limit", True),
        ({"is_error": True, "api_error_status": 529, "result": "API Error: 529"}, "overloaded", False),
        ({"is_error": True, "result": "You've hit your 5-hour limit · resets 10pm (UTC)"}, "usage_limit", True),
        ({"type": "overloaded"}, "overloaded", False),
        ({"error": {"type": "authentication_error", "message": "invalid x-api-key"}}, "not_logged_in", False),
        ({"type": "not_logged_in"}, "not_logged_in", False),
        ({"error": "rate_limited", "retry_after": 36000}, "rate_limited", True),
    ],
)
def test_c11_an_error_object_is_read_by_its_codes_then_its_words(error: Any, kind: LimitKind, reset: bool) -> None:
    limit = recognise_error(error, NOW)
    assert limit is not None
    assert (limit.kind, limit.reset_at) == (kind, TEN_PM if reset else None)


@pytest.mark.parametrize(
    "error", [None, [], "429", {}, {"error": {"type": "invalid_request_error"}}, {"result": "fine", "code": True}]
)
def test_other_objects_say_nothing_of_limits(error: Any) -> None:
    assert recognise_error(error, NOW) is None


def test_only_an_object_that_calls_itself_an_error_is_one() -> None:
    assert says_error({"type": "error"})
    assert says_error({"is_error": True})
    assert not says_error({"error": {"code": 429}})
    assert not says_error({"is_error": False, "type": "result"})
    assert not says_error("error")


@given(st.text(max_size=400), st.one_of(st.none(), st.integers(0, 255)))
def test_no_text_breaks_it_and_rate_limits_always_say_when_they_end(text: str, code: int | None) -> None:
    for told in (text, f"429 too many requests; try again {text}", f"overloaded {text}"):
        limit = recognise(told, code, NOW)
        assert limit is None or (limit.kind == "rate_limited") <= (limit.reset_at is not None)
        assert limit is None or code != 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "type", "code", "message", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_object_breaks_it(value: Any) -> None:
    limit = recognise_error(value, NOW)
    assert limit is None or limit.detail
