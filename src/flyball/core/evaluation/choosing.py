"""Which specialised evaluators a track needs, and which words or fields of it say so.

Words are matched whole, in any case and with their usual endings ("APIs", "authenticated"), never inside other words: "lock" is
not in "block". What stands in code blocks, inline code and addresses was not written to describe the track, and does not count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from flyball.core.evaluation.catalogue import BUILT_IN, CODE_QUALITY, EvaluatorCard, names, short_name

_SYNONYMS = {
    "auth": r"auth|oauth|authenticat(?:e[sd]?|ing|ions?)|authori[sz](?:e[sd]?|ing|ations?)",
    "generation": r"generations?|generators?",
}
_ALSO_CODE = frozenset(
    (
        *(f"word: {word}" for word in ("auth", "database", "generation")),
        *(f"metadata: type {kind}" for kind in ("auth", "database", "generator")),
    )
)
"""A generator, and what signs people in or keeps data, is judged as code, too."""
DEFAULT_REASON = "default: neither a word nor a field of the track names an evaluator"
_NO_PROSE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"  # a fenced block
    r"|`+[^`\n]*`+"  # inline code
    r"|\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+",  # an address
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_DESCRIBING = ("name", "title", "description", "summary", "tags")


class UnknownEvaluator(ValueError):
    """The metadata asks for an evaluator there is none of."""


class Chosen(msgspec.Struct, frozen=True):
    name: str
    chosen_by: tuple[str, ...]


def choose(metadata: Mapping[str, object], spec: str, cards: Sequence[EvaluatorCard] = BUILT_IN) -> tuple[Chosen, ...]:
    """The evaluators of a track, in the order of the cards; each with its reasons."""
    if asked := _named_evaluators(metadata.get("evaluators"), cards):
        return tuple(Chosen(card.name, ("metadata: evaluators",)) for card in cards if card.name in asked)
    said = [text for key in _DESCRIBING for text in _texts(metadata.get(key))]
    prose = "\n".join((*said, _NO_PROSE.sub(" ", spec)))
    found = {card.name: [f"word: {word}" for word in card.words if _pattern(word).search(prose)] for card in cards}
    integrates = any(found.get(name) for name in ("integration", "business-logic"))
    if "word: UI shell" in found.get("ui-ux", ()) and not integrates:
        found[CODE_QUALITY.name] = []
    for kind in _texts(metadata.get("type")):
        plain = re.sub(r"[\s_/]+", "-", kind.strip().lower())
        for card in cards:
            if plain in card.types:
                found[card.name].append(f"metadata: type {plain}")
    reasons = [each for name, each_found in found.items() if name != CODE_QUALITY.name for each in each_found]
    found[CODE_QUALITY.name] += [f"goes with {reason}" for reason in reasons if reason in _ALSO_CODE]
    chosen = tuple(Chosen(name, tuple(reasons)) for name, reasons in found.items() if reasons)
    return chosen or (Chosen(CODE_QUALITY.name, (DEFAULT_REASON,)),)


def _pattern(word: str) -> re.Pattern[str]:
    """A word or phrase as a whole, with the endings English gives it."""
    if word in _SYNONYMS:
        return re.compile(rf"\b(?:{_SYNONYMS[word]})\b", re.IGNORECASE)
    stem, last = re.escape(word[:-1]).replace(r"\ ", r"[\s-]+"), re.escape(word[-1])
    ending = {"y": "(?:y|ies)", "e": "(?:e[sd]?|ing)"}.get(word[-1], f"{last}(?:{last}?(?:ed|ing)|s|es)?")
    return re.compile(rf"\b{stem}{ending}\b", re.IGNORECASE)


def _named_evaluators(value: object, cards: Sequence[EvaluatorCard]) -> frozenset[str]:
    asked = [short_name(name) for name in _texts(value)]
    known = names(cards)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise UnknownEvaluator(f"evaluators has {unknown[0]!r}; expected some of: {', '.join(known)}")
    return frozenset(asked)


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
