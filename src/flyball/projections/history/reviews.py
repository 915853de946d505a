"""Who reviewed whose work, by the models that really ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from flyball.core.loop.casting import Independence, independence
from flyball.core.model.outcomes import ABSENT, FAILED, LIMITED
from flyball.core.model.task import AgentSpec, Author, Player
from flyball.projections.history.records import TurnRecord

_NO_REVIEW = LIMITED | ABSENT | FAILED | {"interrupted", "failed", ""}


class ReviewRecord(msgspec.Struct, frozen=True):
    """One turn that reviewed: by whom, whose work, and whether that was another model."""

    turn: int
    stage: str
    role: str
    reviewer: str
    authors: tuple[str, ...]
    model: Independence


def reviews(turns: Iterable[TurnRecord], agents: Sequence[AgentSpec]) -> tuple[ReviewRecord, ...]:
    """Every review that came to its end."""
    return tuple(
        ReviewRecord(
            turn.number,
            turn.stage,
            turn.role,
            player_name(Player(turn.agent, turn.model)),
            _names(turn.authors),
            independence(Player(turn.agent, turn.model), turn.authors, agents),
        )
        for turn in turns
        if turn.authors and turn.outcome not in _NO_REVIEW
    )


def apart(player: Player, authors: Sequence[Author], agents: Sequence[AgentSpec]) -> str:
    """What a person should know of a reviewer before it begins."""
    whose = " and ".join(_names(authors))
    match independence(player, authors, agents):
        case "other":
            return f"another model than the author's: {whose}"
        case "unknown":
            return f"not known to be another model than the author's: {whose}"
        case "same":
            return f"the author reviews its own work: {whose}"


def player_name(player: Player | Author) -> str:
    return f"{player.agent} ({player.model or 'model unknown'})"


def _names(authors: Iterable[Author]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(player_name, authors)))
