"""Drives any agent's command line program whose dialect is known; claims, time limits and endings are as for any command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from flyball import process
from flyball.agents.command import DEFAULT_PATIENCE, Patience
from flyball.agents.dialect import PROMPT_FILE, Asked, Dialect, Event, Heard, Invocation, Reading
from flyball.agents.echo import Echo
from flyball.agents.environment import turn_environment
from flyball.agents.hearing import Events, files_in, other_lines
from flyball.agents.homes import guarded_paths, home_paths, set_aside
from flyball.agents.live import EventView
from flyball.agents.reading import settled
from flyball.agents.sleeping import SleepWatch
from flyball.agents.transcript import SHARED, Transcript
from flyball.core.effects import RunAgent
from flyball.core.outcomes import TurnEnded
from flyball.core.prompts import NONCE
from flyball.core.text import decode
from flyball.ports import Clock, Confine, Notify, Stop
from flyball.process import Exit, WardenFailed

__all__ = ["Asked", "Cli", "CliAgent", "Dialect", "Event", "Heard", "Invocation", "Reading"]

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
    """An agent's command line program as an agent of one task."""

    def __init__(
        self,
        cli: Cli,
        *,
        task: str,
        workflow: str,
        confine: Confine,
        environment: Mapping[str, str],
        clock: Clock,
        patience: Patience = DEFAULT_PATIENCE,
        hold_fds: Sequence[int] = (),
    ) -> None:
        self._cli, self._dialect, self._task, self._workflow = cli, cli.dialect, task, workflow
        self._confine, self._environment, self._clock, self._patience = confine, environment, clock, patience
        self._hold_fds = hold_fds

    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        """Run one turn in `tree`; everything about it is kept in `folder`, which must be new or empty."""
        prompt = request.prompt.replace(NONCE, nonce)
        asked = self._asked(request, tree, folder.resolve() / SHARED, nonce)
        invocation = self._dialect.invoke(asked)
        transcript = Transcript.begin(folder, prompt, invocation.files)
        argv = [*(self._cli.command or invocation.argv[:1]), *invocation.argv[1:]]
        guarded = guarded_paths(self._dialect.guarded, self._environment)
        begun_at = self._clock.now()
        end, slept = self._run(argv, invocation, request, tree, transcript, nonce, stop, notify)
        ended_at = self._clock.now()
        heard = self._heard(asked, transcript, end, ended_at.astimezone())
        planted = set_aside(self._dialect.guarded, self._environment, guarded, transcript.folder)
        report, unreadable = transcript.take_report()
        transcript.close(argv=argv, cwd=tree, end=end, begun_at=begun_at, ended_at=ended_at)
        return settled(
            self._dialect.read(heard),
            heard,
            slept=slept,
            report=report,
            unreadable=unreadable,
            prompt=prompt,
            echoed=Echo(tree),
            idle_s=self._patience.idle_s,
            before=request.session_usage,
            planted=planted,
            transcript=str(transcript.folder),
        )

    def _asked(self, request: RunAgent, tree: Path, folder: Path, nonce: str) -> Asked:
        return Asked(
            model=request.model,
            folder=folder,
            tree=tree,
            nonce=nonce,
            role=request.role,
            session=request.session,
            access=request.access,
            max_turns=self._cli.max_turns,
            budget_usd=self._cli.budget_usd,
            args=self._cli.args,
        )

    def _run(
        self,
        argv: Sequence[str],
        invocation: Invocation,
        request: RunAgent,
        tree: Path,
        transcript: Transcript,
        nonce: str,
        stop: Stop,
        notify: Notify,
    ) -> tuple[Exit, bool]:
        """How it ended, and whether it was ended because it went to sleep on a limit."""
        started, cwd, env = self._confined(argv, invocation, request, tree, transcript, nonce)
        live = EventView(notify, self._clock, self._dialect.show)
        watch = SleepWatch(stop, self._clock)

        def on_output(stream: str, chunk: bytes) -> None:
            live.take(stream, chunk)
            watch.take(stream, chunk)

        try:
            end = process.run(
                started,
                cwd=cwd,
                env=env,
                stdin=transcript.prompt if invocation.prompt_on_stdin else b"",
                stdout=transcript.stdout,
                stderr=transcript.stderr,
                wall=self._patience.wall_s,
                idle=self._patience.idle_s,
                grace=self._patience.grace_s,
                linger=self._patience.linger_s,
                stop=watch,
                on_output=on_output,
                hold_fds=self._hold_fds,
            )
        except WardenFailed as failure:
            end = Exit(None, None, "exit", 0.0, detail=str(failure))
        finally:
            live.flush()
        return end, watch.sleeping and not stop.is_set()

    def _confined(
        self,
        argv: Sequence[str],
        invocation: Invocation,
        request: RunAgent,
        tree: Path,
        transcript: Transcript,
        nonce: str,
    ) -> tuple[list[str], Path, dict[str, str]]:
        given = turn_environment(
            self._environment,
            (*NETWORK, *self._dialect.variables, *self._cli.env),
            request=request,
            task=self._task,
            workflow=self._workflow,
            nonce=nonce,
            prompt_file=transcript.prompt_file,
            report_file=transcript.report_file,
        )
        homes = home_paths(self._dialect.homes, self._environment)
        return self._confine(
            argv,
            tree=tree,
            env={**given, **invocation.env},
            writable=(*homes, transcript.shared),
            read_only=[path.resolve() for path in guarded_paths(self._dialect.guarded, self._environment)],
            read_only_tree=request.access == "read",
        )

    def _heard(self, asked: Asked, transcript: Transcript, end: Exit, now: datetime) -> Heard:
        return Heard(
            asked=asked,
            lines=Events(transcript.stdout),
            exit=end,
            now=now,
            other=other_lines(transcript.stdout),
            stdout_text=decode(end.stdout_tail),
            stderr_text=decode(end.stderr_tail),
            files=files_in(transcript.shared, frozenset({PROMPT_FILE, transcript.report_file.name})),
            homes=home_paths(self._dialect.homes, self._environment),
        )
