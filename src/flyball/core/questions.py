"""Putting a question to a person, and every question the kernel itself asks; `answers` says what becomes of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from flyball.core.answers import taken
from flyball.core.effects import Ask, Option, Question
from flyball.core.events import Judged, LimitHit, TaskStopped
from flyball.core.measurement import GateResult
from flyball.core.next import NOTHING, Next, perform, record
from flyball.core.quantities import plural
from flyball.core.state import Asked, State
from flyball.core.task import EffectId

FOUR_CHOICES = (
    Option("reset", "clear the counters and try again"),
    Option("skip", "leave this stage unverified and go on; every report will say so"),
    Option("abort", "end the task"),
    Option("modify", "give new guidance, then try again: modify TEXT"),
)
ROLLBACK = "rollback"
CONFIRMATIONS_BY_DEFAULT = 2
OUT_OF_REACH = "out-of-reach"
TOOL_UNUSABLE = "tool-unusable"
TRICK_SHOWN = 300
CHECKED_BY = {"lint": "lint_clean", "complexity": "complexity"}
"""The criterion of QA that each tool is for."""


def choices(state: State) -> tuple[Option, ...]:
    """What may be done about a loop that does not move; where a trick was caught, going back is among it."""
    if state.caught is None:
        return FOUR_CHOICES
    back = f"go back to the last good tree and try again, as does: flyball rollback {state.task.id} --to last-good"
    return (*FOUR_CHOICES, Option(ROLLBACK, back))


def led_by_trick(state: State, reason: str) -> str:
    """A reason the loop ends for, behind the trick that stands against it, if one does."""
    if state.caught is None:
        return reason
    trick = state.caught.tricks[0]
    told = f"{trick.kind}: {trick.path}: {trick.detail}"[:TRICK_SHOWN].rstrip(". ")
    return f"A trick was caught in iteration {state.caught.iteration}: {told}. {reason[:1].upper()}{reason[1:]}"


def find(state: State, name: str) -> tuple[EffectId, Asked] | None:
    """The question of that name that is not closed yet."""
    return next(((k, a) for k, a in state.questions.items() if a.question.name == name), None)


def put(state: State, question: Question) -> Next:
    """Ask once; wait while it is open; stop as BLOCKED when nobody can answer."""
    asked = find(state, question.name)
    if asked is None:
        return perform(Ask(EffectId(f"ask/{state.asks + 1}"), question=question))
    key, known = asked
    if known.answer is not None:
        return taken(state, key, known)
    if key in state.open:
        return NOTHING
    evidence = tuple(line for line in known.question.detail.splitlines() if line)
    return record(TaskStopped("blocked", known.question.text, evidence, key))


def confirm_criteria(state: State) -> Question:
    listed = "\n".join(f"{i.id}: {i.text}" for i in state.items)
    options = (Option("yes", "work to these"), Option("TEXT", "say what is wrong; they are written again"))
    return Question("criteria", "Are these the acceptance criteria?", options, default="yes", detail=listed)


def no_exit_signal(state: State) -> Question:
    options = (
        Option("confirm", "one more turn that asks only for the confirmation"),
        Option("accept", "accept the stage on your own word"),
        Option("abort", "end the task"),
    )
    text = (
        f"{state.stage}: the gate holds, but the agent has not signalled that it is done ({state.unsignalled} times)."
    )
    default = "confirm" if state.unsignalled == CONFIRMATIONS_BY_DEFAULT else None
    return Question("no-exit-signal", text, options, default=default)


def protected_change(state: State) -> Question:
    options = (Option("allow", "take the change as it is"), Option("deny", "keep the accepted version"))
    text = "The agent asks to change protected files. Allow it?"
    return Question("protected-change", text, options, detail="\n".join(state.consent_wanted))


def tool_failure(tool: GateResult) -> str:
    return f"the {tool.name} command cannot be run: {tool.broken}"


def tool_unusable(tool: GateResult) -> Question:
    """Put again on resuming: what was missing may be there without a word from anybody."""
    options = (
        Option("reset", "the tool can run now: measure again"),
        Option("skip", "leave this stage unverified and go on; every report will say so"),
        Option("abort", "end the task"),
    )
    evidence = (f"command: {tool.command}", *tool.output.splitlines()[-12:])
    return Question(TOOL_UNUSABLE, tool_failure(tool), options, detail="\n".join(evidence), again=True)


def qa_rejected(state: State) -> Question:
    checks = state.last.checks if state.last else ()
    lines = [f"{c.status}: {c.name}: {c.detail}".rstrip(": ") for c in checks]
    lines += [f"{f.severity}: {f.message}" for f in state.findings if not f.check]
    why = f": {state.findings[0].message}" if state.findings else ""
    text = led_by_trick(state, f"QA rejected the work {state.qa_attempts} times{why}")
    return Question("qa-rejected", text, choices(state), detail="\n".join(lines))


def hourly_limit(reason: str, ends_at: datetime) -> Question:
    options = (
        Option("wait", f"until {ends_at:%H:%M} UTC"),
        Option("continue", "begin a new window now"),
        Option("abort", "end the task"),
    )
    text = f"The hourly limit is reached ({reason}). Wait, continue or abort?"
    return Question("hourly-limit", text, options, default="wait")


def breaker_open(state: State) -> Question:
    judged = state.judged
    seen = (judged.verdict.evidence, *judged.gate_1.missing, *_conflicting(state, judged)) if judged else ()
    text = led_by_trick(state, f"{state.stage} does not move: {state.breaker.reason}")
    return Question("breaker", text, choices(state), detail="\n".join(seen))


def _conflicting(state: State, judged: Judged) -> tuple[str, ...]:
    """Where to see the two changes that undo each other."""
    turns = [c.label for c in state.checkpoints if c.stage == state.stage and not c.accepted][-3:]
    if judged.verdict.health != "FLIP-FLOPPING":
        return ()
    return tuple(f"one change and the other: flyball diff {state.task.id} {label}" for label in turns[:-1])


def out_of_reach(state: State, hits: Sequence[LimitHit]) -> Question:
    """Put again on resuming: the network may be back without a word from anybody."""
    since = min(hit.since for hit in hits if hit.since is not None)
    names = " and ".join(hit.agent for hit in hits)
    text = f"{names}: no turn came through since {since:%Y-%m-%d %H:%M} UTC ({plural(state.overloads, 'try', 'tries')}): {hits[-1].detail}"
    options = (Option("reset", "try again for as long again"), Option("abort", "end the task"))
    return Question(
        OUT_OF_REACH, text, options, detail="\n".join(f"{hit.agent}: {hit.detail}" for hit in hits), again=True
    )


def crashes(state: State) -> Question:
    text = f"The agent crashed {plural(state.crashes, 'time')} in a row in {state.stage}: {state.crash_detail}"
    return Question("crashes", led_by_trick(state, text), choices(state), detail=state.crash_detail)
