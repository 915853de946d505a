"""Which specialised evaluators a track needs, and which words or fields of it say so.

Words are matched whole, in any case and with their usual endings ("APIs", "authenticated"), never inside other words: "lock" is
not in "block". What stands in code blocks, inline code and addresses was not written to describe the track, and does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import msgspec

Evaluator = Literal["ui-ux", "code-quality", "integration", "business-logic"]
EVALUATORS: tuple[Evaluator, ...] = get_args(Evaluator)
PREFIX = "eval-"
"""How reports and metadata write the names; both forms are read."""

_WORDS: dict[Evaluator, tuple[str, ...]] = {
    "ui-ux": ("screen", "component", "design system", "layout", "visual", "UI shell"),
    "code-quality": ("implement", "feature", "refactor", "infrastructure", "hook", "store"),
    "integration": ("Supabase", "Stripe", "Gemini", "API", "auth", "database", "webhook"),
    "business-logic": ("generation", "lock", "dependency", "pricing", "tier", "pipeline", "download"),
}
_TYPES: dict[str, Evaluator] = {
    **dict.fromkeys(("ui", "design", "design-system", "screens"), "ui-ux"),
    **dict.fromkeys(("feature", "code", "bugfix", "refactor", "infrastructure"), "code-quality"),
    **dict.fromkeys(("integration", "auth", "payments", "api", "database"), "integration"),
    **dict.fromkeys(("business-logic", "business", "logic", "generator", "core-feature"), "business-logic"),
}
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
_SHELL = "UI shell"
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
    """An evaluator, and what chose it."""

    name: Evaluator
    chosen_by: tuple[str, ...]


def choose(metadata: Mapping[str, object], spec: str) -> tuple[Chosen, ...]:
    """The evaluators of a track, in their fixed order; each with its reasons."""
    if asked := _asked(metadata.get("evaluators")):
        return tuple(Chosen(name, ("metadata: evaluators",)) for name in EVALUATORS if name in asked)
    found = {name: [f"word: {word}" for word in words] for name, words in _matched(_prose(metadata, spec)).items()}
    shell = f"word: {_SHELL}" in found["ui-ux"] and not (found["integration"] or found["business-logic"])
    if shell:
        found["code-quality"] = []
    for kind in _types(metadata.get("type")):
        found[_TYPES[kind]].append(f"metadata: type {kind}")
    reasons = [each for name in EVALUATORS[2:] for each in found[name]]
    found["code-quality"] += [f"goes with {reason}" for reason in reasons if reason in _ALSO_CODE]
    chosen = tuple(Chosen(name, tuple(found[name])) for name in EVALUATORS if found[name])
    return chosen or (Chosen("code-quality", ("default: neither a word nor a field of the track names an evaluator",)),)


def _matched(prose: str) -> dict[Evaluator, list[str]]:
    return {name: [word for word in words if _pattern(word).search(prose)] for name, words in _WORDS.items()}


def _pattern(word: str) -> re.Pattern[str]:
    """A word or phrase as a whole, with the endings English gives it."""
    if word in _SYNONYMS:
        return re.compile(rf"\b(?:{_SYNONYMS[word]})\b", re.IGNORECASE)
    stem, last = re.escape(word[:-1]).replace(r"\ ", r"[\s-]+"), re.escape(word[-1])
    ending = {"y": "(?:y|ies)", "e": "(?:e[sd]?|ing)"}.get(word[-1], f"{last}(?:{last}?(?:ed|ing)|s|es)?")
    return re.compile(rf"\b{stem}{ending}\b", re.IGNORECASE)


def _prose(metadata: Mapping[str, object], spec: str) -> str:
    said = [text for key in _DESCRIBING for text in _texts(metadata.get(key))]
    return "\n".join((*said, _NO_PROSE.sub(" ", spec)))


def _types(value: object) -> list[str]:
    kinds = (re.sub(r"[\s_/]+", "-", kind.strip().lower()) for kind in _texts(value))
    return [kind for kind in kinds if kind in _TYPES]


def _asked(value: object) -> frozenset[Evaluator]:
    names = [name.strip().lower().removeprefix(PREFIX) for name in _texts(value)]
    unknown = [name for name in names if name not in EVALUATORS]
    if unknown:
        raise UnknownEvaluator(f"evaluators has {unknown[0]!r}; expected some of: {', '.join(EVALUATORS)}")
    return frozenset(name for name in EVALUATORS if name in names)


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
