"""A learning as a file of `learnings/` tells it: read back from its page, for learnings that no journal here knows."""

import re

from flyball.core.model.events import LearningRecorded
from flyball.core.text.scrubbing import clean

_HEAD = re.compile(r"# (Decision|Anti-Pattern) ([0-9]{1,9})(?:: *(.*))?")
_ESCAPED = re.compile(r"\\([^\w\s])")
_BULLET = re.compile(r"[-*] +(.*)")
_NOTHING = frozenset({"not stated", "nothing", "none was named"})
_LONGEST = 400


def read_page(text: str) -> LearningRecorded | None:
    lines = [_ESCAPED.sub(r"\1", line.rstrip()) for line in text.split("\n")]
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        return None
    sections = _sections(lines[1:])
    depends, invalid = _dependencies(sections.get("dependencies", []))
    return LearningRecorded(
        int(head[2]),
        "decision" if head[1] == "Decision" else "anti-pattern",
        clean(head[3] or "", _LONGEST) or "untitled",
        _paragraph(sections.get("context", []) or sections.get("what happened", [])),
        _paragraph(sections.get("choice", []) or sections.get("what to avoid", [])),
        tuple(_points(sections.get("alternatives rejected", []))),
        _paragraph(sections.get("consequences", [])),
        depends,
        invalid,
    )


def _sections(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in lines:
        if line.startswith("## "):
            body = found.setdefault(line[3:].strip().lower(), [])
        elif line.strip():
            body.append(line.strip())
    return found


def _paragraph(lines: list[str]) -> str:
    text = clean(" ".join(lines), _LONGEST)
    return "" if text in _NOTHING else text


def _points(lines: list[str]) -> list[str]:
    points = [clean(found[1], _LONGEST) for found in map(_BULLET.fullmatch, lines) if found]
    return [point for point in points if point and point not in _NOTHING]


def _dependencies(lines: list[str]) -> tuple[tuple[str, ...], str]:
    said = dict(point.partition(": ")[::2] for point in _points(lines))
    depends = said.get("Depends On", "")
    invalid = said.get("Invalidated If", "")
    return (
        tuple(part for part in depends.split(", ") if part and part not in _NOTHING),
        "" if invalid in _NOTHING else invalid,
    )
