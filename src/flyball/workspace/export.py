"""Makes a folder exactly a given tree, at the cost of what differs."""

import hashlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from flyball import faults
from flyball.workspace.files import remove, scratch_copy
from flyball.workspace.git import LONG, TreeEntry
from flyball.workspace.repository import GITLINK
from flyball.workspace.trees import entries
from flyball.workspace.vault import Vault


def export(
    vault: Vault, tree: str, folder: Path, index: Path, keep: Collection[str] = (), *, as_cloned: bool = False
) -> None:
    """Make `folder` hold the files of `tree` and nothing else but what is named in `keep`, at any depth or, after a slash, by its path.

    Files that are right already keep their times, so builds there stay incremental. What git would not mention is
    removed as well: ignored files, sockets, folders named .git. The bytes are those git stores or, `as_cloned`, those a
    clone would have.
    """
    faults.point("export.before")
    folder.mkdir(parents=True, exist_ok=True)
    index.parent.mkdir(parents=True, exist_ok=True)
    files = entries(vault, tree)
    attributes = _digest_of_attributes(files) if as_cloned else ""
    _clean(folder, files, frozenset(keep))
    faults.point("export.inside")
    # What an index remembers as written was written by the attributes of that time: each set of them has its own.
    with scratch_copy(index.with_name(index.name + attributes)) as scratch:
        git = vault.git_as_cloned(folder, scratch) if attributes else vault.git(folder, scratch)
        lay = ("read-tree", "--reset", "-u", "--no-recurse-submodules", tree)
        # The index is a cache: where it cannot be used, everything is written anew.
        if not scratch.exists() or git.run(*lay, timeout=LONG).code != 0:
            scratch.unlink(missing_ok=True)
            git.out(*lay, timeout=LONG)
    faults.point("export.after")


def _digest_of_attributes(files: Iterable[TreeEntry]) -> str:
    """A word for what the tree's .gitattributes say; none where there are none."""
    lines = [f"{entry.blob} {entry.path}\n" for entry in files if entry.path.rpartition("/")[2] == ".gitattributes"]
    return "-" + hashlib.sha256(os.fsencode("".join(lines))).hexdigest()[:16] if lines else ""


def _clean(folder: Path, wanted: Iterable[TreeEntry], keep: frozenset[str]) -> None:
    files = {entry.path for entry in wanted if entry.mode != GITLINK}
    folders = {entry.path for entry in wanted if entry.mode == GITLINK}
    for path in (*files, *folders):
        above = path.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    pending = [""]
    while pending:
        below = pending.pop()
        with os.scandir(folder / below) as found:
            for entry in found:
                path = f"{below}/{entry.name}" if below else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and path in folders:
                    pending.append(path)
                elif (path not in files or is_folder) and keep.isdisjoint((entry.name, f"/{path}")):
                    remove(folder / path)
