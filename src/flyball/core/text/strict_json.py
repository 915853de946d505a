"""JSON that others write, read strictly: the right types, every name once, no numbers that are none."""

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_BYTE = re.compile(r"\(byte (\d+)\)")
_BOM = b"\xef\xbb\xbf"


class JsonUnreadable(ValueError):
    """The text is not the JSON that was expected; `line` is where, counted from one, or 0 where nobody can tell."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.line = line


def read_json(raw: bytes, kind: type[T]) -> T:
    raw = raw.removeprefix(_BOM)
    try:
        value = msgspec.json.decode(raw, type=kind)
        json.loads(raw, object_pairs_hook=_each_once)
    except JsonUnreadable:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        place = _BYTE.search(str(error))
        line = raw.count(b"\n", 0, int(place[1])) + 1 if place else 0
        raise JsonUnreadable(problem(error), line) from error
    except (RecursionError, ValueError) as error:
        raise JsonUnreadable("it is nested too deeply, or has a number too long, to be read") from error
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonUnreadable(f"the name {twice[:60]!r} appears twice in one object")
    return found


def problem(error: Exception) -> str:
    text = str(error).replace("`", "")
    return text[:1].lower() + text[1:] if text.startswith(("Expected", "Object", "Invalid")) else text
