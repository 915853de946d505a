"""Foreign text made visible: what would steer a terminal or turn a line round is shown as a sign of its own."""

from __future__ import annotations

import re
import unicodedata

from flyball.core.text.scrubbing import INVISIBLE

_BLANK = re.compile(f"[{INVISIBLE}]")


def visible(text: str) -> str:
    """The same text; what steers or shows nothing, by its category, is shown by its picture (`␛`) or its number (`⟨202E⟩`)."""
    if not text.isprintable():
        text = "".join(letter if _is_plain(letter) else _sign(letter) for letter in text)
    return text if text.isascii() else _BLANK.sub(lambda found: _sign(found[0]), text)


def _is_plain(letter: str) -> bool:
    return letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"


def _sign(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def cut(text: str, limit: int) -> str:
    """A long text up to a limit, and how much more there is."""
    return text if len(text) <= limit else f"{text[:limit]}… and {len(text) - limit:,} characters more"
