"""Reading, comparing and composing trees in the vault; no working tree is involved."""

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import msgspec

from flyball.workspace.git import Git, TreeEntry, failure, join_records, records
from flyball.workspace.repository import GITLINK
from flyball.workspace.vault import Vault

_DIFF = ("diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")
_AT_ONCE = 500
_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_REGULAR = ("100644", "100755")
_NONE: Mapping[str, bytes] = MappingProxyType({})


Listing = Mapping[str, TreeEntry]
"""All files of a tree by path, in git's order."""


class TreeChange(msgspec.Struct, frozen=True):
    """One changed file: status A, D, M or T; a moved file is one deleted and one added."""

    status: str
    path: str


class Lines(msgspec.Struct, frozen=True):
    """Lines added to and deleted from a file; None where the file is binary."""

    path: str
    added: int | None
    deleted: int | None


LARGEST = 16 * 1024 * 1024
"""Bytes of a file that are read into memory; larger ones are data, and git alone handles them."""


def entries(vault: Vault, tree: str, paths: Sequence[str] = ()) -> list[TreeEntry]:
    """All files of a commit or tree, or those at and below `paths`."""
    name = vault.tree(tree)
    if not paths:
        return list(listing(vault, name).values())
    parts = [paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE)]
    return [entry for some in parts for entry in _list_tree(vault, name, some)]


@lru_cache(maxsize=4)
def listing(vault: Vault, tree: str) -> Listing:
    """All files of a tree by path; those last asked for are remembered, because a tree of a given id is the same for ever."""
    return {entry.path: entry for entry in _list_tree(vault, tree)}


def _list_tree(vault: Vault, tree: str, paths: Sequence[str] = ()) -> Iterator[TreeEntry]:
    for line in records(vault.git().out("ls-tree", "-r", "-z", "--full-tree", tree, "--", *paths)):
        head, _, path = line.partition("\t")
        mode, _, blob = head.split()
        yield TreeEntry(sys.intern(mode), blob, path)


def list_files(vault: Vault, commit: str) -> tuple[str, ...]:
    """The paths of all files, submodules left out."""
    return tuple(entry.path for entry in entries(vault, commit) if entry.mode != GITLINK)


def read_file(vault: Vault, commit: str, path: str) -> bytes | None:
    """A file's bytes (a link's target), or None if the commit has no such file.

    Of one larger than is ever read as text, its beginning and the name of the whole: two such files are told apart by that.
    """
    entry = listing(vault, vault.tree(commit)).get(path)
    if entry is None or entry.mode == GITLINK:
        return None
    return _read_blob(vault, entry.blob)


@lru_cache(maxsize=8)
def _read_blob(vault: Vault, blob: str) -> bytes:
    asked = ("cat-file", "blob", blob)
    done = vault.git().run(*asked, most=LARGEST)
    if len(done.stdout) == LARGEST:
        return done.stdout + f"\n{blob}\n".encode()
    if done.code != 0:
        raise failure(asked, done)
    return done.stdout


def diff(vault: Vault, old: str, new: str, paths: Sequence[str] = ()) -> bytes:
    """The difference as a patch that git can apply."""
    return _compare(vault, old, new, "-p", "--binary", "--full-index", "-M", paths=paths)


def changed_files(vault: Vault, old: str, new: str) -> tuple[TreeChange, ...]:
    return _changed_files(vault, vault.tree(old), vault.tree(new))


@lru_cache(maxsize=8)
def _changed_files(vault: Vault, old: str, new: str) -> tuple[TreeChange, ...]:
    """Between two trees by their ids; a measurement asks for the same ones more than once."""
    if old == new:
        return ()
    fields = records(_compare(vault, old, new, "-z", "--name-status", "--no-renames"))
    return tuple(TreeChange(status, path) for status, path in zip(fields[::2], fields[1::2], strict=True))


def numstat(vault: Vault, old: str, new: str) -> tuple[Lines, ...]:
    found = []
    for line in records(_compare(vault, old, new, "-z", "--numstat", "--no-renames")):
        added, deleted, path = line.split("\t", 2)
        is_text = added != "-"
        found.append(Lines(path, int(added) if is_text else None, int(deleted) if is_text else None))
    return tuple(found)


def added_lines(vault: Vault, old: str, new: str, path: str) -> tuple[tuple[int, int], ...]:
    """Where a file has new or changed lines: the first of each span, and how many; nothing for a binary file."""
    patch = _compare(vault, old, new, "-p", "-U0", "--no-renames", paths=(path,))
    return tuple((int(first), int(count or 1)) for first, count in _HUNK.findall(patch) if count != b"0")


def overlay_tree(
    vault: Vault, commit: str, paths: Mapping[str, str | None], contents: Mapping[str, bytes] = _NONE
) -> str:
    """The tree of `commit`, but each of `paths` (files or folders) as in another commit, or absent where that is None.

    A path that the other commit does not have is absent, too. Files in `contents` hold what is given there.
    """
    tree = vault.tree(commit)
    if not paths and not contents:
        return tree
    wanted: dict[str, list[str]] = {}
    for path, source in paths.items():
        if source is not None:
            wanted.setdefault(source, []).append(path.rstrip("/"))
    present = entries(vault, tree, [path.rstrip("/") for path in (*paths, *contents)])
    instead = [each for source, some in wanted.items() for each in entries(vault, source, some)]
    modes = {entry.path: entry.mode for entry in present if entry.mode in _REGULAR}
    for path, content in contents.items():
        # A file with new contents is as executable as it was.
        instead.append(TreeEntry(modes.get(path, _REGULAR[0]), vault.write(content), path))
    if set(present) == set(instead):
        return tree
    return with_entries(vault, tree, instead, without=present)


def with_entries(vault: Vault, tree: str, put: Iterable[TreeEntry], without: Iterable[TreeEntry] = ()) -> str:
    """A tree with files taken out of it and others put in, in the place of whatever is there."""
    lines = [f"0 {vault.zero}\t{each.path}" for each in without]
    lines += [each.index_line for each in put]
    with tempfile.TemporaryDirectory(prefix="flyball-") as folder:
        git = Git(vault.git_dir, index=Path(folder) / "index")
        git.out("read-tree", tree)
        git.out("update-index", "--replace", "-z", "--index-info", input=join_records(lines))
        return git.line("write-tree")


def _compare(vault: Vault, old: str, new: str, *options: str, paths: Sequence[str] = ()) -> bytes:
    done = vault.git().run(*_DIFF, *options, old, new, "--", *paths)
    if done.code != 0:
        for name in (old, new):
            vault.tree(name)
        raise failure(("diff-tree", old, new), done)
    return done.stdout
