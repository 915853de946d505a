"""Which of the agents flyball knows are here: installed, in which version, logged in or not. Nobody is called for it."""

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from flyball import process
from flyball.agents.dialect import Dialect
from flyball.agents.dialects.table import DIALECTS
from flyball.agents.run.cli import NETWORK
from flyball.agents.run.frame import PASSED_ON
from flyball.core.text.scrubbing import decode, scrub

PATIENCE_S = 20.0


class Listed(msgspec.Struct, frozen=True):
    """One agent; `path` is empty where its program is not installed, `logged_in` None where that cannot be told."""

    name: str
    program: str
    path: str = ""
    version: str = ""
    logged_in: bool | None = None
    fix: str = ""


def roster(environment: Mapping[str, str], *, versions: bool = True) -> tuple[Listed, ...]:
    """Every agent flyball knows; programs are asked for their version side by side, since some take seconds."""
    with ThreadPoolExecutor(max_workers=4) as pool:
        return tuple(pool.map(lambda dialect: roster_entry(dialect, environment, version=versions), DIALECTS.values()))


def roster_entry(dialect: Dialect, environment: Mapping[str, str], *, version: bool = False) -> Listed:
    path = shutil.which(dialect.program, path=environment.get("PATH", ""))
    if path is None:
        return Listed(dialect.name, dialect.program, fix=dialect.install)
    there = dialect.logged_in(environment, Path(environment.get("HOME", "/")))
    said = _version(dialect, path, environment) if version else ""
    return Listed(dialect.name, dialect.program, path, said, there, dialect.login if there is False else "")


def _version(dialect: Dialect, path: str, environment: Mapping[str, str]) -> str:
    passed = {*PASSED_ON, *NETWORK, *dialect.variables}
    env = {name: value for name, value in environment.items() if name in passed}
    try:
        done = process.capture([path, *dialect.version_argv[1:]], cwd=Path("/"), env=env, timeout=PATIENCE_S)
    except (process.ProgramMissing, process.CommandTimedOut) as error:
        return f"unknown: {error}"
    lines = scrub(decode(done.stdout)).strip().splitlines()
    return lines[0].strip() if lines and done.code == 0 else f"unknown: it ended with {done.code}"
