"""What the facts of a track add to what is known."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.model.batch_events import BatchesUndone, BatchSettled, SubtaskIntegrated
from flyball.core.model.effects import Effect, Integrate
from flyball.core.model.events import Moved, PersonSpoke, SessionStarted
from flyball.core.model.outcomes import Integrated, TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.text.scrubbing import one_line
from flyball.core.workflows.track import effects as ef, facts as fa
from flyball.core.workflows.track.plan_text import FEEDBACK, FIX_PHASE
from flyball.core.workflows.track.record import record_of

WISHED_FILES = 50


def _keep(state: State, **changes: Any) -> None:
    state.record = replace(record_of(state), **changes)


def _on_read(state: State, _lane: Lane, _effect: Effect, outcome: ef.TrackRead) -> None:
    _keep(state, seen=outcome, counted=outcome.fix_cycles)


def _on_edited(state: State, _lane: Lane, effect: Effect, outcome: ef.TrackEdited | ef.TrackStale) -> None:
    """Written, or found changed: what was read before is no longer what there is."""
    made = effect.edits if isinstance(effect, ef.EditTrack) and isinstance(outcome, ef.TrackEdited) else ()
    known = record_of(state)
    boxed = {*known.boxed, *(edit.task for edit in made if isinstance(edit, ef.MarkDone))}
    boxed -= {edit.task for edit in made if isinstance(edit, ef.SetBox)}
    added = {edit.heading for edit in made if isinstance(edit, ef.AddLines)}
    _keep(
        state,
        seen=None,
        wished=state.rounds if f"## {FEEDBACK}" in added else known.wished,
        phased=known.cycle if any(FIX_PHASE in heading for heading in added) else known.phased,
        boxed=tuple(sorted(boxed)),
        stale=known.stale + 1 if isinstance(outcome, ef.TrackStale) else 0,
        draft="" if any(isinstance(edit, ef.WritePlan) for edit in made) else known.draft,
    )


def _on_merged(state: State, _lane: Lane, effect: Effect, outcome: Integrated) -> None:
    """A wish names no files: what its work changed stands in the plan as found on the way."""
    work = effect.work if isinstance(effect, Integrate) else ""
    if any(item.id == work and item.group == FEEDBACK.lower() for item in state.items):
        paths = tuple(path for _, path in outcome.changed)[:WISHED_FILES]
        _keep(state, discovered={**record_of(state).discovered, work: paths})


def _on_reading_begun(state: State, _lane: Lane, effect: ef.ReadTrack) -> None:
    _keep(state, reads=record_of(state).reads + (effect.attempt == 1))


def _on_session_started(state: State, _fact: SessionStarted) -> None:
    """People may have edited their documents meanwhile."""
    _keep(state, seen=None, stale=0)


def _on_spoke(state: State, fact: PersonSpoke) -> None:
    """A person's word to the task has its documents read again and grants more rounds; one to a subtask's lane does not."""
    if fact.word in {"reset", "modify"} and fact.is_for_task:
        _keep(state, stale=0, revisions=0, granted=record_of(state).counted, seen=None)


def _on_planned(state: State, fact: fa.TrackPlanned) -> None:
    known = record_of(state)
    _keep(
        state,
        version=known.version if fact.problems else fact.version,
        draft=fact.draft,
        problems=fact.problems,
        findings=(),
        approved=False,
        revisions=known.revisions + bool(fact.problems),
    )


def _on_plan_evaluated(state: State, fact: fa.TrackPlanEvaluated) -> None:
    known = record_of(state)
    _keep(
        state,
        approved=fact.approved,
        findings=fact.findings,
        checked=fact.checks or known.checked,
        revisions=0 if fact.approved else known.revisions + 1,
    )
    state.items_confirmed = state.items_confirmed or fact.approved


def _on_ticked(state: State, fact: fa.TaskTicked) -> None:
    known = record_of(state)
    if fact.verified:
        _keep(state, ticked=(*known.ticked, fact.item))
        state.items = tuple(replace(i, status="completed") if i.id == fact.item else i for i in state.items)
    else:
        _keep(state, unverified=tuple(dict.fromkeys((*known.unverified, fact.item))))


def _on_integrated(state: State, fact: SubtaskIntegrated) -> None:
    if fact.result == "integrated":
        _keep(state, pieces={**record_of(state).pieces, fact.item: fact.commit})


def _on_settled(state: State, fact: BatchSettled) -> None:
    """The pieces of a batch are commits of the branch, the last of them as the batch's checkpoint."""
    known = record_of(state)
    mine = {item: known.pieces[item] for item in fact.accepted if item in known.pieces}
    if mine:
        mine[list(mine)[-1]] = fact.commit
    _keep(state, commits={**known.commits, **mine}, pieces={})


def _on_undone(state: State, fact: BatchesUndone) -> None:
    commits = record_of(state).commits
    _keep(state, commits={item: sha for item, sha in commits.items() if item not in fact.items})


def _on_turn_ended(state: State, lane: Lane, _effect: Effect, outcome: TurnEnded) -> None:
    """What a turn says of its work stands below its box: by task, or by stage where the whole track is worked on."""
    if outcome.claim.summary and lane.panel is None:
        said = one_line(outcome.claim.summary)[:200]
        _keep(state, summaries={**record_of(state).summaries, lane.item or lane.stage: said})


def _on_evaluated(state: State, fact: fa.TrackEvaluated) -> None:
    known = record_of(state)
    fixes = known.fixes + (fact.evaluation.verdict == "FAIL")
    visit, cycle = len(state.main.visits), max(known.cycle, fact.cycle)
    _keep(state, evaluation=fact.evaluation, evaluations=fact.number, evaluated_in=visit, fixes=fixes, cycle=cycle)


def _on_fixed(state: State, fact: fa.TrackFixed) -> None:
    _keep(state, mended=(*record_of(state).mended, fact.summary))


def _on_synced(state: State, fact: fa.BusinessSynced) -> None:
    _keep(state, synced=fact.documents)


def _on_moved(state: State, fact: Moved) -> None:
    if fact.forced and fact.previous in {"PLAN", "EVALUATE_PLAN"}:
        _keep(state, approved=True, problems=(), findings=())


FOLDS: dict[type, Callable[[State, Any], None]] = {
    SessionStarted: _on_session_started,
    PersonSpoke: _on_spoke,
    Moved: _on_moved,
    fa.TrackPlanned: _on_planned,
    fa.TrackPlanEvaluated: _on_plan_evaluated,
    fa.TaskTicked: _on_ticked,
    fa.TrackEvaluated: _on_evaluated,
    fa.TrackFixed: _on_fixed,
    fa.BusinessSynced: _on_synced,
    SubtaskIntegrated: _on_integrated,
    BatchSettled: _on_settled,
    BatchesUndone: _on_undone,
}
BEGUN: dict[type, Callable[[State, Lane, Any], None]] = {ef.ReadTrack: _on_reading_begun}
ENDED: dict[type, Callable[[State, Lane, Effect, Any], None]] = {
    ef.TrackRead: _on_read,
    ef.TrackEdited: _on_edited,
    ef.TrackStale: _on_edited,
    TurnEnded: _on_turn_ended,
    Integrated: _on_merged,
}
