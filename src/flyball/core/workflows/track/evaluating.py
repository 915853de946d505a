"""EVALUATE_EXECUTION: what can be measured is measured, the rest is judged by a panel, and one verdict comes of both.

The measured part and the check of the judges' citations are effects; choosing, asking and weighing are pure, and the same as in
`flyball dispatch`.
"""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.evaluation.catalogue import BUILT_IN, EvaluatorCard
from flyball.core.evaluation.findings import EvaluatorResult, PassResult
from flyball.core.evaluation.judging import JudgeSeat, TrackMatter, failed_seat, judged_passes
from flyball.core.evaluation.verdict import TrackEvaluation, aggregate, weigh_evaluator
from flyball.core.loop import panel, prompts
from flyball.core.loop.step import Step, perform, record
from flyball.core.model.events import Moved
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId
from flyball.core.workflows.track import checkpoints, effects as ef, executing, pages
from flyball.core.workflows.track.facts import TrackEvaluated
from flyball.core.workflows.track.plan_text import last_cycle
from flyball.core.workflows.track.record import record_of


def evaluate(state: State, lane: Lane) -> Step:
    """Measure, ask the judges, check what they cite, and say one verdict; what it leads to is a row of the table."""
    known, visit = record_of(state), len(lane.visits)
    if known.evaluation is not None and known.evaluated_in == visit:
        return _go_on(state, lane, known.evaluation)
    found = pages.read(state)
    if isinstance(found, Step):
        return found
    told = executing.write_boxes(state, lane, found)
    told = told or pages.edit(state, lane, f"evaluating-{visit}", ef.BeginEvaluation(checkpoints.timestamp(state)))
    if told is not None:
        return told
    assert state.prepared is not None
    base, key = state.prepared.base, EffectId(f"measure-track/{visit}")
    measured = lane.outcomes.get(key)
    if not isinstance(measured, ef.TrackMeasured):
        folder = pages.folder(state)
        return perform(ef.MeasureTrack(key, path=folder, candidate=lane.head, base=base, chosen=found.chosen))
    seats = _seats(state, base, found, measured)
    checked = _judge(state, lane, found, seats) if seats else ef.AnswersChecked()
    if isinstance(checked, Step):
        return checked
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
        remarks=prompts.remarks_section(state.batches.proven) if state.batches.proven else "",
    )
    sound = tuple(each for each in found.chosen if each.name not in measured.broken)
    return judged_passes(sound, _cards(found), matter)


def _judge(state: State, lane: Lane, found: ef.TrackRead, seats: tuple[JudgeSeat, ...]) -> Step | ef.AnswersChecked:
    """Ask each judge its own question, with a form for the answer, and have checked what they cite."""
    questions = {seat.role: seat.prompt for seat in seats}
    answers = panel.convene(state, lane, lambda _state, _lane, role, _purpose: questions[role], tuple(questions))
    if isinstance(answers, Step):
        return answers
    key = EffectId(f"check-answers/{len(lane.visits)}")
    checked = lane.outcomes.get(key)
    if isinstance(checked, ef.AnswersChecked):
        return checked
    said = {seat.evaluator: answers[seat.role][1].final_message for seat in seats}
    return perform(ef.CheckAnswers(key, candidate=lane.head, chosen=found.chosen, answers=said))


def _results(
    found: ef.TrackRead, measured: ef.TrackMeasured, seats: tuple[JudgeSeat, ...], checked: ef.AnswersChecked
) -> Iterator[EvaluatorResult]:
    """One result for each evaluator, of what was measured and what was judged."""
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
    told = pages.edit(state, lane, f"evaluated-{number}", ef.WriteEvaluation(evaluation, checkpoints.timestamp(state)))
    if told is not None:
        return told
    first = evaluation.fix_actions[0].text if evaluation.fix_actions else "every evaluator and every check passes"
    more = len(evaluation.fix_actions) - 1
    reason = f"{evaluation.verdict}: {first}" + (f", and {more} more" if more > 0 else "")
    return record(Moved(evaluation.next_step, lane.stage, reason))
