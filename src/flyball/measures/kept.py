"""Baselines that were measured before, kept for the next task on the same commit, gates and environment."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flyball import __version__
from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Measurement
from flyball.core.model.naming import LOOP
from flyball.core.text.manifests import is_manifest
from flyball.folders import CACHES, environment_folders, users_environments, walk
from flyball.measures.gates.gate_tree import GateTree
from flyball.measures.gates.manifests import file_hash, read_installed
from flyball.measures.sources import is_program
from flyball.ports import Blobs, Refusal

KEPT_FOR = timedelta(hours=24)
MOST = 20
_WORD = re.compile(r"[\w./+@-]+")
_SHARED = ("lib/python3*/*-packages", "lib/node_modules")
"""Where people install beside an interpreter, outside every environment."""


class KeptBaseline(msgspec.Struct, frozen=True):
    """One of them; `beside` stands for what lay in the user's folder, where tests failed that might have needed it."""

    at: datetime
    by: str
    checks: bool
    beside: str
    measured: Measurement


class KeptBaselines(msgspec.Struct, frozen=True):
    """A folder no agent can reach; `by` is who measures now."""

    folder: Path
    blobs: Blobs
    now: Callable[[], datetime]
    by: str

    def find(self, key: str, request: Measure, repository: Path) -> Measurement | None:
        """The same measurement with the reason why it is not made again; None where none is kept."""
        try:
            kept = msgspec.json.decode((self.folder / key).read_bytes(), type=KeptBaseline)
            for ref in filter(None, (kept.measured.tests_ref, kept.measured.failing_ref)):
                self.blobs.get(ref)
        except (OSError, msgspec.MsgspecError, Refusal):
            return None
        is_recent = timedelta() <= self.now() - kept.at <= KEPT_FOR
        if not is_recent or (request.checks and not kept.checks) or kept.beside != _beside(kept.measured, repository):
            return None
        gates = tuple(g if Path(g.log).is_file() else replace(g, log="") for g in kept.measured.gates)
        reason = f"{kept.by} measured this commit with the same gates and environment at {kept.at:%Y-%m-%d %H:%M} UTC"
        return replace(kept.measured, gates=gates, commands_s=0.0, reused=reason)

    def keep(self, key: str, request: Measure, repository: Path, measured: Measurement) -> None:
        """Keep one in which all could run, in the place of the oldest ones; a task does not stop where that fails."""
        if measured.broken or measured.unusable:
            return
        kept = KeptBaseline(self.now(), self.by, request.checks, _beside(measured, repository), measured)
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            fresh = self.folder / f"{key}.{os.getpid()}"
            fresh.write_bytes(msgspec.json.encode(kept))
            fresh.replace(self.folder / key)
            for path in sorted(self.folder.iterdir(), key=lambda each: each.stat().st_mtime)[:-MOST]:
                path.unlink(missing_ok=True)


def baseline_key(request: Measure, tree: GateTree, environment: Mapping[str, str], outside: Iterable[Path]) -> str:
    """One word for all that a baseline depends on: the commit, what is run on it, and what that finds on this machine.

    What set-up installed in `tree` counts by names and versions, for no two runs of it write the same bytes.
    """
    settings, top = tree.settings, tree.directory.resolve()
    made = environment_folders(top, settings.environment_folders) if settings.setup else ()
    users = () if settings.setup else users_environments(tree.repository, settings.environment_folders)
    installed = read_installed(tree.mark) if settings.setup else None
    parts = (
        (__version__, request.candidate, settings.gates, settings.setup, settings.setup_timeout_s, settings.lint),
        (settings.carry, settings.environment_folders, settings.protected, settings.sandbox, settings.network),
        (settings.lint and settings.qa.lint_clean, settings.qa.complexity, sorted(environment.items())),
        [line for name in made for line in _packages(top / name, top)],
        sorted((name, after) for name, (_, after) in installed.made.items()) if installed else (),
        [_files(tree.repository / name) for name in (*users, *settings.carry)],
        [_files(folder) for folder in outside],
        list(_programs((*(gate.command for gate in settings.gates), settings.setup, settings.lint), environment)),
    )
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _programs(commands: Iterable[str], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The programs and scripts outside of the tree that commands name, and the folders that such programs find packages in."""
    path = environment.get("PATH", os.defpath)
    for word in sorted({word for command in commands for word in _WORD.findall(command)}):
        place = Path(shutil.which(word, path=path) or word)
        if place.is_absolute() and place.is_file():
            with place.open("rb") as file:
                if os.access(place, os.X_OK) or is_program(word, file.read(2)):
                    yield str(place.resolve()), _stamp(place)
    folders = (Path(environment.get("HOME", "/"), ".local"), *(Path(each).parent for each in path.split(os.pathsep)))
    for shared in (found for folder in folders for pattern in _SHARED for found in sorted(folder.glob(pattern))):
        yield str(shared), _stamp(shared)


def _packages(folder: Path, top: Path) -> Iterator[tuple[str, str]]:
    """The names of what set-up installed, with what links lead to and what manifests hold."""
    for path in _all_below(folder):
        target = str(path.resolve())
        inside = target.startswith(f"{top}/")
        leads = target.removeprefix(f"{top}/") if inside else f"{target} {_stamp(path)}"
        says = leads if path.is_symlink() else file_hash(path) if is_manifest(path.name) else ""
        yield str(path.relative_to(top)), says


def _files(folder: Path) -> list[tuple[str, str]]:
    return [(str(path), _stamp(path)) for path in _all_below(folder)]


def _all_below(folder: Path) -> Iterator[Path]:
    """A file, or in a fixed order the files of a folder and the links to others, but those in caches and what is git's or flyball's."""
    if not folder.is_dir():
        yield folder
        return
    found: list[Path] = []
    for above, folders, names in walk(folder):
        folders[:] = [name for name in folders if name not in CACHES | {".git", LOOP}]
        found += [Path(above, name) for name in (*names, *folders) if name in names or Path(above, name).is_symlink()]
    yield from sorted(found)


def _stamp(path: Path) -> str:
    """Size and time of a file, followed where it is a link; nothing where it is gone."""
    with suppress(OSError):
        facts = path.stat()
        return f"{facts.st_size} {facts.st_mtime_ns}"
    return ""


def _beside(measured: Measurement, repository: Path) -> str:
    """All files of the user's own folder, in one word, where tests failed: with other files there they might not."""
    if all(gate.passed for gate in measured.gates) and not measured.known:
        return ""
    return hashlib.sha256(msgspec.json.encode(_files(repository))).hexdigest()
