"""What is kept of one attempt at a turn: prompt, raw output, report and how it ended, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from flyball import faults
from flyball.agents.dialect import PROMPT_FILE
from flyball.core.claims.report_object import MAX_REPORT_BYTES
from flyball.core.text.hiding import hide
from flyball.ports import Refusal
from flyball.process import Exit

SHARED = "shared"
REPORT_FILE = "report.json"
HIDDEN_AT_ONCE = 1024 * 1024
LONGEST_SPLIT = 4096
"""Letters in which a value that goes over line ends is looked for."""


class TranscriptExists(Refusal):
    """The folder of an attempt is already in use; nothing was written."""


class Transcript(msgspec.Struct, frozen=True):
    """One attempt's folder; of it the program can write only to `shared`, which is emptied into it and removed."""

    folder: Path
    prompt: bytes

    @classmethod
    def begin(cls, folder: Path, prompt: str, files: Mapping[str, bytes]) -> Transcript:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise TranscriptExists(f"{folder} holds an earlier attempt; each attempt needs a new folder")
        begun = cls(folder.resolve(), prompt.encode("utf-8", "replace"))
        faults.point("transcript.begin.before")
        begun.shared.mkdir()
        for name, content in {begun.prompt_file.name: begun.prompt, **files}.items():
            (begun.shared / name).write_bytes(content)
        (begun.folder / PROMPT_FILE).write_bytes(begun.prompt)
        faults.point("transcript.begin.after")
        return begun

    @property
    def shared(self) -> Path:
        return self.folder / SHARED

    @property
    def prompt_file(self) -> Path:
        return self.shared / PROMPT_FILE

    @property
    def report_file(self) -> Path:
        return self.shared / REPORT_FILE

    @property
    def stdout(self) -> Path:
        return self.folder / "stdout"

    @property
    def stderr(self) -> Path:
        return self.folder / "stderr"

    def take_report(self) -> tuple[bytes | None, str]:
        """Move the report out of the program's reach and read it; says why it cannot be read if it is no plain file."""
        kept = self.folder / REPORT_FILE
        try:
            faults.point("transcript.report.before")
            self._move(kept)
            faults.point("transcript.report.after")
            with kept.open("rb") as file:
                report = file.read(MAX_REPORT_BYTES + 1)
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            return None, f"the report file cannot be read: {error.strerror or error}"
        finally:
            with suppress(OSError):
                self.shared.unlink() if self.shared.is_symlink() else shutil.rmtree(self.shared)
        return report, ""

    def _move(self, kept: Path) -> None:
        """Without a sandbox the program may have put links anywhere; none is followed."""
        shared = os.open(self.shared, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            status = os.stat(self.report_file.name, dir_fd=shared, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(None, "it is not a plain file")
            os.rename(self.report_file.name, kept, src_dir_fd=shared)
        finally:
            os.close(shared)
        kept.chmod(0o600)

    def hide(self, secrets: tuple[str, ...]) -> None:
        for path in (self.stdout, self.stderr, self.folder / REPORT_FILE):
            if secrets and path.is_file() and not path.is_symlink():
                fresh = path.with_name(f"{path.name}.hidden")
                with path.open("rb") as old, fresh.open("wb") as new:
                    changed = _copy_hidden(old, new, secrets)
                if not changed:
                    fresh.unlink()
                    continue
                fresh.chmod(0o600)
                fresh.replace(path)

    def close(self, *, argv: Sequence[str], cwd: Path, end: Exit, begun_at: datetime, ended_at: datetime) -> None:
        record = {
            "argv": list(argv),
            "cwd": str(cwd),
            "begun_at": begun_at,
            "ended_at": ended_at,
            "seconds": round(end.seconds, 3),
            "exit_code": end.code,
            "signal": end.signal,
            "ended_by": end.ended_by,
            "detail": end.detail,
            "stdout_bytes": end.stdout_bytes,
            "stderr_bytes": end.stderr_bytes,
            "stray_processes": end.strays,
        }
        for path in (self.stdout, self.stderr):
            path.touch(mode=0o600)
        faults.point("transcript.close.before")
        (self.folder / "turn.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)) + b"\n")
        faults.point("transcript.close.after")


def _copy_hidden(old: BinaryIO, new: BinaryIO, secrets: tuple[str, ...]) -> bool:
    """Copy a file without secrets, some lines at a time; the last ones are looked at with the next, for a value may go on there."""
    held, changed = "", False
    while lines := old.readlines(HIDDEN_AT_ONCE):
        read = held + b"".join(lines).decode("utf-8", "surrogateescape")
        text = hide(read, secrets)
        changed = changed or text != read
        keep = text.rfind("\n", 0, max(0, len(text) - LONGEST_SPLIT)) + 1
        new.write(text[:keep].encode("utf-8", "surrogateescape"))
        held = text[keep:]
    new.write(held.encode("utf-8", "surrogateescape"))
    return changed
