"""The user's own tree as a place to restore in: nothing is restored over that no checkpoint holds."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from flyball import faults
from flyball.core.model.naming import LOOP
from flyball.core.text.quantities import first_few
from flyball.core.text.scrubbing import storable
from flyball.workspace.checkout import Checkout
from flyball.workspace.checkpoint import WorkingTree
from flyball.workspace.files import scratch_copy
from flyball.workspace.ignored import Ignored
from flyball.workspace.in_place.laying import Laying
from flyball.workspace.in_place.modes import Modes
from flyball.workspace.overlooked import LeftOut, reveal
from flyball.workspace.trees import Listing, listing, with_entries

_HOLD = ".restoring"
_MOST_NAMED = 5


class Ground(msgspec.Struct, frozen=True):
    """A working tree that people write in, too; `keep` makes a tree a checkpoint of its own and gives back its label."""

    work: WorkingTree
    checkout: Checkout
    keep: Callable[[str], str]

    @property
    def hold(self) -> Path:
        """Where files are made before they are put in place, and kept until they are saved: on the tree's own disk."""
        return self.work.folder / LOOP / self.work.task / _HOLD

    def look_round(self, tip: str) -> None:
        """Write down once what no checkpoint tells of the user's tree, before an agent has seen it."""
        own = self.checkout
        if not own.left_out.exists():
            with scratch_copy(own.index) as scratch:
                left_out = reveal(self.work.git(scratch)) if scratch.exists() else LeftOut()
            left_out.write(own.left_out)
        if not own.ignored.exists():
            self.work.ignored_now(tip).write(own.ignored)
        if not own.modes.exists():
            Modes.of(self.work.folder, Ignored.read(own.ignored)).write(own.modes)

    def recover(self, tip: str) -> tuple[str, ...]:
        """Save what a killed restore had taken out of the tree."""
        if not self.hold.is_dir() or self.hold.is_symlink():
            return ()
        laying = self._laying(Modes())
        laying.recover()
        return self._settle(laying, self.work.vault.tree(tip))

    def restore(self, commit: str, tip: str) -> tuple[str, ...]:
        """Make the files those of `commit`, and save first and last what the `tip` and it do not hold; gives back notes."""
        recovered = self.recover(tip)
        work, laying = self.work, self._laying(Modes.read(self.checkout.modes))
        with scratch_copy(work.index) as scratch:
            git = work.git(scratch)
            notes = work.stage(git, commit)
            now = git.line("write-tree")
            faults.point("restore.files.before")
            target = work.tree_to_lay(commit, now)
            unsaved = self._keep_unsaved(now, target, tip)
            wanted = self._listing(target)
            left_out = [path for path, entry in work.left_out.files.items() if wanted.get(path) == entry]
            laying.lay(self._listing(now), wanted, target, left_out)
            kept = self._settle(laying, now)
            git.out("read-tree", "--reset", "-i", target)
            git.run("update-index", "-q", "--refresh", "--ignore-submodules")
            faults.point("restore.files.after")
        return (*recovered, *notes, *unsaved, *kept)

    def _laying(self, modes: Modes) -> Laying:
        return Laying(self.work.vault, self.work.folder, self.hold, modes)

    def _listing(self, tree: str) -> Listing:
        return listing(self.work.vault, self.work.vault.tree(tree))

    def _keep_unsaved(self, now: str, target: str, tip: str) -> tuple[str, ...]:
        """Keep what is about to go and was written since the last checkpoint."""
        vault = self.work.vault
        saved = self.work.leftovers.take_out(vault, now)
        here, wanted, known = self._listing(saved), self._listing(target), self._listing(tip)
        lost = [path for path, entry in here.items() if entry not in (wanted.get(path), known.get(path))]
        return (_note(lost, self.keep(saved)),) if lost else ()

    def _settle(self, laying: Laying, tree: str) -> tuple[str, ...]:
        """Keep what came out of the tree and was not saved, and only then let go of it."""
        names = [entry.path for entry in laying.saved]
        label = self.keep(with_entries(self.work.vault, tree, laying.saved)) if names else ""
        faults.point("restore.files.kept")
        laying.end()
        return (*laying.notes, *((_note(names, label),) if names else ()))


def _note(paths: list[str], label: str) -> str:
    names = first_few([str(storable(path)) for path in paths], _MOST_NAMED)
    return f"{names}: changed in the tree since the last checkpoint; kept as the checkpoint {label} before the tree went back."
