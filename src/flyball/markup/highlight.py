"""A line of code with colours for its language; whatever it holds, it stays text."""

import functools

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

from flyball.projections.pages.diffs import Line
from flyball.projections.wording import visible

LONGEST = 400
"""A longer line has no colours."""


def code(line: Line, path: str) -> Markup:
    text = line.text
    lexer = _lexer(path.rpartition("/")[2]) if len(text) <= LONGEST else None
    if lexer is None or not text.strip():
        return escape(visible(text))
    out = Markup()
    for kind, found in lexer.get_tokens(text):
        value = found.rstrip("\n")
        if not value:
            continue
        name = _name(kind)
        shown = escape(visible(value))
        out += Markup('<span class="{}">{}</span>').format(name, shown) if name else shown
    return out


def _name(kind: object) -> str:
    while kind not in STANDARD_TYPES:
        kind = getattr(kind, "parent", Token)
    name = STANDARD_TYPES[kind]  # type: ignore[index]
    return "" if name in {"n", "p", "w", "o", "err", "g"} else str(name)


@functools.lru_cache(maxsize=256)
def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return None
