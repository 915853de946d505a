"""Where a task stands, in the few words every screen shares."""

import shlex
from collections.abc import Sequence
from math import ceil
from typing import Literal

from msgspec.structs import replace

from flyball.core.health.breaker import Strikes
from flyball.core.loop.guards import limit_reached
from flyball.core.loop.opening import ANEW
from flyball.core.model.effects import Save
from flyball.core.model.events import PersonSpoke, TaskStopped
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item
from flyball.core.text.failing_tests import is_every
from flyball.core.text.quantities import plural
from flyball.core.workflows.registry import workflow_of
from flyball.projections.history.records import Judgement
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lanes import hold_of, is_sick, most_stuck
from flyball.projections.wording import name_lane, plain

Running = Literal["running", "paused", "completed", "halted"]
TaskStatus = Literal["DRAFT", "APPROVED", "IN_PROGRESS", "COMPLETE", "BLOCKED"]

_STATES: dict[str, Running] = {
    "done": "completed",
    "blocked": "halted",
    "aborted": "halted",
    "error": "halted",
    "limit": "paused",
    "paused": "paused",
    "no_agent": "paused",
    "interrupted": "paused",
}

_LEAST = {"max_hours": 1, "budget_usd": 1, "budget_tokens": 100_000}
"""What a limit is raised to at least, where it is not turns, iterations or cycles."""


def final_stop(state: State) -> TaskStopped | None:
    """How a task ended that is over for good; None for one that runs or can be taken up again."""
    return state.stopped if state.stopped is not None and state.stopped.kind in {"done", "aborted"} else None


def running_state(state: State) -> Running:
    """The word of `loop-state.json`: running, paused, completed or halted; a loop that waits for a guard is paused."""
    if state.stopped is not None:
        return _STATES[state.stopped.kind]
    return "paused" if hold_of(state) is not None else "running"


def task_status(state: State) -> TaskStatus:
    """The word of the list that tasks are chosen from, and of a plan."""
    if state.decision == "DONE":
        return "COMPLETE"
    if state.decision == "BLOCKED":
        return "BLOCKED"
    planning = state.main.stage in workflow_of(state.task).planning
    if planning and not state.items_confirmed:
        return "DRAFT"
    if not planning and is_worked_on(state):
        return "IN_PROGRESS"
    agreed = state.items_confirmed or not state.task.settings.attended
    return "APPROVED" if state.items and agreed else "DRAFT"


def is_worked_on(state: State) -> bool:
    begun = state.main.at_work is not None and state.main.at_work.purpose != "criteria"
    return begun or state.iterations > 0 or len(state.main.visits) > 1


def is_closing(state: State) -> bool:
    """Whether the work is over and only the report and the branch are left."""
    return state.main.stage == workflow_of(state.task).closing or _saving_last_report(state) is not None


def state_once_delivered(state: State) -> State:
    """The task as it will stand once the report that is being saved is delivered: that report is the last one on the branch.

    Where delivery may still fail, the report says what is true already, and no more.
    """
    saving = _saving_last_report(state)
    if saving is None or saving.undelivered or state.stopped is not None:
        return state
    return replace(state, stopped=TaskStopped("done", saving.closing))


def _saving_last_report(state: State) -> Save | None:
    saving = (effect for effect in state.open.values() if isinstance(effect, Save))
    return next((effect for effect in saving if effect.closing), None)


def decision(state: State) -> str:
    """The word of every screen: BLOCKED, as the last verdict said, while nothing but its question is under way."""
    return "BLOCKED" if state.waits_for_person and most_stuck(state).loop.breaker.state == "OPEN" else state.decision


def health(state: State, history: TaskHistory) -> str:
    """The monitor's last word, which never contradicts the decision (M22); before the first there is none to quote.

    A task that is DONE arrived. One that is BLOCKED although it was PROGRESSING waits for a person, not for a remedy.
    """
    told = leading_judgement(state, history)
    last = told.health if told is not None else "INITIALIZING"
    if state.decision == "DONE":
        return "PROGRESSING"
    if state.decision == "BLOCKED" and last in {"PROGRESSING", "INITIALIZING"}:
        return "BLOCKED"
    return last


def reported_left(state: State) -> tuple[str, ...]:
    """What the last turn of each line of work says remains to be done; nothing once the task is done."""
    judged = (lane.loop.judged for lane in state.lanes.values() if state.decision != "DONE")
    return tuple(plain(each) for last in judged if last is not None for each in last.left)


def in_place_note(state: State) -> str:
    """How an unfinished task goes on that an older version worked on in the user's own tree; empty for all others."""
    if not state.task.settings.in_place or final_stop(state) is not None:
        return ""
    return (
        f"this task began with --in-place, which flyball no longer has: flyball resume {state.task.id} continues it in an isolated checkout "
        "from its last checkpoint, and what your tree has beyond that stays there"
    )


def reason(state: State, history: TaskHistory) -> str:
    return "; ".join(filter(None, (_reason(state, history), in_place_note(state))))


def _reason(state: State, history: TaskHistory) -> str:
    if state.stopped is not None:
        return state.stopped.reason
    held = hold_of(state)
    if held is not None:
        return held.reason
    told = leading_judgement(state, history)
    return "no iteration has been judged yet" if told is None else name_lane(told.lane, told.evidence)


def leading_judgement(state: State, history: TaskHistory) -> Judgement | None:
    """The verdict that says most of the task: on the lane that is stuck or nearly, else the last one."""
    lane = most_stuck(state)
    if (lane.loop.breaker.state != "CLOSED" or is_sick(lane)) and lane.name in history.judgement_in:
        return history.judgement_in[lane.name]
    return history.judgements[-1] if history.judgements else None


def known_failing(state: State, history: TaskHistory) -> int:
    """How many tests fail that failed before the task began, as of the last measurement."""
    if history.measured is not None:
        return history.measured.counts.known_failing
    return state.baseline.counts.known_failing if state.baseline else 0


def failures(state: State, history: TaskHistory) -> tuple[str, ...]:
    """What was decided about the tests that failed before the task began, and the names of those that are excused and still fail."""
    if state.failures is None:
        return ()
    known = history.measured.known if history.measured is not None else ()
    left = () if is_every(state.work) else tuple(test for test in known if test not in state.work)
    return (state.failures.message, *(f"known failure: {test}" for test in left))


def stuck(state: State, history: TaskHistory) -> str:
    """How far the loop is from being stopped for going nowhere: what the breaker counts, in plain words."""
    lane, word, told = most_stuck(state), stuck_word(state, history), leading_judgement(state, history)
    breaker, where = lane.loop.breaker, "" if lane.name == MAIN else f" in {lane.name}"
    if breaker.state == "OPEN":
        blocked = lane.loop.judged is not None and lane.loop.judged.verdict.health == "BLOCKED"
        said = "" if breaker.reason in reason(state, history) else f": {breaker.reason}"
        return f"yes, {'blocked' if blocked else 'stopped repeating'}{where}{said}"
    if word in {"yes", "no"}:
        return "yes, blocked" if word == "yes" else word
    if breaker.no_progress or breaker.same_error:
        strikes = strikes_of(state, lane)
        return (
            f"{word}{where}: {breaker.no_progress} of {plural(strikes.no_progress, 'iteration')} without progress, "
            f"{breaker.same_error} of {strikes.same_error} with the same error"
        )
    where = f" in {told.lane}" if told is not None and told.lane != MAIN else ""
    tried = "a person's word" if lane.loop.reset else (told.rung if told is not None else "") or "a remedy"
    return f"{word}{where}: {tried} is tried"


def stuck_word(state: State, history: TaskHistory) -> Literal["yes", "nearly", "not yet", "no"]:
    """Whether the task goes nowhere, in the one word of every screen; its health and its decision say the same."""
    breaker = most_stuck(state).loop.breaker
    if breaker.state == "OPEN" or state.decision == "BLOCKED":
        return "yes"
    if breaker.state == "HALF_OPEN" or health(state, history) not in {"PROGRESSING", "INITIALIZING"}:
        return "nearly"
    return "not yet" if breaker.no_progress or breaker.same_error else "no"


def strikes_of(state: State, lane: Lane) -> Strikes:
    return state.task.settings.breaker.strikes(lane.stage, workflow_of(state.task).strikes.get(lane.stage))


def forced_stages(state: State) -> tuple[str, ...]:
    """Stages whose last visit a person ended by force: never counted as verified."""
    last = {visit.stage: visit.forced for visit in state.main.visits if visit.completed_at is not None}
    return tuple(stage for stage, forced in last.items() if forced)


def live_items(state: State) -> tuple[Item, ...]:
    """Items with their present status.

    A status that was recorded stands. Where a workflow verifies all criteria together they have none of their own: they are
    completed when the task closes with none of the verifying stages forced.
    """
    verifying = workflow_of(state.task).verifying
    if not verifying:
        return state.items
    if (is_closing(state) or state.decision == "DONE") and not verifying & set(forced_stages(state)):
        now: Literal["not-started", "in-progress", "completed"] = "completed"
    else:
        now = "in-progress" if is_worked_on(state) else "not-started"
    return tuple(replace(i, status=now) if i.status == "not-started" else i for i in state.items)


def is_delivered(state: State) -> bool:
    """Whether there is a branch: something was accepted, if only the report."""
    return state.prepared is not None and (
        state.main.head != state.prepared.base or _saving_last_report(state) is not None
    )


_ALLOWING = " --may-change "


def next_command(state: State, said: Sequence[PersonSpoke] = (), *, merged: bool = False, deleted: bool = False) -> str:
    """What a person would type next; empty while the loop runs. `said` are words that it has not taken in yet.

    A branch that was `deleted` is brought back before it can be merged.
    """
    task, stopped = state.task.id, state.stopped
    if stopped is None:
        return ""
    if stopped.kind == "done":
        if deleted and state.prepared is not None:
            return f"git branch {state.prepared.branch} {state.main.head}"
        if merged or state.prepared is None or not is_delivered(state):
            return f"flyball report {state.task.id}"
        return f"git merge {state.prepared.branch}"
    if stopped.kind == "aborted":
        return f"flyball checkpoints {task}"
    if stopped.kind == "limit":
        return f"flyball resume {task} {_option_to_raise_limit(state)}".rstrip()
    asked = state.questions.get(stopped.question) if stopped.question else None
    if asked is None or (stopped.kind == "blocked" and said) or _ALLOWING in stopped.reason:
        allowing = stopped.reason.partition(_ALLOWING)
        return "flyball trust" if ANEW in stopped.reason else f"flyball resume {task}{''.join(allowing[1:])}"
    keys = [option.key for option in asked.question.options]
    waiting = sum(each.answer is None for each in state.questions.values())
    if set(keys) >= {"reset", "skip", "abort", "modify"} and waiting <= 1:
        return f"flyball reset {task}"  # with several questions it would be for every lane that asks
    return f"flyball answer {task} {stopped.question} {shlex.quote(keys[0] if keys else 'TEXT')}"


def _option_to_raise_limit(state: State) -> str:
    """The option that raises the limit at which the loop stopped, to twice what it was or what was used."""
    name, own = workflow_of(state.task).limit(state)
    name = name or limit_reached(state)[0]
    if not name:
        return ""
    used = {
        "max_cycles": own,
        "max_iterations": state.iterations,
        "max_turns": state.turns,
        "max_hours": state.elapsed.total_seconds() / 3600,
        "budget_usd": state.known_usd,
        "budget_tokens": state.usage.tokens,
    }
    limit = getattr(state.task.settings.limits, name) or 0
    amount = max(2 * limit, 2 * used[name], _LEAST.get(name, 10))
    return f"--{name.replace('_', '-')} {ceil(amount)}"
