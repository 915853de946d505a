"""The banner of an open circuit breaker: what happened, and the choices there are."""

from flyball.core.loop.questions import led_by_trick
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lanes import asking_lane
from flyball.projections.wording import plain


def banner(state: State, history: TaskHistory) -> str:
    """What to print when the breaker halts the task."""
    task, lane = state.task.id, asking_lane(state)
    measured = history.measured_in(lane.name)
    counts = measured.counts if measured else None
    tests = f"{counts.passing} of {counts.total}" if counts and counts.total else "none measured"
    errors = [seen.error for seen in history.errors.recent if seen.lane == lane.name]
    lines = [
        f"{lane.stage} stopped: {plain(led_by_trick(state, lane, lane.loop.breaker.reason or 'the breaker opened'))}",
        *(() if lane.name == MAIN else (f"  subtask: {plain(lane.name)}",)),
        f"  iterations: {lane.loop.iteration} in this stage, {state.iterations} in all",
        f"  tests that pass: {tests}",
        f"  last error: {plain(errors[-1], 500) if errors else 'none'}",
        "Choose one:",
        f"  flyball reset {task}          clear the counters and try again",
        f"  flyball skip {task}           leave this stage unverified and go to the next; every report says so",
        f"  flyball abort {task}          end the task",
        f"  flyball modify {task} TEXT    give new guidance, then try again",
    ]
    if lane.loop.caught is not None:
        asked = state.stopped.question if state.stopped is not None else ""
        back = f"rollback {task} --to last-good" if lane.name == MAIN else f"answer {task} {asked} rollback"
        lines.append(f"  flyball {back}    restore the last good tree and try again")
    return "\n".join(lines) + "\n"
