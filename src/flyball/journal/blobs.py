"""Big texts as files named by their hash: written whole or not at all, and checked when read."""

import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

from flyball import faults
from flyball.folders import make_directory, sync_directory
from flyball.journal.errors import BlobUnwritable, JournalError


class FileBlobs(msgspec.Struct, frozen=True):
    """A folder of texts, spread over 256 folders so that none grows too long; more would each have to reach the disk."""

    directory: Path

    def put(self, data: bytes) -> str:
        """Keep a text and give back its name; a text that is kept already is kept once, a damaged one is replaced."""
        ref = hashlib.sha256(data).hexdigest()
        path = self._path(ref)
        try:
            if not (path.exists() and path.read_bytes() == data):
                make_directory(self.directory)
                path.parent.mkdir(mode=0o700, exist_ok=True)
                _write(path, data)
            # After all was made, whoever made it: the name of the folder may be another thread's, and not durable yet.
            for folder in path.parents[:2]:
                sync_directory(folder)
        except OSError as error:
            raise BlobUnwritable(
                f"A text of {len(data)} bytes could not be kept in {self.directory} ({error.strerror}). "
                "Free some space, or make the folder writable, and try again."
            ) from error
        return ref

    def get(self, ref: str) -> bytes:
        path = self._path(ref)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise JournalError(
                f"The text {ref} is not in {self.directory}. Restore the folder from a backup."
            ) from error
        if hashlib.sha256(data).hexdigest() != ref:
            raise JournalError(
                f"The text {path} is damaged: its content does not match its name. Nothing was changed. "
                "Restore it from a backup."
            )
        return data

    def _path(self, ref: str) -> Path:
        return self.directory / ref[:2] / ref


def _write(path: Path, data: bytes) -> None:
    """Put a text in place in one step; one that a kill or damage left there is replaced."""
    faults.point("blob.put.before")
    descriptor, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        faults.point("blob.put.inside")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    faults.point("blob.put.after")
