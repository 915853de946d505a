"""EXECUTE: the tasks of the plan in batches, each in a lane of its own; what is accepted gets its box, its commit and a summary.

Nobody reviews a batch: the evaluators judge the whole. Boxes are written after the commit that holds the work, in the user's page.
"""

from flyball.core.loop import gates
from flyball.core.loop.batches import choosing, executing
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step, first
from flyball.core.model.batch_events import BatchReviewed
from flyball.core.model.batches import Batch
from flyball.core.model.state import Lane, State
from flyball.core.workflows.track import checkpoints, pages, planning
from flyball.core.workflows.track.effects import AddLines, Edit, MarkDone, SetBox, SetMetadata, TrackRead
from flyball.core.workflows.track.plan_text import FEEDBACK, TrackTask, read_tasks
from flyball.core.workflows.track.prompts import EXECUTOR, PLAN_EVALUATOR, brief
from flyball.core.workflows.track.record import record_of

SHA = 12
DISCOVERED = "## Discovered Work"


def following(state: State) -> str:
    """The stage to go on in: more tasks, or the evaluation when none is left."""
    return "EXECUTE" if choosing.open_subtasks(state) else "EVALUATE_EXECUTION"


def _accept_all(_state: State, _lane: Lane, batch: Batch) -> BatchReviewed:
    """What was integrated and is green goes on the branch; the evaluation comes after the last task."""
    return BatchReviewed(0, tuple(each.item for each in batch.taken), by="nobody")


RULES = BatchRules(
    reviewing="INTEGRATE",
    monitoring="MONITOR",
    settling="CHECKPOINT",
    consenting=PLAN_EVALUATOR,
    brief=brief,
    stage_of=lambda _state, lane: Stage(lane.stage, EXECUTOR, "green", gates.green_work, brief, product=True),
    judge=_accept_all,
    following=following,
    kept=pages.protected_paths,
)


def execute(state: State, lane: Lane) -> Step:
    """Between two batches what a person changed in the page is taken in, and boxes are written."""
    if not choosing.subtask_lanes(state):
        found = pages.read(state)
        write_wishes(state, lane)
        first(planning.take_in_edits(state, lane, found))
        write_boxes(state, lane, found)
    return executing.execute(RULES, state, lane)


def write_wishes(state: State, lane: Lane) -> None:
    """Have the page hold what a person asked for when they took the track up again, as tasks like any other; once."""
    if record_of(state).wished >= state.rounds:
        return
    wishes = [item for item in state.items if item.group == FEEDBACK.lower() and item.status != "completed"]
    lines = [line for item in wishes for line in (f"- [ ] Task {item.id}: {item.text}", f"  - Acceptance: {item.text}")]
    pages.edit(state, lane, f"wishes-{state.rounds}", AddLines(f"## {FEEDBACK}", tuple(lines)))


def write_boxes(state: State, lane: Lane, found: TrackRead) -> None:
    """Have the page and the metadata say what the branch holds; a task that was rolled back loses the box code gave it."""
    known = record_of(state)
    status = {item.id: item.status for item in state.items}
    edits: list[Edit] = []
    for task in read_tasks(found.plan).tasks:
        id_, page = task.item.id, task.page
        theirs = page.box == "x" and not (page.shas and page.summary) and id_ not in known.boxed
        if status.get(id_) == "completed" and (theirs or (page.box != "x" and id_ in known.commits)):
            edits.append(_mark_done(state, task))
            found_there = tuple(f"- `{path}`, for {id_}" for path in known.discovered.get(id_, ()))
            edits += [AddLines(DISCOVERED, found_there)] if found_there else []
        elif id_ in known.boxed and status.get(id_, "completed") != "completed" and page.box == "x":
            edits.append(SetBox(id_, " "))
    if edits:
        pages.edit(state, lane, f"boxes-{known.reads}", *edits, SetMetadata(checkpoints.execution(state)))


def _mark_done(state: State, task: TrackTask) -> MarkDone:
    """The commit and the summary of a task: its own, or of one that a person ticked the commit on which that was taken."""
    known, id_ = record_of(state), task.item.id
    base = state.prepared.base if state.prepared else ""
    ticked_on = state.main.head if id_ in known.ticked else base
    sha = known.commits.get(id_) or next(iter(task.page.shas), "") or ticked_on
    origin = "ticked by a person; the measurements hold" if id_ in known.ticked else "done before this task began"
    summary = known.summaries.get(id_) or ("done; the measurements hold" if id_ in known.commits else origin)
    return MarkDone(id_, sha[:SHA], summary)
