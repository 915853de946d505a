"""Writes exported files into a folder of the user's, and never over what somebody else wrote or changed there.

A manifest beside the files holds the hash of each as it was written. A file that is there and not as the manifest says
belongs to the user: then nothing at all is written, unless that was asked for.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from flyball.core.text.quantities import first_few
from flyball.documents import open_folder
from flyball.documents.errors import DocumentError


class Written(msgspec.Struct, frozen=True):
    folder: str
    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


def write_exported(folder: Path, files: Mapping[str, str], *, manifest: str, force: bool = False) -> Written:
    """Make the files hold their texts; all of them or, where one belongs to somebody else, none."""
    known = _read_manifest(folder / manifest)
    foreign = [name for name, text in files.items() if not _is_ours(folder / name, text, known.get(name, ""))]
    if foreign and not force:
        raise DocumentError(
            f"{first_few(foreign)} in {folder}: not written by flyball export, or changed since; nothing was "
            "written. Move that away, or write over it with: --force"
        )
    stale = tuple(name for name, text in files.items() if _content(folder / name) != text.encode())
    try:
        for name in stale:
            _replace(folder / name, files[name].encode())
        hashes = {**known, **{name: _hash(text.encode()) for name, text in files.items()}}
        raw = msgspec.json.format(msgspec.json.encode(hashes, order="sorted"), indent=2) + b"\n"
        _replace(folder / manifest, raw)
    except OSError as error:
        raise DocumentError(
            f"{error.filename or folder} could not be written ({error.strerror}). Make the folder writable, or choose another "
            "with: --to DIR"
        ) from error
    return Written(str(folder), stale, tuple(name for name in files if name not in stale))


def _is_ours(path: Path, text: str, known: str) -> bool:
    """Whether a file may be replaced: it is not there, is as wanted already, or is as it was last written."""
    if not os.path.lexists(path):
        return True
    content = _content(path)
    return content is not None and (content == text.encode() or _hash(content) == known)


def _content(path: Path) -> bytes | None:
    """What a plain file holds; a link or a folder in its place holds nothing of ours."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return path.read_bytes()
    except OSError:
        return None


def _read_manifest(manifest: Path) -> dict[str, str]:
    """The hashes of what was written last; from a manifest that cannot be read nothing is known to be ours."""
    try:
        return msgspec.json.decode(_content(manifest) or b"{}", type=dict[str, str])
    except msgspec.DecodeError:
        return {}


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _replace(path: Path, raw: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        open_folder.replace(folder, path.name, raw, lambda _found: True)
    finally:
        os.close(folder)
