"""Every question flyball asks a person, and what becomes of the answer."""

from __future__ import annotations

from datetime import datetime

from flyball.core.effects import Ask, Option, Question
from flyball.core.events import Consented, ItemsSet, Moved, PersonSpoke, QuestionClosed, TaskStopped, WindowOpened
from flyball.core.next import NOTHING, Next, perform, record
from flyball.core.outcomes import Unanswered
from flyball.core.state import Asked, State
from flyball.core.task import EffectId

FOUR_CHOICES = (
    Option("reset", "clear the counters and try again"),
    Option("skip", "leave this stage unverified and go on; every report will say so"),
    Option("abort", "end the task"),
    Option("modify", "give new guidance, then try again: modify TEXT"),
)


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
        return _taken(state, key, known)
    if key in state.open:
        return NOTHING
    if isinstance(state.outcomes.get(key), Unanswered) or key not in state.outcomes:
        evidence = tuple(line for line in known.question.detail.splitlines() if line)
        return record(TaskStopped("blocked", known.question.text, evidence, key))
    return NOTHING


def _taken(state: State, key: EffectId, asked: Asked) -> Next:
    """What follows from the answer to one of the kernel's own questions."""
    word, _, text = (asked.answer or "").partition(" ")
    closed = QuestionClosed(key, asked.question.name, asked.answer or "")
    word = word.lower()
    if word == "abort":
        return record(closed, PersonSpoke("abort", question=key))
    name = asked.question.name
    if name == "hourly-limit":
        return record(closed, WindowOpened(forced=True))
    if name == "no-exit-signal" and word in {"confirm", "accept"}:
        return record(closed) if word == "confirm" else record(closed, PersonSpoke("accept", question=key))
    if name == "criteria":
        return _criteria_answered(state, closed)
    if name == "protected-change":
        paths = tuple(c.partition(":")[0] for c in state.consent_wanted)
        return record(closed, Consented(paths, "a person", allowed=word in {"allow", "yes"}))
    if name.startswith("agent-"):
        return record(closed, PersonSpoke("modify", f"{asked.question.text} Answer: {asked.answer}", question=key))
    if name == "qa-rejected" and word in {"reset", "modify"}:
        spoke = PersonSpoke(word, text, question=key)  # type: ignore[arg-type]
        return record(closed, spoke, Moved("GREEN", "QA", "sent back by a person", rejected=True))
    if word == "reset":
        return record(closed, PersonSpoke("reset", question=key))
    if word == "modify":
        return record(closed, PersonSpoke("modify", text, question=key))
    if word == "skip":
        return record(closed, PersonSpoke("skip", question=key))
    return record(closed, PersonSpoke("modify", asked.answer or "", question=key))


def _criteria_answered(state: State, closed: QuestionClosed) -> Next:
    if closed.answer.lower() in {"yes", "y", "ok"}:
        return record(closed)
    return record(closed, PersonSpoke("modify", f"Acceptance criteria: {closed.answer}"), ItemsSet((), "person"))


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
    text = f"{state.stage}: the gate holds, but the agent has not signalled that it is done ({state.unsignalled} times)."
    return Question("no-exit-signal", text, options, default="confirm" if state.unsignalled == 2 else None)


def protected_change(state: State) -> Question:
    options = (Option("allow", "take the change as it is"), Option("deny", "keep the accepted version"))
    return Question(
        "protected-change",
        "The agent asks to change protected files. Allow it?",
        options,
        detail="\n".join(state.consent_wanted),
    )


def qa_rejected(state: State) -> Question:
    detail = "\n".join(f"{f.severity}: {f.message}" for f in state.findings)
    return Question("qa-rejected", f"QA rejected the work {state.qa_attempts} times", FOUR_CHOICES, detail=detail)


def hourly_limit(reason: str, ends_at: datetime) -> Question:
    options = (
        Option("wait", f"until {ends_at:%H:%M} UTC"),
        Option("continue", "begin a new window now"),
        Option("abort", "end the task"),
    )
    return Question("hourly-limit", f"The hourly limit is reached ({reason}). Wait, continue or abort?", options)


def breaker_open(state: State) -> Question:
    judged = state.judged
    detail = judged.verdict.evidence if judged else ""
    missing = "\n".join(judged.gate_1.missing) if judged else ""
    return Question(
        "breaker",
        f"{state.stage} does not move: {state.breaker.reason}",
        FOUR_CHOICES,
        detail=f"{detail}\n{missing}".strip(),
    )


def crashes(state: State) -> Question:
    text = f"The agent crashed {state.crashes} times in a row in {state.stage}: {state.crash_detail}"
    return Question("crashes", text, FOUR_CHOICES, detail=state.crash_detail)
