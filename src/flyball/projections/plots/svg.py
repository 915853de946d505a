"""Elements of a picture as text; whatever comes from elsewhere is escaped, and its control characters are shown."""

from collections.abc import Iterable
from html import escape

from flyball.projections.wording import visible

Attribute = str | float | None


def element(name: str, *children: str, **attributes: Attribute) -> str:
    """One element; `cls` is its class, an underscore in a name is a hyphen, and None leaves an attribute out."""
    written = ""
    for key, value in attributes.items():
        if value is not None:
            text = escape(visible(value)) if isinstance(value, str) else number(value)
            written += f' {"class" if key == "cls" else key.replace("_", "-")}="{text}"'
    inner = "".join(children)
    return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"


def across(left: float, y: float, right: float, cls: str) -> str:
    return element("path", d=f"M{number(left)} {number(y)}H{number(right)}", cls=cls)


def down(x: float, top: float, bottom: float, cls: str) -> str:
    return element("path", d=f"M{number(x)} {number(top)}V{number(bottom)}", cls=cls)


def words(x: float, y: float, text: str, cls: str = "", anchor: str | None = None) -> str:
    """A text that is nobody's markup."""
    return element("text", escape(visible(text), quote=False), x=x, y=y, cls=cls or None, text_anchor=anchor)


def glyph(name: str, x: float, y: float, size: float = 14, title: str = "") -> str:
    told = element("title", escape(visible(title), quote=False)) if title else ""
    use = element("use", href=f"#g-{name}", x=x - size / 2, y=y - size / 2, width=size, height=size)
    return element("g", told, use, cls=f"c-{name}")


def picture(width: float, height: float, parts: Iterable[str], *, label: str) -> str:
    """The whole; it is one image to whoever does not see it, told by the caption it is labelled by."""
    return element(
        "svg",
        "".join(parts),
        cls=f"plot w{round(width)}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=label,
    )


def number(value: float) -> str:
    """As few digits as a picture needs."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def wide(text: str, size: float = 11.5) -> float:
    """About how wide a text is; a little more than it is."""
    return len(text) * size * 0.58
