"""The one line of a program's output that says best why it failed."""

import re

ABSENT = re.compile(
    r"No module named \S+|\bnot found\b|npx canceled|could not determine executable|is not recognized|\bError 12[67]\b"
)
"""What is said of a program or module that is not there."""
_ERROR = re.compile(r"\berror\b|Error\b|ERROR\b|ERR!")
_LONGEST = 200


def telling_line(text: str) -> str:
    """The last line that says that something is not there, else the last that speaks of an error, else the last."""
    lines = _lines(text)
    telling = [line for line in lines if ABSENT.search(line)] or [line for line in lines if _ERROR.search(line)]
    return _shown(telling or lines)


def last_line(text: str) -> str:
    return _shown(_lines(text))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _shown(lines: list[str]) -> str:
    return lines[-1][:_LONGEST] if lines else "it said nothing"
