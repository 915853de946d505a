"""Recorded journals, and what is told of one: `tools/record-replays` stores it beside the journal, and the tests compare."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.fold.evolve import fold
from flyball.core.model.events import Event
from flyball.core.model.state import Lane
from flyball.core.vocabulary import event_type
from flyball.journal.codec import kind

HERE = Path(__file__).parent
JOURNAL, EXPECTED, RECIPE = ".jsonl", ".expected.json", ".recipe.yaml"


def names() -> list[str]:
    return sorted(path.name.removesuffix(RECIPE) for path in HERE.glob(f"*{RECIPE}"))


def events_of(lines: bytes) -> list[Event]:
    """Facts as journals store them, one a line."""
    decoder = msgspec.json.Decoder(event_type())
    return [decoder.decode(line) for line in lines.splitlines()]


def recorded(name: str) -> list[Event]:
    return events_of((HERE / f"{name}{JOURNAL}").read_bytes())


def told(events: Sequence[Event]) -> dict[str, Any]:
    """What must stay the same of a journal, whichever version folds it."""
    state = fold(events)
    assert state is not None
    return {
        "workflow": state.task.workflow,
        "decision": state.decision,
        "reason": state.stopped.reason if state.stopped else "",
        "iterations": state.iterations,
        "turns": state.turns,
        "false_claims": state.false_claims,
        "shipped": state.shipped,
        "lanes": {lane.name: _lane(lane) for lane in state.lanes.values()},
        "items": {item.id: item.status for item in state.items},
        "checkpoints": [[c.label, c.stage, c.accepted, c.tricked, c.commit] for c in state.checkpoints],
        "questions": {key: asked.answer for key, asked in state.questions.items()},
        "facts": dict(sorted(Counter(kind(event.fact) for event in events).items())),
    }


def _lane(lane: Lane) -> dict[str, Any]:
    visits = [[visit.stage, visit.iterations] for visit in lane.visits]
    return {"stage": lane.stage, "visits": visits, "rejections": lane.rejections, "restores": lane.restores}
