"""Where in a JSON text a value stands: its line by a path such as `$.backlog.issues[3].status`, and its span by its steps."""

import json
import re
from collections.abc import Iterator, Sequence

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: str) -> int:
    """The 1-based line of the value at `path`, or of the last part of it that exists; 0 for text that is no JSON."""
    steps = [step[1] or int(step[2]) for step in _STEP.finditer(path)]
    try:
        (_, place), _ = _walk(text, steps)
    except (ValueError, IndexError, RecursionError):
        return 0
    return text.count("\n", 0, place) + 1


def span_of(text: str, path: Sequence[str | int]) -> tuple[int, int] | None:
    found = member_of(text, path)
    return found and found[1:]


def member_of(text: str, path: Sequence[str | int]) -> tuple[int, int, int] | None:
    """Where the member at a path begins, with its name if it has one, and the span of its value."""
    (begun, place), missing = _walk(text, path)
    return None if missing else (begun, place, _DECODER.raw_decode(text, place)[1])


def after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _walk(text: str, path: Sequence[str | int]) -> tuple[tuple[int, int], Sequence[str | int]]:
    """The place of the last member on a path that exists and of its value, and the steps that lead nowhere.

    Of names that appear twice the last one counts, as for every parser.
    """
    place = after_space(text, 1 if text.startswith("\ufeff") else 0)
    known = place, place
    for number, step in enumerate(path):
        found = [each for key, *each in _members(text, known[1]) if key == step]
        if not found:
            return known, path[number:]
        known = found[-1][0], found[-1][1]
    return known, ()


def _members(text: str, place: int) -> Iterator[tuple[str | int, int, int]]:
    """The members of an object or a list: the name or number of each, where it begins, and where its value does."""
    closing = {"{": "}", "[": "]"}.get(text[place])
    if closing is None:
        return
    place, number = after_space(text, place + 1), 0
    while text[place] != closing:
        begun, key = place, number
        if closing == "}":
            key, place = _DECODER.raw_decode(text, place)
            place = after_space(text, after_space(text, place) + 1)
        yield key, begun, place
        place = after_space(text, _DECODER.raw_decode(text, place)[1])
        place = after_space(text, place + 1) if text[place] == "," else place
        number += 1
