"""The directory gates run in: exactly one tree, the declared environment folders, what set-up made, and the files a gate carries."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import msgspec

from flyball.core.model.measurement import GateResult, Trick
from flyball.core.model.task import Commit, Settings
from flyball.folders import CACHES, environment_folders, users_environments, walk
from flyball.measures.gates.commands import Commands
from flyball.measures.gates.manifests import SetupRecording, file_hash, read_installed, setup_recording
from flyball.measures.gates.telling import telling_line
from flyball.measures.gates.ways_back import find_way_into
from flyball.ports import Trees

SETUP_FAILED = "the setup command failed"

Fingerprint = dict[str, tuple[int, int, int]]


def _differing(before: Fingerprint, after: Fingerprint) -> list[str]:
    return sorted(path for path in {**before, **after} if before.get(path) != after.get(path))


def gate_folder(directory: Path) -> tuple[Path, ...]:
    """All that is kept of a gate directory; the mark that its environment is set up goes before the environment does."""
    return (directory.with_name(directory.name + ".setup"), directory.with_name(directory.name + ".made"), directory)


def hand_over(recording: SetupRecording, directory: Path, outside: Iterable[Path]) -> str:
    """Give gates a copy of what set-up has just made in another tree; why they need a run of their own instead, or nothing.

    Nobody but set-up may have written there. Without a sandbox nothing may lead to that tree, which agents write.
    """
    tree, settings = recording.tree, recording.settings
    names = environment_folders(tree, settings.environment_folders)
    gate_folder(directory)[0].unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)
    made = (*(tree / name for name in names), *recording.made_files().values())
    try:
        if settings.sandbox == "none" and (file := find_way_into(tree, made, outside)):
            return f"{file} leads to the folder that agents work in"
        for name in names:
            shutil.copytree(tree / name, directory / name, symlinks=True)
    except OSError as error:
        return f"what it made cannot be copied: {error}"
    _keep_made(recording, directory)
    return ""


def _keep_made(recording: SetupRecording, directory: Path) -> None:
    """Put the files that set-up made aside, and mark the environment of a gate directory as installed."""
    mark, folder, _ = gate_folder(directory)
    directory.mkdir(parents=True, exist_ok=True)
    made = recording.made_files()
    shutil.rmtree(folder, ignore_errors=True)
    for name, path in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, folder / name, follow_symlinks=False)
    recording.write(mark, made)


class GateTree(msgspec.Struct, eq=False):
    """Lays out trees in one directory; nobody but the gates' own commands can write there. `outside` are environments elsewhere."""

    directory: Path
    repository: Path
    settings: Settings
    workspace: Trees
    outside: Sequence[Path] = ()
    _known: Fingerprint | None = None
    _copied: frozenset[str] | None = None
    """The environments of the user's that lie here as copies and are what the user's are; None where that is not known."""
    _tree: str = ""

    @property
    def mark(self) -> Path:
        return gate_folder(self.directory)[0]

    @property
    def _made_folder(self) -> Path:
        """The files that set-up made, as it left them."""
        return gate_folder(self.directory)[1]

    def lay(self, tree: str) -> None:
        """Make the directory that tree and nothing else but environment folders, what set-up made, and carried files."""
        self._tree = tree
        self.directory.mkdir(parents=True, exist_ok=True)
        lent = self._lendable(tree)
        # What no set-up command has installed and nobody lends, a gate has made: it begins without.
        kept = self.settings.environment_folders if self.settings.setup else tuple(f"/{name}" for name in lent)
        self.workspace.export(tree, self.directory, keep=kept)
        self._lay_made()
        for name in self.settings.carry:
            self.carry(name)
        self._lend(lent)

    def _lay_made(self) -> None:
        """What set-up created or changed in the tree is there again; where the tree has a version of its own, that one stays."""
        installed = read_installed(self.mark) if self.settings.setup else None
        for name, (before, _) in installed.made.items() if installed else ():
            target = self.directory / name
            if not before:
                self._copy(self._made_folder / name, target)
            elif file_hash(target) == before:
                target.unlink()
                self._copy(self._made_folder / name, target)

    def carry(self, name: str) -> None:
        """Bring a file or a folder of the user's own tree, where the tree that is laid has none of that name."""
        self._copy(self.repository / name, self.directory / name)

    def _copy(self, source: Path, target: Path) -> None:
        if not source.exists() or os.path.lexists(target) or self.directory.resolve() not in target.resolve().parents:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)

    def _users(self) -> tuple[str, ...]:
        """The user's environments that gates use: without a sandbox nothing mounts them here, so they are copied.

        Through a link to the user's own folder, a relative link of a workspace would lead to the user's files.
        """
        if self.settings.setup or self.settings.sandbox != "none":
            return ()
        return users_environments(self.repository, self.settings.environment_folders)

    def _lendable(self, tree: str) -> tuple[str, ...]:
        """Those for which a tree has the folder they lie in, and nothing of its own in their place."""
        users = self._users()
        files = self.workspace.list_files(Commit(tree)) if users else ()
        own = {str(folder) for file in files for folder in (PurePosixPath(file), *PurePosixPath(file).parents)}
        return tuple(
            name for name in users if name not in own and (str(PurePosixPath(name).parent) in own or not files)
        )

    def _lend(self, names: Sequence[str]) -> None:
        current = (self._copied or frozenset()) & set(names)
        top = self.directory.resolve()
        for name in names:
            # A link in the candidate could lead out of the directory.
            if name not in current and (top / name).parent.resolve() == (top / name).parent:
                self.workspace.lend(name, self.directory)
                self._known = None
        self._copied = frozenset(names)

    def set_up(self, commands: Commands) -> GateResult | None:
        """Run the setup command, from empty, unless what it read is as it was when it ran; a result only if it failed."""
        command = self.settings.setup
        installed = read_installed(self.mark) if command else None
        if not command or (installed and installed.is_current(self.directory, self.settings)):
            return None
        self._discard_environments()
        self.lay(self._tree)
        with setup_recording(self.directory, self.settings) as recording:
            ran = commands.run(
                command,
                tree=self.directory,
                folder=commands.fresh_folder("setup"),
                timeout_s=self.settings.setup_timeout_s,
                environments="writable",
            )
        if ran.exit.code == 0:
            _keep_made(recording, self.directory)
            self._known = None
            return None
        ended = f"exit {ran.exit.code}: {telling_line(ran.text)}"
        why = ended if ran.exit.ended_by == "exit" else ran.exit.detail or ran.exit.ended_by
        return GateResult(
            "setup", command, passed=False, exit_code=ran.exit.code, seconds=ran.exit.seconds,
            broken=f"{SETUP_FAILED}: {why}", output=ran.shown, log=str(ran.log),
        )  # fmt: skip

    def identity(self) -> str:
        """What commands find here beside the tree: the environment that set-up made or the user's own, and carried files."""
        users = () if self.settings.setup else users_environments(self.repository, self.settings.environment_folders)
        places = [*self.outside, *(self.repository / name for name in (*self.settings.carry, *users))]
        places += [self.mark] if self.settings.setup else []
        found = hashlib.sha256()
        for place in places:
            for above, folders, names in walk(place):
                folders[:] = [name for name in folders if name not in CACHES]
                for path in [f"{above}/{name}" for name in names] or [above]:
                    with suppress(OSError):
                        facts = os.lstat(path)
                        held = (facts.st_size, facts.st_ctime_ns, facts.st_ino) if names or not folders else ()
                        found.update(os.fsencode(f"{path} {held}\n"))
        return found.hexdigest()

    def fingerprint(self) -> Fingerprint:
        """Which files the environment folders hold and when each was last written, as the last run left them; ctime cannot be set back.

        Nothing is asked for where the sandbox mounts them read-only.
        """
        if self._known is None:
            self._known = self._take_fingerprint()
        return self._known

    def _take_fingerprint(self) -> Fingerprint:
        found: Fingerprint = {}
        if self.settings.sandbox != "none":
            return found
        own = f"{self.directory}/"
        for folder in (*self._environments(), *self.outside):
            for above, _, names in walk(folder):
                for name in names:
                    place = f"{above}/{name}"
                    try:
                        facts = os.lstat(place)
                    except FileNotFoundError:  # Others may be at work in an environment that is the user's.
                        continue
                    found[place.removeprefix(own)] = (facts.st_size, facts.st_ctime_ns, facts.st_ino)
        return found

    def _environments(self) -> list[Path]:
        """The environments of this tree, at any depth, and the user's that it has copies of."""
        users = self._users()
        own = {*environment_folders(self.directory, self.settings.environment_folders), *users}
        return [*(self.directory / name for name in sorted(own)), *(self.repository / name for name in users)]

    def environment_changes(self, before: Fingerprint) -> tuple[Trick, ...]:
        """What a run wrote into the environment: such an environment is not used again. What it cached there is discarded."""
        after = self._take_fingerprint()
        for path in [path for path in after if path not in before and CACHES & set(Path(path).parts)]:
            (self.directory / path).unlink(missing_ok=True)
            del after[path]
        self._known = after
        changed = _differing(before, after)
        if not changed:
            return ()
        self._discard_environments()
        return (Trick("environment-changed", changed[0], f"the code under test wrote into {self._fate(changed)}"),)

    def changed_since(self, before: Fingerprint | None) -> tuple[str, ...]:
        """A sentence where an environment is not as the last measurement left it: agents, too, write where no sandbox is."""
        after = self.fingerprint() if before else {}
        changed = [path for path in _differing(before or {}, after) if not CACHES & set(Path(path).parts)]
        if not changed:
            self._copied = frozenset(self._users()) if before else None
            return ()
        self._discard_environments()
        return (f"{changed[0]} has changed since the last measurement: somebody wrote into {self._fate(changed)}",)

    def _fate(self, changed: Sequence[str]) -> str:
        """The environment in words, and what becomes of it."""
        own = not any(path.startswith("/") for path in changed)
        shown = ", ".join(changed[1:4])
        kept = "it is built anew" if own else "it is yours and no set-up makes it, so it stays as it is now"
        return f"the environment{f' (also {shown})' if shown else ''}; {kept}"

    def _discard_environments(self) -> None:
        """Remove what set-up has installed; what is a copy of the user's is made like it again, and the user's stays."""
        self.mark.unlink(missing_ok=True)
        self._known = self._copied = None
        if self.settings.setup:
            for folder in self._environments():
                shutil.rmtree(folder, ignore_errors=True)
