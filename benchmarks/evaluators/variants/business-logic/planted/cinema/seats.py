from enum import StrEnum


class Seat(StrEnum):
    FREE = "free"
    HELD = "held"
    SOLD = "sold"
    RETURNED = "returned"
    BROKEN = "broken"


NEXT = {
    Seat.FREE: [Seat.HELD],
    Seat.HELD: [Seat.SOLD, Seat.FREE],
    Seat.SOLD: [Seat.RETURNED, Seat.FREE],
}
