"""The one line of a program's output that says best why it failed."""

import re

ABSENT = re.compile(
    r"No module named \S+|\bnot found\b|npx canceled|could not determine executable|is not recognized|\bError 12[67]\b"
)
"""What is said of a program or module that is not there."""
_ERROR = re.compile(r"\berror\b|Error\b|ERROR\b|ERR!")


def telling_line(text: str) -> str:
    """The last line that says that something is not there, else the last that speaks of an error, else the last."""
    lines = text.splitlines()
    telling = [line for line in lines if ABSENT.search(line)] or [line for line in lines if _ERROR.search(line)]
    return last_line("\n".join(telling or lines))


def last_line(text: str) -> str:
    return next((line.strip()[:200] for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
