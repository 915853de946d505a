"""Reading, comparing and composing trees in the vault; no working tree is involved."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball.workspace.git import Git, failure, records
from flyball.workspace.repository import GITLINK
from flyball.workspace.vault import Vault

_DIFF = ("diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")
_AT_ONCE = 500


class Entry(msgspec.Struct, frozen=True):
    """One file of a tree. Names that are not UTF-8 are decoded as os.fsdecode does."""

    mode: str
    blob: str
    path: str


class Change(msgspec.Struct, frozen=True):
    """One changed file: status A, C, D, M, R or T, and where it was if it was renamed or copied."""

    status: str
    path: str
    old_path: str | None = None


class Lines(msgspec.Struct, frozen=True):
    """Lines added to and deleted from a file; None where the file is binary."""

    path: str
    added: int | None
    deleted: int | None


def entries(vault: Vault, tree: str, paths: Sequence[str] = ()) -> list[Entry]:
    """All files of a commit or tree, or those at and below `paths`."""
    found = []
    for start in range(0, max(len(paths), 1), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        listing = vault.git().out("ls-tree", "-r", "-z", "--full-tree", tree, "--", *some)
        for line in records(listing):
            head, _, path = line.partition("\t")
            mode, _, blob = head.split()
            found.append(Entry(mode, blob, path))
    return found


def list_files(vault: Vault, commit: str) -> tuple[str, ...]:
    """The paths of all files, submodules left out."""
    return tuple(entry.path for entry in entries(vault, vault.tree(commit)) if entry.mode != GITLINK)


def read_file(vault: Vault, commit: str, path: str) -> bytes | None:
    """A file's bytes (a link's target), or None if the commit has no such file."""
    done = vault.git().run("cat-file", "blob", f"{commit}:{path}")
    if done.code == 0:
        return done.stdout
    exact = [entry for entry in entries(vault, vault.tree(commit), (path,)) if entry.path == path]
    return vault.git().out("cat-file", "blob", exact[0].blob) if exact and exact[0].mode != GITLINK else None


def diff(vault: Vault, old: str, new: str, paths: Sequence[str] = ()) -> bytes:
    """The difference as a patch that git can apply."""
    return _compare(vault, old, new, "-p", "--binary", "--full-index", "-M", paths=paths)


def changed(vault: Vault, old: str, new: str, *, renames: bool = True) -> tuple[Change, ...]:
    """Which files differ; without `renames` a moved file is one deleted and one added."""
    option = "-M" if renames else "--no-renames"
    fields = iter(records(_compare(vault, old, new, "-z", "--name-status", option)))
    found = []
    for status in fields:
        first = next(fields)
        if status[0] in "RC":
            found.append(Change(status[0], next(fields), first))
        else:
            found.append(Change(status[0], first))
    return tuple(found)


def numstat(vault: Vault, old: str, new: str) -> tuple[Lines, ...]:
    """How many lines were added and deleted, file by file."""
    found = []
    for line in records(_compare(vault, old, new, "-z", "--numstat", "--no-renames")):
        added, deleted, path = line.split("\t", 2)
        found.append(Lines(path, _count(added), _count(deleted)))
    return tuple(found)


def overlay_tree(vault: Vault, commit: str, paths: Mapping[str, str | None]) -> str:
    """The tree of `commit`, but each of `paths` (files or folders) as in another commit, or absent where that is None.

    A path that the other commit does not have is absent, too.
    """
    wanted: dict[str, list[str]] = {}
    for path, source in paths.items():
        if source is not None:
            wanted.setdefault(source, []).append(path.rstrip("/"))
    tree = vault.tree(commit)
    if not paths:
        return tree
    lines = [f"0 {vault.zero}\t{each.path}" for each in entries(vault, tree, [path.rstrip("/") for path in paths])]
    for source, some in wanted.items():
        lines += [f"{each.mode} {each.blob}\t{each.path}" for each in entries(vault, vault.tree(source), some)]
    with tempfile.TemporaryDirectory(prefix="flyball-") as folder:
        git = Git(vault.git_dir, index=Path(folder) / "index")
        git.out("read-tree", tree)
        listing = b"".join(os.fsencode(line) + b"\0" for line in lines)
        git.out("update-index", "--replace", "-z", "--index-info", input=listing)
        return git.line("write-tree")


def replace_path(vault: Vault, tree: str, path: str, source: str) -> str:
    """The tree with everything at `path` as it is in `source`."""
    return overlay_tree(vault, tree, {path: source})


def _compare(vault: Vault, old: str, new: str, *options: str, paths: Sequence[str] = ()) -> bytes:
    done = vault.git().run(*_DIFF, *options, old, new, "--", *paths)
    if done.code != 0:
        for name in (old, new):
            vault.tree(name)
        raise failure(("diff-tree", old, new), done)
    return done.stdout


def _count(word: str) -> int | None:
    return None if word == "-" else int(word)
