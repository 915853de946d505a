"""How a turn ended, by what its program said: the rules all dialects share."""

import re
from collections.abc import Sequence

import msgspec

from flyball.agents.dialect import Event, HowEnded, ProgramOutput
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import TurnKind
from flyball.core.providers.limits import recognise_error

Words = Sequence[tuple[TurnKind, re.Pattern[str]]]
"""Words by which a program tells an ending; the first that are found count."""
PAUSED = frozenset({"rate_limited", "usage_limit"})
_SERVER_FAULT = 500
_UNREACHABLE = re.compile(
    r"\bfetch failed\b|\bconnection (?:error|refused|reset|timed out|closed)\b|\b(?:could|can)(?: ?not|'t) connect\b|\bunable to connect\b"
    r"|\b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE)\b|\brequest timed out\b|\bsocket hang up\b|\bnetwork error\b",
    re.IGNORECASE,
)
_LONGEST_ERROR = 4_000


class ProviderFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A request that failed, as the program tells it.

    `known` is what the program itself calls it; `transient` says that it may be tried again; `told` is what else its error says.
    """

    said: str
    known: TurnKind | None = None
    status: int = 0
    transient: bool = False
    told: Event = {}


def end_well(question: Event, refused: Sequence[str]) -> HowEnded:
    """A turn without an error: it asked a question by a tool, was refused some calls, or is simply over."""
    if question:
        return "question", "it asked a question", None
    return ("denied", f"denied: {'; '.join(refused)}", None) if refused else ("ok", "", None)


def end_failed(failure: ProviderFailure, output: ProgramOutput, otherwise: str) -> HowEnded:
    """A turn whose last request failed; `otherwise` is said where the program said nothing."""
    said, known = failure.said, failure.known
    error = {"message": said, "status": str(failure.status or ""), **failure.told}
    limit = recognise_error(error, output.now, zones) if known is None or known in PAUSED else None
    if known is not None:
        return known, said, limit.reset_at if limit else None
    if limit is not None:
        return limit.kind, limit.detail, limit.reset_at
    if failure.transient or failure.status >= _SERVER_FAULT or unreachable(said):
        return "overloaded", said, None
    return "crashed", said or otherwise, None


def end_lost(output: ProgramOutput) -> HowEnded:
    return "context_full", f"the conversation {output.asked.session} is gone", None


def find_kind(text: str, words: Words) -> TurnKind | None:
    return next((kind for kind, pattern in words if pattern.search(text)), None)


def find_line(lines: Sequence[str], words: Words) -> HowEnded | None:
    """The ending that one of the lines tells, in its words."""
    found = ((kind, line.strip()) for kind, pattern in words for line in lines if pattern.search(line))
    kind, line = next(found, (None, ""))
    return (kind, line, None) if kind else None


def unreachable(said: str) -> bool:
    """Whether an error says that the provider could not be reached, in the words of the libraries agents are built with."""
    return bool(_UNREACHABLE.search(said[:_LONGEST_ERROR]))
