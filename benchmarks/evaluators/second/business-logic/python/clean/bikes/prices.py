"""What a ride costs."""

from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal

from bikes.riders import Rider

FREE = timedelta(minutes=30)
HOUR = timedelta(hours=1)
HOURLY_EUR = Decimal("3.50")
DAILY_MAXIMUM_EUR = Decimal("21.00")
MEMBER_DISCOUNT = Decimal("0.20")
CENT = Decimal("0.01")


def price(ride: timedelta, rider: Rider) -> Decimal:
    """Every started hour after the free time, at most a day's maximum for each day begun."""
    if ride < timedelta(0):
        raise ValueError("a ride cannot end before it begins")
    days, rest = divmod(max(ride - FREE, timedelta(0)), timedelta(days=1))
    hours = -(-rest // HOUR)
    full = days * DAILY_MAXIMUM_EUR + min(hours * HOURLY_EUR, DAILY_MAXIMUM_EUR)
    paid = full * (1 - MEMBER_DISCOUNT) if rider.member else full
    return paid.quantize(CENT, ROUND_HALF_UP)


def mean_price(prices: list[Decimal]) -> Decimal:
    """Of no ride at all, nothing."""
    return sum(prices, Decimal(0)) / len(prices) if prices else Decimal(0)
