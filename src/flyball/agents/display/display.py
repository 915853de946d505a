"""What a program's events say, for people: its words, its calls and what came of them, live in a line and in a log whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from flyball.agents.display.tool_calls import call_line, first_line
from flyball.agents.reading.jsonl import as_event, lines_of
from flyball.agents.reading.loose_json import as_dict, as_list
from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import decode, scrub

BRIEF = 200
"""Characters of a call or a result in a log."""
_MARKS = {"call": "→ ", "result": "  ← ", "failure": "  ✗ ", "notice": "! "}


class Shown(msgspec.Struct, frozen=True):
    """One thing an event says; a "piece" goes on with the text before it."""

    kind: Literal["text", "piece", "call", "result", "failure", "notice"]
    text: str


Show = Callable[[dict[str, Any]], Sequence[Shown]]


def show_text(text: Any) -> list[Shown]:
    return [Shown("text", str(text))] if text else []


def show_piece(text: Any) -> list[Shown]:
    """A part of an answer that comes in parts."""
    return [Shown("piece", str(text))] if text else []


def show_call(name: Any, inputs: Mapping[str, Any]) -> list[Shown]:
    return [Shown("call", call_line(name, inputs))]


def show_result(content: Any, *, failed: bool = False) -> list[Shown]:
    """What came of a call: a text, or parts that hold one."""
    parts = [as_dict(part) for part in as_list(content)]
    texts = [str(part.get("text") or as_dict(part.get("content")).get("text") or "") for part in parts]
    text = "\n".join(filter(None, texts)) if parts else str(content or "")
    return [Shown("failure" if failed else "result", text.strip() or ("it failed" if failed else "done"))]


def show_notice(text: Any) -> list[Shown]:
    """What the program says of itself: a retry, an error."""
    return [Shown("notice", str(text))] if text else []


def live_line(shown: Iterable[Shown]) -> str:
    """One line for whoever watches: the last that was said or done; results are not shown."""
    lines = [first_line(each.text) for each in shown if each.kind not in ("result", "failure")]
    return next((line for line in reversed(lines) if line), "")


def log_lines(stdout: Path, show: Show | None) -> Iterator[str]:
    """What a program printed as people read it, safe for any screen; lines that are no events are as they were."""
    spoken = ""
    for line in lines_of(stdout):
        event = as_event(line) if show else None
        for each in (Shown("text", decode(line)),) if event is None or show is None else show(event):
            if each.kind != "piece" and spoken:
                yield from _lines(spoken)
                spoken = ""
            if each.kind == "piece":
                spoken += each.text
            elif each.kind == "text":
                yield from _lines(each.text)
            else:
                yield _brief(each)
    yield from _lines(spoken) if spoken else ()


def _lines(text: str) -> list[str]:
    return scrub(text).rstrip().splitlines() or [""]


def _brief(shown: Shown) -> str:
    first, *more = _lines(shown.text)
    cut = f"{first[:BRIEF]}…" if len(first) > BRIEF else first
    rest = f" (and {plural(len(more), 'more line')})" if more else ""
    return f"{_MARKS[shown.kind]}{cut}{rest}"
