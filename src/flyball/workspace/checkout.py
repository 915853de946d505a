"""The workspaces of a task: which lane uses which, and an isolated checkout in each, with a git dir an agent may use and flyball never reads.

Making a workspace costs as much as checking out the whole tree, and its environment more, so a lane that is closed leaves its workspace to
the next one. Who has which is a file in it, so it is known after a kill.
"""

import hashlib
import os
import shutil
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

from flyball import faults
from flyball.workspace.export import export
from flyball.workspace.files import remove, write_file
from flyball.workspace.git import LONG
from flyball.workspace.mounts import Mount
from flyball.workspace.repository import GITLINK, Repository, bare_git_dir
from flyball.workspace.trees import entries, read_file
from flyball.workspace.vault import Vault

UNOPENED = "none"
"""The folder of a lane that has no workspace now; it never exists."""


class Checkout:
    """The folders and files of one workspace of a task below flyball's home: the task's own, or the `slot` that a lane uses."""

    def __init__(self, home: Path, task: str, slot: str = "") -> None:
        own = home / "tasks" / task
        self.slot = slot
        self.lanes = own / "lanes"
        """The workspaces of the task's lanes."""
        self.folder = self.lanes / slot if slot else own
        self.tree = self.folder / "tree"
        self.index = self.folder / "index"
        self.excludes = self.folder / "excludes"
        self.ignored = self.folder / "ignored"
        """What was ignored when the task began."""
        self.history = self.folder / "history"
        """Where the agent's git dir finds the user's objects: a link here, a read-only mount inside the sandbox."""
        self.exports = self.folder / "exports"
        """The indexes of folders that trees are exported to."""
        self.copies = self.folder / "copies"
        """Disposable copies, for turns beside the task's own."""
        self.ready = self.folder / "ready"
        """Written last: a tree without it is half made, no agent has seen it, and it may be made again."""

    def index_of(self, directory: Path) -> Path:
        return self.exports / hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:16]

    def commit_copied(self, copy: str) -> Path:
        return self.copies / f"{copy}.commit"


class Slots:
    """The workspaces below one folder; one controller uses them, from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def assignments(self) -> dict[str, str]:
        return {os.fsdecode(file.read_bytes()): file.parent.name for file in sorted(self._folder.glob("*/lane"))}

    def of(self, lane: str) -> str:
        return self.assignments().get(lane, UNOPENED)

    def take(self, lane: str) -> None:
        """Give the lane a workspace of its own: the one it has, else a free one, else a new one."""
        with self._lock:
            bound = self.assignments()
            if lane not in bound:
                numbers = (str(n) for n in range(1, len(bound) + 2))
                slot = self._folder / next(number for number in numbers if number not in bound.values())
                slot.mkdir(parents=True, exist_ok=True)
                write_file(slot / "lane", os.fsencode(lane))

    def leave(self, lane: str) -> None:
        with self._lock:
            remove(self._folder / self.of(lane) / "lane")


def remove_scratch(checkout: Checkout) -> None:
    """Remove what a killed controller left of its scratch indexes; the task's lock keeps others out."""
    for folder in (checkout.folder, checkout.exports, checkout.copies):
        for left in folder.glob("scratch-*"):
            remove(left)


def create(checkout: Checkout, vault: Vault, commit: str) -> None:
    """Write all files of `commit`; anything a killed attempt left is removed first."""
    remove(checkout.tree)
    checkout.index.unlink(missing_ok=True)
    checkout.tree.mkdir(parents=True)
    faults.point("checkout.before")
    git = vault.git(checkout.tree, checkout.index)
    git.out("read-tree", commit)
    faults.point("checkout.inside")
    git.out("checkout-index", "--all", "--index", "--quiet", timeout=LONG)
    faults.point("checkout.after")


def reset(checkout: Checkout, vault: Vault, commit: str, keep: Collection[str]) -> None:
    """Make a used tree that of `commit`, at the cost of what differs; nothing of the lane before stays but folders named in `keep`.

    Whoever calls this has the former tree in the vault.
    """
    faults.point("lane.reset.before")
    remove(agent_git(checkout.tree))
    checkout.ignored.unlink(missing_ok=True)
    export(vault, vault.tree(commit), checkout.tree, checkout.index, keep)
    faults.point("lane.reset.after")


def agent_git(tree: Path) -> Path:
    """The git dir of a folder that agents work in, beside it.

    Agents look at `git status`, `log` and `diff` and may commit, so each tree has a git dir of its own. What an agent can
    write, it can make git execute: it is thrown away with its tree, nothing in it is ever read back.
    """
    return tree.with_name(f"{tree.name}.git")


def git_mounts(checkout: Checkout, tree: Path, objects: Path) -> tuple[Mount, ...]:
    """What the sandbox mounts so that git works in a tree of the workspace or of its lanes, with the user's `objects` behind it."""
    folder = agent_git(tree)
    if not folder.is_dir() or not folder.is_relative_to(checkout.folder):
        return ()
    inside = folder.relative_to(checkout.folder).parts
    own = checkout.folder.joinpath(*inside[:2]) if inside[0] == "lanes" else checkout.folder
    return (Mount("writable", folder), Mount("read-only", own / "history", objects))


def give_agent_git(
    checkout: Checkout,
    repository: Repository,
    base: str,
    branch: str,
    *,
    tree: Path,
    index: Path,
    vault: Vault,
    start: str,
) -> None:
    """Make the git dir of a tree: on the task's branch at `base`, with the user's branches and tags to look at.

    A base that is not in the user's repository, which is what was integrated and not delivered yet, is copied as far as it differs from
    `start`, the commit the task started from. The vault itself is shown to no agent.
    """
    folder = agent_git(tree)
    marker = folder / "flyball"
    if not checkout.history.is_symlink():
        checkout.history.symlink_to(repository.objects)
    if not marker.exists():
        remove(folder)
        _fill_agent_git(folder, checkout.history, repository, base, branch)
        if repository.git().run("cat-file", "-e", f"{base}^{{commit}}").code != 0:
            show_commits(tree, vault, start, base)
        shutil.copy2(index, folder / "index")
        write_file(marker, b"made\n")
    _link_git(checkout, tree)


def show_commits(tree: Path, vault: Vault, start: str, *commits: str) -> None:
    """Copy commits of the task into the git dir of a tree, as far as they differ from `start`, so that its agent can look at them."""
    folder = agent_git(tree)
    if folder.is_dir():
        pack = str(folder / "objects" / "pack" / "pack")
        wanted = "".join(f"{commit}\n" for commit in commits) + f"^{start}\n"
        options = ("--revs", "--quiet", "--non-empty", "--window=0")
        vault.git().out("pack-objects", *options, pack, input=wanted.encode())


def name_commits(tree: Path, vault: Vault, start: str, names: Mapping[str, str]) -> None:
    """Let the agent in a tree look at commits of the task by the names `flyball/NAME`, which are neither branches nor tags."""
    if not names:
        return
    show_commits(tree, vault, start, *names.values())
    folder = agent_git(tree) / "refs" / "flyball"
    remove(folder)
    folder.mkdir(parents=True)
    for name, commit in names.items():
        (folder / name).write_text(f"{commit}\n")


def is_plain(tree: Path) -> bool:
    """Whether the agent left folders where flyball writes into its git dir; through a link it would write elsewhere."""
    folder = agent_git(tree)
    places = (folder, *(folder / name for name in ("refs", "objects", "objects/pack")))
    return all(place.is_dir() and not place.is_symlink() for place in places)


def renew_index(tree: Path, index: Path, vault: Vault, saved: str) -> None:
    """Let the agent's index be the tree `saved`, so that one diff shows files of earlier turns, too."""
    fresh = index.with_name(f"scratch-index-{tree.name}")
    git = vault.git(tree, fresh)
    if index.exists():
        shutil.copy2(index, fresh)
    if git.run("read-tree", "--reset", saved).code:
        # The index that was copied is broken; it only spares git to look at files that have not changed.
        remove(fresh)
        git.out("read-tree", saved)
    for left in ("index", "index.lock"):
        remove(agent_git(tree) / left)
    fresh.replace(agent_git(tree) / "index")


def _link_git(checkout: Checkout, folder: Path) -> None:
    """Let git in `folder` find its git dir; without one it would look for a repository in the folders above."""
    link = folder / ".git"
    wanted = b"gitdir: " + os.fsencode(agent_git(folder)) + b"\n"
    if link.is_symlink() or not link.is_file() or link.read_bytes() != wanted:
        # Made elsewhere first: what a kill leaves half written in the tree would be saved as the agent's work.
        # Copies are made side by side, so each has a name of its own.
        fresh = checkout.folder / f"scratch-link-{folder.name}"
        write_file(fresh, wanted)
        remove(link)
        fresh.replace(link)


def _fill_agent_git(folder: Path, history: Path, repository: Repository, base: str, branch: str) -> None:
    bare_git_dir(folder, repository.object_format, history)
    config = (folder / "config").read_text().replace("bare = true", "bare = false")
    identity = "[user]\n\tname = agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n"
    write_file(folder / "config", (config + identity).encode())
    listing = repository.git().out(
        "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes"
    )
    own = b" refs/heads/" + os.fsencode(branch)
    others = [line for line in listing.splitlines(keepends=True) if not line.rstrip(b"\n").endswith(own)]
    write_file(folder / "packed-refs", b"# pack-refs with:\n" + b"".join(others))
    tip = folder / "refs" / "heads" / branch
    tip.parent.mkdir(parents=True, exist_ok=True)
    write_file(tip, base.encode() + b"\n")
    write_file(folder / "HEAD", f"ref: refs/heads/{branch}\n".encode())
    if (repository.common_dir / "shallow").exists():
        shutil.copy2(repository.common_dir / "shallow", folder / "shallow")


def notes_on(vault: Vault, commit: str) -> tuple[str, ...]:
    """Sentences on what of a commit flyball cannot show in a checkout."""
    files = entries(vault, commit)
    links = [entry.path for entry in files if entry.mode == GITLINK]
    notes = [f"The submodule {path} is left empty; changes inside it are not saved." for path in links]
    attributes = [entry.path for entry in files if entry.path.rpartition("/")[2] == ".gitattributes"]
    filtered = [path for path in attributes if b"filter=" in (read_file(vault, commit, path) or b"")]
    if filtered:
        notes.append(
            f"{', '.join(filtered)} names filters (such as git-lfs): flyball runs none, files are as stored in git."
        )
    return tuple(notes)
