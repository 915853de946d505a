"""What a typed answer to a question means: an option's key or the beginning of one, or free text where that is wanted."""

from __future__ import annotations

from flyball.core.model.effects import Question
from flyball.ports import Refusal

FREE = "TEXT"


class NotAnAnswer(Refusal):
    """What was typed answers nothing that was asked."""


def understood(question: Question, typed: str) -> str:
    """The answer as the loop knows it; raises NotAnAnswer with the choices there are."""
    text = typed.strip()
    if not text:
        if question.default is not None:
            return question.default
        raise NotAnAnswer(f"An answer is needed: {choices(question)}")
    keys = [option.key for option in question.options if option.key != FREE]
    whole = _named(text, keys)
    if whole is not None and whole != "modify":
        return whole
    word, _, rest = text.partition(" ")
    named = _named(word, keys)
    if named == "modify" and not rest.strip():
        raise NotAnAnswer("modify needs guidance: modify TEXT")
    if named == "modify":
        return f"modify {rest.strip()}"
    if _takes_text(question, keys):
        return text
    raise NotAnAnswer(f"{text!r} is not among the answers: {choices(question)}")


def choices(question: Question) -> str:
    """The answers there are, in one line."""
    keys = [f"modify {FREE}" if option.key == "modify" else option.key for option in question.options]
    return ", ".join(keys) or "free text"


def _named(word: str, keys: list[str]) -> str | None:
    lower = word.lower()
    exact = [key for key in keys if key.lower() == lower]
    beginning = exact or [key for key in keys if key.lower().startswith(lower)]
    return beginning[0] if len(beginning) == 1 else None


def _takes_text(question: Question, keys: list[str]) -> bool:
    """An agent's own question, one without choices, and one that offers it: anything else would be guessed at."""
    return not keys or question.name.startswith("agent-") or any(option.key == FREE for option in question.options)
