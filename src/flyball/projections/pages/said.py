"""What a person said and the task has not taken in yet, with what it will do."""

from __future__ import annotations

import msgspec

from flyball.core.model.events import PersonSpoke
from flyball.projections.wording import plain

EFFECTS = {
    "pause": "The task stops after the step that is under way. Nothing is lost.",
    "resume": "The task goes on.",
    "modify": "Your words stand in the next prompt.",
    "reset": "The task tries again with its next step.",
    "skip": "The stage is left unverified with the next step.",
    "abort": "The task ends with its next step. Its checkpoints stay.",
    "answer": "The task takes the answer in with its next step.",
}


class SaidShown(msgspec.Struct, frozen=True):
    """One word: what was said, and what comes of it."""

    word: str
    said: str
    effect: str


def said_shown(word: PersonSpoke, *, controlled: bool) -> SaidShown:
    """As the page tells it until the task has taken it in."""
    asked = f" to {word.question}" if word.question else ""
    text = f": {plain(word.text, 200)}" if word.text else ""
    effect = EFFECTS.get(word.word, "It is taken in with the next step.")
    later = "" if controlled else " Nobody runs the task now: it takes effect when the task is resumed."
    return SaidShown(word.word, f"You said {word.word}{asked}{text}", f"{effect}{later}")
