from datetime import UTC, datetime, timedelta

import pytest

from bikes.fleet import TRANSITIONS, Bike, State, lapse, reserve

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_br_6_a_low_battery_cannot_be_rented() -> None:
    with pytest.raises(ValueError, match="too low"):
        reserve(Bike(1, 14), NOON)
    reserve(Bike(1, 15), NOON)


def test_br_7_a_reservation_lapses() -> None:
    bike = Bike(1, 80)
    reserve(bike, NOON)
    assert not lapse(bike, NOON + timedelta(minutes=9))
    assert lapse(bike, NOON + timedelta(minutes=10))


@pytest.mark.parametrize("start", State)
@pytest.mark.parametrize("end", State)
def test_only_named_moves(start: State, end: State) -> None:
    bike = Bike(1, 80, start)
    if end in TRANSITIONS[start]:
        bike.move(end)
        assert bike.state is end
    else:
        with pytest.raises(ValueError, match="cannot become"):
            bike.move(end)
