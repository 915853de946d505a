"""`flyball logs`: what happened, line by line, and what was said in a turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.numbers import whole_number
from flyball.cli.support.output import put, put_bytes, put_error_bytes, put_json, time_of_day
from flyball.core.model.effects import Recall, RunAgent
from flyball.core.model.events import Begun, Ended, Event
from flyball.core.model.outcomes import Recalled, RecalledLearning, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Refusal

if TYPE_CHECKING:
    from flyball.wiring.site import Site

POLL_S = 0.3
_PIECE = 64 * 1024
_END = 64 * 1024
"""Bytes of each file that `--json` shows; the path leads to the rest."""


def logs(
    task: MaybeTask = "",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep printing until the task is finished. Default: no.")
    ] = False,
    turn: Annotated[
        int | None, whole_number("Show this turn's prompt and output instead. Default: every event.")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="With --turn: print the program's own output byte for byte, and its errors on standard error. Default: print it as readable lines.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON event per line. Default: text.")] = False,
) -> None:
    """Show what happened in a task, one line for each event."""
    from flyball.cli.support.choosing import task_here
    from flyball.projections.views.lines import json_line, line

    with exit_on_refusal():
        site, found = task_here(task)
        if turn is not None:
            _show_turn(site, found, turn, as_json=as_json, raw=raw)
            return
        if raw:
            raise Refusal("--raw needs the number of a turn: flyball logs --turn N --raw")
        for event, state in _events(site, found, follow=follow):
            shown = json_line(event).decode() if as_json else line(event, state)
            if shown is not None:
                put(shown if as_json else f"{time_of_day(event.at)} {shown}")


def _events(site: Site, task: TaskId, *, follow: bool) -> Iterator[tuple[Event, State]]:
    """Events with the state after each; following ends with the task."""
    from flyball.core.fold.evolve import evolve
    from flyball.projections.views.standing import final_stop

    state: State | None = None
    while True:
        for event in site.journal.read(task, state.seq if state else 0):
            state = evolve(state, event)
            yield event, state
        if not follow or (state is not None and final_stop(state) is not None):
            return
        time.sleep(POLL_S)


def _show_turn(site: Site, task: TaskId, turn: int, *, as_json: bool, raw: bool) -> None:
    if as_json:
        _, _, session = _of_turn(site, task, turn)
        learnings = _given_to(site, task, turn)
        files = _file_ends(site, task, turn)
        put_json({"task": task, "turn": turn, "session": session, "learnings": learnings, "files": files})
    elif raw:
        paths = _files(site, task, turn)
        for name, write in (("stdout", put_bytes), ("stderr", put_error_bytes)):
            if name in paths:
                with paths[name].open("rb") as file:
                    while piece := file.read(_PIECE):
                        write(piece)
    else:
        for text in _transcript(site, task, turn):
            put(text)


def _transcript(site: Site, task: TaskId, turn: int) -> Iterator[str]:
    """Everything kept of a turn's last attempt, safe for any screen, and how it ended."""
    from flyball.wiring.tasks.transcripts import display_lines

    files = _files(site, task, turn)
    hide = _hiding(site, task)
    agent, ended, session = _of_turn(site, task, turn)
    if session:
        yield f"===== turn {turn}, session {session} of {agent}"
    given = _given_to(site, task, turn)
    if given:
        yield f"===== turn {turn}, learnings it was given"
        yield from (f"{each.id} {each.title} ({each.why})" for each in given)
    for name, path in files.items():
        yield f"===== turn {turn}, {name} ({path})"
        yield from map(hide, display_lines(site.state(task).task, agent, path))
    if ended:
        yield f"===== {' '.join(ended.split())}"


def _hiding(site: Site, task: TaskId) -> Callable[[str], str]:
    """Takes secrets out of a text; those of a turn that has ended are gone from its files, those of one under way are not."""
    from flyball.config.home import environment
    from flyball.core.text.hiding import hide
    from flyball.wiring.run.agents import known_secrets

    secrets = known_secrets(site.state(task).task, environment(), site.repository.root)
    return lambda text: hide(text, secrets)


def _given_to(site: Site, task: TaskId, turn: int) -> tuple[RecalledLearning, ...]:
    lanes: dict[str, str] = {}
    known: dict[str, tuple[RecalledLearning, ...]] = {}
    given: tuple[RecalledLearning, ...] = ()
    for event in site.journal.read(task):
        match event.fact:
            case Begun(effect=Recall() as recall):
                lanes[recall.id] = recall.lane
            case Ended(id=id_, outcome=Recalled() as recalled):
                known[lanes.get(id_, "")] = recalled.learnings
            case Begun(effect=RunAgent() as begun) if begun.turn == turn:
                given = tuple(each for each in known.get(begun.lane, ()) if each.id in begun.recalled)
    return given


def _of_turn(site: Site, task: TaskId, turn: int) -> tuple[str, str, str]:
    """Which agent took a turn, how its last attempt ended, as the log tells it, and the session it belongs to."""
    from flyball.projections.views.lines import line

    effect: RunAgent | None = None
    ended = session = ""
    for event, state in _events(site, task, follow=False):
        match event.fact:
            case Begun(effect=RunAgent() as begun) if begun.turn == turn:
                effect, ended, session = begun, "", begun.session
            case Ended() as end if effect is not None and end.id == effect.id:
                ended = line(event, state) or ""
                session = end.outcome.session or session if isinstance(end.outcome, TurnEnded) else session
    return effect.agent if effect else "", ended, scrub(session)


def _file_ends(site: Site, task: TaskId, turn: int) -> dict[str, dict[str, str]]:
    """The same as data: each file's path, and the end of what it holds."""
    hide = _hiding(site, task)
    files = {}
    for name, path in _files(site, task, turn).items():
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END))
            files[name] = {"path": str(path), "end": hide(decode(file.read()))}
    return files


def _files(site: Site, task: TaskId, turn: int) -> dict[str, Path]:
    from flyball.wiring.tasks.transcripts import kept_files, last_attempt

    if not last_attempt(site, task, turn):
        had = plural(site.state(task).turns, "turn")
        raise Refusal(f"{task} has no transcript of turn {turn}; it has had {had}. See: flyball logs {task}")
    return {name: path for name, path in kept_files(site, task, turn).items() if path.stat().st_size}
