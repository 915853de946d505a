"""A refusal as a page tells it: the sentence, and the command it ends with on a line of its own."""

from __future__ import annotations

import re

_ENDS_WITH_COMMAND = re.compile(
    r"(?P<text>.*?[.;:,]?)\s+(?P<lead>[^.;:]*): (?P<command>(?:flyball|git) [^\n;]+)", re.DOTALL
)


def parted(text: str) -> tuple[str, str]:
    """The text with what leads to the command, and the command; empty where it ends with none."""
    found = _ENDS_WITH_COMMAND.fullmatch(text.strip())
    if found is None:
        return text, ""
    return f"{found['text']} {found['lead']}:", found["command"]
