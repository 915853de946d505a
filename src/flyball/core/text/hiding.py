"""Takes secret values out of text before it is stored or shown."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "[hidden]"
SHORTEST = 8
"""Characters of a value that is hidden: a shorter one stands in too much that is no secret."""
_NAMED = re.compile(r"key|token|secret|passw|pwd|credential|auth|cookie|session|private|dsn|webhook", re.IGNORECASE)
_ASSIGNED = re.compile(r"""^\s*(?:export\s+)?["']?([\w.-]+)["']?\s*[:=]\s*["']?(.+?)["']?,?\s*$""")
_IN_ADDRESS = re.compile(r"[\w+.-]+://[^/@\s:]*:([^@/\s]+)@")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{40,}")


def is_secret(name: str, value: str) -> bool:
    """Whether a variable's value is to be hidden: it is called so, or it is neither a word, a number, a path nor an address."""
    if len(value) < SHORTEST or value.isspace():
        return False
    if _NAMED.search(name):
        return True
    plain = value.isalpha() or value.startswith(("/", "~", ".")) or re.fullmatch(r"[\d.:-]+|[a-z]+://[^@]*", value)
    mixed = re.search(r"[A-Za-z]", value) and re.search(r"\d", value) and not re.search(r"\s", value)
    return not plain and bool(mixed)


def secrets_of(variables: Mapping[str, str], files: Iterable[str] = ()) -> tuple[str, ...]:
    """The secret values of variables and of carried files, whose lines give values to names or are encoded keys; longest first."""
    found = {line.strip() for name, value in variables.items() if is_secret(name, value) for line in value.splitlines()}
    found |= {password for value in variables.values() for password in _IN_ADDRESS.findall(value)}
    for text in files:
        found |= set(_IN_ADDRESS.findall(text))
        for line in text.splitlines():
            if (given := _ASSIGNED.match(line)) and is_secret(given[1], given[2]):
                found.add(given[2])
            elif _ENCODED.fullmatch(line.strip()):
                found.add(line.strip())
    return tuple(sorted((value for value in found if len(value) >= SHORTEST), key=lambda value: (-len(value), value)))


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without secrets, as they are or as JSON spells them."""
    for value in secrets:
        text = text.replace(value, HIDDEN)
        if (spelt := json.dumps(value)[1:-1]) != value:
            text = text.replace(spelt, HIDDEN)
    return text


def hide_in(value: Any, secrets: tuple[str, ...]) -> Any:
    """Plain data without secrets, names of fields included."""
    if isinstance(value, str):
        return hide(value, secrets)
    if isinstance(value, dict):
        return {hide_in(key, secrets): hide_in(inner, secrets) for key, inner in value.items()}
    return [hide_in(inner, secrets) for inner in value] if isinstance(value, list | tuple) else value
