"""The files of a tree, from those of the tree listed before it: only folders that differ are read, and mostly without git."""

import os
import sys
from collections.abc import Iterator

import msgspec

from flyball.workspace import loose
from flyball.workspace.git import records
from flyball.workspace.objects import Entry, Listed
from flyball.workspace.vault import Vault

_FOLDER = "040000"
_MOST_FILES = 150_000
"""Of a larger tree the listing is not kept to grow from."""


class _Packed(Exception):
    """A folder's tree lies where only git can read it."""


class _Changes(msgspec.Struct, frozen=True):
    """What was read of a tree: folders that are as they were, by path, and everything else."""

    same: set[str]
    folders: dict[str, str]
    files: dict[str, Entry]


def listed(vault: Vault, tree: str) -> Listed:
    """All files and folders of a tree, in git's order."""
    before = vault.known.latest
    try:
        found = _grown(vault, tree, before) if before is not None else _asked(vault, tree)
    except (_Packed, RecursionError):
        found = _asked(vault, tree)
    vault.known.latest = found if len(found.files) <= _MOST_FILES else None
    return found


def _asked(vault: Vault, tree: str) -> Listed:
    files: dict[str, Entry] = {}
    folders: dict[str, str] = {}
    for line in records(vault.git().out("ls-tree", "-r", "-t", "-z", "--full-tree", tree)):
        head, _, path = line.partition("\t")
        mode, _, name = head.split()
        if mode == _FOLDER:
            folders[path] = name
        else:
            files[path] = Entry(sys.intern(mode), name, path)
    return Listed(files, folders)


def _grown(vault: Vault, tree: str, before: Listed) -> Listed:
    changes = _Changes(set(), {}, {})
    _read(vault, tree, "", before, changes)
    inside: dict[str, bool] = {}
    files = {path: entry for path, entry in before.files.items() if _is_kept(path, changes.same, inside)}
    folders = {path: name for path, name in before.folders.items() if _is_kept(path, changes.same, inside)}
    files |= changes.files
    # The order of whole paths, byte by byte, is the order in which git lists them.
    return Listed({path: files[path] for path in sorted(files, key=os.fsencode)}, folders | changes.folders)


def _read(vault: Vault, tree: str, below: str, before: Listed, changes: _Changes) -> None:
    for mode, name, entry in _entries(vault, tree):
        path = below + name
        if mode != _FOLDER:
            changes.files[path] = Entry(sys.intern(mode), entry, path)
            continue
        changes.folders[path] = entry
        if before.folders.get(path) == entry:
            changes.same.add(path)
        else:
            _read(vault, entry, f"{path}/", before, changes)


def _entries(vault: Vault, tree: str) -> Iterator[tuple[str, str, str]]:
    """Mode, name and id of what a folder holds, from its tree as git stores it."""
    found = loose.read(vault.objects, tree)
    if found is None or found[0] != "tree":
        raise _Packed
    rest, size = found[1], len(vault.zero) // 2
    while rest:
        head, _, rest = rest.partition(b"\0")
        mode, _, name = head.partition(b" ")
        yield mode.decode("ascii").zfill(6), os.fsdecode(name), rest[:size].hex()
        rest = rest[size:]


def _is_kept(path: str, same: set[str], inside: dict[str, bool]) -> bool:
    """Whether a path lies in a folder that is as it was; `inside` remembers the answer for folders."""
    above = path.rpartition("/")[0]
    if not above:
        return False
    if above not in inside:
        inside[above] = above in same or _is_kept(above, same, inside)
    return inside[above]
