"""Round steps for axes of numbers and of time."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil, log10

import msgspec

_SECONDS = (
    5,
    10,
    15,
    30,
    *(60 * m for m in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 43200, 259200)),
)
DAY = 86_400
BREAK_PX = 22.0
"""How wide a time is drawn in which nobody ran the task."""


def steps(highest: float) -> list[float]:
    """From 0 upwards in 3 to 5 round steps, the last of which is not below the highest."""
    if highest <= 4:
        return [float(n) for n in range(ceil(highest) + 1)] if highest > 1 else [0.0, max(1.0, float(highest))]
    size = 10 ** int(log10(highest / 4))
    unit = next(size * factor for factor in (1, 2, 2.5, 5, 10, 20) if highest / (size * factor) <= 5)
    return [n * unit for n in range(ceil(highest / unit) + 1)]


def small_steps(highest: float) -> list[float]:
    """The same for amounts of money, which may be cents."""
    return [step / 100 for step in steps(max(highest, 0.01) * 100)]


class Piece(msgspec.Struct, frozen=True):
    """A time that is drawn without a break, and where."""

    begin: datetime
    end: datetime
    left: float
    right: float


class TimeScale(msgspec.Struct, frozen=True):
    """Where a moment stands; times in which nobody ran the task are left out as a narrow blank."""

    pieces: tuple[Piece, ...]

    def x(self, at: datetime) -> float:
        for piece in self.pieces:
            if at <= piece.end:
                whole = (piece.end - piece.begin).total_seconds() or 1.0
                part = max(0.0, (at - piece.begin).total_seconds()) / whole
                return piece.left + (piece.right - piece.left) * part
        return self.pieces[-1].right

    def ticks(self, least_px: float) -> Iterator[tuple[float, str]]:
        """Round times with their names; dates where a day begins."""
        spans = [(p.end - p.begin).total_seconds() for p in self.pieces]
        drawn = sum(p.right - p.left for p in self.pieces) or 1.0
        seconds = sum(spans) * least_px / drawn
        step = next((each for each in _SECONDS if each >= seconds), _SECONDS[-1])
        unit = timedelta(seconds=step)
        dated = self.pieces[-1].end - self.pieces[0].begin > timedelta(hours=24)
        day = None
        last = float("-inf")
        for piece in self.pieces:
            for at in _round_times(piece, unit):
                x = self.x(at)
                if x - last < least_px * 0.8:
                    continue
                last = x
                name = f"{at:%d %b}" if step >= DAY else f"{at:%H:%M:%S}" if step < 60 else f"{at:%H:%M}"
                if dated and step < DAY and at.date() != day:
                    name = f"{at:%d %b %H:%M}"
                day = at.date()
                yield x, name


def _round_times(piece: Piece, unit: timedelta) -> Iterator[datetime]:
    epoch = datetime(2020, 1, 1, tzinfo=UTC)
    at = epoch + unit * ceil((piece.begin - epoch) / unit)
    while at <= piece.end:
        yield at
        at += unit


def time_scale(sittings: Sequence[tuple[datetime, datetime]], left: float, right: float) -> TimeScale:
    """Times that follow each other within a quarter of an hour are one; the others are apart."""
    merged: list[list[datetime]] = []
    for begin, end in sorted(sittings):
        if merged and begin - merged[-1][1] < timedelta(minutes=15):
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    merged = merged[-12:]
    for span in merged:
        span[1] = max(span[1], span[0] + timedelta(seconds=30))
    whole = sum((end - begin).total_seconds() for begin, end in merged)
    room = right - left - BREAK_PX * (len(merged) - 1)
    pieces = []
    x = left
    for begin, end in merged:
        width = room * (end - begin).total_seconds() / whole
        pieces.append(Piece(begin.astimezone(UTC), end.astimezone(UTC), x, x + width))
        x += width + BREAK_PX
    return TimeScale(tuple(pieces))
