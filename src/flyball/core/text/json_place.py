"""Where in a JSON text a value stands: its line by a path such as `$.backlog.issues[3].status`, and its span by its steps."""

import json
import re
from collections.abc import Sequence

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: str) -> int:
    """The 1-based line of the value at `path`, or of the last part of it that exists; 0 for text that is no JSON."""
    steps = [step[1] or int(step[2]) for step in _STEP.finditer(path)]
    try:
        place, _ = _walk(text, steps)
    except (ValueError, IndexError, RecursionError):
        return 0
    return text.count("\n", 0, place) + 1


def span_of(text: str, path: Sequence[str | int]) -> tuple[int, int] | None:
    place, missing = _walk(text, path)
    return None if missing else (place, _DECODER.raw_decode(text, place)[1])


def after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _walk(text: str, path: Sequence[str | int]) -> tuple[int, Sequence[str | int]]:
    """The place of the last value on a path that exists, and the steps that lead nowhere."""
    place = after_space(text, 1 if text.startswith("\ufeff") else 0)
    for number, step in enumerate(path):
        inner = _entry(text, place, step) if isinstance(step, int) else _member(text, place, step)
        if inner is None:
            return place, path[number:]
        place = inner
    return place, ()


def _member(text: str, place: int, name: str) -> int | None:
    """Of names that appear twice the last one counts, as for every parser."""
    if text[place] != "{":
        return None
    found = None
    place = after_space(text, place + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        place = after_space(text, after_space(text, place) + 1)
        found = place if key == name else found
        place = _next(text, place)
    return found


def _entry(text: str, place: int, index: int) -> int | None:
    if text[place] != "[":
        return None
    place = after_space(text, place + 1)
    while text[place] != "]":
        if index == 0:
            return place
        place, index = _next(text, place), index - 1
    return None


def _next(text: str, place: int) -> int:
    """The place after a value and the comma that follows it."""
    _, place = _DECODER.raw_decode(text, place)
    place = after_space(text, place)
    return after_space(text, place + 1) if text[place] == "," else place
