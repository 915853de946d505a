"""Turns the raw bytes of a program into text that no screen can be tricked by."""

import re
from typing import Any

MAX_TEXT = 4_000

# A string sequence without its terminator loses only its introducer: a program must not be able to hide what follows.
# No body may contain an introducer, which keeps the match linear on hostile input.
_UNSAFE = (
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x90\x98\x9c\x9d\x9e\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS …
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|\x1b[ -/]*[0-~]"  # every other escape sequence
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # what is left of C0 and C1
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]"  # bidirectional controls
)


def decode(raw: bytes) -> str:
    r"""Read UTF-8; bytes that are not are shown as `\xNN`, so nothing is lost and nothing raises."""
    return raw.decode("utf-8", "backslashreplace")


def spelt(value: Any) -> Any:
    r"""A value of plain data with names that are not UTF-8 shown as `\udcNN`, for JSON takes only text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: spelt(inner) for key, inner in value.items()}
    return [spelt(inner) for inner in value] if isinstance(value, list | tuple) else value


def scrub(text: str) -> str:
    """Remove control characters but newline and tab, escape sequences and bidirectional controls."""
    # Nothing unsafe is printable; to look is far quicker than to search.
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return re.sub(_UNSAFE, "", text)


def storable(text: str) -> str:
    """Text without half characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """Text fit to be stored and shown: no control sequences, no half characters, not longer than the limit."""
    if len(text) <= limit and text.isprintable():
        return text.strip()
    return scrub(storable(text[: limit * 2].replace("\r\n", "\n"))).strip()[:limit]


def one_line(text: str) -> str:
    """Text on one line, without control sequences: first white space becomes blanks, lest two words become one."""
    return " ".join(scrub(" ".join(text.split())).split())
