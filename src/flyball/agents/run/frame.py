"""Runs one turn of any agent's program: transcript, sandbox, warden, time limits and report are the same for all of them."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from flyball import process
from flyball.agents.dialect import Invocation
from flyball.agents.reading.jsonl import files_in
from flyball.agents.run.own_path import find_program, launcher, remove_folder
from flyball.agents.run.transcript import SHARED, Transcript
from flyball.core.loop.prompts import NONCE
from flyball.core.model.effects import RunAgent
from flyball.core.text.manifests import OWN_COPIES
from flyball.ports import Clock, Confine, Stop
from flyball.process import Exit, WardenFailed

PASSED_ON = frozenset({"PATH", "HOME", "LANG", "TZ", "USER", "SHELL"})


class Patience(msgspec.Struct, frozen=True):
    """How long a turn may take, how long it may be silent, and how long it has to end when told to; in seconds.

    `retry_s` is how long it may be silent when the last it said was that it will try again: no client waits as long unless it was told to.
    """

    wall_s: float | None = 3600.0
    idle_s: float | None = 900.0
    grace_s: float = 2.0
    linger_s: float = 1.0
    retry_s: float = 180.0


class TurnOrder(msgspec.Struct, frozen=True):
    """One turn as it is asked for; everything about it is kept in `folder`, which must be new or empty."""

    request: RunAgent
    tree: Path
    folder: Path
    nonce: str

    @property
    def prompt(self) -> str:
        return self.request.prompt.replace(NONCE, self.nonce)

    @property
    def shared(self) -> Path:
        return self.folder.resolve() / SHARED


class ProgramRun(msgspec.Struct, frozen=True):
    """How a turn's program ended, and what it left; `now` is in the zone in which it writes its times.

    `said_at` is when it said its last word, where it was ended because it was silent; else it is now.
    """

    turn: TurnOrder
    transcript: Transcript
    end: Exit
    report: bytes | None
    unreadable: str
    files: Mapping[str, bytes]
    now: datetime
    said_at: datetime
    sandboxed: bool = False


class ProgramFrame(msgspec.Struct, frozen=True, kw_only=True):
    task: str
    workflow: str
    confine: Confine
    sandboxed: bool = False
    environment: Mapping[str, str]
    clock: Clock
    patience: Patience = Patience()
    hold_fds: Sequence[int] = ()
    own: Path | None = None
    """Flyball's own programs, which no agent is to find in place of the project's."""
    secrets: tuple[str, ...] = ()
    """Values that are taken out of what programs printed once they have ended."""

    def run(
        self,
        turn: TurnOrder,
        invocation: Invocation,
        stop: Stop,
        on_output: Callable[[str, bytes], None],
        *,
        variables: Sequence[str],
        writable: Sequence[Path] = (),
        read_only: Sequence[Path] = (),
    ) -> ProgramRun:
        """`variables` are those of the user's the program may see; besides the tree and its folder it may write to `writable`."""
        transcript = Transcript.begin(turn.folder, turn.prompt, invocation.files)
        begun_at = self.clock.now()
        argv, path = self._lookup(invocation.argv, transcript)
        started, cwd, env = self.confine(
            argv,
            tree=turn.tree,
            env={**self._environment(turn, transcript, variables), **path, **invocation.env},
            writable=(*writable, transcript.shared),
            read_only=read_only,
            read_only_tree=turn.request.access == "read",
            # Who works may try a dependency; who looks at a copy of the tree sees what gates see.
            environments="pristine" if turn.request.copy or turn.request.access == "read" else "disposable",
        )
        prompt = transcript.prompt if invocation.prompt_on_stdin else b""
        try:
            end = process.run(
                started,
                cwd=cwd,
                env=env,
                stdin=prompt,
                stdout=transcript.stdout,
                stderr=transcript.stderr,
                wall=self.patience.wall_s,
                idle=self.patience.idle_s,
                grace=self.patience.grace_s,
                linger=self.patience.linger_s,
                stop=stop,
                on_output=on_output,
                hold_fds=self.hold_fds,
            )
        except WardenFailed as failure:
            end = Exit(None, None, "exit", 0.0, detail=str(failure))
        now = self.clock.now()
        here = now.astimezone()
        files = files_in(transcript.shared, invocation.left)
        report, unreadable = transcript.take_report()
        transcript.hide(self.secrets)
        transcript.close(argv=invocation.argv, cwd=turn.tree, end=end, begun_at=begun_at, ended_at=now)
        said_at = here - timedelta(seconds=self.patience.idle_s or 0.0) if end.ended_by == "idle" else here
        return ProgramRun(turn, transcript, end, report, unreadable, files, here, said_at, self.sandboxed)

    def _lookup(self, argv: tuple[str, ...], transcript: Transcript) -> tuple[tuple[str, ...], dict[str, str]]:
        path = self.environment.get("PATH", "")
        if self.own is None or not path:
            return argv, {}
        shorter = remove_folder(path, self.own)
        made = launcher(transcript.shared, self.own)
        told = os.pathsep.join(filter(None, (shorter, str(made) if made else "")))
        return (find_program(argv[0], path, shorter), *argv[1:]), {"PATH": told}

    def _environment(self, turn: TurnOrder, transcript: Transcript, variables: Sequence[str]) -> dict[str, str]:
        """Everything the program sees; no variable of the user's goes with it unless it is listed."""
        wanted = PASSED_ON | {name for name in variables if not name.startswith("FLYBALL_")}
        passed = {name: value for name, value in self.environment.items() if name in wanted or name.startswith("LC_")}
        request = turn.request
        return {
            **passed,
            **OWN_COPIES,
            "TERM": "dumb",
            "FLYBALL_TASK": self.task,
            "FLYBALL_WORKFLOW": self.workflow,
            "FLYBALL_STAGE": request.stage,
            "FLYBALL_ROLE": request.role,
            "FLYBALL_SUBTASK": request.item,
            "FLYBALL_ITERATION": str(request.iteration),
            "FLYBALL_TURN": str(request.turn),
            "FLYBALL_NONCE": turn.nonce,
            "FLYBALL_PROMPT_FILE": str(transcript.prompt_file),
            "FLYBALL_REPORT_FILE": str(transcript.report_file),
        }
