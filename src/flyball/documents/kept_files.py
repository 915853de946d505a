"""Files that belong to the user: read without following links, replaced whole, durably, and only if nobody changed them.

Agents can plant symbolic links, so every folder below the root and every file is opened without following one.
"""

import errno
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from flyball import faults
from flyball.documents import open_folder
from flyball.documents.errors import DocumentError, WorkFolderUnusable

MAX_BYTES = 64 * 1024 * 1024
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BEING_PUT = ".flyball-new"
"""How the names end of files on their way into their place."""


class KeptFolder:
    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    @contextmanager
    def below(cls, root: str | os.PathLike[str], *names: str) -> Iterator["KeptFolder"]:
        """The folder below `root`, through no symbolic link."""
        path = os.fspath(root)
        wanted = "/".join((path, *names))
        descriptor = _open_folder(path, path, None, wanted)
        try:
            for name in names:
                path = f"{path}/{name}"
                inner = _open_folder(path, name, descriptor, wanted)
                os.close(descriptor)
                descriptor = inner
            yield cls(path, descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def within(self, name: str) -> Iterator["KeptFolder"]:
        path = f"{self.path}/{name}"
        inner = _open_folder(path, name, self._descriptor, path)
        try:
            yield KeptFolder(path, inner)
        finally:
            os.close(inner)

    def names(self) -> list[str]:
        return sorted(os.listdir(self._descriptor))  # noqa: PTH208 - an open folder has no path of its own

    def paths(self) -> list[str]:
        """Every file below, from here, in folders that are not hidden; a link to a folder is not followed and ends in `/`."""
        found: list[str] = []
        with os.scandir(self._descriptor) as entries:
            there = sorted(entries, key=lambda entry: entry.name)
        for entry in there:
            if not entry.is_dir():
                found.append(entry.name)
            elif entry.is_symlink():
                found.append(f"{entry.name}/")
            elif not entry.name.startswith("."):
                with self.within(entry.name) as inner:
                    found += (f"{entry.name}/{path}" for path in inner.paths())
        return found

    def read(self, name: str) -> bytes | None:
        folder, slash, rest = name.partition("/")
        if slash:
            with self.within(folder) as inner:
                return inner.read(rest)
        try:
            descriptor = os.open(name, _READ, dir_fd=self._descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(name, error) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise WorkFolderUnusable(f"{self.path}/{name} is not a regular file; expected a text file. Move it away.")
        with os.fdopen(descriptor, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise WorkFolderUnusable(
                f"{self.path}/{name} is larger than {MAX_BYTES // 1024 // 1024} MiB; expected a text a person can read. Split it, or move it away."
            )
        return raw

    def edit(self, name: str, change: Callable[[bytes | None], bytes | None]) -> bool:
        """Replace a file by what `change` makes of it, anew when somebody wrote meanwhile; None leaves it as it is."""
        folder, slash, rest = name.partition("/")
        if slash:
            with self.within(folder) as inner:
                return inner.edit(rest, change)
        self.clear()
        while True:
            before = self.read(name)
            after = change(before)
            if after is None or after == before:
                return False
            if self._replace(name, before, after):
                return True

    def move(self, name: str, to: str) -> None:
        try:
            os.rename(name, to, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._unusable(name, error) from error
        faults.point("work.move.after")

    def free_name(self, name: str) -> str:
        """The name, or with `-2`, `-3` … after it, the first that no entry has."""
        taken = set(self.names())
        names = itertools.chain((name,), (f"{name}-{number}" for number in itertools.count(2)))
        return next(each for each in names if each not in taken)

    def _replace(self, name: str, before: bytes | None, after: bytes) -> bool:
        """Put a new file in the place of one that still is what was read."""
        fresh = f".{name}{_BEING_PUT}"
        try:
            faults.point("work.write.before")
            open_folder.write_beside(self._descriptor, fresh, name, after, durable=True)
            faults.point("work.write.inside")
            if self.read(name) != before:
                os.unlink(fresh, dir_fd=self._descriptor)
                return False
            os.rename(fresh, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
            os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=self._descriptor)
            raise self._unusable(name, error) from error
        faults.point("work.write.after")
        return True

    def clear(self) -> None:
        for left in [each for each in self.names() if each.startswith(".") and each.endswith(_BEING_PUT)]:
            try:
                os.unlink(left, dir_fd=self._descriptor)
            except OSError as error:
                raise self._unusable(left, error) from error

    def _unusable(self, name: str, error: OSError) -> WorkFolderUnusable:
        linked = error.errno == errno.ELOOP
        expected = "a file of its own, not a link" if linked else "a file and a folder you may read and write"
        return WorkFolderUnusable(
            f"{self.path}/{name} cannot be read or written ({error.strerror}); expected {expected}."
        )


def _open_folder(path: str, name: str, folder: int | None, wanted: str) -> int:
    try:
        # The root is the user's own choice and may be a link; what is below it may not.
        flags = _DIRECTORY if folder is not None else _DIRECTORY & ~os.O_NOFOLLOW
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError as error:
        raise DocumentError(f"There is no folder {path}; expected the folder {wanted}.") from error
    except OSError as error:
        raise WorkFolderUnusable(f"{path} is not a plain folder ({error.strerror}); expected a folder.") from error
