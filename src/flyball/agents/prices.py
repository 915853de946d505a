"""What tokens cost by the published prices, where an agent says how many it used and not what it paid."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from flyball.agents.foreign import rounded_up
from flyball.core.outcomes import Usage


def priced(usage: Usage, model: str) -> Usage:
    """The usage with an estimate of its price; as it was where the agent named one, or none is known for its model.

    Cached tokens are counted in full, so an estimate is rather too high than too low.
    """
    if usage.usd or not (usage.input_tokens or usage.output_tokens):
        return usage
    price = _price(usage, model) if model else None
    return msgspec.structs.replace(usage, usd=rounded_up(float(price or 0)), estimated=True)


def _price(usage: Usage, model: str) -> Decimal | None:
    try:
        import genai_prices  # noqa: PLC0415 - it takes long, and not every loop needs it
    except ImportError:
        return None
    used = genai_prices.Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    for name in (model, model.rpartition("/")[2]):
        try:
            return genai_prices.calc_price(used, model_ref=name).total_price
        except LookupError:
            continue
    return None
