MOST_SEATS = 8


def may_add(seats: int) -> bool:
    return seats < MOST_SEATS
