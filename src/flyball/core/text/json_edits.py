"""Changes to a JSON text that belongs to somebody: single values are set, everything else stays as it was written."""

import json
import re
from collections.abc import Mapping
from typing import Any

from flyball.core.text.json_place import after_space, member_of, span_of
from flyball.core.text.lines import line_end

Path = tuple[str | int, ...]


class Removed:
    """In the place of a value: the member is taken out."""


REMOVED = Removed()


class NotAnObject(ValueError):
    """The text, or a value that was to hold others, is no JSON object."""


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """The text with `values` set: an object among them is merged into the one that is there, any other value takes its place."""
    json.loads(text.removeprefix("\ufeff"))
    for key, value in values.items():
        text = with_value_at(text, (key,), value)
    return text


def with_value_at(text: str, path: Path, value: Any) -> str:
    """The text with one value set: of an object by its name, of a list by its number, one past the last being a new one."""
    found = member_of(text, path)
    if isinstance(value, Mapping) and value and found is not None and text[found[1]] == "{":
        for key, inner in value.items():
            text = with_value_at(text, (*path, key), inner)
        return text
    if isinstance(value, Removed):
        # A name may be there twice.
        return text if found is None else with_value_at(_without_member(text, found[0], found[2]), path, value)
    value = _without_removed(value)
    if found is not None:
        _, start, end = found
        if json.loads(text[start:end]) == value:
            return text
        return text[:start] + _render(text, value, len(path)) + text[end:]
    return _with_member(text, path, value)


def _without_removed(value: Any) -> Any:
    """A value without members that were to be taken out of one that is not there."""
    if isinstance(value, Mapping):
        return {key: _without_removed(inner) for key, inner in value.items() if not isinstance(inner, Removed)}
    return value


def _with_member(text: str, path: Path, value: Any) -> str:
    above = span_of(text, path[:-1])
    if above is None or text[above[0]] != ("[" if isinstance(path[-1], int) else "{"):
        raise NotAnObject(f"{'.'.join(map(str, path[:-1])) or 'the text'} is no object")
    end = above[1] - 1
    last = len(text[:end].rstrip())
    empty = text[above[0] + 1 : end].strip() == ""
    unit, newline = _indent(text), line_end(text)
    name = "" if isinstance(path[-1], int) else f"{json.dumps(path[-1], ensure_ascii=False)}: "
    member = f"{name}{_render(text, value, len(path))}"
    if not unit:
        return f"{text[:last]}{'' if empty else ', '}{member}{text[last:]}"
    before = f"{'' if empty else ','}{newline}{unit * len(path)}"
    return f"{text[:last]}{before}{member}{newline}{unit * (len(path) - 1)}{text[end:]}"


def _without_member(text: str, start: int, end: int) -> str:
    """The text without a member, and without the comma that parted it from another."""
    after = after_space(text, end)
    before = _before_space(text, start)
    if text[before - 1] == ",":
        return text[: before - 1] + text[end:]
    if text[after] == ",":
        return text[:start] + text[after_space(text, after + 1) :]
    return text[:before] + text[after:]


def _before_space(text: str, place: int) -> int:
    return len(text[:place].rstrip(" \t\r\n"))


def _render(text: str, value: Any, depth: int) -> str:
    unit = _indent(text)
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (line_end(text) + unit * depth).join(lines)


def _indent(text: str) -> str:
    found = re.match(r"[\s\ufeff]*\{[ \t]*\r?\n([ \t]+)", text)
    return found[1] if found else ("" if re.search(r"\{\s*\S", text) and "\n" not in text.strip() else "  ")
