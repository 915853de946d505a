"""What a person said: words the task has not taken in yet, and comments on a diff as guidance for the next turn, found again."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from flyball.core.model.events import PersonSpoke
from flyball.projections.history.records import TurnRecord, WordRecord
from flyball.projections.wording import plain

HEAD = "Comments on the diff:"
_PLACE = re.compile(r"- (?P<path>.+):(?P<line>\d+)(?: \(`(?P<code>.*)`\))?: (?P<text>.+)")
LONGEST_CODE = 120
LONGEST_COMMENT = 2000


class Comment(msgspec.Struct, frozen=True):
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
    lines = [HEAD]
    for each in comments:
        code = " ".join(each.code.split()).replace("`", "'")[:LONGEST_CODE]
        text = " ".join(each.text.split())[:LONGEST_COMMENT]
        lines.append(f"- {each.path}:{each.line}{f' (`{code}`)' if code else ''}: {text}")
    return "\n".join(lines)


def comments_in(text: str) -> list[Comment]:
    """The comments a person's word holds; words that hold none give none."""
    _, head, rest = text.partition(HEAD)
    if not head:
        return []
    # A history keeps a word on one line.
    parts = re.split(r"(?:^|\s)(?=- [^\s:]\S*:\d+(?: \(`|: ))", rest)
    found = (_PLACE.fullmatch(" ".join(part.split())) for part in parts)
    return [Comment(m["path"], int(m["line"]), m["text"], m["code"] or "") for m in found if m]


def sent_comments(words: Sequence[WordRecord], turns: Sequence[TurnRecord]) -> list[SentComment]:
    """Every comment that reached the task, and the turn it was delivered with."""
    found = []
    for word in words:
        told = next((turn.number for turn in turns if turn.begun_at >= word.at), 0)
        found += [SentComment(comment, word.at, told) for comment in comments_in(word.text)]
    return found


_EFFECTS = {
    "pause": "The task stops when its iteration ends. Nothing is lost.",
    "resume": "The task goes on.",
    "modify": "The next prompt contains your words.",
    "reset": "The task tries again with its next step.",
    "skip": "The next step leaves the stage unverified.",
    "abort": "The task ends with its next step. Its checkpoints stay.",
    "answer": "The task applies the answer at its next step.",
}


class SaidShown(msgspec.Struct, frozen=True):
    said: str
    effect: str


def said_shown(word: PersonSpoke, *, controlled: bool) -> SaidShown:
    """As the page tells it until the task has taken it in."""
    asked = f" to {word.question}" if word.question else ""
    text = f": {plain(word.text, 200)}" if word.text else ""
    effect = _EFFECTS.get(word.word, "The task applies it at its next step.")
    later = "" if controlled else " The task is not running: it applies this when you resume it."
    return SaidShown(f"You said {word.word}{asked}{text}", f"{effect}{later}")
