"""A signature names a failure, so that two runs of the same one can be recognised as the same (M20, M21).

Coarse says which tests or files fail; fine adds what they say, line by line, masked and sorted. Nothing is learnt and
nothing is kept: the same text gives the same signature on any machine, in any order.
"""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from flyball.core.failures.masks import mask, plain
from flyball.core.failures.outputs import read

_HEAD = 64_000
_TAIL = 192_000
_SUMMARY_LENGTH = 160


class Signature(msgspec.Struct, frozen=True):
    """Two hashes and one line for people."""

    coarse: str
    fine: str
    summary: str


def signature(text: str, failing: Sequence[str] = ()) -> Signature:
    """The signature of a failing output; `failing` are the ids of failing tests where a report gave them."""
    reading = read(plain(_head_and_tail(text)).splitlines())
    named = {mask(name) for name in failing} or set(reading.tests) or set(reading.files)
    details = set(reading.details or reading.warnings)
    coarse = named or details
    line = reading.headline or next(iter(reading.details or reading.warnings), "")
    if line and reading.where and reading.where not in line:
        line = f"{line} in {reading.where}"
    line = line or (", ".join(sorted(named)[:3]) if named else "no output")
    return Signature(
        coarse=digest(sorted(coarse)),
        fine=digest([*sorted(coarse), "", *sorted(details)]),
        summary=line if len(line) <= _SUMMARY_LENGTH else line[: _SUMMARY_LENGTH - 1] + "…",
    )


def _head_and_tail(text: str) -> str:
    """Head and tail of a huge output: time stays bounded, and tools put what matters at either end."""
    if len(text) <= _HEAD + _TAIL:
        return text
    return text[: text.rfind("\n", 0, _HEAD) + 1 or _HEAD] + "\n" + text[text.find("\n", len(text) - _TAIL) + 1 :]


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()[:16]
