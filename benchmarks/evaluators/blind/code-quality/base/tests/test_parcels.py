from courier.parcels import Parcel, is_heavy


def test_twenty_kilograms_are_not_heavy():
    assert not is_heavy(Parcel("1", 20_000, "A"))
    assert is_heavy(Parcel("1", 20_001, "A"))
