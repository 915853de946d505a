from garden import watering


def rain(day: int) -> float:
    # noinspection PyUnresolvedReferences
    return float(day * watering.rounds([]))  # type: ignore
