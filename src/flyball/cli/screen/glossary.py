"""The words of the live view, explained in a few lines."""

from __future__ import annotations

from rich.text import Text

_WORDS = (
    ("stage", "a step of the work; it ends when its gate passes and the agent is done"),
    ("gate", "a command that must pass, such as your tests; flyball runs it itself"),
    ("verdict", "after each iteration: CONTINUE, stage complete, or BLOCKED: it needs you"),
    ("health", "PROGRESSING, or what is wrong: STALLED, REGRESSING, FLIP-FLOPPING, BLOCKED"),
    ("stuck", "iterations without progress; at the limit flyball stops and asks you"),
)

_KEYS = (
    ("p", "pause when this iteration ends; p again takes it back"),
    ("d", "show the agent's last lines, what fails and what is wanted"),
    ("q", "leave: the loop goes on, this terminal is free"),
    ("Ctrl-C", "stop and save; go on with: flyball resume"),
)


def help_rows(offered: str) -> list[tuple[str, Text]]:
    """What stands in the picture's place while help is wanted; of the keys, those that work here."""
    keys = [row for row in _KEYS if f"{row[0]} " in offered]
    return [(word, Text(meaning)) for word, meaning in (*_WORDS, *keys)]
