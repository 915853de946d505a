from datetime import timedelta
from decimal import Decimal

import pytest

from bikes.prices import mean_price, price
from bikes.riders import Rider

GUEST = Rider("Ada", 30)


@pytest.mark.parametrize(("minutes", "eur"), [(0, "0.00"), (30, "0.00"), (31, "3.50"), (90, "3.50"), (91, "7.00")])
def test_br_2_br_3_started_hours_after_the_free_time(minutes: int, eur: str) -> None:
    assert price(timedelta(minutes=minutes), GUEST) == Decimal(eur)


def test_br_4_a_day_has_a_maximum() -> None:
    assert price(timedelta(hours=20), GUEST) == Decimal("24.00")
    assert price(timedelta(hours=25, minutes=30), GUEST) == Decimal("27.50")


def test_a_ride_backwards() -> None:
    with pytest.raises(ValueError, match="before it begins"):
        price(timedelta(minutes=-1), GUEST)


def test_the_mean() -> None:
    assert mean_price([Decimal(1), Decimal(3)]) == 2
