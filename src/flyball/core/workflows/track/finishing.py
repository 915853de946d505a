"""FIX, BUSINESS_SYNC and COMPLETE: what evaluators found is mended, documents of the business follow, and the track is closed."""

from msgspec.structs import replace

from flyball.core.claims.values import Claim
from flyball.core.evaluation.plan_page import UNPLANNED
from flyball.core.evaluation.structural import SCOPE
from flyball.core.evaluation.verdict import FixAction
from flyball.core.loop import gates, kernel, questions, shipping
from flyball.core.loop.feedback import wishes
from flyball.core.loop.gates import Weighed
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step, record
from flyball.core.model.effects import Question
from flyball.core.model.events import ItemsSet, Moved, TaskReopened
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item
from flyball.core.text.quantities import first_few, plural
from flyball.core.text.scrubbing import one_line
from flyball.core.workflows.track import checkpoints, effects as ef, pages, registers
from flyball.core.workflows.track.facts import BusinessSynced, TrackFixed
from flyball.core.workflows.track.plan_text import FEEDBACK, FIX_PHASE, read_tasks
from flyball.core.workflows.track.prompts import FIXER, WRITER, brief
from flyball.core.workflows.track.record import record_of

FIXES = 3
FIXES_LISTED = 20
RETROSPECTIVE_FROM = 3
"""Tasks from which on a track that needed fixes gets a retrospective."""


def _weigh_work(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """As for every green tree; but a tree that is what it was before is no work."""
    weighed = gates.green(state, lane, measured, claim)
    if not measured.unchanged:
        return weighed
    missing = (*weighed.gate.missing[: gates.SHOWN - 1], "no relevant change")
    return replace(weighed, gate=replace(weighed.gate, held=False, missing=missing))


def _weigh_fix(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """As for other work; but where no finding is about a file (an evaluator broke, a tool is missing) there is none to be done here."""
    known = record_of(state).evaluation
    about_files = known is None or any(action.file for action in known.fix_actions)
    return _weigh_work(state, lane, measured, claim) if about_files else gates.green(state, lane, measured, claim)


FIX = Stage("FIX", FIXER, "green", _weigh_fix, brief, area="fix", product=True)
BUSINESS_SYNC = Stage("BUSINESS_SYNC", WRITER, "green", _weigh_work, brief, area="docs")


def fix(state: State, lane: Lane) -> Step:
    """One cycle of mending; beyond the limit a person is asked."""
    known = record_of(state)
    found = pages.read(state)
    limit = found.max_fix_cycles if found.max_fix_cycles is not None else FIXES
    if found.fix_cycles - known.granted > limit and not lane.loop.reset:
        return questions.put(state, lane, _spent_question(state))
    actions = known.evaluation.fix_actions if known.evaluation else ()
    heading = f"## {FIX_PHASE} (cycle {known.cycle})"
    lines = tuple(fix_line(key, action) for key, action in _numbered_actions(known.cycle, actions))
    # Once, and not once more after each turn: a person may tick or take out what stands there.
    if known.phased < known.cycle:
        pages.edit(state, lane, f"fix-phase-{known.cycle}", ef.AddLines(heading, lines))
    if not lane.loop.exiting:
        return _work(state, lane, FIX)
    saved = kernel.accept(state, lane, FIX)
    summary = _summary(state, lane)
    edits = _fix_edits(state, found, actions, saved.commit, summary)
    pages.edit(state, lane, f"fixed-{known.cycle}", *edits)
    return record(
        TrackFixed(known.cycle, lane.loop.judged.turn if lane.loop.judged else 0, summary),
        Moved("EVALUATE_EXECUTION", lane.stage, kernel.why_left(lane), accepts_tests=True),
    )


def _work(state: State, lane: Lane, stage: Stage) -> Step:
    """Work on the task's own lane; its documents are measured as accepted, and no task is asked for anew."""
    kept = pages.protected_paths(state)
    return kernel.iterate(state, lane, stage, lambda wanted: replace(wanted, tests_may_grow=True, kept=kept, items=()))


def fix_line(key: str, action: FixAction) -> str:
    """The task of a fix phase; one that names a file for being in no plan says so, for naming it there plans it not."""
    text = one_line(action.text).replace("<!--", "<! --")
    return f"- [ ] Task {key}: {text}" + (f" <!-- {UNPLANNED} -->" if action.check == SCOPE else "")


def _numbered_actions(cycle: int, actions: tuple[FixAction, ...]) -> list[tuple[str, FixAction]]:
    return [(f"F{cycle}.{number}", action) for number, action in enumerate(actions[:FIXES_LISTED], 1)]


def _fix_edits(
    state: State, found: ef.TrackRead, actions: tuple[FixAction, ...], commit: str, summary: str
) -> tuple[ef.Edit, ...]:
    """Boxes with the commit behind them, of those that a person left there, and what was learnt."""
    cycle = record_of(state).cycle
    numbered = _numbered_actions(cycle, actions)
    there = [task.item.id for task in read_tasks(found.plan).tasks]
    learnt = tuple(
        {
            "pattern": registers.as_pattern(action.action),
            "category": action.evaluator,
            "context": action.check,
            "problem": action.text,
            "solution": summary,
            "code_fix": "",
            "discovered_in": found.track,
        }
        for _, action in numbered
    )
    applied = [{"issue": action.text, "fix": summary, "commit_sha": commit} for _, action in numbered]
    return (
        *(ef.MarkDone(key, commit[:12], summary) for key, _ in numbered if there.count(key) == 1),
        ef.SetMetadata(checkpoints.fixes(state, cycle, applied)),
        ef.KeepErrors(learnt, state.now.date().isoformat()),
    )


def _summary(state: State, lane: Lane) -> str:
    return record_of(state).summaries.get(lane.stage) or "mended as asked; the measurements hold"


def _spent_question(state: State) -> Question:
    known = record_of(state)
    left = known.evaluation.fix_actions if known.evaluation else ()
    text = f"The evaluation failed {plural(known.fixes, 'time')}; {plural(len(left), 'finding')} still to mend"
    return Question("fixes-spent", text, questions.FOUR_CHOICES, detail="\n".join(a.text for a in left))


def sync(state: State, lane: Lane) -> Step:
    """A writer brings the documents of the business up to date, tier by tier; archives are never edited."""
    found = pages.read(state)
    if not lane.loop.exiting:
        return _work(state, lane, BUSINESS_SYNC)
    saved = kernel.accept(state, lane, BUSINESS_SYNC)
    documents = lane.loop.last.changed if lane.loop.last else ()
    summary = _summary(state, lane)
    row = ef.LogDecision(state.now.date().isoformat(), summary, found.track, documents, saved.commit[:12])
    pages.edit(state, lane, "synced", row, ef.SetMetadata(checkpoints.business_sync(state, documents)))
    return record(
        BusinessSynced(lane.loop.judged.turn if lane.loop.judged else 0, documents, summary),
        Moved("COMPLETE", lane.stage, f"up to date: {', '.join(documents)}"),
    )


def complete(state: State, lane: Lane) -> Step:
    """Close the track in its own documents, then deliver the branch."""
    done = sum(item.status == "completed" for item in state.items)
    summary = f"{plural(done, 'task')} done, {_skipped_evaluation(lane) or 'evaluation passed'}"
    closing = ef.CompleteTrack(checkpoints.timestamp(state), summary, retrospective(state))
    pages.edit(state, lane, f"complete-{len(lane.visits)}", closing)
    known = record_of(state)
    gates_told = shipping.gates_told(state, lane, "gates and evaluators passed")
    passed = f"{gates_told}; {plural(done, 'task')} done"
    if known.evaluation is not None and known.evaluation.unverified:
        passed += f"; not verified: {first_few(known.evaluation.unverified, 1)}"
    if known.unverified:
        passed += f"; ticked by a person, not verified: {', '.join(known.unverified)}"
    return shipping.ship(state, lane, passed)


def _skipped_evaluation(lane: Lane) -> str:
    """What is said of a track that a person closed without its evaluation, or with findings left; nothing of any other."""
    before = lane.visits[-2] if len(lane.visits) > 1 else None
    if before is None or not before.forced or before.stage not in {"EVALUATE_EXECUTION", "FIX"}:
        return ""
    left = "the evaluation" if before.stage == "EVALUATE_EXECUTION" else "what the evaluation found"
    return f"{left} was skipped by a person"


def retrospective(state: State) -> str:
    """What the track teaches, from its facts alone; empty where nothing went wrong or there was little to do."""
    known = record_of(state)
    if not known.fixes or len(state.items) < RETROSPECTIVE_FROM:
        return ""
    last = known.evaluation
    lines = [
        f"# Retrospective: {state.task.request.splitlines()[0]}",
        "",
        f"- Tasks: {len(state.items)}; turns: {state.turns}; evaluations: {known.evaluations}, of which {known.fixes} failed",
        f"- Plan: version {known.version}",
        *([f"- Evaluators: {', '.join(each.name for each in last.evaluators)}"] if last else []),
        "",
        "## Mended",
        "",
        *(f"- cycle {number}: {what}" for number, what in enumerate(known.mended, 1)),
        "",
        "## Learnt",
        "",
        *(f"- {e.fact.title}: {e.fact.choice or e.fact.context}" for e in state.learnings.known.values()),
    ]
    return "\n".join(lines) + "\n"


def reopen(state: State, lane: Lane) -> Step:
    known = sum(item.id.startswith("R") for item in state.items)
    new = tuple(
        Item(f"R{number}", one_line(wish), acceptance=(one_line(wish),), group=FEEDBACK.lower())
        for number, wish in enumerate(wishes(state.feedback), known + 1)
    )
    return record(
        TaskReopened(state.feedback, tuple(item.id for item in new)),
        ItemsSet((*state.items, *new), "person"),
        Moved("EXECUTE", lane.stage, "reopened by a person"),
    )
