"""Environments to work in: set up where one is missing or out of date, else used again.

Cheapest first: a lane whose work changes no manifest is lent the user's installed dependencies, as a copy, where they were installed from
the same manifests; else `setup` runs once in its pooled workspace, and again when a manifest or a file that it read has changed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball import process
from flyball.core.loop.opening import ANEW
from flyball.core.model.task import Settings
from flyball.core.text.scrubbing import decode, scrub
from flyball.folders import environment_folders
from flyball.measures.gates.gate_tree import hand_over
from flyball.measures.gates.manifests import SetupRecording, read_installed, setup_recording, tree_files
from flyball.measures.gates.telling import telling_line
from flyball.ports import Confine, Stop
from flyball.wiring.run.readiness import shared_environments
from flyball.workspace.sandbox import Confined


class Environments(msgspec.Struct):
    """Behind the port `Setup`, for one task: `root` is the user's repository, `own` the task's own tree, `gates` where its gates run."""

    settings: Settings
    confine: Confine
    environment: Mapping[str, str]
    hold_fds: Sequence[int]
    root: Path
    own: Path
    gates: Path

    def __call__(self, tree: Path, folder: Path, stop: Stop) -> tuple[str, str]:
        """Run the set-up command before any agent works in the tree; why it failed, and why gates need a run of their own."""
        if not self.settings.setup:
            return "", ""
        is_empty = not environment_folders(tree, self.settings.environment_folders)
        failed, recording = self._install(tree, folder, stop)
        if failed or not is_empty:
            return failed, "the tree had installed dependencies before"
        outside = shared_environments(self.settings, self.environment) if self.settings.sandbox == "none" else ()
        return "", hand_over(recording, self.gates, outside)

    def _install(self, tree: Path, folder: Path, stop: Stop) -> tuple[str, SetupRecording]:
        """Run the set-up command, whatever is there; why it failed, and what it was run on."""
        _mark(tree).unlink(missing_ok=True)
        with setup_recording(tree, self.settings) as recording:
            failed = self._run(tree, folder, stop)
        # Only what is kept when the tree is reset may be taken for set up then.
        if (
            not failed
            and not recording.made_files()
            and recording.before.keys() <= tree_files(tree, self.settings).keys()
        ):
            recording.write(_mark(tree))
        return failed, recording

    def for_lane(self, tree: Path, folder: Path, stop: Stop, *, shares: bool) -> str:
        """See that a lane has an environment; why set-up failed, or nothing. `shares`: nothing in it will be written."""
        if not self.settings.setup:
            return ""
        installed = read_installed(_mark(tree))
        if (installed and installed.is_current(tree, self.settings)) or (shares and self._is_lent(tree)):
            return ""
        return self._install(tree, folder, stop)[0]

    def _is_lent(self, tree: Path) -> bool:
        """Whether the sandbox shows the user's dependencies in the tree, all of them, as the set-up command would install them."""
        names = self.settings.environment_folders
        made = environment_folders(self.own, names)
        installed = read_installed(_mark(self.own))
        return (
            isinstance(self.confine, Confined)
            and bool(made)
            and installed is not None
            and not any(any((tree / name).iterdir()) for name in environment_folders(tree, names))
            and set(made) <= set(self.confine.environments)
            and installed.is_current(self.root, self.settings)
            and installed.is_current(tree, self.settings)
        )

    def _run(self, tree: Path, folder: Path, stop: Stop) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        argv, cwd, env = self.confine(
            ["/bin/sh", "-c", self.settings.setup], tree=tree, env=self.environment, environments="writable"
        )
        done = process.run(
            argv,
            cwd=cwd,
            env=env,
            stdout=folder / "stdout",
            stderr=folder / "stderr",
            wall=self.settings.setup_timeout_s,
            stop=stop,
            hold_fds=self.hold_fds,
        )
        if done.ended_by == "exit" and done.code == 0:
            return ""
        said = scrub(decode(done.stdout_tail) + decode(done.stderr_tail))
        why = telling_line(said) if done.ended_by == "exit" else done.detail or done.ended_by
        remedy = f"correct setup in flyball.toml and type: {ANEW}"
        return f"{why}; {remedy} (all it said: {folder}; the command: {self.settings.setup})"


def _mark(tree: Path) -> Path:
    """Beside a tree: what its environment was installed from, if nothing but environment folders was changed for it."""
    return tree.with_name(f"{tree.name}.setup")
