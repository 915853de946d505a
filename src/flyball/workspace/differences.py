"""What lies between two trees, line by line, by one call of git: changed lines, moved files, texts that came and went."""

import os
import re
from collections.abc import Iterator

import msgspec

from flyball.workspace.git import LONG
from flyball.workspace.vault import Vault

_HUNK = re.compile(rb"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OPTIONS = "-r -p -U0 -M --root --no-color --no-ext-diff --no-textconv --no-prefix --ignore-submodules".split()
KEPT = 2_000
"""Lines of one file that are kept as text."""
LONGEST = 2_000
MOST = 256 * 1024 * 1024


class FileDifference(msgspec.Struct, frozen=True):
    """One changed file: its spans as pairs of the first and the last line, and lines that were added or removed."""

    path: str
    was: str
    spans: tuple[tuple[int, int], ...]
    lines: tuple[str, ...]
    gone: bool = False


class _Patch:
    """One file of a patch while it is read; `left` is how many lines of the current hunk are still to come."""

    def __init__(self) -> None:
        self.was = self.path = ""
        self.spans: list[tuple[int, int]] = []
        self.lines: list[str] = []
        self._left = 0

    def take(self, line: bytes) -> None:
        if self._left > 0:
            self._left -= 1
            if len(self.lines) < KEPT:
                self.lines.append(line[1:LONGEST].decode("utf-8", "replace"))
        elif hunk := _HUNK.match(line):
            removed, first, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            self._left = removed + added
            self.spans.append((first, first + added - 1) if added else (first, first + 1))
        elif old := re.match(rb"(?:--- |rename from )(.*)", line, re.DOTALL):
            self.was = _name(old[1])
        elif new := re.match(rb"(?:\+\+\+ |rename to )(.*)", line, re.DOTALL):
            self.path = _name(new[1])

    def difference(self) -> FileDifference:
        gone = self.path == "/dev/null"
        path = self.was if gone else self.path
        moved = "" if self.was in ("/dev/null", path) else self.was
        return FileDifference(path, moved, tuple(self.spans), tuple(self.lines), gone)


def differences(vault: Vault, old: str, new: str) -> tuple[FileDifference, ...]:
    """Every changed file of text; where lines were only deleted the lines around the gap count as changed."""
    raw = vault.git().out("diff-tree", *_OPTIONS, old, new, timeout=LONG)
    return tuple(_read(raw[:MOST]))


def _read(raw: bytes) -> Iterator[FileDifference]:
    patch = _Patch()
    for line in raw.split(b"\n"):
        # A line of content has a sign before it, so this can only be the head of a file.
        if line.startswith(b"diff --git "):
            if patch.path:
                yield patch.difference()
            patch = _Patch()
        patch.take(line)
    if patch.path:
        yield patch.difference()


def _name(raw: bytes) -> str:
    text = raw.rstrip(b"\t").removesuffix(b"\r")
    if text[:1] == b'"':
        text = text[1:-1].decode("unicode_escape").encode("latin-1")
    return os.fsdecode(text)
