"""Where flyball keeps what an agent must not reach: one folder for each repository, outside all of them."""

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec
import platformdirs

from flyball.config.errors import ConfigError
from flyball.core.model.task import TaskId

VARIABLE = "FLYBALL_HOME"
_PRIVATE = 0o700


def environment() -> dict[str, str]:
    return dict(os.environ)


def home_folder(environment: Mapping[str, str] | None = None) -> Path:
    """`$FLYBALL_HOME`, or the platform's folder for a user's state."""
    named = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not named:
        return Path(platformdirs.user_state_dir("flyball", appauthor=False))
    path = Path(named).expanduser()
    if not path.is_absolute():
        raise ConfigError(f"{VARIABLE} is {named!r}; expected an absolute path. Set it to one, or unset it.")
    return path


class RepositoryHome(msgspec.Struct, frozen=True):
    """The folder of one repository below flyball's home, shared by all its linked worktrees."""

    home: Path
    name: str
    root: Path | None = None

    @classmethod
    def of(cls, common_dir: Path, root: Path, home: Path | None = None) -> "RepositoryHome":
        """The folder for the repository whose shared git dir is `common_dir`, and whose tree is `root`."""
        real = common_dir.resolve()
        below = (home or home_folder()).resolve()
        for own in (root.resolve(), real):
            if below == own or own in below.parents:
                raise ConfigError(
                    f"{VARIABLE} is {below}, inside the repository {root}, where an agent could reach it; "
                    "expected a folder outside. Set it to another folder, or unset it."
                )
        title = real.parent.name if real.name == ".git" else real.name.removesuffix(".git")
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-.")[:60] or "repository"
        digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
        return cls(below, f"{slug}-{digest}", real.parent if real.name == ".git" else root.resolve())

    @property
    def folder(self) -> Path:
        """Also where the vault is put."""
        return self.home / "repos" / self.name

    @property
    def journal(self) -> Path:
        return self.folder / "journal.sqlite"

    @property
    def blobs(self) -> Path:
        return self.folder / "blobs"

    @property
    def baselines(self) -> Path:
        """What was measured on untouched trees, for the next task."""
        return self.folder / "baselines"

    @property
    def locks(self) -> Path:
        return self.folder / "locks"

    @property
    def shared_locks(self) -> Path:
        """For folders of the user's, which tasks of several repositories may work on."""
        return self.home / "locks"

    @property
    def trust(self) -> Path:
        return self.folder / "trust"

    def task(self, task: TaskId) -> Path:
        return self.folder / "tasks" / task

    def turns(self, task: TaskId) -> Path:
        """Transcripts, a new folder for each attempt."""
        return self.task(task) / "turns"

    def gate_tree(self, task: TaskId) -> Path:
        return self.task(task) / "gate"

    def rendered_record(self, task: TaskId) -> Path:
        """What was last rendered into `.loop/`, by hash."""
        return self.task(task) / ".rendered.json"

    def prepare(self) -> "RepositoryHome":
        """Make the folders, readable by their owner alone; raises where that cannot be."""
        try:
            for folder in (self.home, self.home / "repos", self.folder, self.locks, self.trust, self.folder / "tasks"):
                folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            if stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
                self.folder.chmod(_PRIVATE)
            if self.root is not None and not self._place.exists():
                self._place.write_bytes(os.fsencode(self.root))
        except OSError as error:
            raise self._unusable(error) from error
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise self._unusable(PermissionError(13, "Permission denied", str(self.folder)))
        return self

    @property
    def _place(self) -> Path:
        """Where the repository was when flyball first saw it: a page that shows all of them has no other way to it."""
        return self.folder / "repository"

    def _unusable(self, error: OSError) -> ConfigError:
        where = error.filename or self.folder
        return ConfigError(
            f"Flyball's folder {where} cannot be used ({error.strerror}); expected a folder you can write to. "
            f"Repair it, or set {VARIABLE} to another folder outside the repository."
        )


def known_repositories(home: Path) -> dict[str, Path]:
    """The folder of each repository flyball has worked in, by the name of its own folder below the home."""
    found = {}
    for place in sorted((home / "repos").glob("*/repository")):
        try:
            found[place.parent.name] = Path(os.fsdecode(place.read_bytes()))
        except OSError:
            continue
    return found
