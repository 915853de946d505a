"""JSON of other tools: decoded to be read, and changed by the span of one value, so that no other byte moves."""

import json
from collections.abc import Iterable
from typing import Any

from flyball.core.text.json_place import span_of
from flyball.core.workflows.plan.sources.boxes import BOM
from flyball.core.workflows.plan.sources.values import PlanUnreadable

Path = tuple[str | int, ...]
"""The steps from the whole text to a value."""


def decode_json(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except RecursionError as error:
        raise PlanUnreadable("it is nested too deeply to be read") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PlanUnreadable("it is not UTF-8; expected JSON in UTF-8", line) from error
    except json.JSONDecodeError as error:
        problem = f"it is not valid JSON ({error.msg}); expected JSON without comments"
        raise PlanUnreadable(problem, error.lineno) from error


def with_value(raw: bytes, path: Path, value: bool | str) -> bytes:
    mark = BOM if raw.startswith(BOM) else b""
    text = raw.removeprefix(BOM).decode()
    span = span_of(text, path)
    if span is None:
        raise PlanUnreadable(f"there is nothing at {'.'.join(map(str, path))}; expected a value")
    return mark + f"{text[: span[0]]}{json.dumps(value, ensure_ascii=False)}{text[span[1] :]}".encode()


def value_at(value: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value
