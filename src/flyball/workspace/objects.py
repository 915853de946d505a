"""What was read of git's objects, remembered: an object of a given id is the same for ever. Refs are not kept here."""

import re
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Generic, TypeVar

import msgspec

Value = TypeVar("Value")

_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MOST_NAMES = 10_000
_MOST_FILES = 150_000
_MOST_BYTES = 8 * 1024 * 1024


class Entry(msgspec.Struct, frozen=True):
    """One file of a tree. Names that are not UTF-8 are decoded as os.fsdecode does."""

    mode: str
    blob: str
    path: str


Listing = Mapping[str, Entry]
"""All files of a tree by path, in git's order."""


class Listed(msgspec.Struct, frozen=True):
    """A tree's files, and the ids of the trees of its folders."""

    files: Listing
    folders: Mapping[str, str]


class Recall(Generic[Value]):
    """The values last asked for, up to a total weight; one that outweighs all the room there is is not kept."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._weight = 0
        self._kept: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str) -> Value | None:
        with self._lock:
            found = self._kept.get(name)
            if found is None:
                return None
            self._kept.move_to_end(name)
            return found[0]

    def put(self, name: str, value: Value, weight: int = 1) -> None:
        with self._lock:
            self._weight -= self._kept.pop(name, (None, 0))[1]
            self._kept[name] = (value, weight)
            self._weight += weight
            while self._weight > self._room:
                _, (_, lighter) = self._kept.popitem(last=False)
                self._weight -= lighter


class Objects:
    """Commits and trees by the id they were asked for, whole listings by tree, contents of small files by blob.

    `latest` is what was listed last, from which the next listing grows.
    """

    def __init__(self) -> None:
        self.commits: Recall[str] = Recall(_MOST_NAMES)
        self.trees: Recall[str] = Recall(_MOST_NAMES)
        self.listings: Recall[Listing] = Recall(_MOST_FILES)
        self.contents: Recall[bytes] = Recall(_MOST_BYTES)
        self.latest: Listed | None = None

    def know_tree(self, tree: str, *names: str) -> None:
        """Remember the tree that full ids stand for, its own included; a name that may come to mean another is not kept."""
        for name in (tree, *names):
            if _FULL_ID.fullmatch(name):
                self.trees.put(name, tree)

    def know_commit(self, commit: str, name: str) -> None:
        """Remember the commit a full id stands for."""
        if _FULL_ID.fullmatch(name):
            self.commits.put(name, commit)
