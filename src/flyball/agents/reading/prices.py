"""What tokens cost by the published prices, where an agent says how many it used and not what it paid."""

import importlib.util
from decimal import Decimal

import msgspec

from flyball.agents.reading.loose_json import rounded_up
from flyball.core.model.outcomes import Usage

PACKAGE = "genai-prices"


def add_price(usage: Usage, model: str) -> Usage:
    """The usage with an estimate of its price; without one where none is known for its model.

    Cached tokens are counted in full, so an estimate is rather too high than too low.
    """
    if usage.usd is not None or not usage.tokens:
        return usage
    price = _price(usage, model) if model else None
    return msgspec.structs.replace(usage, usd=None if price is None else rounded_up(float(price)), estimated=True)


def has_price(model: str) -> bool:
    return bool(model) and _price(Usage(1, 1), model) is not None


def has_prices() -> bool:
    return importlib.util.find_spec(PACKAGE.replace("-", "_")) is not None


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
