"""Comments on lines of a diff as guidance for the next turn, and found again in what a person said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from flyball.projections.history.records import TurnRecord, WordRecord

HEAD = "Comments on the diff:"
_PLACE = re.compile(r"- (?P<path>.+):(?P<line>\d+)(?: \(`(?P<code>.*)`\))?: (?P<text>.+)")
LONGEST_CODE = 120
LONGEST_COMMENT = 2000


class Comment(msgspec.Struct, frozen=True):
    """What a person says of a line."""

    path: str
    line: int
    text: str
    code: str = ""


class SentComment(msgspec.Struct, frozen=True):
    """A comment that was sent; `turn` is the first that was told, 0 while none was."""

    comment: Comment
    at: datetime
    turn: int


def guidance(comments: Iterable[Comment]) -> str:
    """The text that is stored and stands in the next prompt: path, line, code and words of each."""
    return "\n".join([HEAD, *(_written(each) for each in comments)])


def _written(comment: Comment) -> str:
    code = " ".join(comment.code.split()).replace("`", "'")[:LONGEST_CODE]
    text = " ".join(comment.text.split())[:LONGEST_COMMENT]
    return f"- {comment.path}:{comment.line}{f' (`{code}`)' if code else ''}: {text}"


def comments_in(text: str) -> list[Comment]:
    """The comments a person's word holds; words that hold none give none."""
    _, head, rest = text.partition(HEAD)
    if not head:
        return []
    # A history keeps a word on one line.
    parts = re.split(r"(?:^|\s)(?=- [^\s:]\S*:\d+(?: \(`|: ))", rest)
    found = (_PLACE.fullmatch(" ".join(part.split())) for part in parts)
    return [Comment(m["path"], int(m["line"]), m["text"], m["code"] or "") for m in found if m]


def sent(words: Sequence[WordRecord], turns: Sequence[TurnRecord]) -> list[SentComment]:
    """Every comment that reached the task, and the turn it was delivered with."""
    found = []
    for word in words:
        told = next((turn.number for turn in turns if turn.begun_at >= word.at), 0)
        found += [SentComment(comment, word.at, told) for comment in comments_in(word.text)]
    return found
