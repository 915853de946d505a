"""What a task may take: what finished tasks of its workflow took in this repository."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from flyball.core.model.state import State
from flyball.core.model.task import Forecast, Quantiles
from flyball.core.text.quantities import plural
from flyball.projections.wording import duration, money

RECENT = 20
LEAST_FOR_MONEY = 5
_SHARES = (0.5, 0.8)


def make_forecast(tasks: Iterable[State]) -> Forecast | None:
    """Quantiles over the first tasks that ended DONE, and no more than are needed are looked at; None where there is none."""
    done = list(islice((each for each in tasks if each.decision == "DONE"), RECENT))
    if not done:
        return None
    costs = [each.usage.usd for each in done if each.usage.usd is not None]
    return Forecast(
        len(done),
        turns=_quantiles([each.turns for each in done]),
        seconds=_quantiles([each.elapsed.total_seconds() for each in done]),
        usd=_quantiles(costs) if len(costs) == len(done) >= LEAST_FOR_MONEY else None,
    )


def describe_forecast(forecast: Forecast, workflow: str) -> str:
    """One line for a person."""
    amounts = forecast.usd or (None, None)
    median, most = (
        ", ".join((plural(round(turns), "turn"), duration(seconds), *([money(usd)] if usd is not None else [])))
        for turns, seconds, usd in zip(forecast.turns, forecast.seconds, amounts, strict=True)
    )
    return f"median {median}; 80th percentile {most} (of {plural(forecast.tasks, f'finished {workflow} task')} here)"


def compare_forecast(forecast: Forecast, turns: int, seconds: float) -> str:
    """How what a task took stands to its forecast."""
    if turns <= forecast.turns[1] and seconds <= forecast.seconds[1]:
        return "within the 80th percentile"
    more = [("turns", turns > forecast.turns[1]), ("time", seconds > forecast.seconds[1])]
    return f"more {' and '.join(name for name, is_more in more if is_more)} than the 80th percentile"


def _quantiles(values: Sequence[float]) -> Quantiles:
    ordered = sorted(values)
    median, most = (ordered[math.ceil(share * len(ordered)) - 1] for share in _SHARES)
    return median, most
