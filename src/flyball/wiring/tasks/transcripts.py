"""What was kept of a turn, as its agent's dialect tells it to a person."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from flyball.agents.dialects.table import DIALECTS, speaking_acp
from flyball.agents.display.display import Show, Shown, log_lines
from flyball.agents.reading.jsonl import as_event
from flyball.core.model.task import Task, TaskId
from flyball.core.text.scrubbing import decode
from flyball.wiring.site import Site

LONGEST_LINE = 1024 * 1024
"""A longer line is read in parts of this size."""

STDOUT = "stdout"
PAGE = 192 * 1024
"""Bytes of a transcript that a page reads at once."""
FILES = ("prompt.md", STDOUT, "stderr", "report.json")


class Page(msgspec.Struct, frozen=True):
    """A part of a turn's output: what it says, from where to where, and of how much."""

    shown: tuple[Shown, ...]
    start: int
    end: int
    size: int


class Bytes(msgspec.Struct, frozen=True):
    """A part of a kept file as it is."""

    name: str
    text: str
    start: int
    end: int
    size: int


def last_attempt(site: Site, task: TaskId, turn: int) -> dict[str, Path]:
    """Where everything of a turn's last attempt is kept, there or not, by name; nothing for a turn that has left no folder."""
    attempts = site.home.turns(task).glob(f"{turn:04d}-*")
    folder = max(attempts, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    return {name: folder / name for name in FILES} if folder is not None else {}


def kept_files(site: Site, task: TaskId, turn: int) -> dict[str, Path]:
    """What was kept of a turn's last attempt, by name; a turn is a number, so no name leads anywhere else."""
    paths = last_attempt(site, task, turn)
    return {name: path for name, path in paths.items() if path.is_file() and not path.is_symlink()}


def read_page(task: Task, agent: str, path: Path, at: int) -> Page:
    """What a program said from a place on, in whole lines; a file of any size costs one page."""
    show = _show(task, agent)
    size = path.stat().st_size
    shown: list[Shown] = []
    with path.open("rb") as file:
        start = _line_start(file, min(max(0, at), size))
        file.seek(start)
        while file.tell() - start < PAGE and (line := file.readline(LONGEST_LINE)):
            shown += _show_line(line, show)
        return Page(tuple(shown), start, file.tell(), size)


def read_bytes(path: Path, at: int) -> Bytes:
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(min(max(0, at), size))
        data = file.read(PAGE)
        return Bytes(path.name, decode(data), file.tell() - len(data), file.tell(), size)


def _show_line(line: bytes, show: Show | None) -> Sequence[Shown]:
    event = as_event(line) if show else None
    if event is None or show is None:
        text = decode(line.rstrip(b"\r\n"))
        return (Shown("text", text),) if text.strip() else ()
    return show(event)


def _line_start(file: BinaryIO, at: int) -> int:
    if not at:
        return 0
    file.seek(at - 1)
    file.readline(LONGEST_LINE)
    return file.tell()


def display_lines(task: Task, agent: str, path: Path) -> Iterator[str]:
    """A kept file's lines, safe for any screen; of events an agent's program printed, what they say."""
    return log_lines(path, _show(task, agent) if path.name == STDOUT else None)


def _show(task: Task, agent: str) -> Show | None:
    spec = next((spec for spec in task.agents if spec.name == agent), None)
    if spec is None:
        return None
    if spec.type == "acp":
        return speaking_acp(spec.command).show
    return DIALECTS[spec.type].show if spec.type in DIALECTS else None
