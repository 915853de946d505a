"""EVALUATE_EXECUTION: what can be measured is measured, the rest is judged by a panel, and one verdict comes of both.

The measured part and the check of the judges' citations are effects; choosing, asking and weighing are pure, and the same as in
`flyball dispatch`.
"""

from __future__ import annotations

from flyball.core.evaluation.catalogue import BUILT_IN, EvaluatorCard
from flyball.core.evaluation.findings import EvaluatorResult, PassResult
from flyball.core.evaluation.judging import JudgeSeat, TrackMatter, failed_seat, judged_passes
from flyball.core.evaluation.verdict import TrackEvaluation, aggregate, weigh_evaluator
from flyball.core.loop import panel
from flyball.core.loop.step import NOTHING, Step, perform, record
from flyball.core.loop.workflow import Brief
from flyball.core.model.events import Moved
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId
from flyball.core.workflows.track import executing, pages
from flyball.core.workflows.track.edits import BeginEvaluation, WriteEvaluation
from flyball.core.workflows.track.effects import AnswersChecked, CheckAnswers, MeasureTrack, TrackMeasured, TrackRead
from flyball.core.workflows.track.facts import TrackEvaluated
from flyball.core.workflows.track.plan_text import last_cycle
from flyball.core.workflows.track.record import record_of


def evaluate(state: State, lane: Lane) -> Step:
    """Measure, ask the judges, check what they cite, and say one verdict; what it leads to is a row of the table."""
    number = record_of(state).evaluations + 1
    evaluation = record_of(state).evaluation
    visit = len(lane.visits)
    if evaluation is not None and record_of(state).evaluated_in == visit:
        return _decided(state, lane, evaluation)
    found = pages.seen(state)
    if isinstance(found, Step):
        return found
    told = executing.write_boxes(state, lane, found)
    told = told or pages.written(state, lane, f"evaluating-{visit}", BeginEvaluation(_at(state)))
    if told is not None:
        return told
    measured = lane.outcomes.get(_name("measure-track", visit))
    if not isinstance(measured, TrackMeasured):
        return _measure(state, lane, found, visit)
    seats = judges(state, lane, found, measured)
    answers = panel.convene(state, lane, brief_of(seats), tuple(seat.role for seat in seats)) if seats else {}
    if isinstance(answers, Step):
        return answers
    checked = AnswersChecked()
    if seats:
        key = _name("check-answers", visit)
        outcome = lane.outcomes.get(key)
        if not isinstance(outcome, AnswersChecked):
            said = {seat.evaluator: answers[seat.role][1].final_message for seat in seats}
            return (
                NOTHING
                if key in state.open
                else perform(CheckAnswers(key, candidate=lane.head, chosen=found.chosen, answers=said))
            )
        checked = outcome
    evaluation = weigh(state, lane, found, measured, seats, checked)
    cycle = 1 + max(record_of(state).cycle, last_cycle(found.plan)) if evaluation.verdict == "FAIL" else 0
    return record(TrackEvaluated(number, evaluation, cycle))


def _measure(state: State, lane: Lane, found: TrackRead, visit: int) -> Step:
    assert state.prepared is not None
    key = _name("measure-track", visit)
    if key in state.open:
        return NOTHING
    wanted = MeasureTrack(
        key, path=pages.folder(state), candidate=lane.head, base=state.prepared.base, chosen=found.chosen
    )
    return perform(wanted)


def cards(found: TrackRead) -> tuple[EvaluatorCard, ...]:
    """The evaluators flyball brings, and those of other packages that the track needs."""
    return (*BUILT_IN, *found.cards)


def judges(state: State, lane: Lane, found: TrackRead, measured: TrackMeasured) -> tuple[JudgeSeat, ...]:
    """The seats of the panel; an evaluator that broke has failed already, and nobody is asked for it."""
    assert state.prepared is not None
    del lane
    matter = TrackMatter(
        track=found.track,
        base=state.prepared.base,
        spec=found.spec,
        plan=found.plan,
        product=found.product,
        changed=measured.changed,
        measured=measured.passes,
    )
    sound = tuple(each for each in found.chosen if each.name not in measured.broken)
    return judged_passes(sound, cards(found), matter)


def brief_of(seats: tuple[JudgeSeat, ...]) -> Brief:
    """What each seat is asked; the question is a judge's own, with a form for its answer."""
    prompts = {seat.role: seat.prompt for seat in seats}
    return lambda _state, _lane, role, _purpose: prompts[role]


def weigh(
    state: State,
    lane: Lane,
    found: TrackRead,
    measured: TrackMeasured,
    seats: tuple[JudgeSeat, ...],
    checked: AnswersChecked,
) -> TrackEvaluation:
    """One result for each evaluator, of what was measured and what was judged; together with the structural checks the verdict."""
    assert state.prepared is not None
    by_name = {seat.evaluator: seat for seat in seats}
    by_card = {card.name: card for card in cards(found)}
    results: list[EvaluatorResult] = []
    for chosen in found.chosen:
        seat = by_name.get(chosen.name)
        judged: tuple[PassResult, ...] = ()
        if seat is not None:
            reason = checked.unusable.get(chosen.name)
            judged = (
                failed_seat(seat, f"turn did not help: {reason}") if reason else checked.passes.get(chosen.name, ())
            )
        own = measured.broken.get(chosen.name) or measured.passes.get(chosen.name, ())
        results.append(weigh_evaluator(by_card[chosen.name], chosen, own, judged))
    return aggregate(found.track, results, measured.structural, measured.sync, base=state.prepared.base, head=lane.head)


def _decided(state: State, lane: Lane, evaluation: TrackEvaluation) -> Step:
    """Write the report and the metadata, then go where the verdict leads."""
    number = record_of(state).evaluations
    told = pages.written(state, lane, f"evaluated-{number}", WriteEvaluation(evaluation, _at(state)))
    if told is not None:
        return told
    first = evaluation.fix_actions[0].text if evaluation.fix_actions else "every evaluator and every check passes"
    more = len(evaluation.fix_actions) - 1
    reason = f"{evaluation.verdict}: {first}" + (f", and {more} more" if more > 0 else "")
    return record(Moved(evaluation.next_step, lane.stage, reason))


def _name(what: str, visit: int) -> EffectId:
    return EffectId(f"{what}/{visit}")


def _at(state: State) -> str:
    return state.now.isoformat(timespec="seconds").replace("+00:00", "Z")
