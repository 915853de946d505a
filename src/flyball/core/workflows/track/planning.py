"""PLAN and EVALUATE_PLAN: a plan.md of the user's is worked to as it is, any other is written by a planner; both are looked at.

Code checks dependencies, the graph, the quality of tasks and the overlap with other tracks; then another turn reads the plan.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.loop import kernel, panel, questions
from flyball.core.loop.gates import APPROVING
from flyball.core.loop.reviewing import DRAFT
from flyball.core.loop.step import NOTHING, Step, record
from flyball.core.model.effects import Question
from flyball.core.model.events import Fact, ItemsSet, LearningRecorded, Moved, TurnSetAside
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item
from flyball.core.text.quantities import plural
from flyball.core.workflows.track import checkpoints, pages
from flyball.core.workflows.track.effects import SetMetadata, TrackRead, WritePlan
from flyball.core.workflows.track.facts import TaskTicked, TrackPlanEvaluated, TrackPlanned
from flyball.core.workflows.track.plan_text import CHECKS, is_fix_phase, read_tasks, with_boxes_kept
from flyball.core.workflows.track.prompts import PLAN_EVALUATOR, PLANNER, brief
from flyball.core.workflows.track.record import record_of

REVISIONS = 3
NO_PLAN = "there was no plan in the report; give it as markdown in `plan`"


def plan(state: State, lane: Lane) -> Step:
    """Take over the page, or have one written; `metadata.json` says which step the track is in."""
    known = record_of(state)
    found = pages.read(state)
    if lane.turn is not None:
        turn = kernel.ended_turn(state, lane)
        return record(*_read(state, lane.turn.effect.turn, turn, found))
    if known.draft:
        edits = (WritePlan(known.draft, known.version), SetMetadata(checkpoints.plan(state, known.version)))
        pages.edit(state, lane, f"plan-{known.version}", *edits)
        return NOTHING
    page = read_tasks(found.plan, found.elsewhere)
    if not known.version and page.tasks:
        told = f"{plural(len(page.items), 'task')} in plan.md"
        return record(
            ItemsSet(page.items, "document"), TrackPlanned("document", 1), Moved("EVALUATE_PLAN", lane.stage, told)
        )
    if known.version and page.tasks and not known.problems and not known.findings:
        return record(Moved("EVALUATE_PLAN", lane.stage, f"version {known.version} of the plan"))
    if known.revisions >= (found.max_plan_revisions or REVISIONS):
        return questions.put(state, lane, _rejected_question(state))
    return kernel.spawn(state, lane, brief, role=PLANNER, purpose="plan")


def _read(state: State, number: int, turn: TurnEnded, found: TrackRead) -> tuple[Fact, ...]:
    """What a planner's turn comes to: a plan to be written, or one with problems to be mended."""
    text = turn.claim.plan
    page = read_tasks(text, found.elsewhere)
    problems = page.wrong if text.strip() else (NO_PLAN,)
    version = record_of(state).version + 1
    if problems:
        said = TrackPlanned("planner", version, number, problems=problems)
        return (said, TurnSetAside(number, "planned", plural(len(problems), "problem")))
    items = with_known_statuses(state.items, page.items)
    # A box that a planner ticks says nothing: only what the branch holds is done.
    draft = with_boxes_kept(text, found.plan, {item.id for item in items if item.status == "completed"})
    return (
        ItemsSet(items, "planner"),
        TrackPlanned("planner", version, number, draft=draft),
        TurnSetAside(number, "planned", plural(len(items), "task")),
    )


def with_known_statuses(known: Iterable[Item], new: Iterable[Item]) -> tuple[Item, ...]:
    """A plan that changed: what the branch holds is completed whatever the page says, and a tick alone completes nothing."""
    statuses = {item.id: item.status for item in known}
    return tuple(replace(item, status=statuses.get(item.id, "not-started")) for item in new)


def take_in_edits(state: State, lane: Lane, found: TrackRead) -> Step | None:
    """What a person changed in the page since it was read: boxes they ticked, or a new version of the plan."""
    page = read_tasks(found.plan, found.elsewhere)
    mine = {item.id: item for item in state.items}
    # Fixes that code wrote below the plan are no edit of a person's.
    theirs = {item.id: item for item in page.items if item.id in mine or not is_fix_phase(item.group)}
    same = {key: _content(item) for key, item in mine.items()} == {key: _content(item) for key, item in theirs.items()}
    if not same and theirs:
        items = with_known_statuses(state.items, theirs.values())
        version = record_of(state).version + 1
        told = f"a person edited plan.md: version {version}"
        return record(
            ItemsSet(items, "person"), TrackPlanned("person", version), Moved("EVALUATE_PLAN", lane.stage, told)
        )
    known = record_of(state)
    ticked = [
        task.item.id
        for task in page.tasks
        if task.page.box == "x" and task.item.id in mine and mine[task.item.id].status != "completed"
    ]
    # A box that code ticked is nobody's word: after a rollback it is taken back.
    new = [item for item in ticked if item not in (*known.ticked, *known.unverified, *known.boxed)]
    return record(*(TaskTicked(item, _is_green(state)) for item in new)) if new else None


def _content(item: Item) -> tuple[object, ...]:
    return (item.text, item.files, item.depends_on, item.acceptance)


def _is_green(state: State) -> bool:
    measured = state.main.loop.last or state.main.loop.entry or state.baseline
    return measured is not None and all(gate.passed for gate in measured.gates) and not measured.failing


def evaluate(state: State, lane: Lane) -> Step:
    """Code looks first, then another turn; what neither holds anything against is worked to."""
    known = record_of(state)
    found = pages.read(state)
    if known.approved:
        edit = SetMetadata(checkpoints.plan_evaluation(state, known.checked))
        pages.edit(state, lane, f"plan-approved-{known.version}", edit)
        return record(Moved("EXECUTE", lane.stage, "the plan is approved"))
    if known.findings:
        return record(Moved("PLAN", lane.stage, known.findings[0].message, rejected=True))
    page = read_tasks(found.plan, found.elsewhere)
    checks = {check: not page.problems.get(check) for check in CHECKS}
    if page.wrong:
        wrong = tuple(Finding("major", problem, "plan.md") for problem in page.wrong)
        return record(TrackPlanEvaluated(False, "code", checks=checks, findings=wrong))
    answers = panel.convene(state, lane, brief, (PLAN_EVALUATOR,), purpose=DRAFT)
    effect, turn = answers[PLAN_EVALUATOR]
    if not turn.claim.verdict and not turn.claim.findings:
        return record(TurnSetAside(effect.turn, "crashed", "the evaluation gave no verdict", lane=lane.name))
    return record(*_verdict(state, effect.turn, turn.claim, checks))


def _verdict(state: State, number: int, claim: Claim, checks: dict[str, bool]) -> tuple[Fact, ...]:
    blocking = tuple(f for f in claim.findings if f.blocks)
    if claim.verdict in APPROVING and not blocking:
        return (TrackPlanEvaluated(True, "evaluator", number, checks),)
    why = blocking or claim.standing or (Finding("major", claim.summary or "rejected without a reason"),)
    told = "; ".join(f.message for f in why)
    lesson = LearningRecorded(state.learned + 1, "anti-pattern", "the plan was rejected", told)
    return (TrackPlanEvaluated(False, "evaluator", number, checks, why), lesson)


def _rejected_question(state: State) -> Question:
    known = record_of(state)
    why = known.problems or tuple(f.message for f in known.findings)
    text = f"The plan was sent back {plural(known.revisions, 'time')}: {why[0] if why else 'no reason was given'}"
    return Question("plan-rejected", text, questions.FOUR_CHOICES, detail="\n".join(why))
