"""A task that another process drives, on the screen of `run`."""

from __future__ import annotations

import sys
import time

from flyball.cli.screen.live import Controls, screen
from flyball.cli.screen.plain import Screen
from flyball.cli.support.output import put
from flyball.clock import system_clock
from flyball.core.fold.evolve import evolve
from flyball.core.model.effects import RunAgent
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.core.text.scrubbing import decode, scrub
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.wiring.tasks.transcripts import kept_files

POLL_S = 0.3


def attach(site: Site, task: TaskId) -> State:
    """Show a task as `run` shows it, until it stops, its controller is gone, or the person has seen enough."""
    view = site.view(task)
    left: list[bool] = []

    def pause(wanted: bool) -> None:
        site.journal.post(task, "pause" if wanted else "resume", at=system_clock.now())

    controls = Controls(pause, lambda: left.append(True))
    with screen(view.history, as_json=False, terminal=sys.stdout.isatty(), controls=controls) as shown:
        state = _follow(site, task, shown, left)
        if not left:
            shown.closing(state)
    if not left and state.stopped is None:
        put(f"{task}: LOST CONTACT. Nothing acknowledged is lost; go on with: flyball resume {task}")
    return state


def _follow(site: Site, task: TaskId, shown: Screen, left: list[bool]) -> State:
    """The last fact at once, then each as it comes."""
    view = site.view(task)
    state = view.state
    for event in site.journal.read(task, max(0, state.seq - 1)):
        shown.listener(event, state)
    while not left:
        held = controller_of(site, task) is not None
        for event in site.journal.read(task, state.seq):
            state = evolve(state, event)
            view.take_in(event, state)
            shown.listener(event, state)
        if not held:
            break
        _say_last(site, state, shown)
        time.sleep(POLL_S)
    return state


def _say_last(site: Site, state: State, shown: Screen) -> None:
    """What the agent says now, from its transcript: it is no fact, so no journal has it."""
    turn = next((effect.turn for effect in state.open.values() if isinstance(effect, RunAgent)), 0)
    path = kept_files(site, state.task.id, turn).get("stdout") if turn else None
    if path is None:
        return
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2048))
        lines = scrub(decode(file.read())).strip().splitlines()
    if lines and not lines[-1].lstrip().startswith("{"):
        shown.notify("output", lines[-1][:400])
