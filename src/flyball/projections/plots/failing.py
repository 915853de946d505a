"""Failing tests by iteration: a step line, a glyph for each verdict, and under it who worked on what."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import ceil

import msgspec

from flyball.projections.history.timeline import GRAVITY, Kind, TimelineMark
from flyball.projections.plots.failing_story import GRAVE, Returned
from flyball.projections.plots.lanes import MOST_ROWS, Rows, more, order, rows_of_marks
from flyball.projections.plots.scale import steps
from flyball.projections.plots.svg import across, down, element, glyph, number, picture, wide, words
from flyball.projections.wording import duration

WIDTHS = (1136, 680, 311)
SPARK = (176, 44)
NARROW = 400
WIDEST_STEP, NARROWEST_STEP = 48.0, 11.0
LONG_WAIT_S = 15 * 60
MOST_LABELS = 4
GLYPHS: dict[Kind, str] = {
    "accepted": "accepted",
    "rejected": "rejected",
    "rolled back": "rolled-back",
    "false claim": "false-claim",
    "asks you": "asks",
    "continue": "dot",
}


class Bin(msgspec.Struct, frozen=True):
    """One iteration, or several where there is no room: its last value, all it lies between, and the gravest verdict."""

    first: int
    last: TimelineMark
    value: int | None
    low: int
    high: int
    mark: TimelineMark
    grave: int
    wait_s: float


def bins(marks: Sequence[TimelineMark], room: float) -> list[Bin]:
    """As few iterations in each as fit."""
    size = max(1, ceil(len(marks) * NARROWEST_STEP / room))
    return [_bin(marks[start : start + size]) for start in range(0, len(marks), size)]


def _bin(marks: Sequence[TimelineMark]) -> Bin:
    counted = [mark.failing for mark in marks if mark.failing is not None]
    gravest = min(marks, key=lambda mark: GRAVITY.index(mark.kind))
    return Bin(
        marks[0].number,
        marks[-1],
        counted[-1] if counted else None,
        min(counted, default=0),
        max(counted, default=0),
        gravest,
        sum(mark.kind in GRAVE for mark in marks),
        max(mark.wait_s for mark in marks),
    )


class Frame(msgspec.Struct, frozen=True):
    width: float
    left: float
    right: float
    top: float
    bottom: float
    step: float
    highest: float

    def x(self, place: int) -> float:
        return self.left + self.step * place

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * value / self.highest


def failing_plot(
    marks: Sequence[TimelineMark], width: int, *, label: str, rows: Rows | None = None, returned: Returned | None = None
) -> str:
    """The picture; nothing is averaged, and no rollback can hide in it."""
    left, right = (46.0, width - 22.0) if width > NARROW else (30.0, width - 16.0)
    found = bins(marks, right - left)
    counted = any(each.value is not None for each in found)
    top, bottom = 34.0, (34.0 + (150.0 if width > NARROW else 110.0)) if counted else 34.0
    step = min(WIDEST_STEP, (right - left) / (len(found) + (returned is not None)))
    axis = steps(max((each.high for each in found), default=1))
    frame = Frame(width, left, right, top, bottom, step, axis[-1])
    parts = (
        [
            *_axes(frame, axis, ceil(len(marks) / len(found))),
            *_line(frame, found, at_end=returned is None),
            *_notches(frame, found),
        ]
        if counted
        else []
    )
    parts += _strip(frame, found)
    parts += _return_mark(frame, len(found), *returned) if returned and counted else []
    lanes = list(_brackets(frame, found, marks, rows or rows_of_marks(marks)))
    height = frame.bottom + 50 + 15 * max((row for row, _ in lanes), default=0) + (18 if lanes else 0)
    parts += [part for _, part in lanes]
    return picture(width, height, parts, label=label)


def spark(marks: Sequence[TimelineMark], *, label: str) -> str:
    """The same line, small: with the gravest verdict on it, and no axes."""
    if not any(mark.failing is not None for mark in marks):
        return ""
    width, height = SPARK
    found = bins(marks, (width - 12) * 3)
    highest = max(1, *(each.high for each in found))
    frame = Frame(width, 2, width - 10, 10, height - 8, (width - 12) / len(found), highest)
    parts = [*_line(frame, found, marks_shown=False)]
    gravest = min(found, key=lambda each: GRAVITY.index(each.mark.kind))
    if gravest.mark.kind in GRAVE and gravest.value is not None:
        where = frame.x(found.index(gravest)) + frame.step / 2
        parts.append(glyph(GLYPHS[gravest.mark.kind], where, frame.y(gravest.value), 12))
    last = next(each for each in reversed(found) if each.value is not None)
    parts.append(element("circle", cx=frame.x(len(found)), cy=frame.y(last.value or 0), r=3, cls="p-end"))
    parts.insert(0, element("path", d=f"M{frame.left} {number(frame.bottom)}H{number(width - 4)}", cls="p-zero"))
    return picture(width, height, parts, label=label)


def _axes(frame: Frame, axis: Iterable[float], bin_size: int) -> Iterator[str]:
    name = f"failing, in bins of {bin_size}" if bin_size > 1 else "failing"
    yield words(2, frame.top - 18, name, "p-name")
    for value in axis:
        y = frame.y(value)
        yield across(frame.left, y, frame.right, "p-grid" if value else "p-zero")
        yield words(frame.left - 8, y + 4, number(value), "p-tick", "end")


def _notches(frame: Frame, found: Sequence[Bin]) -> Iterator[str]:
    """Waits of over a quarter of an hour: the line does not stand for a time in which nothing was measured."""
    told = float("-inf")
    for place, each in enumerate(found):
        if each.wait_s < LONG_WAIT_S:
            continue
        x = frame.x(place)
        size = {"y": frame.top, "width": 6, "height": frame.bottom - frame.top}
        yield element("rect", x=x - 3, **size, fill="url(#hatch)", cls="p-wait")
        name = f"{duration(each.wait_s)} wait"
        if x - told > wide(name) + 12 and x + wide(name) < frame.right:
            told = x
            yield words(x + 6, frame.bottom - 5, name, "p-note")


def _return_mark(frame: Frame, place: int, label: str, failing: int | None) -> Iterator[str]:
    """A person went back: no line leads there, for no iteration did."""
    x = frame.x(place) + min(frame.step / 2, frame.right - frame.x(place))
    y = frame.y(failing) if failing is not None else frame.bottom - 12
    yield down(frame.x(place), frame.top, frame.bottom, "p-leader")
    yield glyph(GLYPHS["rolled back"], x, y, 14, f"rolled back to {label} by a person")
    told = f"back to {label}" if failing is None else f"{failing}, back to {label}"
    fits = x + 12 + wide(told) < frame.width
    yield words(x + 12 if fits else frame.width - 2, y + 4 if fits else y - 11, told, "p-item", None if fits else "end")


def _line(frame: Frame, found: Sequence[Bin], *, marks_shown: bool = True, at_end: bool = True) -> Iterator[str]:
    for counted, group in groupby(enumerate(found), key=lambda each: each[1].value is not None):
        if not counted:
            continue
        run = list(group)
        first, last = frame.x(run[0][0]), frame.x(run[-1][0] + 1)
        path = f"M{number(first)} {number(frame.y(run[0][1].value or 0))}"
        for place, each in run:
            path += f"V{number(frame.y(each.value or 0))}H{number(frame.x(place + 1))}"
        base = number(frame.bottom)
        yield element("path", d=f"{path}V{base}H{number(first)}Z", cls="p-area")
        bands = "".join(
            f"M{number(frame.x(p))} {number(frame.y(e.high))}h{number(frame.step)}V{number(frame.y(e.low))}h-{number(frame.step)}z"
            for p, e in run
            if e.high > e.low
        )
        if bands:
            yield element("path", d=bands, cls="p-band")
        yield element("path", d=path, cls="p-line")
        if marks_shown:
            yield from _marks(frame, run)
            if at_end and run[-1][0] == len(found) - 1:
                y = frame.y(run[-1][1].value or 0)
                yield words(
                    min(last + 4, frame.width - 2),
                    y - 6,
                    str(run[-1][1].value),
                    "p-last",
                    "end" if last + 24 > frame.width else None,
                )


def _marks(frame: Frame, run: Sequence[tuple[int, Bin]]) -> Iterator[str]:
    taken: list[tuple[float, float, float]] = []
    ranked = sorted((p for p in run if p[1].mark.kind in GRAVE), key=lambda p: GRAVITY.index(p[1].mark.kind))
    labels = 0
    for place, each in ranked:
        if labels == MOST_LABELS:
            break
        x, y = frame.x(place) + frame.step / 2, max(12.0, frame.y(each.value or 0) - 26)
        text = _mark_label(each.mark)
        end = x + 8 + wide(text)
        if end > frame.width or any(abs(y - other) < 15 and x < right and end > start for start, right, other in taken):
            continue
        labels += 1
        taken.append((x - 8, end + 8, y))
        low = number(frame.y(each.value or 0) - 8)
        yield element("path", d=f"M{number(x)} {low}V{number(y)}h5", cls="p-leader")
        yield words(x + 8, y + 4, text, "p-note")
    for place, each in run:
        if each.mark.kind != "continue":
            x = frame.x(place) + frame.step / 2
            title = f"iteration {each.mark.number}: {each.mark.kind}, {each.mark.note}"
            yield glyph(GLYPHS[each.mark.kind], x, frame.y(each.value or 0), 14, title)


def _mark_label(mark: TimelineMark) -> str:
    if mark.kind == "false claim":
        return f"says done, {mark.failing} fail" if mark.failing else "says done"
    return str(mark.kind)


def _strip(frame: Frame, found: Sequence[Bin]) -> Iterator[str]:
    """One glyph for each, whatever the line shows."""
    y = frame.bottom + 22
    yield element("rect", x=frame.left, y=y, width=frame.step * len(found), height=17, rx=5, cls="p-strip")
    size = 11.0 if frame.step < 14 else 13.0
    last = float("-inf")
    step = _label_step(found[-1].last.number, frame.step * len(found))
    for place, each in enumerate(found):
        x = frame.x(place) + frame.step / 2
        yield glyph(GLYPHS[each.mark.kind], x, y + 8.5, size)
        if each.grave > 1:
            yield words(x, y + 29, str(each.grave), "p-tick", "middle")
        name = str(each.first if place < len(found) - 1 else each.last.number)
        wanted = place == 0 or place == len(found) - 1 or each.first % step == 0
        room = place == len(found) - 1 or frame.x(len(found)) - x > 40
        if wanted and x - last > wide(name) + 10 and room:
            last = x
            yield words(x, frame.bottom + 16, name, "p-tick", "middle")


def _label_step(total: int, room: float) -> int:
    """Which iterations have their number under them: every one, every second, …, as there is room."""
    sizes = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    return next((n for n in sizes if room / max(1, total / n) > 44), 10000)


def _brackets(
    frame: Frame, found: Sequence[Bin], marks: Sequence[TimelineMark], rows: Rows
) -> Iterator[tuple[int, str]]:
    """What was worked on in each row: a stage, or the item of a lane of its own."""
    size = max(1, ceil(len(marks) / len(found)))
    present = {rows[mark.lane] for mark in marks}
    names = [name for name in order(rows) if name in present]
    for row, row_name in enumerate(names[:MOST_ROWS]):
        y = frame.bottom + 64 + 15 * row + (10 if any(each.grave > 1 for each in found) else 0)
        if len(names) > 1:
            yield row + 1, words(0 if frame.width < NARROW else 4, y + 3, row_name, "p-tick")
        for name, first, last in _runs([mark for mark in marks if rows[mark.lane] == row_name]):
            left = frame.x((first - 1) // size) + 1
            right = frame.x((last - 1) // size + 1) - 2
            yield row + 1, across(left, y + 4, right, "p-bracket")
            if wide(name) < right - left + 4:
                yield row + 1, words(left, y, name, "p-item")
    told = more(names)
    if told:
        yield MOST_ROWS + 1, words(frame.left, frame.bottom + 70 + 15 * MOST_ROWS, told, "p-tick")


def _runs(marks: Iterable[TimelineMark]) -> Iterator[tuple[str, int, int]]:
    for name, group in groupby(marks, key=lambda mark: mark.item or mark.stage):
        numbers = [mark.number for mark in group]
        yield name, numbers[0], numbers[-1]
