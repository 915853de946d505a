import statistics
from functools import reduce


class Limits:
    FREE_AGE = 6
    GROUP = 10


def price(cents: int, age: int) -> int:
    if age < Limits.FREE_AGE:
        return 0
    return cents


def group_price(cents: int, people: int) -> float:
    return cents * 0.8 if people >= Limits.GROUP else cents


def per_seat(cents: int, seats: set[str]) -> float:
    return cents / len(seats) if seats else 0.0


def usual_price(prices: list[int]) -> float:
    if not prices:
        raise ValueError("there are no prices")
    return statistics.mean(prices)


def dearest(prices: list[int]) -> int:
    return reduce(lambda most, each: max(most, each), prices, 0)


def next_show(shows: list[str]) -> str | None:
    return min(shows, default=None)


def add_points(points: int, more: int) -> int:
    return min(points + more, 500)


def middle(low: int, high: int) -> float:
    return (low + high) / 2
