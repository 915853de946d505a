from bikes.riders import Rider, may_ride


def test_br_1_a_rider_is_at_least_16() -> None:
    assert may_ride(Rider("Ada", 16))
    assert not may_ride(Rider("Bob", 15))
