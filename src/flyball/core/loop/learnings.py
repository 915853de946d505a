"""What a prompt says of learnings: those that were recalled for the turn and, to who reviews, what is not accepted yet."""

from __future__ import annotations

from flyball.core.memory.recalling import line
from flyball.core.memory.settling import LearningEntry, settle
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import titled_list
from flyball.core.text.scrubbing import clean

FALLBACK = 6
PROPOSED = 8
LINE = 198
_HEADING = "Learnings from this repository (the tree is the truth; `avoid` did not work)"
_REVIEWED = "If one of them no longer holds, say so in your report: `invalidates` [{id, because}]."
_AGAINST = (
    "Decide each: where the new decision is right, report `supersedes` [{id of the earlier, by: id of the new, because}];\n"
    "where it is not, reject the work."
)


def told(state: State, lane: Lane) -> str:
    """All sections about learnings; where no recall was possible, the last ones of the task that stand."""
    recalled = lane.recalled
    reviewing = lane.recall is not None and lane.recall.reviewing
    if recalled is None or recalled.problem:
        lines = tuple(line(each)[:LINE] for each in _own(state) if each.usable)[-FALLBACK:]
    else:
        lines = tuple(each.line for each in recalled.learnings)
    parts = [titled_list(_HEADING, lines)]
    if reviewing:
        parts += [_REVIEWED if lines else "", _proposed(state), _contradictions(lane)]
    return "\n\n".join(part for part in parts if part)


def _own(state: State) -> tuple[LearningEntry, ...]:
    return tuple(settle({state.task.id: state.learnings}).values())


def _proposed(state: State) -> str:
    """The decisions of the work that is reviewed."""
    lines = tuple(
        clean(f"{each.fact.number} {each.fact.title}: {each.fact.choice}", LINE) for each in state.learnings.proposed()
    )
    return titled_list("Decisions of this work, not accepted yet", lines[-PROPOSED:])


def _contradictions(lane: Lane) -> str:
    found = lane.recalled.contradictions if lane.recalled is not None else ()
    lines = tuple(f"{each.told} ({each.subject})" for each in found)
    text = titled_list("Decisions that may contradict an earlier one", lines)
    return f"{text}\n{_AGAINST}" if text else ""
