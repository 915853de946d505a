"""Runs one shell command in a tree, confined, with a cleaned environment and bounded output."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball import process
from flyball.core.text.manifests import OWN_COPIES
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Confine, EnvironmentUse, Notify, Refusal, Stop

SHOWN = 8 * 1024
LOGGED = 256 * 1024 * 1024
_PASSED_ON = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|USER|LOGNAME|SHELL|TERM|VIRTUAL_ENV|CONDA_PREFIX|PYENV_.*|UV_.*|PIP_.*|NVM_.*"
    r"|ASDF_.*|XDG_.*|JAVA_HOME|GO(PATH|ROOT|CACHE|PROXY|MODCACHE|FLAGS)|CARGO_HOME|RUSTUP_HOME|DOTNET_ROOT|npm_config_.*"
    r"|SSL_CERT_.*|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy"
    r"|SETUPTOOLS_SCM_PRETEND_VERSION\w*"
)
_SET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "CI": "true", **OWN_COPIES}


class MeasurementStopped(Refusal):
    """The measurement was told to stop before it was finished; nothing can be said of the candidate."""


class CommandRun(msgspec.Struct, frozen=True):
    """How a command ended, the last of what it said, and where all of it is kept."""

    exit: process.Exit
    text: str
    log: Path

    @property
    def shown(self) -> str:
        """The end of the output, safe for any screen."""
        return self.text if len(self.text) <= SHOWN else "…" + self.text[-SHOWN:]


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Only what a command needs to find its tools: nothing that could change what a test runner does."""
    return {name: value for name, value in environment.items() if _PASSED_ON.fullmatch(name)} | _SET


class Commands(msgspec.Struct, kw_only=True, eq=False):
    """Runs commands for one measurement; each gets a log of its own in `folder`."""

    confine: Confine
    environment: Mapping[str, str]
    folder: Path
    stop: Stop
    notify: Notify
    hold_fds: Sequence[int] = ()
    started: int = 0
    seconds: float = 0.0
    _count: int = 0

    def fresh_folder(self, name: str) -> Path:
        """A new empty folder outside every tree."""
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]
        while True:
            self._count += 1
            folder = self.folder / f"{self._count:02d}-{plain}"
            if not folder.exists():
                folder.mkdir(parents=True)
                return folder

    def run(
        self,
        command: str,
        *,
        tree: Path,
        folder: Path,
        timeout_s: float,
        variables: Mapping[str, str] | None = None,
        writable: Sequence[Path] = (),
        environments: EnvironmentUse = "pristine",
    ) -> CommandRun:
        """Run a command by the shell, both streams in one log, in order; only set-up writes to environments."""
        self.notify("command", command)
        self.started += 1
        argv, directory, environment = self.confine(
            ["/bin/sh", "-c", "exec 2>&1\n" + command],
            tree=tree,
            env=clean_environment(self.environment) | dict(variables or {}),
            writable=writable,
            environments=environments,
        )
        log = folder / "output.log"
        ended = process.run(
            argv, cwd=directory, env=environment, stdout=log, stderr=log.with_name("confinement.log"),
            wall=timeout_s, stop=self.stop, max_bytes=LOGGED, hold_fds=self.hold_fds,
        )  # fmt: skip
        self.seconds += ended.seconds
        if ended.ended_by == "stop" or self.stop.is_set():
            raise MeasurementStopped(f"stopped while running: {command}")
        said = decode(ended.stdout_tail) + decode(ended.stderr_tail)
        return CommandRun(ended, scrub(said.replace("\r\n", "\n").replace("\r", "\n")), log)
