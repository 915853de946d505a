"""Numbers and lists in words."""

from collections.abc import Sequence


def plural(number: int, noun: str, several: str = "") -> str:
    """`1 turn`, `2 turns`; `several` is the plural of a noun that does not just get an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or f'{noun}s'}"


def first_few(words: Sequence[str], most: int = 3) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def alternatives(words: Sequence[str]) -> str:
    """`one`, `one or two`, `one, two or three`."""
    return " or ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def titled_list(title: str, lines: Sequence[str]) -> str:
    """A list under a heading, as prompts have them; nothing where there are no lines."""
    return f"## {title}\n" + "\n".join(f"- {indent_entry(line)}" for line in lines) if lines else ""


def indent_entry(text: str) -> str:
    """A text whose further lines begin nothing of their own in a prompt."""
    return text.strip().replace("\n", "\n  ")
