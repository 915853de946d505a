"""A track in words: a line on screens for each of its facts, the notes of its report, and the story of the demo."""

from collections.abc import Iterable, Iterator

from flyball.core.loop.workflow import Lines, Notes
from flyball.core.model.batch_events import BatchSettled
from flyball.core.model.events import Fact
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.track.facts import (
    BusinessSynced,
    TaskTicked,
    TrackEvaluated,
    TrackFixed,
    TrackPlanEvaluated,
    TrackPlanned,
)


def _plan_line(fact: TrackPlanned) -> str:
    if not fact.problems:
        return f"plan.md, version {fact.version}, by the {fact.by}"
    return f"plan.md has {plural(len(fact.problems), 'problem')}: {first_few(fact.problems, 1)}"


def _plan_evaluation_line(fact: TrackPlanEvaluated) -> str:
    failed = [name for name, passed in fact.checks.items() if not passed]
    why = [f.message for f in fact.findings[:1]] or failed[:1]
    said = "approved" if fact.approved else "sent back"
    return f"plan.md {said} by {'code' if fact.by == 'code' else f'the {fact.by}'}" + (
        f": {why[0]}" if why and not fact.approved else ""
    )


def _evaluation_line(fact: TrackEvaluated) -> str:
    actions = fact.evaluation.fix_actions
    mend = f": {plural(len(actions), 'point')} to mend" if actions else ""
    return f"evaluation {fact.number}: {fact.evaluation.verdict}{mend}"


def _evaluation_note(fact: TrackEvaluated) -> Iterator[str]:
    said = fact.evaluation
    yield f"Evaluation {fact.number}: {said.verdict}, {plural(len(said.fix_actions), 'point')} to mend"
    yield from (f"Not verified by evaluation {fact.number}: {each}" for each in said.unverified)


def story(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        match fact:
            case TrackPlanned(problems=()):
                yield f"plan.md, version {fact.version}, by the {fact.by}"
            case BatchSettled(accepted=accepted) if accepted:
                yield f"tasks {', '.join(accepted)} are on the branch"
            case TrackEvaluated(evaluation=said):
                mend = f": {plural(len(said.fix_actions), 'point')} to mend" if said.fix_actions else ""
                yield f"evaluation {fact.number}: {said.verdict}{mend}"
            case TrackFixed():
                yield f"fix cycle {fact.cycle}: {fact.summary}"
            case BusinessSynced():
                yield f"business documents: {fact.summary}"


LINES: Lines = {
    TrackPlanned: _plan_line,
    TrackPlanEvaluated: _plan_evaluation_line,
    TaskTicked: lambda f: f"a person ticked {f.item}" + ("" if f.verified else "; the gates do not hold for it"),
    TrackEvaluated: _evaluation_line,
    TrackFixed: lambda f: f"fix cycle {f.cycle}: {f.summary}",
    BusinessSynced: lambda f: f"business documents: {f.summary}",
}
NOTES: Notes = {TrackEvaluated: _evaluation_note}
