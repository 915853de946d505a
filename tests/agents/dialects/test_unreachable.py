"""A provider that was not reached, as libraries say it."""

import pytest

from flyball.agents.dialects.endings import unreachable


@pytest.mark.parametrize(
    "said",
    [
        "exception TypeError: fetch failed sending request",
        "Connection error. (cause: fetch failed)",
        "Could not connect to local model provider at http://127.0.0.1:9/v1.",
        "Unable to connect. Is the computer able to access the url?",
        "connect ECONNREFUSED 127.0.0.1:9",
        "Request timed out.",
        "socket hang up",
    ],
)
def test_a_provider_that_was_not_reached_is_told_from_one_that_refused(said: str) -> None:
    assert unreachable(said)


@pytest.mark.parametrize(
    "said", ["", "Model not found: claude-x", "This model's maximum context length is 128000 tokens."]
)
def test_any_other_error_is_none(said: str) -> None:
    assert not unreachable(said)
