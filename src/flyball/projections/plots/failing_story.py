"""What the plot of failing tests tells, in one sentence with its numbers."""

from collections.abc import Sequence

from flyball.core.model.task import MAIN
from flyball.core.text.quantities import plural
from flyball.projections.history.timeline import GRAVITY, TimelineMark, last_counted

GRAVE = GRAVITY[:4]
"""Verdicts that somebody wants to see at once."""
Returned = tuple[str, int | None]
"""The checkpoint a person went back to after the last iteration, and how many tests failed in it, if that was measured."""


def failing_story(marks: Sequence[TimelineMark], known_before: int = 0, returned: Returned | None = None) -> str:
    """What the picture tells, in one sentence with its numbers; tests that failed before the task are told apart."""
    counted = last_counted(marks)
    now = "at the last iteration" if returned else "now"
    told = _counts_sentence(counted, known_before, now) if counted else "The gate counts no tests."
    many = {kind: sum(mark.kind == kind for mark in marks) for kind in GRAVE}
    many["false claim"] = sum(mark.false_claim for mark in marks)  # one that was also rolled back is one, too
    names = {
        "rolled back": ("rollback", "rollbacks"),
        "rejected": ("rejection", "rejections"),
        "false claim": ("false claim", "false claims"),
        "asks you": ("question", "questions"),
    }
    parts = [f"{count} {names[kind][count > 1]}" for kind, count in many.items() if count]
    told = f"{told} {', '.join(parts)}." if parts else told
    if returned is None:
        return told
    label, failing = returned
    measured = "which was not measured"
    if failing is not None:
        measured = f"where {plural(failing, 'test')} failed when it was measured"
    return f"{told} Then a person went back to {label}, {measured}."


def _counts_sentence(counted: Sequence[TimelineMark], known_before: int, now: str) -> str:
    first, last = counted[0].failing, counted[-1].counts
    start = "the start" if counted[-1].lane == MAIN else f"the start of {counted[-1].lane}"
    before = max(known_before, *(mark.counts.known_failing for mark in counted))
    if not before:
        return f"{first} failing at {start}, {last.failing} {now}."
    still = f"{last.known_failing} of {plural(before, 'test')} that failed before the task"
    return f"{first} newly failing at {start}, {last.failing} {now}; {still} still {'fails' if last.known_failing == 1 else 'fail'}."
