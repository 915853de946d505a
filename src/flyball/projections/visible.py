"""Foreign text made visible: what would steer a terminal or turn a line round is shown as a sign of its own."""

from __future__ import annotations

import re

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The same text; a control character is shown by its picture (`␛`) or its number (`⟨202E⟩`), and does nothing."""
    return text if text.isprintable() else _STEERING.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def cut(text: str, limit: int) -> str:
    """A long text up to a limit, and how much more there is."""
    return text if len(text) <= limit else f"{text[:limit]}… and {len(text) - limit:,} characters more"
