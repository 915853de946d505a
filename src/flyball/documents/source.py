"""Reads the document a task starts from (PRP, PRD, plan): what it asks for, and a hash that tells it from any other."""

import hashlib
import os
import stat
from pathlib import Path

import msgspec

from flyball.core.model.task import Item, Source
from flyball.core.text import criteria
from flyball.documents.errors import DocumentError

MAX_BYTES = 2 * 1024 * 1024


class SourceDocument(msgspec.Struct, frozen=True):
    """A document as it was when it was read; `source` is what a task keeps of it. A `living` one is meant to change.

    `notes` are what a person should know of it before it is worked.
    """

    source: Source
    text: str
    title: str
    request: str
    items: tuple[Item, ...] = ()
    living: bool = False
    notes: tuple[str, ...] = ()

    def differs_from(self, known: Source) -> bool:
        """Whether a task opened from `known` was opened from another content."""
        return not self.living and self.source.sha256 != known.sha256


def read_source(path: Path, root: Path) -> SourceDocument:
    """The document at `path`; its place is remembered relative to `root` where it lies below."""
    raw = read_bytes(path)
    text = read_text(path, raw)
    title = criteria.title(text)
    if not title:
        raise DocumentError(f"{path} is empty; expected a document that says what is wanted.")
    goal = criteria.goal(text)
    items = (Item(c.id, c.text, status="completed" if c.done else "not-started") for c in criteria.criteria(text))
    return SourceDocument(
        source=Source(place_below(path, root), hashlib.sha256(raw).hexdigest()),
        text=text,
        title=title,
        request=f"{title}\n\n{goal}" if goal and goal != title else title,
        items=tuple(items),
    )


def place_below(path: Path, root: Path) -> str:
    """Where a path lies from `root`; the whole path of one that lies elsewhere."""
    real, base = path.resolve(), root.resolve()
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else str(real)


def read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise DocumentError(f"{path} is a folder; expected a document, such as {path / 'plan.md'}.")
    try:
        # A named pipe without a writer would keep a plain open waiting for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise DocumentError(f"There is no file {path}; expected the document to start from.") from error
    except OSError as error:
        raise DocumentError(f"{path} cannot be read ({error.strerror}); expected a text file.") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DocumentError(f"{path} is not a regular file; expected a text file.")
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise DocumentError(
            f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB; expected a document a person wrote."
        )
    return raw


def read_text(path: Path, raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError(f"{path} is UTF-16; expected UTF-8. Save it as UTF-8 and try again.")
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise DocumentError(f"{path}, line {line}: a binary file; expected text in UTF-8.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The error knows the bytes without their byte order mark.
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise DocumentError(f"{path}, line {line}: byte {byte:#04x} is not UTF-8; expected text in UTF-8.") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise DocumentError(f"{path} is empty; expected a document that says what is wanted.")
    return text
