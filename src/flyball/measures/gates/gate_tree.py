"""The directory gates run in: exactly one tree, the declared environment folders, and the files a gate carries."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from flyball.core.model.measurement import GateResult, Trick
from flyball.core.model.task import Settings
from flyball.folders import CACHES, environment_folders, walk
from flyball.measures.gates.commands import Commands
from flyball.measures.gates.manifests import read_installed, setup_recording
from flyball.measures.gates.telling import telling_line
from flyball.measures.trees import Trees

SETUP_FAILED = "the setup command failed"

Fingerprint = dict[str, tuple[int, int, int]]


def gate_folder(directory: Path) -> tuple[Path, ...]:
    """All that is kept of a gate directory; the mark that its environment is set up goes before the environment does."""
    return (directory.with_name(directory.name + ".setup"), directory)


class GateTree:
    """Lays out trees in one directory; nobody but the gates' own commands can write there."""

    def __init__(self, directory: Path, *, repository: Path, settings: Settings, workspace: Trees) -> None:
        self.directory = directory
        self._repository = repository
        self._settings = settings
        self._workspace = workspace
        self._mark, _ = gate_folder(directory)

    def lay(self, tree: str) -> None:
        """Make the directory that tree and nothing else but environment folders and carried files."""
        self.directory.mkdir(parents=True, exist_ok=True)
        # What no set-up command has installed, a gate has: it begins without.
        kept = self._settings.environment_folders if self._settings.setup else ()
        self._workspace.export(tree, self.directory, keep=kept)
        for name in self._settings.carry:
            self._carry(name)
        if not self._settings.setup and self._settings.sandbox == "none":
            self._lend_environment()

    def _carry(self, name: str) -> None:
        source, target = self._repository / name, self.directory / name
        if not source.exists() or target.exists() or self.directory not in target.resolve().parents:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)

    def _lend_environment(self) -> None:
        """Without a sandbox nothing mounts the user's installed dependencies here, so they are linked."""
        for name in environment_folders(self._repository, self._settings.environment_folders):
            source, target = self._repository / name, self.directory / name
            if target.parent.is_dir() and not target.exists() and not target.is_symlink():
                target.symlink_to(source, target_is_directory=True)

    def set_up(self, commands: Commands, *, always: bool) -> GateResult | None:
        """Run the setup command, from empty, when asked to or when what it read changed since; a result only if it failed."""
        command = self._settings.setup
        if not command or (not always and self._is_set_up()):
            return None
        self._discard_environments()
        with setup_recording(self.directory, self._settings) as recording:
            ran = commands.run(
                command,
                tree=self.directory,
                folder=commands.fresh_folder("setup"),
                timeout_s=self._settings.setup_timeout_s,
                environments="writable",
            )
        if ran.exit.code == 0:
            recording.write(self._mark)
            return None
        ended = f"exit {ran.exit.code}: {telling_line(ran.text)}"
        why = ended if ran.exit.ended_by == "exit" else ran.exit.detail or ran.exit.ended_by
        return GateResult(
            "setup", command, passed=False, exit_code=ran.exit.code, seconds=ran.exit.seconds,
            broken=f"{SETUP_FAILED}: {why}", output=ran.shown, log=str(ran.log),
        )  # fmt: skip

    def _is_set_up(self) -> bool:
        installed = read_installed(self._mark)
        return installed is not None and installed.is_current(self.directory, self._settings)

    def stamps(self, paths: Iterable[str]) -> dict[str, tuple[int, int]]:
        """When each of some files was last written."""
        found = {}
        for path in paths:
            try:
                facts = (self.directory / path).lstat()
            except (FileNotFoundError, NotADirectoryError):
                continue
            found[path] = (facts.st_ctime_ns, facts.st_ino)
        return found

    def fingerprint(self) -> Fingerprint:
        """Which files the environment folders hold and when each was last written; ctime cannot be set back.

        Nothing is asked for where the sandbox mounts them read-only.
        """
        found: Fingerprint = {}
        for folder in self._environments() if self._settings.sandbox == "none" else ():
            for above, _, names in walk(folder):
                for name in names:
                    path = Path(above, name)
                    facts = path.lstat()
                    found[str(path.relative_to(self.directory))] = (facts.st_size, facts.st_ctime_ns, facts.st_ino)
        return found

    def _environments(self) -> list[Path]:
        """The environments of this tree, at any depth, and the user's that are linked into it."""
        names = self._settings.environment_folders
        lent = () if self._settings.setup else environment_folders(self._repository, names)
        linked = [self.directory / name for name in lent if (self.directory / name).is_symlink()]
        return [*(self.directory / name for name in environment_folders(self.directory, names)), *linked]

    def environment_changes(self, before: Fingerprint) -> tuple[Trick, ...]:
        """What a run wrote into the environment: such an environment is not used again. What it cached there is discarded."""
        after = self.fingerprint()
        for path in [path for path in after if path not in before and CACHES & set(Path(path).parts)]:
            (self.directory / path).unlink(missing_ok=True)
            del after[path]
        changed = sorted(path for path in {**before, **after} if before.get(path) != after.get(path))
        if not changed:
            return ()
        self._discard_environments()
        shown = ", ".join(changed[1:4])
        detail = "the code under test wrote into the environment" + (f" (also {shown})" if shown else "")
        return (Trick("environment-changed", changed[0], f"{detail}; it is built anew"),)

    def _discard_environments(self) -> None:
        self._mark.unlink(missing_ok=True)
        for folder in self._environments():
            if not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)
