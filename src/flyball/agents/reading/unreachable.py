"""Whether an error says that the provider could not be reached, in the words of the libraries agents are built with."""

from __future__ import annotations

import re

_WORDS = re.compile(
    r"\bfetch failed\b|\bconnection (?:error|refused|reset|timed out|closed)\b|\b(?:could|can)(?: ?not|'t) connect\b|\bunable to connect\b"
    r"|\b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE)\b|\brequest timed out\b|\bsocket hang up\b|\bnetwork error\b",
    re.IGNORECASE,
)
LONGEST = 4_000


def unreachable(said: str) -> bool:
    return bool(_WORDS.search(said[:LONGEST]))
