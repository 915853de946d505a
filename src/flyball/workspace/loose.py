"""Single objects of flyball's own store, read and written in git's format: a git started for each would cost more than the work."""

import hashlib
import os
import tempfile
import zlib
from pathlib import Path

_FAST = 1  # git's own choice for objects it may pack later


def read(objects: Path, name: str) -> tuple[str, bytes] | None:
    """The kind and content of an object that lies unpacked in this store under its full id; None where git must be asked."""
    try:
        raw = zlib.decompress((objects / name[:2] / name[2:]).read_bytes())
    except (OSError, zlib.error):
        return None
    head, _, content = raw.partition(b"\0")
    kind, _, size = head.partition(b" ")
    return (kind.decode("ascii", "replace"), content) if size == b"%d" % len(content) else None


def write(objects: Path, object_format: str, kind: str, content: bytes) -> str:
    """Keep an object, on disk when this returns as git itself would have it; gives back its id."""
    raw = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.new(object_format, raw, usedforsecurity=False).hexdigest()
    folder = objects / name[:2]
    if (folder / name[2:]).exists():
        return name
    folder.mkdir(exist_ok=True)
    # Git's own name for unfinished objects: its gc takes away what a kill leaves.
    descriptor, fresh = tempfile.mkstemp(prefix="tmp_obj_", dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(zlib.compress(raw, _FAST))
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), 0o444)
    Path(fresh).replace(folder / name[2:])
    return name
