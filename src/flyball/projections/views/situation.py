"""The one word for what is the case with a task: from its facts, who holds its lease, and where its branch went."""

from collections.abc import Collection
from typing import Literal, get_args

import msgspec

from flyball.core.model.state import State
from flyball.projections.views.lanes import hold_of
from flyball.projections.wording import clock_time, guard_name

Word = Literal[
    "RUNNING",
    "NEEDS YOU",
    "WAITING",
    "PAUSED",
    "DONE",
    "MERGED",
    "BLOCKED",
    "LIMIT",
    "ABORTED",
    "LOST CONTACT",
]
WORDS: tuple[Word, ...] = get_args(Word)

_STOPPED: dict[str, Word] = {
    "done": "DONE",
    "blocked": "BLOCKED",
    "error": "BLOCKED",
    "no_agent": "BLOCKED",
    "aborted": "ABORTED",
    "limit": "LIMIT",
    "paused": "PAUSED",
    "interrupted": "PAUSED",
}


class Seen(msgspec.Struct, frozen=True):
    """What no journal knows: whether a controller holds the task's lease, and the branch that has its work by now.

    `deleted`: somebody removed the task's own branch, and no other has its work.
    """

    controlled: bool = True
    merged_into: str = ""
    deleted: bool = False


AT_WORK = Seen()
"""As the task's own controller sees it."""


def situation(state: State, seen: Seen = AT_WORK, answered: Collection[str] = ()) -> Word:
    """The word; `answered` are questions whose answer is on its way to the task."""
    if state.stopped is not None:
        word = _STOPPED[state.stopped.kind]
        return "MERGED" if word == "DONE" and seen.merged_into else word
    if not seen.controlled:
        return "LOST CONTACT"
    if any(asked.answer is None and key not in answered for key, asked in state.questions.items()):
        return "NEEDS YOU"
    held = hold_of(state)
    if held is not None and held.until is not None:
        return "WAITING"
    return "RUNNING"


def sentence(state: State, word: Word, seen: Seen = AT_WORK) -> str:
    """The word as screens show it: with the time and the guard of a wait, and with what is beside it."""
    match word:
        case "WAITING":
            held = hold_of(state)
            assert held is not None
            assert held.until is not None
            return f"WAITING until {clock_time(held.until, state.now)} ({guard_name(held.guard)})"
        case "LOST CONTACT":
            return "LOST CONTACT (its process is gone)"
        case "MERGED":
            return f"MERGED into {seen.merged_into}"
    return word
