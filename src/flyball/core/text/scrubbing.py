"""Turns the raw bytes of a program into text that no screen can be tricked by."""

import re
import unicodedata
from typing import Any

MAX_TEXT = 4_000

# A string sequence without its terminator loses only its introducer: a program must not be able to hide what follows.
# No body may contain an introducer, which keeps the match linear on hostile input.
_UNSAFE = (
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x90\x98\x9c\x9d\x9e\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS …
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|\x1b[ -/]*[0-~]"  # every other escape sequence
)
_NOT_ASCII = re.compile(r"[^ -~\n\t]")
INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef"
"""What Unicode counts among marks and letters, and yet shows nothing of."""
_BLANK = re.compile(f"[{INVISIBLE}]")


def decode(raw: bytes) -> str:
    r"""Read UTF-8; bytes that are not are shown as `\xNN`, so nothing is lost and nothing raises."""
    return raw.decode("utf-8", "backslashreplace")


def escape_surrogates(value: Any) -> Any:
    r"""A value of plain data with names that are not UTF-8 shown as `\udcNN`, for JSON takes only text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: escape_surrogates(inner) for key, inner in value.items()}
    return [escape_surrogates(inner) for inner in value] if isinstance(value, list | tuple) else value


def scrub(text: str) -> str:
    """Leave newline, tab and what Unicode calls printable; whatever steers a screen or shows nothing goes, by its category."""
    # Nothing unsafe is printable; to look is far quicker than to search.
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _NOT_ASCII.sub(_safe_letter, re.sub(_UNSAFE, "", text))
    return text if text.isascii() else _BLANK.sub("", text)


def _safe_letter(found: re.Match[str]) -> str:
    """A character as a screen may have it: blanks of other widths and line ends become a blank, half characters their number."""
    letter = found[0]
    if letter.isprintable() or letter in "\n\t":
        return letter
    category = unicodedata.category(letter)
    if category == "Cs":
        return f"\\u{ord(letter):04x}"
    return " " if category.startswith("Z") else ""


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
