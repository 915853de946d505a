"""The bikes and where they are in their life."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

LOWEST_BATTERY = 15
RESERVED_FOR = timedelta(minutes=10)


class State(StrEnum):
    AVAILABLE = "available"
    RESERVED = "reserved"
    RENTED = "rented"
    BROKEN = "broken"


TRANSITIONS = {
    State.AVAILABLE: {State.RESERVED, State.BROKEN},
    State.RESERVED: {State.AVAILABLE, State.RENTED},
    State.RENTED: {State.AVAILABLE, State.BROKEN},
    State.BROKEN: {State.AVAILABLE},
}


@dataclass
class Bike:
    number: int
    battery: int
    state: State = State.AVAILABLE
    reserved_at: datetime | None = None

    def move(self, to: State) -> None:
        if to not in TRANSITIONS[self.state]:
            raise ValueError(f"a bike that is {self.state} cannot become {to}")
        self.state = to


def reserve(bike: Bike, now: datetime | None = None) -> None:
    if bike.battery < LOWEST_BATTERY:
        raise ValueError("the battery is too low")
    bike.move(State.RESERVED)
    bike.reserved_at = now or datetime.now(UTC)


def lapse(bike: Bike, now: datetime) -> bool:
    """Give a bike back whose reservation is over."""
    if bike.state is not State.RESERVED or bike.reserved_at is None:
        return False
    if now - bike.reserved_at < RESERVED_FOR:
        return False
    bike.move(State.AVAILABLE)
    bike.reserved_at = None
    return True


def add_to(stations: dict[str, list[Bike]], station: str, bikes: list[Bike] | None = None) -> None:
    stations.setdefault(station, []).extend(bikes or [])
