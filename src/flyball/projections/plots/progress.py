"""Items done over time, as a step line under the number there are."""

from collections.abc import Iterator, Sequence

from flyball.projections.history.timeline import Progress
from flyball.projections.plots.scale import TimeScale
from flyball.projections.plots.svg import across, element, number, words

HEIGHT = 44.0
ROOM = 26.0 + HEIGHT
_MOST_POINTS = 400


def is_told(progress: Sequence[Progress]) -> bool:
    return any(each.of > 1 for each in progress) and len(progress) > 1


def progress_plot(progress: Sequence[Progress], scale: TimeScale, top: float, end: float) -> Iterator[str]:
    """From the bottom up; how many there are may change on the way, when a plan does."""
    left, right, bottom = scale.pieces[0].left, scale.pieces[-1].right, top + HEIGHT
    highest = max(each.of for each in progress)
    points = [*progress[:: len(progress) // _MOST_POINTS + 1], progress[-1]]

    def y(count: int) -> float:
        return bottom - HEIGHT * count / highest

    def steps(counts: Sequence[int]) -> str:
        path = f"M{number(left)} {number(y(counts[0]))}"
        path += "".join(
            f"H{number(max(left, scale.x(each.at)))}V{number(y(count))}"
            for each, count in zip(points, counts, strict=True)
        )
        return f"{path}H{number(end)}"

    done = steps([each.done for each in points])
    yield words(0, top - 8, "items done", "p-name")
    yield across(left, bottom, right, "p-grid")
    yield element("path", d=steps([each.of for each in points]), cls="p-goal")
    yield element("path", d=f"{done}V{number(bottom)}H{number(left)}Z", cls="p-area")
    yield element("path", d=done, cls="p-line")
    last = progress[-1]
    yield element("circle", cx=end, cy=y(last.done), r=3, cls="p-end")
    yield words(left - 8, y(highest) + 4, str(highest), "p-tick", "end")
    yield words(left - 8, bottom + 4, "0", "p-tick", "end")
    yield words(end - 6, y(last.done) - 7, f"{last.done} of {last.of}", "p-last", "end")
