from cinema.bookings import may_add


def test_br_1_eight_seats_at_most():
    assert may_add(7)
    assert not may_add(8)
    assert not may_add(9)
