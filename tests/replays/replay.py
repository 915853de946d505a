"""Recorded journals and what flyball shows of each: `tools/record-replays` stores both, and the tests compare."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.fold.evolve import evolve, fold
from flyball.core.model.events import Event
from flyball.core.model.state import Lane
from flyball.core.vocabulary import event_type
from flyball.journal.codec import kind
from flyball.projections.files.loop_files import render
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lines import line
from flyball.projections.views.report import report
from flyball.projections.views.status import status

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
JOURNAL, EXPECTED, RECIPE = ".jsonl", ".expected.json", ".recipe.yaml"


def names() -> list[str]:
    return sorted(path.name.removesuffix(RECIPE) for path in HERE.glob(f"*{RECIPE}"))


def events_of(lines: bytes) -> list[Event]:
    """Facts as journals store them, one a line."""
    decoder = msgspec.json.Decoder(event_type())
    return [decoder.decode(line) for line in lines.splitlines()]


def recorded(name: str) -> list[Event]:
    return events_of((HERE / f"{name}{JOURNAL}").read_bytes())


def summary(events: Sequence[Event]) -> dict[str, Any]:
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


def outputs(events: Sequence[Event]) -> dict[str, str]:
    """`status --json`, `logs`, the report's data and the files of `.loop/`, each as text, by file name."""
    history, state = TaskHistory(), None
    log = []
    for event in events:
        state = evolve(state, event)
        history.add(event)
        log.append(line(event, state))
    assert state is not None
    views = {"status.json": status(state, history), "report.json": report(state, history)}
    texts = {
        name: msgspec.json.format(msgspec.json.encode(view), indent=1).decode() + "\n" for name, view in views.items()
    }
    files = {f"loop/{name}": text for name, text in render(state, history).items()}
    return texts | files | {"log.txt": "".join(f"{each}\n" for each in log if each)}
