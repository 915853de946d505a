"""The workspace of one task: its tree, its checkpoints in the vault, and its branch in the user's repository."""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import msgspec

from flyball import faults
from flyball.core.model.naming import LOOP
from flyball.core.model.task import MAIN, Commit, TaskId
from flyball.core.text.scrubbing import storable
from flyball.ports import Kept
from flyball.workspace import checkout as checkouts, trees
from flyball.workspace.checkout import Checkout, Slots
from flyball.workspace.checkpoint import (
    CommitAuthor,
    WorkingTree,
    commit_tree,
    label_name,
    refs_of,
    save_labelled,
)
from flyball.workspace.export import export
from flyball.workspace.files import remove, write_file
from flyball.workspace.ignored import Ignored
from flyball.workspace.leftovers import Leftovers
from flyball.workspace.mounts import Mount, renew
from flyball.workspace.repository import Repository
from flyball.workspace.saved_task import SavedTask

_MOST_NAMED = 200


class GitWorkspace(SavedTask):
    """Behind the port `Workspace`. Call `prepare` before anything else, on every start; it may be repeated at will."""

    def __init__(
        self,
        repository: Repository,
        home: Path,
        task: TaskId,
        *,
        lane: str = MAIN,
        slot: str = "",
        author: CommitAuthor | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
        loop_files: bool = True,
    ) -> None:
        super().__init__(repository, home, task, lane=lane, author=author, environment=environment)
        self._loop_files = loop_files
        self.checkout = Checkout(self.home, task, slot)
        self._slots = Slots(self.checkout.lanes)
        self._lanes: dict[str, GitWorkspace] = {}

    @property
    def root(self) -> Path:
        return self.checkout.tree

    def git_dirs(self, tree: Path) -> tuple[Mount, ...]:
        """What the sandbox mounts so that git works in an isolated tree of the task: a lane's, or a disposable copy."""
        return checkouts.git_mounts(self.checkout, tree, self.repository.objects)

    def environment_copies(self, tree: Path) -> Path:
        """Where an agent's copies of the user's environments lie, for turns in one tree."""
        return tree.with_name(f"{tree.name}.environments")

    def lane(self, name: str) -> "GitWorkspace":
        if name == self.name:
            return self
        slot = self._slots.of(name)
        known = self._lanes.get(name)
        if known is None or known.checkout.slot != slot:
            known = self._lanes[name] = GitWorkspace(
                self.repository,
                self.home,
                self.task,
                lane=name,
                slot=slot,
                author=self._author,
                environment=self.environment,
                loop_files=self._loop_files,
            )
        return known

    def open_lane(self, name: str, base: Commit, keep: Sequence[str] = ()) -> "GitWorkspace":
        """Give a lane a workspace: an isolated checkout of `base` with a git dir of its own.

        One that another lane has left is used again; folders named in `keep` stay in it, the environment that was set up there.
        """
        self._slots.take(name)
        lane = self.lane(name)
        lane.prepare(base, keep)
        return lane

    def close_lane(self, name: str) -> None:
        """Leave a lane's workspace to the next one. What was in it and in no checkpoint is saved first; the lane may be opened anew."""
        lane = self.lane(name)
        assert lane is not self, "the task's own workspace is not a lane to close"
        lane.keep_unsaved()
        faults.point("lane.close.saved")
        remove(lane.checkout.ready)
        self._slots.leave(name)
        self._lanes.pop(name, None)

    def keep_unsaved(self) -> str:
        """Save what the tree has and the newest checkpoint has not; the label it was saved under, or nothing."""
        tree, differing = self._tree_now() if self.is_made else ("", ())
        return self._keep(tree) if differing else ""

    def keep_lanes(self) -> dict[str, str]:
        """Save what lanes that are still open have in no checkpoint; the label for each that had something."""
        kept = {name: self.lane(name).keep_unsaved() for name in self._slots.assignments()}
        return {name: label for name, label in kept.items() if label}

    def prepare(self, base: Commit | None = None, keep: Sequence[str] = ()) -> tuple[str, ...]:
        """Make what is missing: vault, base, tree; gives back sentences on what the tree cannot show.

        A lane starts from the `base` it is given, the task from the user's HEAD. `keep` names folders that a used tree keeps.
        """
        self.repository.require_commit()
        base = self._fix_base(base, anew=base is not None and not self.checkout.ready.exists())
        self.checkout.folder.mkdir(parents=True, exist_ok=True)
        checkouts.remove_scratch(self.checkout)
        write_file(self.checkout.excludes, self.repository.excludes())
        if not self.checkout.ready.exists() or not self.is_made:
            if self.name != MAIN and self.root.is_dir():
                checkouts.reset(self.checkout, self.vault, self.tip, keep)
            else:
                checkouts.create(self.checkout, self.vault, self.tip)
            write_file(self.checkout.ready, base.encode() + b"\n")
        self._give_git(self.root, self.checkout.index, base)
        return checkouts.notes_on(self.vault, base)

    @property
    def is_made(self) -> bool:
        """Whether the tree is there, whole; one that was removed is made again by `prepare`."""
        return self.checkout.ready.exists() and self.root.is_dir()

    @property
    def removable(self) -> dict[str, tuple[Path, ...]]:
        """What can be made again from the vault, in the order it may be removed in."""
        own = self.checkout
        return {
            "checkout": (own.ready, own.tree, own.index, checkouts.agent_git(own.tree), own.history),
            "copies": (own.copies, own.exports, self.environment_copies(self.root)),
            "lanes": (*own.lanes.glob("*/ready"), own.lanes),
        }

    def unsaved_files(self) -> tuple[str, ...]:
        """Files of the tree that the newest checkpoint has not; what flyball renders into it is left out."""
        return self._tree_now()[1]

    def _tree_now(self) -> tuple[str, tuple[str, ...]]:
        tree, _ = self._work().save_tree(self.tip)
        differing = trees.changed_files(self.vault, self.tip, tree)
        return tree, tuple(each.path for each in differing if not each.path.startswith(f"{LOOP}/"))

    def set_aside(self) -> None:
        """Remember what is ignored in the tree, before an agent has seen it, as what stays out of all that is saved."""
        self._work().ignored_now(self.tip).write(self.checkout.ignored)

    def leave_out(self, since: Commit, at: datetime) -> tuple[str, ...]:
        """Take what changed since a checkpoint as left by set-up: it stays out of all that is saved. Gives back its names."""
        work = msgspec.structs.replace(self._work(), leftovers=Leftovers())
        tree, _ = work.save_tree(since)
        commit = commit_tree(self.vault, tree, since, message="what set-up left", at=at)
        self._move(self._refs(), {"setup": commit})
        return tuple(storable(name) for name in self._leftovers().names[:_MOST_NAMED])

    def snapshot(self, label: str, message: str, at: datetime) -> Kept:
        """Save the tree as a checkpoint on the tip; the same label and the same files give the same checkpoint."""
        known = self._refs()
        return save_labelled(self._work(known), self._prefix, known, label, message=message, at=at)

    def accept(self, label: str, message: str, at: datetime, *, tree: str, parent: Commit) -> Kept:
        """Keep a measured tree as a checkpoint on `parent`, and make the working tree follow it.

        A tree that changed nothing is `parent` under one more label: nobody wants an empty commit on their branch. Nor does
        everybody want flyball's files there: without them `.loop/` is as in `parent`, and stays in the working tree.
        """
        tree = tree if self._loop_files else trees.overlay_tree(self.vault, tree, {LOOP: parent})
        if self.vault.tree(tree) == self.vault.tree(parent):
            commit = self.vault.commit(parent)
        else:
            commit = commit_tree(self.vault, tree, parent, message=message, at=at, author=self._committer())
        known = self._refs()
        tip = known.get("tip")
        # What was measured is mostly what was saved last, and then no file needs to be touched.
        follows = tip is not None and self.vault.tree(tip) == self.vault.tree(tree)
        self._move(known, {label_name(label): commit} | ({"tip": commit} if follows else {}))
        return Kept(commit, tree, parent, () if follows else self.restore(commit))

    def restore(self, commit: str) -> tuple[str, ...]:
        """Make the tree that of a checkpoint (label, id or `tip`) and go on from there; gives back notes."""
        known = self._refs()
        target = self._commit_of(commit, known)
        notes = self._work().restore(target)
        self._move(known, {"tip": target})
        checkouts.show_commits(self.root, self.vault, self._start(), target, known.get("tip", target))
        return notes

    def export(self, tree: str, directory: Path, keep: Sequence[str] = ()) -> None:
        """Make a folder exactly what a clone of that tree would hold, but for what is named in `keep`."""
        export(self.vault, self.vault.tree(tree), directory, self.checkout.index_of(directory), keep, as_cloned=True)

    def lend(self, name: str, directory: Path) -> None:
        """Copy an environment of the user's to the same place in a folder; one that is a copy already costs what differs."""
        index = self.checkout.index_of(directory)
        record = index.with_name(f"{index.name}-{quote(name, safe='')}.stamps")
        renew(self.repository.root / name, directory / name, record, root=self.repository.root.resolve())

    def copy(self, name: str, commit: Commit, shown: Mapping[str, Commit] = MappingProxyType({})) -> Path:
        """A disposable copy of a commit, in which commits that are `shown` can be named `flyball/NAME`."""
        folder = self.checkout.copies / name
        export(self.vault, self.tree_of(commit), folder, self.checkout.index_of(folder))
        self._lay_leftovers(folder)
        remove(checkouts.agent_git(folder))
        self._give_git(folder, self.checkout.index_of(folder), self.base)
        checkouts.name_commits(folder, self.vault, self._start(), shown)
        write_file(self.checkout.commit_copied(name), commit.encode() + b"\n")
        return folder

    def _lay_leftovers(self, folder: Path) -> None:
        """What set-up created, ignored or not, such as an environment: who reviews must be able to run the tests."""
        for path in self._leftovers().created.paths | Ignored.read(self.checkout.ignored).paths:
            source, target = self.root / path, folder / path
            if os.path.lexists(target) or folder.resolve() not in target.resolve().parents:
                continue
            # What cannot be read, and what an agent has removed, is not there to be copied.
            with suppress(OSError):
                target.parent.mkdir(parents=True, exist_ok=True)
                if source.is_dir() and not source.is_symlink():
                    shutil.copytree(source, target, symlinks=True)
                else:
                    shutil.copy2(source, target, follow_symlinks=False)

    def _give_git(self, tree: Path, index: Path, base: Commit) -> None:
        checkouts.give_agent_git(
            self.checkout,
            self.repository,
            base,
            self.branch,
            tree=tree,
            index=index,
            vault=self.vault,
            start=self._start(),
        )

    def _start(self) -> str:
        return self.vault.commit(refs_of(self.task, MAIN) + "base")

    def show(self, shown: Mapping[str, Commit]) -> None:
        """Let the agent in the lane's tree find commits as `flyball/NAME`; `start` and `tree` are among them."""
        if not checkouts.is_plain(self.root):
            remove(checkouts.agent_git(self.root))
            self._give_git(self.root, self.checkout.index, self.base)
        checkouts.name_commits(self.root, self.vault, self._start(), shown)
        saved = trees.overlay_tree(self.vault, self.tree_of(shown["tree"]), {LOOP: shown["start"]})
        checkouts.renew_index(self.root, self.checkout.index, self.vault, saved)

    def discard(self, name: str) -> tuple[str, ...]:
        """Remove a disposable copy; the paths that were changed in it."""
        folder = self.checkout.copies / name
        commit = self.checkout.commit_copied(name).read_text().strip()
        work = msgspec.structs.replace(self._work(), folder=folder, index=self.checkout.index_of(folder))
        tree, _ = work.save_tree(commit)
        edited = trees.changed_files(self.vault, commit, tree)
        remove(folder)
        remove(checkouts.agent_git(folder))
        return tuple(each.path for each in edited)

    def _work(self, known: Mapping[str, str] | None = None) -> WorkingTree:
        """The lane's folder; `known` is where its refs stand, if that was looked up already."""
        return WorkingTree(
            self.vault,
            self.root,
            self.checkout.index,
            self.task,
            self.checkout.excludes,
            Ignored.read(self.checkout.ignored),
            self._leftovers(known),
        )
