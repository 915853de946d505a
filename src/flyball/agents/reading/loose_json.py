"""Values out of foreign JSON, whatever it holds: what is not of the wanted kind is an empty one."""

import json
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_object(text: str | bytes) -> dict[str, Any]:
    try:
        return as_dict(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def object_in(path: Path) -> dict[str, Any]:
    try:
        return as_object(path.read_bytes())
    except OSError:
        return {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else 0


def sum_counts(values: Iterable[Any], *names: str) -> int:
    return sum(as_count(as_dict(value).get(name)) for value in values for name in names)


def as_money(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**9
    return rounded_up(value) if known else 0.0


def rounded_up(usd: float) -> float:
    """Money to a millionth, never less than it was but for what floating point adds: budgets hold however many turns there are."""
    return math.ceil(round(usd * 1e6, 3)) / 1e6


def as_moment(seconds: Any) -> datetime | None:
    """A time stamp in Unix seconds."""
    known = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < 2**37
    return datetime.fromtimestamp(seconds, UTC) if known else None
