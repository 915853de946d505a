"""Lays a tree out over the user's own files: each is exchanged for its new content, and what came out is looked at.

What comes out and is what was saved goes. Whatever else it is, somebody wrote it in the last instant or git never saw it:
it is written into the vault, or put beside its place where the vault cannot hold it. All of it waits in a folder of the tree
until a checkpoint holds it, so that a kill loses nothing either.
"""

import itertools
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from flyball import faults
from flyball.folders import walk
from flyball.swap import exchange, put_if_free, settle
from flyball.workspace.files import folders_above, remove
from flyball.workspace.git import LONG, TreeEntry, join_records, quote_path
from flyball.workspace.in_place.modes import Modes
from flyball.workspace.repository import GITLINK, LINK
from flyball.workspace.trees import Listing
from flyball.workspace.vault import Vault

_FRESH, _NEW, _OLD = "fresh", "new", "old"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OWN = 0o700


class Laying:
    """One change of the user's tree; `hold` is a folder on the same disk. `saved` is what came out and was in no checkpoint."""

    def __init__(self, vault: Vault, root: Path, hold: Path, modes: Modes) -> None:
        self.saved: list[TreeEntry] = []
        self.notes: list[str] = []
        self._vault = vault
        self._root = root
        self._hold = hold
        self._modes = modes
        self._taken = itertools.count(1)
        self._reset: dict[Path, int] = {}
        self._came_out: list[tuple[Path, str, TreeEntry | None]] = []

    def recover(self) -> None:
        """Save what a killed attempt had taken out; what the vault holds already was saved before."""
        found = {
            file: "/".join(file.relative_to(self._hold / part).parts[depth:])
            for part, depth in ((_NEW, 0), (_OLD, 1))
            for file in _files(self._hold / part)
        }
        blobs = self._blobs(found)
        asked = "".join(f"{blob}\n" for blob in blobs.values()).encode()
        said = self._vault.git().out("cat-file", "--batch-check", input=asked).splitlines() if asked else []
        held = {file for file, line in zip(blobs, said, strict=True) if not line.endswith(b" missing")}
        for file, path in found.items():
            if file not in held:
                self._rescue(file, path)

    def lay(self, now: Listing, target: Listing, tree: str, left_out: Collection[str]) -> None:
        """Make files that are as `now` says what `target`, listed from `tree`, says; those left out are not to be there."""
        self._begin()
        differing = [path for path in {**now, **target} if now.get(path) != target.get(path)]
        wanted = [path for path in differing if path in target and path not in left_out]
        self._write(tree, [path for path in wanted if target[path].mode != GITLINK])
        faults.point("restore.files.inside")
        gone = [path for path in differing if path not in wanted]
        for path in gone:
            self._take(path, now.get(path))
        for path in wanted:
            self._put(path, now.get(path), target[path], now)
        self._look()
        for path in gone:
            self._close_up(path)
        for folder, mode in reversed(self._reset.items()):
            folder.chmod(mode)

    def end(self) -> None:
        """Forget what was taken out, now that a checkpoint holds it."""
        remove(self._hold)

    def _begin(self) -> None:
        remove(self._hold)
        for above in reversed([path for path in self._hold.parents if path.is_relative_to(self._root)][:-1]):
            # An agent may have put a link where flyball's own folder belongs.
            if above.is_symlink() or not above.is_dir():
                remove(above)
            above.mkdir(exist_ok=True)
        self._hold.mkdir(mode=_OWN)

    def _write(self, tree: str, paths: list[str]) -> None:
        """Have git write the new files, all of them, before the first is put in place."""
        fresh = self._hold / _FRESH
        fresh.mkdir()
        if paths:
            git = self._vault.git(fresh, self._hold / "index")
            git.out("read-tree", tree)
            git.out("checkout-index", "-z", "--stdin", "--quiet", input=join_records(paths), timeout=LONG)
        fresh.rename(self._hold / _NEW)

    def _take(self, path: str, known: TreeEntry | None) -> None:
        """Take away what is at a path, whatever that is."""
        place = self._root / path
        is_beyond_link = any((self._root / above).is_symlink() for above in folders_above(path))
        if not os.path.lexists(place) or is_beyond_link or (known and known.mode == GITLINK):
            return
        self._open_up(place.parent)
        out = self._hold / _OLD / str(next(self._taken)) / path
        out.parent.mkdir(parents=True)
        try:
            place.rename(out)
        except FileNotFoundError:
            return
        self._came_out.append((out, path, known))

    def _put(self, path: str, known: TreeEntry | None, entry: TreeEntry, now: Listing) -> None:
        for above in reversed(list(folders_above(path))):
            self._need_folder(above, now)
        place, fresh = self._root / path, self._hold / _NEW / path
        self._open_up(place.parent)
        if entry.mode == GITLINK:
            if place.is_symlink() or not place.is_dir():
                self._take(path, known)
            place.mkdir(exist_ok=True)
            return
        if entry.mode != LINK:
            self._modes.apply(fresh, place, path, entry.mode)
        if exchange(str(fresh), str(place)):
            self._came_out.append((fresh, path, known))

    def _need_folder(self, path: str, now: Listing) -> None:
        place = self._root / path
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            self._take(path, now.get(path))
        if not place.is_dir():
            self._open_up(place.parent)
            place.mkdir()
            if path in self._modes.known:
                place.chmod(self._modes.known[path] | _OWN)
                self._reset.setdefault(place, self._modes.known[path])

    def _open_up(self, folder: Path) -> None:
        """Let files of a folder be exchanged that forbids it, until all are."""
        mode = stat.S_IMODE(folder.stat().st_mode)
        if mode & _OWN != _OWN:
            self._reset.setdefault(folder, mode)
            folder.chmod(mode | _OWN)

    def _close_up(self, path: str) -> None:
        """Remove the folders that the loss of a file has left empty, as git does."""
        for above in folders_above(path):
            folder = self._root / above
            if folder.is_symlink():
                return
            try:
                folder.rmdir()
            except OSError:
                return
            self._reset.pop(folder, None)

    def _look(self) -> None:
        """Let go of what came out and is what was saved; save the rest."""
        blobs = self._blobs(out for out, _, known in self._came_out if known is not None)
        for out, path, known in self._came_out:
            if known is not None and blobs.get(out) == known.blob and out.is_symlink() == (known.mode == LINK):
                remove(out)
            else:
                self._rescue(out, path)
        self._came_out.clear()

    def _rescue(self, out: Path, path: str) -> None:
        """Save what came out of a path; what cannot be saved is put beside it."""
        found = list(_files(out))
        if any(
            file.name == ".git" or ".git" in file.relative_to(out).parts or not _is_readable(file) for file in found
        ):
            self._put_beside(out, path)
            return
        for file, blob in self._blobs(found, "-w").items():
            below = "" if file == out else f"/{file.relative_to(out)}"
            mode = file.lstat().st_mode
            own = LINK if stat.S_ISLNK(mode) else "100755" if mode & stat.S_IXUSR else "100644"
            self.saved.append(TreeEntry(own, blob, path + below))

    def _put_beside(self, out: Path, path: str) -> None:
        place = self._root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        names = (place.with_name(f"{place.name}.edited-{number}") for number in itertools.count(1))
        beside = next(name for name in names if not os.path.lexists(name) and put_if_free(str(out), str(name)))
        self.notes.append(f"{path} was in the way and cannot be saved: it is {beside.relative_to(self._root)} now.")

    def _blobs(self, files: Iterable[Path], *options: str) -> dict[Path, str]:
        """The ids git gives to files, once whoever writes them has finished, and to links; what is neither has none."""
        git, found, regular = self._vault.git(), {}, []
        for file in files:
            if file.is_symlink():
                found[file] = git.line("hash-object", *options, "--stdin", input=os.fsencode(file.readlink()))
            elif _is_readable(file):
                descriptor = os.open(file, _READ)
                try:
                    settle(descriptor)
                finally:
                    os.close(descriptor)
                regular.append(file)
        if regular:
            names = "".join(f"{quote_path(file)}\n" for file in regular).encode()
            ids = git.out("hash-object", *options, "--no-filters", "--stdin-paths", input=names, timeout=LONG).decode()
            found |= zip(regular, ids.split(), strict=True)
        return found


def _files(place: Path) -> Iterator[Path]:
    """Whatever is at a path, or in the folder there, that is no folder itself."""
    if not os.path.lexists(place):
        return
    if place.is_symlink() or not place.is_dir():
        yield place
        return
    for above, folders, names in walk(place):
        links = [name for name in folders if Path(above, name).is_symlink()]
        yield from (Path(above, name) for name in (*names, *links))


def _is_readable(file: Path) -> bool:
    mode = file.lstat().st_mode
    return stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and os.access(file, os.R_OK))
