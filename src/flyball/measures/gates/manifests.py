"""What an environment was installed from: the set-up command, the files it read, and those that say what is to be installed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import msgspec

from flyball.core.model.naming import LOOP
from flyball.core.model.task import Settings
from flyball.core.text.manifests import is_manifest
from flyball.core.text.scrubbing import storable
from flyball.folders import CACHES, walk
from flyball.measures.gates.reads import Reads, reads_in
from flyball.measures.sources import is_code

_DOCUMENTS = (".md", ".rst")


class Installed(msgspec.Struct, frozen=True):
    """What set-up was run on: each manifest and each file it read, by its hash, and what else lay `beside` what it read.

    A file that is new there may be one it would read: `uv.toml`, `.npmrc`, one more of `pins/*.txt`, or a module in a folder whose
    code it has `taken` whole. Documents are for people: what tools take from them decides no test.
    `made` are the files that set-up itself created or changed, by the hashes before (empty: it created the file) and after.
    """

    command: str
    files: dict[str, str]
    taken: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    made: dict[str, tuple[str, str]] = {}

    def is_current(self, tree: Path, settings: Settings) -> bool:
        """Whether the set-up command would find in a tree what it found then."""
        if self.command != settings.setup:
            return False
        found = tree_files(tree, settings)
        new = found.keys() - self.files.keys() - self.made.keys()
        if any(is_manifest(name) for name in new) or _beside(new, self.files, self.taken) - set(self.beside):
            return False
        return all(name in found and self._is_as_read(name, found[name]) for name in self.files)

    def _is_as_read(self, name: str, path: Path) -> bool:
        now = file_hash(path)
        return now == self.files[name] or (self.files[name], now) == self.made.get(name)


class SetupRecording(msgspec.Struct, frozen=True):
    """What a set-up command is run on, taken down while it runs."""

    tree: Path
    settings: Settings
    before: Mapping[str, str]
    reads: Reads

    def made_files(self) -> dict[str, Path]:
        """The files that are new or changed since the command was started, but those in caches and environments."""
        now = tree_files(self.tree, self.settings)
        return {name: path for name, path in now.items() if self.before.get(name, "") != file_hash(path)}

    def write(self, mark: Path, made: Mapping[str, Path] = MappingProxyType({})) -> None:
        """Keep it, once the command has done its work; `made` is what is to be laid beside the environment it made."""
        opened = self.before.keys() if self.reads.unknown else {storable(name) for name in self.reads.opened}
        read = {name for name in self.before if name in opened and not name.endswith(_DOCUMENTS)}
        files = {name: known for name, known in self.before.items() if name in read or is_manifest(name)}
        code = [name for name in self.before if is_code(name) and not is_manifest(name)]
        taken = {_folder(name) for name in code if name in read} - {_folder(name) for name in code if name not in read}
        beside = _beside(self.before.keys() - files.keys(), files, taken)
        own = {name: (self.before.get(name, ""), file_hash(path)) for name, path in made.items()}
        installed = Installed(self.settings.setup, files, tuple(sorted(taken)), tuple(sorted(beside)), own)
        mark.write_bytes(msgspec.json.encode(installed))


@contextmanager
def setup_recording(tree: Path, settings: Settings) -> Iterator[SetupRecording]:
    """Take down which files of a tree are read meanwhile, and what they held before: set-up may well write them, too."""
    before = {name: file_hash(path) for name, path in tree_files(tree, settings).items()}
    with reads_in(tree, _left_out(settings)) as reads:
        yield SetupRecording(tree, settings, before, reads)


def read_installed(mark: Path) -> Installed | None:
    """What was kept of a set-up; None where there is none that counts."""
    try:
        return msgspec.json.decode(mark.read_bytes(), type=Installed)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def tree_files(tree: Path, settings: Settings) -> dict[str, Path]:
    """All files of a tree by their names in it, but those in caches and in environments, and what is git's or flyball's own."""
    found: dict[str, Path] = {}
    for above, folders, names in walk(tree):
        folders[:] = [folder for folder in folders if folder not in _left_out(settings)]
        below = os.path.relpath(above, tree)
        found |= {storable(os.path.normpath(f"{below}/{name}")): Path(above, name) for name in names if name != ".git"}
    return found


def _left_out(settings: Settings) -> frozenset[str]:
    return CACHES | {*settings.environment_folders, ".git", LOOP}


def _beside(names: Collection[str], read: Collection[str], taken: Collection[str]) -> set[str]:
    """Those of some files that set-up might have read where it read others: no document, and code only where it took all of it."""
    folders, whole = {_folder(name) for name in read}, frozenset(taken)
    return {
        name
        for name in names
        if (not whole.isdisjoint(_above(name)) if is_code(name) else _folder(name) in folders)
        and not name.endswith(_DOCUMENTS)
    }


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _above(name: str) -> Iterator[str]:
    """Every folder that a file is in, up to the tree's own."""
    while name:
        name = _folder(name)
        yield name


def file_hash(path: Path) -> str:
    """What a file is: its bytes and whether it can be executed, or where a link leads."""
    if path.is_symlink():
        return f"-> {storable(str(path.readlink()))}"
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        kind = "x" if path.stat().st_mode & 0o100 else "-"
        return kind + hashlib.file_digest(file, "sha256").hexdigest()
