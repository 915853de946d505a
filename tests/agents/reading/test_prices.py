"""Prices of tokens, where an agent does not say what it paid."""

import sys

import pytest

from flyball.agents.reading.prices import add_price
from flyball.core.model.outcomes import Usage

TOKENS = Usage(1_000_000, 100_000)


@pytest.mark.req("C31")
def test_a_price_the_agent_named_is_kept() -> None:
    told = Usage(1_000_000, 100_000, usd=0.5)
    assert add_price(told, "gpt-5") == told


@pytest.mark.parametrize("model", ["gpt-5", "openai/gpt-5", "gemini-2.5-pro", "claude-sonnet-4-5"])
def test_tokens_of_a_known_model_are_priced_and_marked_as_an_estimate(model: str) -> None:
    usage = add_price(TOKENS, model)
    assert usage.usd is not None
    assert 0.1 < usage.usd < 100
    assert usage.estimated
    assert (usage.input_tokens, usage.output_tokens) == (TOKENS.input_tokens, TOKENS.output_tokens)


@pytest.mark.parametrize("model", ["", "nobody/knows-this-one"])
def test_tokens_of_an_unknown_model_have_no_price_and_say_so(model: str) -> None:
    assert add_price(TOKENS, model) == Usage(1_000_000, 100_000, None, estimated=True)


def test_without_tokens_nothing_is_estimated() -> None:
    assert add_price(Usage(), "gpt-5") == Usage()


def test_without_the_extra_tokens_have_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert add_price(TOKENS, "gpt-5") == Usage(1_000_000, 100_000, None, estimated=True)
