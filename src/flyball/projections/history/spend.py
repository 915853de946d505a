"""Time, turns, tokens and money, by turn and by stage and role."""

from collections.abc import Iterable

import msgspec

from flyball.core.model.outcomes import ABSENT, LIMITED, NOTHING_USED
from flyball.projections.history.records import TurnRecord

_NEVER_RAN = LIMITED | ABSENT


class Spend(msgspec.Struct, frozen=True):
    """What turns of one role in one stage took; empty names are the total.

    Money is None where that of any turn is not known; `known_usd` is what is known of it. Tokens are those that were told, None where
    none were; `untold` turns told none.
    """

    stage: str = ""
    role: str = ""
    agents: tuple[str, ...] = ()
    turns: int = 0
    seconds: float = 0.0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    usd: float | None = 0.0
    estimated: bool = False
    known_usd: float = 0.0
    untold: int = 0


class TurnSpend(msgspec.Struct, frozen=True):
    """What one turn took, however it ended."""

    turn: int
    stage: str
    role: str
    agent: str
    model: str
    outcome: str
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    estimated: bool
    session: str = ""


def spend_of_turns(turns: Iterable[TurnRecord]) -> tuple[TurnSpend, ...]:
    return tuple(_spend_of(turn) for turn in turns)


def _spend_of(turn: TurnRecord) -> TurnSpend:
    t, usage = turn, turn.usage
    read, written = (None, None) if _is_untold(turn) else (usage.input_tokens, usage.output_tokens)
    ran = (t.number, t.stage, t.role, t.agent, t.model, t.outcome, t.seconds)
    return TurnSpend(*ran, read, written, usage.usd, usage.estimated, t.session)


def spend(turns: Iterable[TurnRecord]) -> tuple[Spend, ...]:
    groups: dict[tuple[str, str], list[TurnRecord]] = {}
    for turn in turns:
        groups.setdefault((turn.stage, turn.role), []).append(turn)
    return tuple(_sum(stage, role, group) for (stage, role), group in groups.items())


def total(turns: Iterable[TurnRecord]) -> Spend:
    return _sum("", "", list(turns))


def _sum(stage: str, role: str, turns: list[TurnRecord]) -> Spend:
    usage = NOTHING_USED
    for turn in turns:
        usage = usage.plus(turn.usage)
    untold = sum(map(_is_untold, turns))
    unknown = bool(untold) and not usage.tokens
    names = (f"{t.agent} {t.model}".rstrip() for t in turns)
    return Spend(
        stage,
        role,
        tuple(dict.fromkeys(names)),
        len(turns),
        round(sum(t.seconds for t in turns), 3),
        None if unknown else usage.input_tokens,
        None if unknown else usage.output_tokens,
        usage.usd,
        usage.estimated,
        round(sum(t.usage.usd or 0.0 for t in turns), 6),
        untold,
    )


def _is_untold(turn: TurnRecord) -> bool:
    """Whether a turn that ran did not tell its tokens, which is not none."""
    return turn.ended_at is not None and not turn.usage.tokens and turn.outcome not in _NEVER_RAN
