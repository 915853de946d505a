"""The `track` workflow: PLAN -> EVALUATE_PLAN -> EXECUTE -> EVALUATE_EXECUTION <-> FIX -> BUSINESS_SYNC -> COMPLETE.

EXECUTE works in batches (`core/loop/batches`): INTEGRATE, MONITOR and CHECKPOINT are the steps of one, and code. Evaluators are a
panel. The documents of the track are the user's: they are read each time, and edited by effects that name what they want to be true.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial

from flyball.core.evaluation.catalogue import BUILT_IN, EvaluatorCard
from flyball.core.evaluation.findings import EvaluatorResult, PassResult
from flyball.core.evaluation.judging import JudgeSeat, TrackMatter, failed_seat, judged_passes
from flyball.core.evaluation.verdict import TrackEvaluation, aggregate, weigh_evaluator
from flyball.core.loop import opening, panel, reviewing
from flyball.core.loop.batches import integrating, lanes, monitoring, settling
from flyball.core.loop.step import ComesFirst, Step, first, halt, perform, record
from flyball.core.loop.transitions import BY_A_PERSON
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.events import Moved, TaskStopped
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Commit, EffectId
from flyball.core.workflows.track import checkpoints, effects as ef, executing, finishing, pages, planning, wording
from flyball.core.workflows.track.effects import EFFECTS, OUTCOMES
from flyball.core.workflows.track.facts import FACTS, TrackEvaluated
from flyball.core.workflows.track.fold import BEGUN, ENDED, FOLDS
from flyball.core.workflows.track.plan_text import last_cycle
from flyball.core.workflows.track.prompts import CARDS, EXECUTOR, PLAN_EVALUATOR, brief
from flyball.core.workflows.track.record import EMPTY, record_of


def evaluate(state: State, lane: Lane) -> Step:
    """Measure, ask the judges, check what they cite, and say one verdict; what it leads to is a row of the table."""
    known, visit = record_of(state), len(lane.visits)
    if known.evaluation is not None and known.evaluated_in == visit:
        return _go_on(state, lane, known.evaluation)
    found = pages.read(state)
    executing.write_boxes(state, lane, found)
    pages.edit(state, lane, f"evaluating-{visit}", ef.BeginEvaluation(checkpoints.timestamp(state)))
    assert state.prepared is not None
    base, key = state.prepared.base, EffectId(f"measure-track/{visit}")
    measured = lane.outcomes.get(key)
    if not isinstance(measured, ef.TrackMeasured):
        folder = pages.folder(state)
        return perform(ef.MeasureTrack(key, path=folder, candidate=lane.head, base=base, chosen=found.chosen))
    seats = _seats(state, base, found, measured)
    checked = _judge(state, lane, found, seats) if seats else ef.AnswersChecked()
    results = tuple(_results(found, measured, seats, checked))
    evaluation = aggregate(found.track, results, measured.structural, measured.sync, base=base, head=lane.head)
    cycle = 1 + max(known.cycle, last_cycle(found.plan)) if evaluation.verdict == "FAIL" else 0
    return record(TrackEvaluated(known.evaluations + 1, evaluation, cycle))


def _cards(found: ef.TrackRead) -> tuple[EvaluatorCard, ...]:
    """The evaluators flyball brings, and those of other packages that the track needs."""
    return (*BUILT_IN, *found.cards)


def _seats(state: State, base: Commit, found: ef.TrackRead, measured: ef.TrackMeasured) -> tuple[JudgeSeat, ...]:
    """The seats of the panel; an evaluator that broke has failed already, and nobody is asked for it."""
    matter = TrackMatter(
        track=found.track,
        base=base,
        spec=found.spec,
        plan=found.plan,
        product=found.product,
        changed=measured.changed,
        measured=measured.passes,
        remarks=reviewing.remarks_section(state.batches.proven) if state.batches.proven else "",
    )
    sound = tuple(each for each in found.chosen if each.name not in measured.broken)
    return judged_passes(sound, _cards(found), matter)


def _judge(state: State, lane: Lane, found: ef.TrackRead, seats: tuple[JudgeSeat, ...]) -> ef.AnswersChecked:
    """Ask each judge its own question, with a form for the answer, and have checked what they cite."""
    questions = {seat.role: seat.prompt for seat in seats}
    answers = panel.convene(state, lane, lambda _state, _lane, role, _purpose: questions[role], tuple(questions))
    key = EffectId(f"check-answers/{len(lane.visits)}")
    checked = lane.outcomes.get(key)
    if isinstance(checked, ef.AnswersChecked):
        return checked
    said = {seat.evaluator: answers[seat.role][1].final_message for seat in seats}
    raise ComesFirst(perform(ef.CheckAnswers(key, candidate=lane.head, chosen=found.chosen, answers=said)))


def _results(
    found: ef.TrackRead, measured: ef.TrackMeasured, seats: tuple[JudgeSeat, ...], checked: ef.AnswersChecked
) -> Iterator[EvaluatorResult]:
    by_name = {seat.evaluator: seat for seat in seats}
    by_card = {card.name: card for card in _cards(found)}
    for chosen in found.chosen:
        seat, reason = by_name.get(chosen.name), checked.unusable.get(chosen.name)
        judged: tuple[PassResult, ...] = checked.passes.get(chosen.name, ()) if seat is not None else ()
        if seat is not None and reason:
            judged = failed_seat(seat, f"turn did not help: {reason}")
        own = measured.broken.get(chosen.name) or measured.passes.get(chosen.name, ())
        yield weigh_evaluator(by_card[chosen.name], chosen, own, judged)


def _go_on(state: State, lane: Lane, evaluation: TrackEvaluation) -> Step:
    """Write the report and the metadata, then go where the verdict leads."""
    number = record_of(state).evaluations
    pages.edit(state, lane, f"evaluated-{number}", ef.WriteEvaluation(evaluation, checkpoints.timestamp(state)))
    first = evaluation.fix_actions[0].text if evaluation.fix_actions else "every evaluator and every check passes"
    more = len(evaluation.fix_actions) - 1
    reason = f"{evaluation.verdict}: {first}" + (f", and {more} more" if more > 0 else "")
    return record(Moved(evaluation.next_step, lane.stage, reason))


MOST_ITERATIONS = 50
WEIGHTS = {"PLAN": 10, "EVALUATE_PLAN": 5, "EXECUTE": 55, "EVALUATE_EXECUTION": 20, "BUSINESS_SYNC": 10}

STEPS: dict[str, Callable[[State, Lane], Step]] = {
    "PLAN": planning.plan,
    "EVALUATE_PLAN": planning.evaluate,
    "EXECUTE": executing.execute,
    "INTEGRATE": partial(integrating.integrate, executing.RULES),
    "MONITOR": partial(monitoring.monitor, executing.RULES),
    "CHECKPOINT": partial(settling.settle, executing.RULES),
    "EVALUATE_EXECUTION": evaluate,
    "FIX": finishing.fix,
    "BUSINESS_SYNC": finishing.sync,
    "COMPLETE": finishing.complete,
}
_SKIPPED = {
    "PLAN": "EXECUTE",
    "EVALUATE_PLAN": "EXECUTE",
    "INTEGRATE": "MONITOR",
    "MONITOR": "CHECKPOINT",
    "EVALUATE_EXECUTION": "COMPLETE",
    "FIX": "COMPLETE",
    "BUSINESS_SYNC": "COMPLETE",
}
"""Where a person's `skip` leads; a plan cannot be skipped before there is one, nor can the work or the end."""


def next_step(state: State, lane: Lane) -> Step:
    """What comes next in a lane: that of the task, or a task of the plan's."""
    if lane.name != MAIN:
        return lanes.step(executing.RULES, state, lane)
    first(opening.prepare(state))
    opening.ask_first(state, lane, brief, PLAN_EVALUATOR, "the evaluator")
    if _is_spent(state) and lane.turn is None and lane.panel is None and lane.stage != "COMPLETE":
        told = f"iteration limit of a track reached ({state.iterations} of {MOST_ITERATIONS})"
        return halt(TaskStopped("limit", f"{told}; to go on: flyball resume {state.task.id} --max-iterations N"))
    return STEPS[lane.stage](state, lane)


def _is_spent(state: State) -> bool:
    """Whether the iterations of a track are used up; a limit that a person set is seen to before every turn instead."""
    return state.task.settings.limits.max_iterations is None and state.iterations >= MOST_ITERATIONS


def _skip(state: State, lane: Lane) -> Moved:
    if lane.name != MAIN:
        return Moved(executing.RULES.reviewing, lane.stage, BY_A_PERSON, forced=True, lane=lane.name)
    following = _SKIPPED.get(lane.stage, lane.stage)
    if lane.stage in {"PLAN", "EVALUATE_PLAN"} and not state.items:
        following = lane.stage
    return Moved(following, lane.stage, BY_A_PERSON, forced=following != lane.stage)


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind; what a failed evaluation leads back to is ahead again."""
    return sum(weight for name, weight in WEIGHTS.items() if name in completed and name != stage)


WORKFLOW = Workflow(
    name="track",
    stages=tuple(STEPS),
    roles=tuple(card.name for card in CARDS),
    next=next_step,
    skipped=_skip,
    brief=brief,
    reopened=finishing.reopen,
    rolled_back_to="EXECUTE",
    undo=settling.undo,
    record=EMPTY,
    folds=FOLDS,
    begun=BEGUN,
    ended=ENDED,
    facts=FACTS,
    effects=EFFECTS,
    outcomes=OUTCOMES,
    cards=CARDS,
    author=EXECUTOR,
    source="track",
    closing="COMPLETE",
    percent=lambda _stage, numbers: numbers.tests_percent,
    overall=overall_percent,
    demo=Demo(__package__, "conductor/tracks/coupons_20260105"),
    story=wording.story,
    lines=wording.LINES,
    notes=wording.NOTES,
    limit=lambda state: ("max_iterations", state.iterations) if _is_spent(state) else ("", 0),
    unverified=lambda state: record_of(state).unverified,
)
