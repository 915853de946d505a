"""Saving a working tree as a commit in the vault, and making it that commit's tree again."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from flyball import faults
from flyball.core.model.naming import LOOP
from flyball.core.model.task import MAIN
from flyball.ports import Kept
from flyball.workspace.errors import GitFailed, WorkspaceError
from flyball.workspace.files import folders_above, remove, scratch_copy
from flyball.workspace.git import LONG, Git
from flyball.workspace.ignored import Ignored, ignored_now
from flyball.workspace.leftovers import Leftovers
from flyball.workspace.staging import stage
from flyball.workspace.trees import changed_files, entries, overlay_tree
from flyball.workspace.vault import RefUpdate, Vault


def label_name(label: str) -> str:
    """Where the ref of a label lies; slashes would make labels stand in each other's way."""
    return f"at/{one_component(label)}"


def one_component(text: str) -> str:
    """A text as one component of a ref's or a file's name, whatever it holds."""
    # quote() leaves dots and tildes as they are.
    return quote(text, safe="", errors="surrogateescape").replace(".", "%2E").replace("~", "%7E")


def refs_of(task: str, lane: str) -> str:
    return f"refs/flyball/{task}/" + ("" if lane == MAIN else f"lanes/{one_component(lane)}/")


def label_of(name: str) -> str:
    return unquote(name, errors="surrogateescape")


class CommitAuthor(msgspec.Struct, frozen=True):
    name: str = "flyball"
    email: str = "flyball@localhost"

    @classmethod
    def of(cls, written: str) -> "CommitAuthor":
        """From `Name <address>`."""
        name, _, email = written.removesuffix(">").rpartition(" <")
        return cls(name, email)


_FLYBALL = CommitAuthor()


class WorkingTree(msgspec.Struct, frozen=True):
    """A folder with its private index. The index is a cache: lost or broken, it is made anew from a commit."""

    vault: Vault
    folder: Path
    index: Path
    task: str
    excludes: Path | None = None
    ignored: Ignored = Ignored()
    leftovers: Leftovers = Leftovers()

    def git(self, index: Path) -> Git:
        return self.vault.git(self.folder, index, self.excludes)

    def save_tree(self, parent: str | None) -> tuple[str, tuple[str, ...]]:
        """Write the folder's files, but for what set-up left, as a tree into the vault; with notes on what was left out."""
        with scratch_copy(self.index) as scratch:
            git = self.git(scratch)
            faults.point("checkpoint.stage.before")
            notes = self.stage(git, parent)
            faults.point("checkpoint.tree.before")
            tree = git.line("write-tree")
            faults.point("checkpoint.tree.after")
        return self.leftovers.take_out(self.vault, tree), notes

    def restore(self, commit: str) -> tuple[str, ...]:
        """Make the folder's files those of `commit`; ignored files and `.loop/` stay. Safe to repeat at any point."""
        with scratch_copy(self.index) as scratch:
            git = self.git(scratch)
            notes = self.stage(git, commit)
            now = git.line("write-tree")
            faults.point("restore.files.before")
            target = self.tree_to_lay(commit, now)
            self._clear_way(now, target)
            git.out("read-tree", "--reset", "-u", "--no-recurse-submodules", target, timeout=LONG)
            faults.point("restore.files.after")
        return notes

    def stage(self, git: Git, commit: str | None) -> tuple[str, ...]:
        """Bring an index in line with the folder, made from `commit` where there is none that can be used; gives back notes."""
        assert git.index is not None
        if git.index.exists():
            try:
                return stage(git, self.task, self.ignored)
            except GitFailed:
                if git.run("ls-files", "-z", "--", LOOP).code == 0:
                    raise
                git.index.unlink()
        git.out("read-tree", *([commit] if commit else ["--empty"]))
        return stage(git, self.task, self.ignored)

    def ignored_now(self, commit: str) -> Ignored:
        """What was known as ignored, and what the folder holds of that kind now."""
        with scratch_copy(self.index) as scratch:
            git = self.git(scratch)
            if not scratch.exists():
                git.out("read-tree", commit)
            return Ignored.of((*self.ignored.paths, *ignored_now(git)))

    def tree_to_lay(self, commit: str, now: str) -> str:
        """The tree to lay out for a commit: without what would come to lie where the user's ignored files are."""
        tree = self.vault.tree(commit)
        files = entries(self.vault, tree) if self.ignored.paths else ()
        held = [entry.path for entry in files if self.ignored.holding(entry.path)]
        left = self.leftovers.laid_otherwise(self.vault, tree, now)
        return overlay_tree(self.vault, tree, {LOOP: now, **left, **dict.fromkeys(held)})

    def _clear_way(self, now: str, target: str) -> None:
        """Remove what is ignored but stands where a file or folder of `target` must be."""
        for each in changed_files(self.vault, now, target):
            if each.status == "D":
                continue
            place, path = self.folder / each.path, each.path
            if place.is_dir() and not place.is_symlink():
                remove(place)
            for above in folders_above(path):
                step = self.folder / above
                if step.is_symlink() or (step.exists() and not step.is_dir()):
                    remove(step)


def commit_tree(
    vault: Vault, tree: str, parent: str | None, *, message: str, at: datetime, author: CommitAuthor = _FLYBALL
) -> str:
    """Write a commit of a tree on a parent, both named by their ids; its own depends on nothing but what is given."""
    who = {
        "NAME": author.name,
        "EMAIL": author.email,
        "DATE": f"@{int(at.timestamp())} +0000",
    }
    env = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in who.items()}
    parents = ("-p", parent) if parent else ()
    text = message.replace("\0", "").rstrip("\n").encode("utf-8", "backslashreplace") + b"\n"
    faults.point("checkpoint.commit.before")
    try:
        commit = vault.git().line("commit-tree", tree, *parents, "-F", "-", input=text, env=env)
    except GitFailed:
        vault.require(tree, *filter(None, (parent,)))
        raise
    faults.point("checkpoint.commit.after")
    vault.remember_tree(commit, tree)
    return commit


def save_labelled(
    work: WorkingTree, prefix: str, known: Mapping[str, str], label: str, *, message: str, at: datetime
) -> Kept:
    """Save a checkpoint on a lane's tip under a label of its own; saving the same tree again gives the same one.

    The lane's refs lie below `prefix` and are `known` to stand where they do.

    So does saving at the same time with the same message: that is the same act, repeated after a crash, and what flyball
    renders into `.loop/` may have changed meanwhile.
    """
    vault, name = work.vault, label_name(label)
    tip, there = known.get("tip"), known.get(name)
    if there is None:
        tree, notes = work.save_tree(tip)
        commit = commit_tree(vault, tree, tip, message=message, at=at)
        vault.move([RefUpdate(prefix + name, commit, None), RefUpdate(prefix + "tip", commit, tip)])
        return Kept(commit, tree, tip, notes)
    parent = parent_of(vault, there)
    # The same tree, parent, message and time give the same commit.
    if there == commit_tree(vault, vault.tree(there), parent, message=message, at=at):
        # The kill may have come before the tip followed its label.
        vault.move([RefUpdate(prefix + "tip", there, tip)] if tip == parent else [])
        return Kept(there, vault.tree(there), parent)
    tree, notes = work.save_tree(tip)
    if tree != vault.tree(there):
        raise WorkspaceError(
            f"The label {label} of task {work.task} already names {there[:12]}, whose files differ from those here now.",
            f"Choose another label, or restore it: flyball rollback {work.task} --to {label}",
        )
    return Kept(there, tree, parent, notes)


def time_of(vault: Vault, commit: str) -> datetime:
    return datetime.fromtimestamp(int(vault.git().line("log", "--no-walk", "--format=%at", commit)), UTC)


def parent_of(vault: Vault, commit: str) -> str | None:
    try:
        return vault.git().line("rev-parse", "--verify", "--quiet", f"{commit}^1")
    except GitFailed:
        return None
