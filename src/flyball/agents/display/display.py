"""What a program's events say, for people: its words, its calls and what came of them, live in a line and in a log whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from flyball.agents.reading.jsonl import as_event, lines_of
from flyball.agents.reading.loose_json import as_dict, as_list
from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import decode, scrub

BRIEF = 200
"""Characters of a call or a result in a log."""
_TELLING = ("file_path", "filePath", "path", "command", "pattern", "dir_path", "query", "url", "description", "prompt")
WORDLESS = "It asked a question it did not put into words."
_MARKS = {"call": "→ ", "result": "  ← ", "failure": "  ✗ ", "notice": "! "}


class Shown(msgspec.Struct, frozen=True):
    """One thing an event says; a "piece" goes on with the text before it."""

    kind: Literal["text", "piece", "call", "result", "failure", "notice"]
    text: str


Show = Callable[[dict[str, Any]], Sequence[Shown]]


def show_words(kind: Literal["text", "piece", "notice"], text: Any) -> list[Shown]:
    """An answer, a part of one that comes in parts, or what the program says of itself: a retry, an error."""
    return [Shown(kind, str(text))] if text else []


def show_result(content: Any, *, failed: bool) -> Shown:
    parts = [as_dict(part) for part in as_list(content)]
    texts = [str(part.get("text") or as_dict(part.get("content")).get("text") or "") for part in parts]
    text = "\n".join(filter(None, texts)) if parts else str(content or "")
    return Shown("failure" if failed else "result", text.strip() or ("it failed" if failed else "done"))


def first_line(text: Any) -> str:
    return str(text or "").strip().split("\n", 1)[0]


def call_line(name: Any, inputs: Mapping[str, Any]) -> str:
    told = next((first_line(inputs[each]) for each in _TELLING if inputs.get(each)), "")
    return f"{name} {told}".strip()


def question(inputs: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """What an asking tool wants to know; options can be offered for a single question only."""
    several = [as_dict(one) for one in as_list(inputs.get("questions"))] or [dict(inputs)]
    texts = [str(one.get("question") or one.get("text") or one.get("prompt") or "") for one in several]
    offered = as_list(several[0].get("options") or several[0].get("choices")) if len(several) == 1 else []
    return " ".join(filter(None, texts)) or WORDLESS, tuple(str(as_dict(one).get("label") or one) for one in offered)


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
