"""Where in a JSON text a value stands: its line by a path such as `$.backlog.issues[3].status`, and its span by its steps."""

import json
import re
from collections.abc import Sequence

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: str) -> int:
    """The 1-based line of the value at `path`, or of the last part of it that exists; 0 for text that is no JSON."""
    place = 0
    try:
        for step in _STEP.finditer(path):
            inner = _member(text, place, step[1]) if step[1] else _entry(text, place, int(step[2]))
            if inner is None:
                break
            place = inner
        place = _after_space(text, place)
    except (ValueError, IndexError, RecursionError):
        return 0
    return text.count("\n", 0, place) + 1


def _member(text: str, place: int, name: str) -> int | None:
    place = _after_space(text, place)
    if text[place] != "{":
        return None
    place = _after_space(text, place + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        place = _after_space(text, _after_space(text, place) + 1)
        if key == name:
            return place
        place = _next(text, place)
    return None


def _entry(text: str, place: int, index: int) -> int | None:
    place = _after_space(text, place)
    if text[place] != "[":
        return None
    place = _after_space(text, place + 1)
    while text[place] != "]":
        if index == 0:
            return place
        place, index = _next(text, place), index - 1
    return None


def _next(text: str, place: int) -> int:
    """The place after a value and the comma that follows it."""
    _, place = _DECODER.raw_decode(text, place)
    place = _after_space(text, place)
    return _after_space(text, place + 1) if text[place] == "," else place


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def span_of(text: str, path: Sequence[str | int]) -> tuple[int, int] | None:
    """Where the value at `path` begins and ends; of names that appear twice the last one counts, as for every parser."""
    place = _after_space(text, 0)
    for step in path:
        inner = _entry(text, place, step) if isinstance(step, int) else _last_member(text, place, step)
        if inner is None:
            return None
        place = inner
    return place, _DECODER.raw_decode(text, place)[1]


def _last_member(text: str, place: int, name: str) -> int | None:
    if text[place] != "{":
        return None
    found = None
    place = _after_space(text, place + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        place = _after_space(text, _after_space(text, place) + 1)
        found = place if key == name else found
        place = _next(text, place)
    return found
