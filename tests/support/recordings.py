"""Plays back to a dialect what its program once printed, for tests of adapters: NAME.jsonl or NAME.txt, NAME.stderr, and files beside."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from flyball.agents.dialect import Dialect, ProgramOutput, TurnRequest
from flyball.agents.reading.jsonl import Events, other_lines
from flyball.agents.run.frame import ProgramRun, TurnOrder
from flyball.agents.run.transcript import Transcript
from flyball.agents.run.turn_reading import settle_turn
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded, Usage
from flyball.core.model.task import EffectId
from flyball.core.text.scrubbing import decode
from flyball.process import Exit

NONCE = "00112233445566778899aabbccddeeff"
TAIL = 64 * 1024
NOTHING = Usage()
A_TURN = RunAgent(EffectId("turn/1"), role="", stage="", agent="", model="", prompt="", iteration=1, turn=1)


def replay(
    dialect: Dialect,
    stdout: Path,
    *,
    code: int | None = 0,
    signal: int | None = None,
    session: str = "",
    sandboxed: bool = True,
    before: Usage = NOTHING,
    now: datetime = datetime(2026, 11, 16, 3, 30, tzinfo=UTC),
    files: Mapping[str, bytes] | None = None,
    homes: tuple[Path, ...] = (),
) -> TurnEnded:
    """The outcome of a turn in which the program printed `stdout`, and what stands beside it as .stderr, and ended so."""
    beside = stdout.with_suffix(".stderr")
    printed = stdout.read_bytes()
    errors = beside.read_bytes() if beside.exists() else b""
    end = Exit(code, signal, "exit", 1.0, stdout_tail=printed[-TAIL:], stderr_tail=errors[-TAIL:])
    heard = ProgramOutput(
        asked=TurnRequest(
            model="", folder=Path("/turn/shared"), tree=Path("/repo"), nonce=NONCE, session=session, sandboxed=sandboxed
        ),
        lines=Events(stdout),
        exit=end,
        now=now,
        other=other_lines(stdout),
        stderr_text=decode(end.stderr_tail),
        files=files or {},
        homes=homes,
    )
    turn = TurnOrder(A_TURN, heard.asked.tree, heard.asked.folder.parent, NONCE)
    ran = ProgramRun(turn, Transcript(turn.folder, b""), end, None, "", heard.files, now, now)
    return settle_turn(dialect.read(heard), heard, ran, slept="", before=before)


def tokens(usage: Usage) -> tuple[int, int]:
    """What was read and written, without the price, which may be an estimate."""
    return usage.input_tokens, usage.output_tokens
