"""Time and money on one axis: each lane a chain of turns, gates and reviews, people's questions, items done, and the spend."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from flyball.projections.history.timeline import Bar, Pause, Sitting, Timeline
from flyball.projections.plots.failing import GLYPHS, LONG_WAIT_S, NARROW
from flyball.projections.plots.lanes import MOST_ROWS, Rows, more, order
from flyball.projections.plots.progress import ROOM, is_told, progress_plot
from flyball.projections.plots.scale import TimeScale, small_steps, time_scale
from flyball.projections.plots.svg import across, down, element, glyph, number, picture, wide, words
from flyball.projections.wording import dollars, duration

ROW = 33.0
MONEY = 76.0
FINEST = 2000
"""Parts of the whole time that the widest plot could tell apart."""
_THIN = 2.0
_HEIGHTS = {"turn": (4.0, 15.0), "gate": (4.0, 15.0), "review": (11.0, 8.0), "held": (1.0, 18.0)}


class QuestionSpan(msgspec.Struct, frozen=True):
    id: str
    asked_at: datetime
    answered_at: datetime | None
    deadline_at: datetime | None = None


class Course(msgspec.Struct, frozen=True):
    now: datetime
    running: bool
    timeline: Timeline
    bars: Sequence[Bar]
    questions: Sequence[QuestionSpan]
    rows: Rows
    cap: float | None = None
    dearest: float | None = None


def coarse(bars: Sequence[Bar], sittings: Sequence[Sitting], now: datetime) -> list[Bar]:
    """Bars of which no plot could show two apart are one; what is drawn three times is gone through once."""
    whole = sum((each.last_at - each.begun_at).total_seconds() for each in sittings)
    least = timedelta(seconds=whole / FINEST)
    last: dict[tuple[str, str], int] = {}
    kept: list[Bar] = []
    for bar in bars:
        key = (bar.lane, _kind(bar))
        where = last.get(key)
        before = kept[where] if where is not None else None
        if (
            before is not None
            and where is not None
            and bar.begun_at - (before.ended_at or now) < least
            and bar.item == before.item
        ):
            kept[where] = replace(before, ended_at=bar.ended_at, turn=bar.turn)
        else:
            last[key] = len(kept)
            kept.append(bar)
    return kept


def course_plot(course: Course, width: int, *, label: str) -> str:
    """The picture, or nothing where nothing has happened."""
    if not course.timeline.sittings:
        return ""
    left, right = (66.0, width - 46.0) if width > NARROW else (32.0, width - 14.0)
    spans = [(each.begun_at, each.last_at) for each in course.timeline.sittings]
    if course.running:
        spans[-1] = (spans[-1][0], max(course.now, spans[-1][1]))
    scale = time_scale(spans, left, right)
    names = order(course.rows)
    shown = names[:MOST_ROWS]
    top = 28.0
    bottom = top + ROW * (len(shown) + bool(course.questions))
    parts = [*_times(scale, bottom, width), *_breaks(scale, bottom)]
    for row, name in enumerate(shown):
        parts += _lane(course, scale, name, top + ROW * row, narrow=width < NARROW)
    parts += _waits(course, scale, top, top + ROW * len(shown))
    if course.questions:
        parts += _people(course, scale, top + ROW * len(shown), width)
    if more(names):
        parts.append(words(left, bottom + 12, more(names), "p-tick"))
        bottom += 16
    if is_told(course.timeline.progress):
        parts += progress_plot(course.timeline.progress, scale, bottom + 26, _end(course, scale))
        bottom += ROOM
    if course.timeline.money:
        parts += _money(course, scale, bottom + 26, width)
        bottom += 26 + MONEY
    if course.running:
        x = scale.x(course.now)
        parts.append(down(x, top, bottom, "p-now"))
        parts.append(words(min(x, width - 26), bottom + 14, f"now {course.now:%H:%M}", "p-item", "middle"))
    return picture(width, bottom + 20, parts, label=label)


def _end(course: Course, scale: TimeScale) -> float:
    """Where lines over time end: now, or with the last fact."""
    return scale.x(course.now) if course.running else scale.pieces[-1].right


def _times(scale: TimeScale, bottom: float, width: float) -> Iterator[str]:
    narrow = width < NARROW
    yield words(0 if narrow else 4, 14, "UTC", "p-name")
    for x, name in scale.ticks(76.0 if narrow else 96.0):
        yield down(x, 22, bottom, "p-grid")
        if x - wide(name) / 2 < wide("UTC") + 4:
            continue
        beyond = x + wide(name) / 2 > width
        yield words(width - 1 if beyond else x, 14, name, "p-tick", "end" if beyond else "middle")


def _breaks(scale: TimeScale, bottom: float) -> Iterator[str]:
    """Nobody ran the task between these times."""
    for before, after in zip(scale.pieces, scale.pieces[1:], strict=False):
        title = element("title", f"not run for {duration((after.begin - before.end).total_seconds())}")
        yield element("g", title, down((before.right + after.left) / 2, 22, bottom, "p-break"))


def _lane(course: Course, scale: TimeScale, name: str, y: float, *, narrow: bool) -> Iterator[str]:
    shown = name if narrow or len(name) > 1 else f"Lane {name}"
    yield words(0 if narrow else 4, y + 15, shown, "p-tick")
    bars = [bar for bar in course.bars if course.rows[bar.lane] == name]
    for kind in ("turn", "review", "gate", "held"):
        path = _rects([bar for bar in bars if _kind(bar) == kind], scale, course.now, y, kind)
        if path:
            yield element("path", d=path, cls=f"b-{kind}")
    yield from _items(bars, scale, y)
    ends = {bar.turn: bar.ended_at for bar in bars if bar.kind != "gate"}
    last = float("-inf")
    for mark in course.timeline.marks:
        if course.rows.get(mark.lane) != name or mark.kind in {"continue", "accepted"}:
            continue
        end = ends.get(mark.turn) or mark.at
        x = scale.x(end)
        if x - last >= 9:
            last = x
            yield glyph(GLYPHS[mark.kind], x, y + 20, 11, f"iteration {mark.number}: {mark.kind}")


def _kind(bar: Bar) -> str:
    return "held" if bar.kind == "gate" and bar.held else bar.kind


def _rects(bars: Sequence[Bar], scale: TimeScale, now: datetime, y: float, kind: str) -> str:
    """All bars of a kind as one path; those that would lie on one another are one."""
    down, height = _HEIGHTS[kind]
    spans: list[list[float]] = []
    for bar in bars:
        left = scale.x(bar.begun_at)
        right = max(left + _THIN, scale.x(bar.ended_at or now) - 0.6)
        if spans and left - spans[-1][1] < 0.5:
            spans[-1][1] = max(spans[-1][1], right)
        else:
            spans.append([left, right])
    return "".join(
        f"M{number(left)} {number(y + down)}h{number(right - left)}v{number(height)}H{number(left)}z"
        for left, right in spans
    )


def _items(bars: Sequence[Bar], scale: TimeScale, y: float) -> Iterator[str]:
    """The names of what a lane was on, above its bars."""
    item, last = "", float("-inf")
    for bar in bars:
        if not bar.item or bar.item == item:
            continue
        item, left = bar.item, scale.x(bar.begun_at)
        if left - last > 3:
            last = left + wide(item)
            yield words(left + 1, y, item, "p-item")


def _waits(course: Course, scale: TimeScale, top: float, bottom: float) -> Iterator[str]:
    seen: set[tuple[datetime, str]] = set()
    for pause in course.timeline.pauses:
        end = pause.ended_at or min(pause.until, course.now)
        key = (pause.begun_at.replace(second=0, microsecond=0), pause.reason)
        if (end - pause.begun_at).total_seconds() < LONG_WAIT_S or key in seen:
            continue
        seen.add(key)
        left, right = scale.x(pause.begun_at), scale.x(end)
        size = {"x": left, "y": top - 4, "width": max(2.0, right - left), "height": bottom - top}
        title = element("title", f"{duration((end - pause.begun_at).total_seconds())} wait")
        yield element("g", title, element("rect", **size, fill="url(#hatch)", cls="p-wait"))
        room = right - left - 4
        reason = re.split("[:;]", pause.reason)[0]
        lines = (
            (reason if wide(reason) < room else "wait", "p-item"),
            (f"{pause.begun_at:%H:%M} to {end:%H:%M}", "p-note"),
        )
        fitting = [(line, cls) for line, cls in lines if line and wide(line) < room]
        y = (top + bottom) / 2 - 7 * len(fitting) + 7
        for line, cls in fitting:
            yield words((left + right) / 2, y, line, cls, "middle")
            y += 14


def _people(course: Course, scale: TimeScale, y: float, width: float) -> Iterator[str]:
    yield words(4 if width > NARROW else 0, y + 15, "You", "p-tick")
    for asked in course.questions:
        left = min(scale.x(asked.asked_at), width - 17)
        right = scale.x(asked.answered_at or course.now)
        yield element("rect", x=left, y=y + 4, width=max(14.0, right - left), height=15, rx=3, cls="b-person")
        yield glyph("asks", left + 8, y + 11.5, 11, f"{asked.id} asked at {asked.asked_at:%H:%M} UTC")
        told = f"{asked.id}, open {duration(((asked.answered_at or course.now) - asked.asked_at).total_seconds())}"
        if wide(told) + 20 < right - left:
            yield words(left + 18, y + 15.5, told, "p-person")
        if asked.answered_at is None and asked.deadline_at is not None:
            yield across(right, y + 11.5, width - 8, "p-deadline")


def _money(course: Course, scale: TimeScale, top: float, width: float) -> Iterator[str]:
    money = course.timeline.money
    spent = money[-1].usd
    axis = small_steps(max(spent, course.cap or 0.0))
    left, right, bottom = scale.pieces[0].left, scale.pieces[-1].right, top + MONEY

    def y(usd: float) -> float:
        return bottom - MONEY * usd / axis[-1]

    for value in axis:
        yield across(left, y(value), right, "p-grid" if value else "p-zero")
    for value in axis if len(axis) < 4 else (axis[0], axis[len(axis) // 2], axis[-1]):
        yield words(left - 8, y(value) + 4, dollars(value), "p-tick", "end")
    if course.cap is not None:
        yield across(left, y(course.cap), right, "p-cap")
        told = f"cap {dollars(course.cap)}"
        if course.dearest and width > NARROW:
            told += f"; no turn starts above {dollars(max(0.0, course.cap - course.dearest))}: the dearest took {dollars(course.dearest)}"
        yield words(left + 4, y(course.cap) - 5, told, "p-note")
    path = f"M{number(left)} {number(bottom)}"
    points = money if len(money) <= 400 else money[:: len(money) // 400 + 1]
    for each in [*points, money[-1]]:
        path += f"H{number(scale.x(each.at))}V{number(y(each.usd))}"
    end = _end(course, scale)
    path += f"H{number(end)}"
    yield element("path", d=f"{path}V{number(bottom)}Z", cls="p-area")
    yield element("path", d=path, cls="p-line")
    yield element("circle", cx=end, cy=y(spent), r=3, cls="p-end")
    yield words(end - 6, y(spent) - 7, dollars(spent), "p-last", "end")


def waiting_time(pauses: Sequence[Pause], now: datetime) -> timedelta:
    """How long guards kept the task waiting, whichever lanes they kept."""
    spans = sorted((p.begun_at, p.ended_at or min(p.until, now)) for p in pauses)
    whole, until = timedelta(0), None
    for begin, end in spans:
        start = begin if until is None else max(begin, until)
        if end > start:
            whole += end - start
            until = end
    return whole
