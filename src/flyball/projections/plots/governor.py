"""The mark: a centrifugal governor, which is the breaker's gauge too."""

from math import cos, radians, sin

from flyball.projections.plots.svg import element, number

REST = 30.0


def governor(angle: float = REST, size: int = 30) -> str:
    """Arms at this angle; the further the arms, the nearer the collar is to shutting the valve."""
    reach, top, centre = 15.0, 7.0, 24.0
    x, y = reach * sin(radians(angle)), reach * cos(radians(angle))
    collar = top + 2 * y * 0.92
    arms = "".join(
        f"M{centre} {top}L{number(centre + side * x)} {number(top + y)}L{centre} {number(collar)}" for side in (-1, 1)
    )
    return element(
        "svg",
        element("path", d=f"M{centre} 3V43M15 43H33", cls="v-spindle"),
        element("path", d=arms, cls="v-arm"),
        element("rect", x=centre - 5, y=collar - 2, width=10, height=4, rx=1, cls="v-collar"),
        *(element("circle", cx=centre + side * x, cy=top + y, r=5, cls="v-ball") for side in (-1, 1)),
        viewBox="0 0 48 46",
        width=size,
        height=size,
        cls="governor",
        aria_hidden="true",
    )
