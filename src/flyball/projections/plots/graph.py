"""The items of a task as a graph: columns by what each waits for, an edge for each dependency."""

from collections.abc import Mapping, Sequence
from html import escape

import msgspec

from flyball.projections.plots.svg import element, glyph, number, words
from flyball.projections.wording import visible

FEWEST, MOST = 2, 40
WIDTH = 1112
NODE_HEIGHT, ROW, GAP = 50.0, 62.0, 32.0
MOST_COLUMNS = 8


class GraphNode(msgspec.Struct, frozen=True):
    """One item: what is the case with it, and what it waits for."""

    id: str
    name: str
    state: str
    glyph: str
    style: str
    depends_on: tuple[str, ...]
    done: bool
    href: str = ""


def graph(nodes: Sequence[GraphNode], *, label: str) -> str:
    """The picture; empty where a list says it better: one item, very many, or none that waits for another."""
    columns = _columns(nodes)
    if not FEWEST <= len(nodes) <= MOST or len(columns) < 2 or len(columns) > MOST_COLUMNS:
        return ""
    tall = max(len(column) for column in columns)
    width = min(196.0, (WIDTH - GAP * (len(columns) - 1)) / len(columns))
    gap = (WIDTH - width * len(columns)) / (len(columns) - 1)
    height = tall * ROW
    places: dict[str, tuple[float, float]] = {}
    for c, column in enumerate(columns):
        top = (height - len(column) * ROW) / 2
        for r, node in enumerate(column):
            places[node.id] = (c * (width + gap), top + r * ROW + (ROW - NODE_HEIGHT) / 2)
    edges = [_edge(places, nodes, node, before, width) for node in nodes for before in node.depends_on]
    return element(
        "svg",
        *filter(None, edges),
        *(_node(node, places[node.id], width) for node in nodes),
        cls="plot graph",
        viewBox=f"0 0 {WIDTH} {number(height)}",
        width=WIDTH,
        height=height,
        role="group",
        aria_labelledby=label,
    )


def _columns(nodes: Sequence[GraphNode]) -> list[list[GraphNode]]:
    known = {node.id: node for node in nodes}
    depths: dict[str, int] = {}
    for node in nodes:
        _depth(node, known, depths, ())
    columns: list[list[GraphNode]] = [[] for _ in range(max(depths.values(), default=0) + 1)]
    for node in nodes:
        columns[depths[node.id]].append(node)
    return columns


def _depth(node: GraphNode, known: Mapping[str, GraphNode], depths: dict[str, int], above: tuple[str, ...]) -> int:
    """How many items in a row come before it; a circle, which no plan may have, ends where it closes."""
    if node.id not in depths:
        before = [known[name] for name in node.depends_on if name in known and name not in (*above, node.id)]
        depths[node.id] = max((_depth(each, known, depths, (*above, node.id)) + 1 for each in before), default=0)
    return depths[node.id]


def _edge(
    places: Mapping[str, tuple[float, float]], nodes: Sequence[GraphNode], node: GraphNode, before: str, width: float
) -> str:
    if before not in places or before == node.id:
        return ""
    (x0, y0), (x1, y1) = places[before], places[node.id]
    left, right = x0 + width, x1
    if right <= left:
        return ""
    bend = min(40.0, (right - left) / 2)
    start, end = number(y0 + NODE_HEIGHT / 2), number(y1 + NODE_HEIGHT / 2)
    done = next(each.done for each in nodes if each.id == before)
    path = f"M{number(left)} {start}C{number(left + bend)} {start} {number(right - bend)} {end} {number(right)} {end}"
    return element("path", d=path, cls="e-done" if done else "e-waits")


def _node(node: GraphNode, place: tuple[float, float], width: float) -> str:
    x, y = place
    room = int((width - 20) / 6.6)
    name = node.name if len(node.name) <= room else f"{node.name[: room - 1]}…"
    title = element("title", escape(visible(f"{node.id} {node.state}: {node.name}"), quote=False))
    head = int((width - 40) / 6.4)
    told = f"{node.state}"[: max(0, head - len(node.id) - 1)]
    ident = element("tspan", escape(visible(node.id[:14]), quote=False), cls="n-id")
    state = element("tspan", escape(f" {told}", quote=False), cls=f"t-{node.style}")
    inner = (
        title,
        element(
            "rect", x=x + 0.75, y=y + 0.75, width=width - 1.5, height=NODE_HEIGHT - 1.5, rx=8, cls=f"n-{node.style}"
        ),
        glyph(node.glyph, x + 18, y + 17, 14),
        element("text", ident, state, x=x + 31, y=y + 21.5, cls="n-head"),
        words(x + 11, y + 39, name, "n-name"),
    )
    return element("a", *inner, href=node.href) if node.href else element("g", *inner)
