"""Takes secret values out of text before it is stored or shown."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape
from typing import Any

HIDDEN = "[hidden]"
SHORTEST = 8
"""Characters of a value that is hidden: a shorter one stands in too much that is no secret."""
_NAMED = re.compile(r"key|token|secret|passw|pwd|credential|auth|cookie|session|private|dsn|webhook", re.IGNORECASE)
_ASSIGNED = re.compile(r"""^\s*(?:export\s+)?["']?([\w.-]+)["']?\s*[:=]\s*["']?(.+?)["']?,?\s*$""")
_IN_ADDRESS = re.compile(r"[\w+.-]+://[^/@\s:]*:([^@/\s]+)@")
_UNSEEN = r"\x1b\[[0-?]*[ -/]*[@-~]|\\(?:u001b|x1b|033|e)\[[0-9;]*m|\\u[0-9a-fA-F]{4}|\\[nrt]|%[0-9a-fA-F]{2}|</?[a-z][a-z0-9]*>"
"""Colours, line ends and marks as a terminal, JSON, a source or an address has them."""
LONGEST_GAP = 60
_GAP = rf"(?:{_UNSEEN}|[^\w\s!-~]|\s*\\?[\r\n][\s+>|#*/\"'`-]*|[\"'`*_~]\s?[+.]?\s?[\"'`]?){{0,{LONGEST_GAP}}}?"
"""What may stand within a word and leaves it readable: a line end with what begins the next, colours, marks of emphasis."""
_STRANGE = re.compile(r"[^\w\x00-\x7f]+")
_MARKS = bytes(code for code in range(128) if not chr(code).isalnum())
_URLSAFE = str.maketrans("+/", "-_")
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
    """The text without secrets: as they are, encoded, in letters of another case, or with what shows nothing in between."""
    bare = b""
    for value in secrets:
        for each in _spellings(value):
            text = text.replace(each, HIDDEN)
        wanted = _bare(value)
        if len(wanted) >= SHORTEST:
            bare = bare or _bare(text)
            # To look for letters and digits alone is quick; where they are not in a row nothing else needs looking for.
            text = _scattered_pattern(value).sub(HIDDEN, text) if wanted in bare else text
        text = _without_beginning(text, value)
    return text


def _without_beginning(text: str, value: str) -> str:
    """A text that was cut off within a value has its beginning at the end."""
    end = len(text.rstrip(" .…"))
    tail = text[max(0, end - len(value)) : end]
    for length in range(min(len(value) - 1, len(tail)), SHORTEST - 1, -1):
        if tail.endswith(value[:length]):
            return text[: end - length] + HIDDEN + text[end:]
    return text


def _bare(text: str) -> bytes:
    """The letters and digits of a text, in one case; of a long text in little time."""
    if any(mark in text for mark in "\x1b\\%<"):
        text = re.sub(_UNSEEN, "", text)
    if not text.isascii():
        text = _STRANGE.sub("", text).casefold()
    return text.encode("utf-8", "surrogatepass").translate(None, _MARKS).lower()


@lru_cache(maxsize=256)
def _spellings(value: str) -> tuple[str, ...]:
    """A value as it is, and as JSON, HTML and base64 have it; the longest first."""
    raw = value.encode("utf-8", "surrogateescape")
    found = {value, json.dumps(value)[1:-1], escape(value), raw.hex(), raw.hex().upper()}
    for ahead in range(3):
        # Of a value within a longer one, base64 tells all but the letters at its ends, in one of three ways.
        whole = len(raw) + ahead - (len(raw) + ahead) % 3
        coded = b64encode((b"\0" * ahead + raw)[:whole])[(ahead * 8 + 5) // 6 :].decode()
        found |= {coded, coded.translate(_URLSAFE)} if len(coded) >= SHORTEST else set()
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


@lru_cache(maxsize=256)
def _scattered_pattern(value: str) -> re.Pattern[str]:
    """Finds a value in letters of any case, over line ends and colours; between its words anything but letters may stand."""
    parts, between = list[str](), ""
    for word in re.findall(r"[^\W_]|[\W_]+", value):
        if not word[0].isalnum():
            between = rf"(?:{_UNSEEN}|[\W_]){{0,{len(word) + LONGEST_GAP}}}?"
        else:
            parts += [between or (_GAP if parts else ""), re.escape(word)]
            between = ""
    return re.compile("".join(parts), re.IGNORECASE)


def hide_in(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return hide(value, secrets)
    if isinstance(value, dict):
        return {hide_in(key, secrets): hide_in(inner, secrets) for key, inner in value.items()}
    return [hide_in(inner, secrets) for inner in value] if isinstance(value, list | tuple) else value
