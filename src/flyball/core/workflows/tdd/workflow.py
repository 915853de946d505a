"""The `tdd` workflow: RED -> GREEN -> REFACTOR -> DOCUMENT -> QA -> SHIP; a QA rejection leads back to who can repair it."""

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.health.breaker import Strikes
from flyball.core.health.monitor import change_remedy
from flyball.core.health.verdict import Remedy
from flyball.core.loop import gates, kernel, opening, panel, questions, shipping
from flyball.core.loop.failures import shows_red
from flyball.core.loop.feedback import reopen_at, requested_criteria
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step, first, halt, perform, record
from flyball.core.loop.transitions import HELD, LEFT_OUT, Transition, move, skip
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.events import Fact, ItemsSet, Judged, PersonSpoke, TaskStopped, TurnSetAside
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId, Item
from flyball.core.text.criteria import criteria
from flyball.core.text.quantities import plural
from flyball.core.workflows.tdd import gates as tdd_gates
from flyball.core.workflows.tdd.facts import SessionImported
from flyball.core.workflows.tdd.fold import FOLDS
from flyball.core.workflows.tdd.percentages import overall_percent, phase_percent
from flyball.core.workflows.tdd.prompts import CARDS, brief
from flyball.core.workflows.tdd.prp_session import PHASES, describe_session

QA_ATTEMPTS = 3
STAGES = {
    "RED": Stage("RED", "tester", "red", tdd_gates.red, brief, area="tests", strikes=Strikes(3, 5), since_round=True),
    "GREEN": Stage(
        "GREEN", "implementer", "green", tdd_gates.green, brief, product=True, strikes=Strikes(2, 3), checks=True
    ),
    "REFACTOR": Stage(
        "REFACTOR",
        "refactorer",
        "refactor",
        tdd_gates.refactor,
        brief,
        area="refactor",
        product=True,
        strikes=Strikes(5, 5),
    ),
    "DOCUMENT": Stage(
        "DOCUMENT", "documenter", "document", tdd_gates.document, brief, area="docs", strikes=Strikes(3, 5)
    ),
    "QA": Stage("QA", "qa", "qa", gates.review, brief, strikes=Strikes(3, 3)),
}
ORDER = (*STAGES, "SHIP")
HELD_AGAIN, SENT_BACK = "held after a rejection", "sent back"
FOR = "a finding is for "
"""Followed by the stage that owns it; an earlier stage's findings are seen to first."""
TRANSITIONS = (
    Transition("RED", HELD, "GREEN", accepts_tests=True),
    Transition("GREEN", HELD, "REFACTOR"),
    Transition("GREEN", HELD_AGAIN, "QA"),
    Transition("REFACTOR", HELD, "DOCUMENT"),
    Transition("REFACTOR", HELD_AGAIN, "QA"),
    Transition("DOCUMENT", HELD, "QA"),
    Transition("DOCUMENT", HELD_AGAIN, "QA"),
    Transition("QA", HELD, "SHIP"),
    Transition("QA", LEFT_OUT, "SHIP", unreviewed=True),
    Transition("QA", SENT_BACK, "GREEN", "sent back by a person", rejected=True),
    *(
        Transition(stage, f"{FOR}{owner}", owner, rejected=True)
        for stage, owner in (
            ("QA", "GREEN"), ("QA", "REFACTOR"), ("QA", "DOCUMENT"),
            ("GREEN", "REFACTOR"), ("GREEN", "DOCUMENT"), ("REFACTOR", "DOCUMENT"),
        )
    ),
)  # fmt: skip
REVIEWER = "qa"


def next_step(state: State, lane: Lane) -> Step:
    first(opening.prepare(state, checks=True))
    first(_require_countable_failures(state))
    if not state.items:
        first(_name_criteria(state, lane))
    first(_asking(state, lane))
    if lane.loop.exiting:
        # Both gates held: keep the tree that was measured, then go on; QA changes none, so there is nothing to keep.
        if lane.stage != "QA":
            kernel.accept(state, lane, STAGES[lane.stage])
        return record(move(TRANSITIONS, lane, _when_held(lane), kernel.why_left(lane)))
    if lane.stage == "RED" and not lane.loop.iteration and lane.turn is None and shows_red(state):
        return record(move(TRANSITIONS, lane, HELD, "the tests that the request asks for fail already"))
    unneeded = tdd_gates.within_limits(state, lane) if lane.stage == "REFACTOR" else ""
    if unneeded:
        return record(move(TRANSITIONS, lane, HELD, unneeded))
    if lane.stage == "SHIP":
        return shipping.ship(state, lane, shipping.gates_told(state, lane))
    if lane.stage == "QA":
        return _review(state, lane)
    return kernel.iterate(state, lane, STAGES[lane.stage])


def _require_countable_failures(state: State) -> Step | None:
    """New tests must be seen to fail: by their number, or by a gate that passes without them and runs new test files."""
    if state.baseline is None or state.iterations or state.midway:
        return None
    reason = tdd_gates.objection(state.baseline)
    if not reason:
        return None
    gate = state.baseline.uncounted_failure
    gates_run = (gate,) if gate and not state.baseline.unseen else state.baseline.gates
    output = gate.output.splitlines()[-12:] if gate and not state.baseline.unseen else ()
    return halt(TaskStopped("blocked", reason, (*(f"command: {each.command}" for each in gates_run), *output)))


def _asking(state: State, lane: Lane) -> Step | None:
    """What a person, or the reviewer in their place, must say first."""
    if lane.to_ask:
        return questions.put(state, lane, lane.to_ask[0])
    if state.task.settings.attended and not state.items_confirmed and not state.iterations and lane.turn is None:
        return questions.put(state, lane, questions.confirm_criteria(state), on_criteria_answer)
    if lane.loop.consent_wanted:
        return opening.consent(state, lane, brief, REVIEWER, "the QA reviewer")
    return None


def on_criteria_answer(_lane: Lane, _key: EffectId, answer: str) -> tuple[Fact, ...]:
    """What becomes of the answer whether these are the criteria: anything but yes has them written again."""
    if answer.lower() in {"yes", "y", "ok"}:
        return ()
    return (PersonSpoke("modify", f"Acceptance criteria: {answer}"), ItemsSet((), "person"))


def _name_criteria(state: State, lane: Lane) -> Step | None:
    """Who writes the first tests names the criteria in the same turn; without an answer the request itself is the criterion.

    One planner turn does where a person is there to confirm them, or where tests that fail already may be all that is asked for.
    """
    if lane.turn is None:
        if lane.stage == "RED" and not state.task.settings.attended and not state.work:
            return None
        return kernel.spawn(state, lane, brief, role="planner", purpose="criteria")
    effect = lane.turn.effect
    turn = kernel.ended_turn(state, lane)
    items = tuple(Item(c.id, c.text) for c in criteria(turn.claim.plan))
    named = ItemsSet(requested_criteria(state.task.request), "request")
    if effect.role != "planner":
        return record(ItemsSet(items, "tester") if items else named)
    planned = plural(len(items), "criterion", "criteria") if items else "no criteria in the planner's report"
    return record(ItemsSet(items, "planner") if items else named, TurnSetAside(effect.turn, "planned", planned))


def _when_held(lane: Lane) -> str:
    """What a review rejected goes to the next stage that a finding is for, and else straight back to the review."""
    if lane.stage == "QA" or not lane.rejected:
        return HELD
    later = ORDER[ORDER.index(lane.stage) + 1 :]
    owner = next((stage for stage in later if stage in _owners(lane.loop.findings)), "")
    return f"{FOR}{owner}" if owner else HELD_AGAIN


def _owners(findings: Iterable[Finding]) -> frozenset[str]:
    return frozenset(map(tdd_gates.owner, findings))


def _review(state: State, lane: Lane) -> Step:
    """QA: measure the eleven criteria, then let a reviewer judge a disposable copy with those results before it."""
    stage = STAGES["QA"]
    if lane.loop.judged is not None and lane.loop.judged.rejected:
        # After the last rejection only a person's reset leads back to GREEN, and the count goes on.
        if lane.loop.reset:
            return record(move(TRANSITIONS, lane, SENT_BACK))
        return questions.put(state, lane, questions.work_rejected(state, lane, "QA"))
    name = EffectId(f"measure/qa-{len(lane.visits)}-{lane.loop.iteration + 1}")
    measured = lane.outcomes.get(name)
    if not isinstance(measured, Measured):
        return perform(kernel.measure(state, lane, stage, name, lane.head))
    if measured.measurement.unusable:
        return questions.put(state, lane, questions.tool_unusable(measured.measurement.unusable))
    blocked = any(check.status == "fail" and check.blocking for check in measured.measurement.checks)
    unneeded = "" if blocked else gates.left_out(state, lane, measured.measurement)
    if unneeded and not lane.loop.iteration and lane.panel is None:
        return record(move(TRANSITIONS, lane, LEFT_OUT, unneeded))
    if lane.panel is None:
        first(kernel.ask_for_signal(state, lane))
    answers = panel.convene(state, lane, brief, (REVIEWER,), purpose=kernel.purpose_of(lane))
    effect, turn = answers[REVIEWER]
    judged, *learned = kernel.verdict_on(state, lane, stage, effect, turn, measured.measurement)
    assert isinstance(judged, Judged)
    if judged.rejected and lane.rejections + 1 >= QA_ATTEMPTS:
        why = f"QA rejected the work {plural(lane.rejections + 1, 'time')}: {'; '.join(judged.gate_1.missing[:1])}"
        return record(replace(judged, verdict=change_remedy(judged.verdict, Remedy.STOP, why)), *learned)
    if not judged.rejected:
        return record(judged, *learned)
    owner = next((stage for stage in ORDER if stage in _owners(judged.findings)), "GREEN")
    return record(judged, *learned, move(TRANSITIONS, lane, f"{FOR}{owner}", "; ".join(judged.gate_1.missing[:3])))


def _import_note(fact: SessionImported) -> Iterator[str]:
    before = PHASES[: PHASES.index(fact.session.phase)]
    unseen = f"; not verified here: {', '.join(before)}" if before else ""
    yield f"Begun at {fact.session.phase}, from {describe_session(fact.session)}{unseen}"


WORKFLOW = Workflow(
    name="tdd",
    stages=ORDER,
    transitions=TRANSITIONS,
    roles=("planner", *(s.role for s in STAGES.values())),
    next=next_step,
    skipped=lambda _state, lane: skip(TRANSITIONS, lane, _when_held(lane)),
    brief=brief,
    reopened=partial(reopen_at, "RED"),
    folds=FOLDS,
    lines={SessionImported: lambda f: f"begun from {describe_session(f.session)}"},
    notes={SessionImported: _import_note},
    facts=(SessionImported,),
    cards=CARDS,
    author="implementer",
    strikes={name: stage.strikes for name, stage in STAGES.items() if stage.strikes is not None},
    verifying=frozenset({"RED", "GREEN", "QA"}),
    covering="RED",
    closing="SHIP",
    takes_sessions=True,
    percent=phase_percent,
    overall=overall_percent,
    demo=Demo(__package__, "docs/discount.md"),
)
