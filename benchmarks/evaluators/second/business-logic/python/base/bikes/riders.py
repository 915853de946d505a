from dataclasses import dataclass

MINIMUM_AGE = 16


@dataclass(frozen=True)
class Rider:
    name: str
    age: int
    member: bool = False


def may_ride(rider: Rider) -> bool:
    return rider.age >= MINIMUM_AGE
