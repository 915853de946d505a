"""States, verdicts and health as pages show them: a word, a glyph and a colour of its own for each."""

import msgspec

from flyball.projections.history.timeline import Kind
from flyball.projections.plots.failing import GLYPHS
from flyball.projections.views.situation import Word


class Chip(msgspec.Struct, frozen=True):
    """A word with its glyph and the style that colours it; `detail` follows the word in small letters."""

    word: str
    glyph: str
    style: str
    detail: str = ""


STATES: dict[Word, tuple[str, str]] = {
    "RUNNING": ("running", "blue"),
    "NEEDS YOU": ("asks", "person"),
    "WAITING": ("clock", "grey"),
    "PAUSED": ("paused", "grey"),
    "DONE": ("done", "green"),
    "MERGED": ("merged", "green"),
    "BLOCKED": ("blocked", "red"),
    "LIMIT": ("limit", "red"),
    "ABORTED": ("aborted", "grey"),
    "LOST CONTACT": ("lost", "violet"),
}
VERDICTS: dict[Kind, str] = {
    "accepted": "green",
    "rejected": "red",
    "rolled back": "violet",
    "false claim": "red",
    "asks you": "brass",
    "continue": "quiet",
}
HEALTH = {
    "PROGRESSING": ("progressing", "quiet"),
    "INITIALIZING": ("progressing", "quiet"),
    "STALLED": ("stalled", "brass"),
    "REGRESSING": ("regressing", "red"),
    "FLIP-FLOPPING": ("flip-flopping", "violet"),
    "BLOCKED": ("blocked", "red"),
}


def state_chip(word: Word, detail: str = "") -> Chip:
    glyph, style = STATES[word]
    return Chip(word, glyph, style, detail)


def verdict_chip(kind: Kind) -> Chip:
    return Chip(kind, GLYPHS[kind], VERDICTS[kind])


def health_chip(health: str) -> Chip:
    """The monitor's word; good health is quiet."""
    glyph, style = HEALTH.get(health, ("stalled", "brass"))
    word = "progressing" if glyph == "progressing" else health.lower()
    return Chip(word, glyph, style)
