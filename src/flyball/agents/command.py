"""Makes any program an agent: started in the workspace with the prompt on standard input, and measured by how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from flyball import process
from flyball.agents.echo import Echo
from flyball.agents.environment import turn_environment
from flyball.agents.live import LiveView
from flyball.agents.outcome import turn_ended
from flyball.agents.transcript import Transcript
from flyball.core.effects import RunAgent
from flyball.core.outcomes import TurnEnded
from flyball.core.prompts import NONCE
from flyball.ports import Clock, Confine, Notify, Stop
from flyball.process import Exit, WardenFailed

ExitSignal = Literal["report", "exit-0"]


class Command(msgspec.Struct, frozen=True):
    """A program as an agent.

    `argv` may hold `{model}`, `{prompt_file}`, `{report_file}` and `{folder}`, the turn's own folder, in which `files` are put.
    `env` names variables it gets beyond the usual ones; `exit_signal` "exit-0" makes a clean exit the signal of a program
    that reports nothing.
    """

    name: str
    argv: tuple[str, ...]
    env: tuple[str, ...] = ()
    exit_signal: ExitSignal = "report"
    files: dict[str, bytes] = {}


class Patience(msgspec.Struct, frozen=True):
    """How long a turn may take, how long it may be silent, and how long it has to end when told to; in seconds."""

    wall_s: float | None = 3600.0
    idle_s: float | None = 900.0
    grace_s: float = 2.0
    linger_s: float = 1.0


DEFAULT_PATIENCE = Patience()


class CommandAgent:
    """Any program as an agent of one task."""

    def __init__(
        self,
        command: Command,
        *,
        task: str,
        workflow: str,
        confine: Confine,
        environment: Mapping[str, str],
        clock: Clock,
        patience: Patience = DEFAULT_PATIENCE,
        hold_fds: Sequence[int] = (),
    ) -> None:
        if not command.argv or not command.argv[0].strip():
            raise ValueError(f"the agent {command.name!r} has an empty command; name a program")
        self._command, self._task, self._workflow = command, task, workflow
        self._confine, self._environment, self._clock, self._patience = confine, environment, clock, patience
        self._hold_fds = hold_fds

    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        """Run one turn in `tree`; everything about it is kept in `folder`, which must be new or empty."""
        if not request.model and any("{model}" in word for word in self._command.argv):
            return TurnEnded("not_installed", self._no_model(request))
        prompt = request.prompt.replace(NONCE, nonce)
        transcript = Transcript.begin(folder, prompt, self._command.files)
        argv = self._argv(request, transcript)
        begun_at = self._clock.now()
        end = self._run(argv, request, tree, transcript, nonce, stop, notify)
        ended_at = self._clock.now()
        report, unreadable = transcript.take_report()
        transcript.close(argv=argv, cwd=tree, end=end, begun_at=begun_at, ended_at=ended_at)
        return turn_ended(
            end,
            report=report,
            unreadable=unreadable,
            prompt=prompt,
            nonce=nonce,
            echoed=Echo(tree),
            now=ended_at.astimezone(),
            idle_s=self._patience.idle_s,
            exit_is_signal=self._command.exit_signal == "exit-0",
            transcript=str(transcript.folder),
            model=request.model,
        )

    def _run(
        self,
        argv: Sequence[str],
        request: RunAgent,
        tree: Path,
        transcript: Transcript,
        nonce: str,
        stop: Stop,
        notify: Notify,
    ) -> Exit:
        given = turn_environment(
            self._environment,
            self._command.env,
            request=request,
            task=self._task,
            workflow=self._workflow,
            nonce=nonce,
            prompt_file=transcript.prompt_file,
            report_file=transcript.report_file,
        )
        started, cwd, env = self._confine(
            argv, tree=tree, env=given, writable=(transcript.shared,), read_only_tree=request.access == "read"
        )
        live = LiveView(notify, self._clock)
        try:
            return process.run(
                started,
                cwd=cwd,
                env=env,
                stdin=transcript.prompt,
                stdout=transcript.stdout,
                stderr=transcript.stderr,
                wall=self._patience.wall_s,
                idle=self._patience.idle_s,
                grace=self._patience.grace_s,
                linger=self._patience.linger_s,
                stop=stop,
                on_output=live.take,
                hold_fds=self._hold_fds,
            )
        except WardenFailed as failure:
            return Exit(None, None, "exit", 0.0, detail=str(failure))
        finally:
            live.flush()

    def _argv(self, request: RunAgent, transcript: Transcript) -> list[str]:
        values = {
            "{model}": request.model,
            "{prompt_file}": str(transcript.prompt_file),
            "{report_file}": str(transcript.report_file),
            "{folder}": str(transcript.shared),
        }
        return [_filled(word, values) for word in self._command.argv]

    def _no_model(self, request: RunAgent) -> str:
        return (
            f"the command of the agent {self._command.name!r} asks for {{model}}, but no model is set for the role "
            f"{request.role!r}; set one with --model or in flyball.toml"
        )


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word
