"""Every ending a turn can have, for every agent: what its program printed then, or why it has no such ending."""

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import Dialect
from flyball.agents.dialects.acp import Acp
from flyball.agents.dialects.aider import AIDER, HISTORY, LOG
from flyball.agents.dialects.table import DIALECTS
from flyball.core.model.outcomes import TurnKind

RECORDED = Path(__file__).parents[1] / "recorded"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "agents.md"
HEADING = "## Which endings each program tells"
SPEAKERS: dict[str, Dialect] = {**DIALECTS, "acp": Acp(("some-agent",))}
OF_FLYBALL = {"not_installed", "timed_out", "interrupted"}
"""Endings no program tells of itself."""
ENDINGS: tuple[str, ...] = tuple(kind for kind in get_args(TurnKind) if kind not in OF_FLYBALL)

NO_CAP = "it has no such cap"
NO_END = "what it says of a rate limit names no end"
NO_TOOLS = "it calls no tools that could be refused"
OF_THE_PROTOCOL = "the protocol has no word for it"


class Told(msgspec.Struct, frozen=True):
    """A recording, how its program ended, and whether it says when its limit is over."""

    name: str
    code: int | None = 0
    signal: int | None = None
    reset: bool = False


def failed(name: str, *, reset: bool = False) -> Told:
    return Told(name, code=1, reset=reset)


def killed(name: str) -> Told:
    return Told(name, code=None, signal=15)


TABLE: dict[str, dict[str, Told | str]] = {
    "claude": {
        "ok": Told("ok"),
        "denied": Told("denied"),
        "question": Told("question"),
        "max_turns": failed("max-turns"),
        "budget": failed("budget"),
        "rate_limited": NO_END,
        "usage_limit": failed("usage-limit", reset=True),
        "overloaded": failed("overloaded"),
        "not_logged_in": failed("not-logged-in"),
        "context_full": failed("context-full"),
        "killed": Told("sigterm", code=143),
        "crashed": failed("unknown-model"),
    },
    "codex": {
        "ok": Told("edit"),
        "denied": Told("denied-by-rule"),
        "question": Told("question"),
        "max_turns": NO_CAP,
        "budget": NO_CAP,
        "rate_limited": failed("rate-limit", reset=True),
        "usage_limit": failed("usage-limit", reset=True),
        "overloaded": failed("overloaded"),
        "not_logged_in": failed("unauthorized"),
        "context_full": failed("context-full"),
        "killed": killed("terminated"),
        "crashed": failed("bad-request"),
    },
    "gemini": {
        "ok": Told("edit"),
        "denied": Told("denied"),
        "question": Told("question"),
        "max_turns": Told("max-turns", code=53),
        "budget": NO_CAP,
        "rate_limited": Told("minute-quota", code=173, reset=True),
        "usage_limit": failed("asleep", reset=True),
        "overloaded": Told("overloaded", code=247),
        "not_logged_in": Told("invalid-key", code=144),
        "context_full": Told("context-full", code=144),
        "killed": killed("terminated"),
        "crashed": Told("terminated"),
    },
    "opencode": {
        "ok": Told("edit"),
        "denied": Told("denied"),
        "question": Told("question"),
        "max_turns": NO_CAP,
        "budget": NO_CAP,
        "rate_limited": failed("rate-limit", reset=True),
        "usage_limit": failed("quota", reset=True),
        "overloaded": failed("server-error"),
        "not_logged_in": failed("unauthorized"),
        "context_full": failed("context-full"),
        "killed": killed("terminated"),
        "crashed": failed("no-model"),
    },
    "copilot": {
        "ok": Told("edit"),
        "denied": Told("denied"),
        "question": Told("question"),
        "max_turns": NO_CAP,
        "budget": NO_CAP,
        "rate_limited": NO_END,
        "usage_limit": failed("weekly-limit", reset=True),
        "overloaded": failed("rate-limit"),
        "not_logged_in": failed("no-login"),
        "context_full": failed("context-full"),
        "killed": killed("terminated"),
        "crashed": Told("terminated"),
    },
    "qwen": {
        "ok": Told("edit"),
        "denied": Told("denied"),
        "question": Told("question"),
        "max_turns": Told("max-turns", code=53),
        "budget": Told("tool-call-budget", code=55),
        "rate_limited": failed("asleep", reset=True),
        "usage_limit": failed("usage-limit", reset=True),
        "overloaded": failed("server-error"),
        "not_logged_in": failed("unauthorized"),
        "context_full": failed("context-full"),
        "killed": Told("terminated", code=130),
        "crashed": Told("terminated"),
    },
    "goose": {
        "ok": Told("edit"),
        "denied": failed("approval"),
        "question": Told("streamed"),
        "max_turns": Told("max-turns"),
        "budget": NO_CAP,
        "rate_limited": Told("rate-limit-with-a-pause", reset=True),
        "usage_limit": Told("quota"),
        "overloaded": Told("unavailable"),
        "not_logged_in": Told("unauthorized"),
        "context_full": Told("context-full"),
        "killed": killed("terminated"),
        "crashed": Told("interrupted"),
    },
    "aider": {
        "ok": Told("edit"),
        "denied": NO_TOOLS,
        "question": Told("question"),
        "max_turns": Told("failed-edits"),
        "budget": NO_CAP,
        "rate_limited": NO_END,
        "usage_limit": Told("quota"),
        "overloaded": Told("unavailable"),
        "not_logged_in": Told("unauthorized"),
        "context_full": Told("context-full"),
        "killed": killed("hung"),
        "crashed": Told("bad-request"),
    },
    "acp": {
        "ok": Told("goose-edit"),
        "denied": Told("refused"),
        "question": Told("question"),
        "max_turns": Told("most-requests"),
        "budget": OF_THE_PROTOCOL,
        "rate_limited": OF_THE_PROTOCOL,
        "usage_limit": Told("copilot-weekly-limit", reset=True),
        "overloaded": Told("goose-rate-limit"),
        "not_logged_in": Told("gemini-unauthorized"),
        "context_full": Told("goose-unknown-session"),
        "killed": killed("cut"),
        "crashed": Told("cut"),
    },
}
CELLS = [
    pytest.param(agent, kind, told, id=f"{agent}-{kind}")
    for agent, row in TABLE.items()
    for kind, told in row.items()
    if isinstance(told, Told)
]


def test_every_agent_has_a_word_on_every_ending() -> None:
    assert set(TABLE) == set(SPEAKERS)
    assert {agent: tuple(row) for agent, row in TABLE.items()} == dict.fromkeys(TABLE, ENDINGS)


@pytest.mark.req("C11")
@pytest.mark.parametrize(("agent", "kind", "told"), CELLS)
def test_what_a_program_printed_is_the_ending_it_was(agent: str, kind: str, told: Told) -> None:
    stdout = RECORDED / agent / f"{told.name}.{'txt' if agent == AIDER.name else 'jsonl'}"
    beside = {LOG: stdout.with_suffix(".events.jsonl"), HISTORY: stdout.with_suffix(".model.md")}
    files = {name: path.read_bytes() for name, path in beside.items() if path.exists()}

    turn = replay(SPEAKERS[agent], stdout, code=told.code, signal=told.signal, files=files)

    assert (turn.kind, turn.reset_at is not None) == (kind, told.reset), turn.detail
    assert turn.detail or kind == "ok"
    assert bool(turn.claim.questions) == (kind == "question")


def test_the_page_says_which_endings_each_program_tells() -> None:
    lines = PAGE.read_text().partition(f"{HEADING}\n")[2].splitlines()
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    table = {row[0]: row[1:] for row in rows[: 2 + len(ENDINGS)]}

    assert table["ending"] == list(TABLE)
    for kind in ENDINGS:
        assert table[kind] == ["yes" if isinstance(TABLE[agent][kind], Told) else "–" for agent in TABLE], kind
