"""The lines of a text that belongs to the user, however they end."""

import re

LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
LINE_END = r"\r\n|\n|\r"


def split_lines(text: str) -> list[str]:
    """The lines with their ends; a last one without an end is there, too, and nothing but a line's end parts lines."""
    return re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


def line_end(text: str) -> str:
    found = re.search(LINE_END, text)
    return found[0] if found else "\n"
