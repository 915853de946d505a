"""Tool calls as people read them: one line for whoever watches, and the question that one of them asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyball.agents.reading.loose_json import as_dict, as_list

_TELLING = ("file_path", "filePath", "path", "command", "pattern", "dir_path", "query", "url", "description", "prompt")
WORDLESS = "It asked a question it did not put into words."


def first_line(text: Any) -> str:
    """What a longer text begins with."""
    return str(text or "").strip().split("\n", 1)[0]


def call_line(name: Any, inputs: Mapping[str, Any]) -> str:
    """A tool's name and what it is called on."""
    told = next((first_line(inputs[each]) for each in _TELLING if inputs.get(each)), "")
    return f"{name} {told}".strip()


def question(inputs: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """What an asking tool wants to know; options can be offered for a single question only."""
    several = [as_dict(one) for one in as_list(inputs.get("questions"))] or [dict(inputs)]
    texts = [str(one.get("question") or one.get("text") or one.get("prompt") or "") for one in several]
    offered = as_list(several[0].get("options") or several[0].get("choices")) if len(several) == 1 else []
    return " ".join(filter(None, texts)) or WORDLESS, tuple(str(as_dict(one).get("label") or one) for one in offered)
