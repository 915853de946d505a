"""`flyball logs`: what happened, line by line, and what was said in a turn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.arguments import Task
from flyball.cli.exits import told
from flyball.cli.output import put, put_json

if TYPE_CHECKING:
    from flyball.core.events import Event
    from flyball.core.state import State
    from flyball.core.task import TaskId
    from flyball.wiring.site import Site

POLL_S = 0.3
_PIECE = 64 * 1024
_END = 64 * 1024
"""Bytes of each file that `--json` shows; the path leads to the rest."""


def logs(
    task: Task,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the task is finished.")] = False,
    turn: Annotated[int | None, typer.Option(help="Show what was said in this turn instead.", min=1)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON event a line.")] = False,
) -> None:
    """Show what happened in a task, one line for each event."""
    from flyball.cli.choosing import chosen
    from flyball.projections.lines import json_line, line
    from flyball.wiring.site import Site

    with told():
        site = Site.find(Path.cwd())
        found = chosen(site, task)
        if turn is not None and as_json:
            put_json({"task": found, "turn": turn, "files": kept(site, found, turn)})
            return
        if turn is not None:
            for text in transcript(site, found, turn):
                put(text)
            return
        for event, state in _events(site, found, follow=follow):
            shown = json_line(event).decode() if as_json else line(event, state)
            if shown is not None:
                put(shown if as_json else f"{event.at:%H:%M:%S} {shown}")


def _events(site: Site, task: TaskId, *, follow: bool) -> Iterator[tuple[Event, State]]:
    """Events with the state after each; following ends with the task."""
    from flyball.core.evolve import evolve

    state: State | None = None
    while True:
        for event in site.journal.read(task, state.seq if state else 0):
            state = evolve(state, event)
            yield event, state
        if not follow or (
            state is not None and state.stopped is not None and state.stopped.kind in {"done", "aborted"}
        ):
            return
        time.sleep(POLL_S)


def transcript(site: Site, task: TaskId, turn: int) -> Iterator[str]:
    """Everything kept of a turn's last attempt, safe for any screen."""
    for name, path in _files(site, task, turn).items():
        yield f"===== turn {turn}, {name} ({path})"
        yield from _scrubbed(path)


def kept(site: Site, task: TaskId, turn: int) -> dict[str, dict[str, str]]:
    """The same as data: each file's path, and the end of what it holds."""
    from flyball.core.text import decode

    files = {}
    for name, path in _files(site, task, turn).items():
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END))
            files[name] = {"path": str(path), "end": decode(file.read())}
    return files


def _files(site: Site, task: TaskId, turn: int) -> dict[str, Path]:
    from flyball.ports import Refusal

    attempts = sorted(site.home.turns(task).glob(f"{turn:04d}-*"), key=lambda p: int(p.name.rpartition("-")[2]))
    if not attempts:
        turns = site.state(task).turns
        raise Refusal(f"{task} has no transcript of turn {turn}; it has had {turns} turns. See: flyball logs {task}")
    paths = {name: attempts[-1] / name for name in ("prompt.md", "stdout", "stderr", "report.json")}
    return {name: path for name, path in paths.items() if path.is_file() and path.stat().st_size}


def _scrubbed(path: Path) -> Iterator[str]:
    from flyball.core.text import decode, scrub

    with path.open("rb") as file:
        while piece := file.readline(_PIECE):
            yield scrub(decode(piece)).rstrip("\n")
