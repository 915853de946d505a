"""Who reviewed whose work, by the models that really ran."""

from collections.abc import Iterable, Sequence

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.loop.casting import Independence, independence
from flyball.core.loop.gates import APPROVING
from flyball.core.model.outcomes import ABSENT, FAILED, LIMITED
from flyball.core.model.task import AgentSpec, Author, Player
from flyball.projections.history.records import TurnRecord

_NO_REVIEW = LIMITED | ABSENT | FAILED | {"interrupted", "failed", ""}


class ReviewRecord(msgspec.Struct, frozen=True):
    turn: int
    stage: str
    role: str
    reviewer: str
    authors: tuple[str, ...]
    model: Independence


def reviews(turns: Iterable[TurnRecord], agents: Sequence[AgentSpec]) -> tuple[ReviewRecord, ...]:
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


def open_findings(turns: Iterable[TurnRecord]) -> tuple[tuple[TurnRecord, Finding], ...]:
    """What approving reviews found that blocks nothing, until a later look says that it is gone."""
    known: dict[str, tuple[TurnRecord, Finding]] = {}
    for turn in turns:
        if turn.set_aside:
            continue
        if turn.verdict in APPROVING:
            known |= {f.id: (turn, f) for f in turn.findings if not f.blocks and f.stands != "nowhere"}
        for id in turn.gone:
            known.pop(id, None)
    return tuple(known.values())


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
