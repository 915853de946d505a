"""Drives any agent's command line program whose dialect is known; claims, time limits and endings are as for any command."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from flyball.agents.dialect import Dialect, ProgramOutput, TurnRequest
from flyball.agents.display.live import EventView
from flyball.agents.reading.jsonl import Events, other_lines
from flyball.agents.run.frame import ProgramFrame, ProgramRun, TurnOrder
from flyball.agents.run.homes import guarded_paths, home_paths, set_aside
from flyball.agents.run.turn_reading import settle_turn
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded
from flyball.core.providers.limits import long_retry
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Clock, Notify, Stop

KEPT = 8 * 1024
BRIEF = 300


class SleepWatch:
    """The turn's stop, set also when the program sleeps.

    It does if standard error says "Retrying in N" with an N longer than a minute, or if nothing comes for `silent_s` after a line
    that matches `retrying`.
    """

    def __init__(self, stop: Stop, clock: Clock, retrying: str = "", silent_s: float = 0.0) -> None:
        self._stop, self._clock, self._silent_s = stop, clock, silent_s
        self._retrying = re.compile(retrying) if retrying else None
        self._recent = {"stdout": b"", "stderr": b""}
        self._retried_at: float | None = None
        self._said = ""
        self.sleeping = False

    @property
    def reason(self) -> str:
        told = "it went to sleep on a limit"
        return f"{told}: {self._said}".rstrip(": ") if self.sleeping else getattr(self._stop, "reason", "")

    def is_set(self) -> bool:
        if self._retried_at is not None and self._clock.monotonic() - self._retried_at >= self._silent_s:
            self.sleeping = True
        return self.sleeping or self._stop.is_set()

    def set(self, reason: str = "") -> None:
        self._stop.set(reason)

    def take(self, stream: str, chunk: bytes) -> None:
        if self.sleeping:
            return
        recent = (self._recent[stream] + chunk)[-KEPT:]
        self._recent[stream] = recent
        ended = decode(recent[: recent.rfind(b"\n") + 1])
        if stream == "stderr":
            self.sleeping = bool(ended) and long_retry(ended, self._clock.now().astimezone()) is not None
        if self._retrying is not None:
            last = ended.rstrip().rpartition("\n")[2]
            self._said = scrub(last)[:BRIEF] if self._retrying.search(last) else ""
            self._retried_at = self._clock.monotonic() if self._said else None


NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
)
"""What a client needs to reach its provider, and to find its own folders."""


class Cli(msgspec.Struct, frozen=True):
    """A program as the user set it up; `command` stands in for the dialect's own program name."""

    name: str
    dialect: Dialect
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    max_turns: int | None = None
    budget_usd: float | None = None


class CliAgent:
    def __init__(self, cli: Cli, frame: ProgramFrame) -> None:
        self._cli, self._dialect, self._frame = cli, cli.dialect, frame

    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        """Run one turn in `tree`; everything about it is kept in `folder`, which must be new or empty."""
        turn = TurnOrder(request, tree, folder, nonce)
        asked = TurnRequest(
            model=request.model,
            folder=turn.shared,
            tree=tree,
            nonce=nonce,
            role=request.role,
            session=request.session,
            access=request.access,
            sandboxed=self._frame.sandboxed,
            max_turns=self._cli.max_turns,
            budget_usd=self._cli.budget_usd,
            args=self._cli.args,
        )
        environment = self._frame.environment
        # Without a sandbox its program may write its own settings, and what it may write elsewhere nobody can undo.
        guarded = self._dialect.guarded if self._frame.sandboxed else ()
        before = guarded_paths(guarded, environment)
        ran, slept = self._run(turn, asked, stop, notify, before)
        planted = set_aside(guarded, environment, before, ran.transcript.folder)
        heard = self._program_output(asked, ran)
        reading = self._dialect.read(heard)
        return settle_turn(reading, heard, ran, slept=slept, before=request.session_usage, planted=planted)

    def _run(
        self, turn: TurnOrder, asked: TurnRequest, stop: Stop, notify: Notify, guarded: Sequence[Path]
    ) -> tuple[ProgramRun, str]:
        """How it ended, and the reason if that is that it went to sleep on a limit."""
        invocation = self._dialect.invoke(asked)
        program = self._cli.command or invocation.argv[:1]
        live = EventView(notify, self._frame.clock, self._dialect.show)
        watch = SleepWatch(stop, self._frame.clock, invocation.retrying, self._frame.patience.retry_s)

        def on_output(stream: str, chunk: bytes) -> None:
            live.take(stream, chunk)
            watch.take(stream, chunk)

        ran = self._frame.run(
            turn,
            msgspec.structs.replace(invocation, argv=(*program, *invocation.argv[1:])),
            watch,
            on_output,
            variables=(*NETWORK, *self._dialect.variables, *self._cli.env),
            writable=home_paths(self._dialect.homes, self._frame.environment),
            read_only=[path.resolve() for path in guarded],
        )
        live.flush()
        return ran, watch.reason if watch.sleeping and not stop.is_set() else ""

    def _program_output(self, asked: TurnRequest, ran: ProgramRun) -> ProgramOutput:
        return ProgramOutput(
            asked=asked,
            lines=Events(ran.transcript.stdout),
            exit=ran.end,
            now=ran.now,
            other=other_lines(ran.transcript.stdout),
            stderr_text=decode(ran.end.stderr_tail),
            files=ran.files,
            homes=home_paths(self._dialect.homes, self._frame.environment),
        )
