"""Leaving a stage, being sent back, asking and being answered: whole loops, one rule at a time."""

from collections.abc import Callable

import msgspec
import pytest
from tests.support.builders import a_state
from tests.support.simulator import APPROVED, DONE, START, Honest, Simulator, a_reviewed_task, a_task, ok, suite

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, OpenQuestion, ProtectedChange
from flyball.core.loop.gates import Weighed
from flyball.core.loop.judge import judge
from flyball.core.model.effects import Ask, Deliver, Measure, RunAgent, Save
from flyball.core.model.events import (
    Begun,
    Consented,
    Ended,
    ItemsSet,
    Judged,
    LearningRecorded,
    Moved,
    PersonSpoke,
    SessionStarted,
    TaskStopped,
)
from flyball.core.model.measurement import Check, GateVerdict, Measurement, Scalar, Trick
from flyball.core.model.outcomes import Answered, Interrupted, Measured, TurnEnded, TurnKind, Undelivered, Usage
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, EffectId, Gate, Item, Settings

REJECTED = Claim(exit_signal=True, verdict="fail", findings=(Finding("critical", "it is slow"),), source="report-file")
AGAIN = SessionStarted(2, "h", "0")
Turn = Callable[[RunAgent, State], TurnEnded]


def settings(*, attended: bool = False) -> Settings:
    return Settings(gates=(Gate("test", "t"),), roles={"default": AgentChoice("scripted")}, attended=attended)


def world(turn: Turn | None = None, answer: Callable[[Ask, State], str | None] | None = None) -> Honest:
    """An honest world in which `turn` may say otherwise than the honest agent."""
    made = Honest()

    def work(effect: RunAgent, state: State) -> TurnEnded:
        honest = Honest.work(made, effect, state)
        return turn(effect, state) if turn else honest

    made.turn = work
    if answer:
        made.answer = answer
    return made


def honest(effect: RunAgent) -> TurnEnded:
    return ok(APPROVED if effect.role == "qa" else DONE)


def judged(simulator: Simulator) -> list[Judged]:
    return [f for f in simulator.of(Judged) if isinstance(f, Judged)]


def moves(simulator: Simulator) -> list[Moved]:
    return [f for f in simulator.of(Moved) if isinstance(f, Moved)]


@pytest.mark.req("C40")
@pytest.mark.parametrize("kind", ["timed_out", "context_full", "denied", "max_turns", "budget", "question"])
def test_a_signal_counts_only_from_a_turn_that_ended_well(kind: TurnKind) -> None:
    simulator = Simulator(world(lambda _t, _s: TurnEnded(kind, claim=DONE)))
    simulator.run()
    assert judged(simulator)
    assert not any(j.gate_2 or j.can_exit for j in judged(simulator))
    assert moves(simulator) == []


@pytest.mark.req("C40")
def test_an_agent_whose_report_could_not_be_read_is_told_so() -> None:
    problem = "exit_signal is 'true'; expected true or false"
    simulator = Simulator(world(lambda _t, _s: ok(Claim(problems=(problem,)))))
    simulator.run()
    second = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, RunAgent)][1]
    assert f"Your report was not taken as you wrote it: {problem}" in second.prompt


@pytest.mark.req("C40")
def test_a_signal_of_an_earlier_turn_is_not_remembered() -> None:
    made = world(lambda t, _s: ok(DONE if t.turn == 1 else Claim()))
    honest_look = made.measure
    made.measure = lambda m, s: suite(m.candidate, "tree-0") if s.turns == 1 else honest_look(m, s)
    simulator = Simulator(made)
    simulator.run()
    first, second = judged(simulator)[:2]
    assert (first.gate_1.held, first.gate_2, first.false_claim) == (False, True, True)
    assert (second.gate_1.held, second.gate_2, second.can_exit) == (True, False, False)


@pytest.mark.req("C40")
def test_gate_1_alone_tells_the_agent_that_it_may_signal() -> None:
    simulator = Simulator(world(lambda t, _s: honest(t) if t.turn > 1 else ok()))
    simulator.run()
    assert "set `exit_signal` to true" in simulator.turns[1].prompt.split("## Report")[0]
    assert [m.stage for m in moves(simulator)][:1] == ["GREEN"]


@pytest.mark.req("C40")
def test_a_person_who_asks_for_the_confirmation_again_gets_a_turn_each_time() -> None:
    asked: list[str] = []

    def answer(ask: Ask, _state: State) -> str | None:
        asked.append(ask.question.name)
        return "confirm" if len(asked) < 3 else "abort"

    simulator = Simulator(world(lambda _t, _s: ok(), answer), a_task(settings=settings(attended=True)))
    state = simulator.run(200)
    assert asked == ["no-exit-signal"] * 3
    assert [t.purpose for t in simulator.turns] == ["", "", "confirm", "confirm"]
    assert state.stopped is not None
    assert state.stopped.kind == "aborted"


@pytest.mark.req("C40")
def test_a_person_may_accept_what_was_measured_and_the_next_stage_begins_as_any_other() -> None:
    def silent_in_red(turn: RunAgent, _state: State) -> TurnEnded:
        return ok() if turn.stage == "RED" else honest(turn)

    simulator = Simulator(world(silent_in_red, lambda _a, _s: "accept"), a_task(settings=settings(attended=True)))
    assert simulator.run().decision == "DONE"
    assert "a person accepted it" in moves(simulator)[0].reason
    assert [t.purpose for t in simulator.turns if t.stage == "GREEN"] == [""]


@pytest.mark.req("C40")
def test_a_reviewer_that_approves_without_a_signal_is_asked_for_it_and_then_a_person_is() -> None:
    quiet = Claim(verdict="pass", source="report-file")
    simulator = Simulator(world(lambda t, _s: ok(quiet) if t.role == "qa" else ok(DONE)))
    state = simulator.run()
    assert [t.purpose for t in simulator.turns if t.role == "qa"] == ["", "", "confirm"]
    assert state.decision == "BLOCKED"


def rejecting(times: int, findings: tuple[Finding, ...] = REJECTED.findings) -> Turn:
    left = [times]

    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        if effect.role != "qa" or not left[0]:
            return honest(effect)
        left[0] -= 1
        return ok(msgspec.structs.replace(REJECTED, findings=findings))

    return turn


@pytest.mark.req("C51")
def test_a_rejection_leads_to_green_with_the_findings_in_every_prompt_and_then_straight_to_qa() -> None:
    made = world(rejecting(1))
    honest_look = made.measure
    made.measure = lambda m, s: (
        suite(m.candidate, "t", failing=("a",), total=6) if m.kind == "green" and s.turns == 6 else honest_look(m, s)
    )
    simulator = Simulator(made)
    assert simulator.run().decision == "DONE"
    assert [m.stage for m in moves(simulator)] == ["GREEN", "REFACTOR", "DOCUMENT", "QA", "GREEN", "QA", "SHIP"]
    repairs = [t.prompt for t in simulator.turns if t.stage == "GREEN" and t.turn > 5]
    assert len(repairs) == 2
    assert all("it is slow" in prompt for prompt in repairs)


@pytest.mark.req("C51")
def test_a_no_without_findings_still_says_why() -> None:
    made = world(rejecting(1, findings=()))
    simulator = Simulator(made)
    simulator.run()
    assert "gave no reason" in next(t.prompt for t in simulator.turns if t.stage == "GREEN" and t.turn > 5)


@pytest.mark.req("C51")
@pytest.mark.parametrize("word", ["reset", "modify"])
def test_after_the_third_rejection_a_person_may_send_it_back_and_the_count_goes_on(word: str) -> None:
    simulator = Simulator(world(rejecting(4)))
    state = simulator.run()
    assert (state.decision, state.main.rejections) == ("BLOCKED", 3)
    simulator.append(AGAIN, PersonSpoke(word, "measure it first"))  # type: ignore[arg-type]
    state = simulator.run()
    assert (state.decision, state.main.rejections) == ("BLOCKED", 4), "the fourth is blocked at once"
    assert moves(simulator)[-2].reason == "sent back by a person"
    simulator.append(AGAIN, PersonSpoke("answer", "reset", question=state.stopped.question if state.stopped else ""))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("C51")
def test_the_third_rejection_is_blocked_with_the_whole_qa_report() -> None:
    made = world(rejecting(9))
    honest_look = made.measure
    checks = (Check("tests_pass", "pass", True), Check("lint_clean", "n/a", True, "no lint command is configured"))
    made.measure = lambda m, s: msgspec.structs.replace(honest_look(m, s), checks=checks if m.kind == "qa" else ())
    state = Simulator(made).run()
    assert state.stopped is not None
    assert state.stopped.evidence == (
        "pass: tests_pass", "n/a: lint_clean: no lint command is configured", "critical: it is slow"
    )  # fmt: skip


@pytest.mark.req("C51")
def test_a_reset_of_the_breaker_does_not_give_qa_its_attempts_back() -> None:
    simulator = Simulator(world(rejecting(9)))
    while not any(m.rejected for m in moves(simulator)):
        simulator.step()
    simulator.append(PersonSpoke("reset"))
    state = simulator.run()
    assert state.main.rejections == 3


@pytest.mark.req("C42", "C51")
def test_going_back_by_hand_after_a_rejection_leaves_out_no_stage() -> None:
    simulator = Simulator(world(rejecting(1)))
    while not any(m.rejected for m in moves(simulator)):
        simulator.step()
    simulator.append(PersonSpoke("reset"), Moved("GREEN", "GREEN", "rolled back to RED by a person"))
    assert simulator.run().decision == "DONE"
    assert [m.stage for m in moves(simulator)][-4:] == ["REFACTOR", "DOCUMENT", "QA", "SHIP"]


@pytest.mark.req("C2")
def test_the_reviewer_sees_what_was_measured_and_the_first_prompt_of_a_stage_the_failing_output() -> None:
    made = world()
    honest_look = made.measure

    def look(measure: Measure, state: State) -> Measurement:
        found = honest_look(measure, state)
        gate = msgspec.structs.replace(found.gates[0], output="E  assert 1 == 2")
        return msgspec.structs.replace(found, gates=(gate,))

    made.measure = look
    simulator = Simulator(made)
    simulator.run()
    assert "tests pass: pass" in next(t.prompt for t in simulator.turns if t.role == "qa")
    assert "assert 1 == 2" in next(t.prompt for t in simulator.turns if t.stage == "GREEN")


@pytest.mark.req("C6")
@pytest.mark.parametrize(("items", "asked"), [((), 1), ((Item("AC-1", "it works"),), 0)], ids=["planned", "given"])
def test_criteria_a_planner_wrote_are_confirmed_where_somebody_is_there(items: tuple[Item, ...], asked: int) -> None:
    names: list[str] = []

    def answer(ask: Ask, _state: State) -> str | None:
        names.append(ask.question.name)
        return "yes"

    plan = msgspec.structs.replace(DONE, plan="### Acceptance Criteria\n- [ ] it works\n")
    made = world(lambda t, _s: ok(plan) if t.role == "planner" else honest(t), answer)
    simulator = Simulator(made, a_task(settings=settings(attended=True), items=items))
    assert simulator.run().decision == "DONE"
    assert names == ["criteria"] * asked


@pytest.mark.req("C6")
def test_criteria_a_person_objects_to_are_written_again_with_what_was_said() -> None:
    answers = iter(["it must also be fast", "yes"])
    plan = msgspec.structs.replace(DONE, plan="### Acceptance Criteria\n- [ ] it works\n")
    made = world(lambda t, _s: ok(plan) if t.role == "planner" else honest(t), lambda _a, _s: next(answers))
    simulator = Simulator(made, a_task(settings=settings(attended=True), items=()))
    assert simulator.run().decision == "DONE"
    planners = [t for t in simulator.turns if t.role == "planner"]
    assert len(planners) == 2
    assert "it must also be fast" in planners[1].prompt
    assert [f.by for f in simulator.of(ItemsSet) if isinstance(f, ItemsSet)] == ["planner", "person", "planner"]


def asking(default: str | None) -> Turn:
    claim = Claim(questions=(OpenQuestion("Tabs or spaces?", ("tabs", "spaces"), default),), source="report-file")
    return lambda t, _s: ok(claim) if t.turn == 1 else honest(t)


@pytest.mark.parametrize("default", ["spaces", "abort if unsure"])
def test_an_agents_question_takes_its_default_when_nobody_is_there_and_is_kept_as_a_decision(default: str) -> None:
    made = world(asking(default))
    simulator = Simulator(made)
    before = simulator.state.main.context if simulator.state else 0
    assert simulator.run().decision == "DONE"
    learned = next(f for f in simulator.of(LearningRecorded) if isinstance(f, LearningRecorded))
    assert (learned.kind, learned.title, learned.choice) == ("decision", "Tabs or spaces?", default)
    assert f"Tabs or spaces?: {default}" in simulator.turns[1].prompt
    assert simulator.turns[1].context == before, "an answer to an agent clears nothing"


def test_an_agents_question_without_a_default_blocks_until_it_is_answered() -> None:
    simulator = Simulator(world(asking(None)))
    state = simulator.run()
    assert state.stopped is not None
    assert (state.stopped.kind, state.turns) == ("blocked", 1)
    simulator.append(AGAIN, PersonSpoke("answer", "tabs", question=state.stopped.question))
    assert simulator.run().decision == "DONE"
    assert "Tabs or spaces?: tabs" in simulator.turns[1].prompt


def test_a_full_context_is_followed_by_a_fresh_one() -> None:
    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        return TurnEnded("context_full", session="old") if effect.turn == 1 else honest(effect)

    simulator = Simulator(world(turn))
    simulator.run()
    assert simulator.turns[1].context == simulator.turns[0].context + 1
    assert simulator.turns[1].session == ""


@pytest.mark.req("C2")
def test_a_conversation_goes_on_with_what_it_had_used_and_a_fresh_one_with_nothing() -> None:
    used = Usage(300, 60, 0.3)

    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        ended = ok() if effect.turn == 1 else honest(effect)
        return msgspec.structs.replace(ended, session="s-1", usage=Usage(100, 20, 0.1), session_usage=used)

    simulator = Simulator(world(turn))
    simulator.run()
    assert (simulator.turns[0].session, simulator.turns[0].session_usage) == ("", Usage())
    assert (simulator.turns[1].session, simulator.turns[1].session_usage) == ("s-1", used)
    assert all(one.session_usage == (used if one.session else Usage()) for one in simulator.turns)


@pytest.mark.req("C22")
def test_a_question_does_not_outlive_its_stage() -> None:
    simulator = Simulator(world(lambda _t, _s: ok(), lambda _a, _s: None))
    first = simulator.run()
    assert first.stopped is not None
    simulator.append(AGAIN, PersonSpoke("skip"))
    second = simulator.run()
    assert second.stopped is not None
    assert second.main.stage == "GREEN"
    assert second.stopped.question != first.stopped.question
    assert second.stopped.reason.startswith("GREEN")


@pytest.mark.req("C22")
def test_a_skip_takes_effect_while_a_question_or_a_wait_is_open() -> None:
    simulator = Simulator(world(lambda _t, _s: ok(), lambda _a, _s: None), a_task(settings=settings(attended=True)))
    simulator.run()
    assert simulator.state is not None
    key = next(iter(simulator.state.questions))
    simulator.append(
        AGAIN, Begun(Ask(key, question=simulator.state.questions[key].question, attempt=2)), PersonSpoke("skip")
    )
    simulator.step()
    assert moves(simulator)[-1].forced


@pytest.mark.req("C42")
@pytest.mark.parametrize(("kind", "allowed"), [("ok", True), ("timed_out", False)])
def test_consent_is_the_reviewers_who_sees_the_change_and_holds_for_what_was_seen(
    kind: TurnKind, *, allowed: bool
) -> None:
    wanted = Claim(protected_changes=(ProtectedChange("tests/a.py", "it is wrong"),), source="report-file")

    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        if effect.purpose == "consent":
            return TurnEnded(kind, claim=APPROVED)
        return ok(wanted) if effect.turn == 2 else honest(effect)

    simulator = Simulator(world(turn), a_reviewed_task())
    state = simulator.run()
    reviewer = next(t for t in simulator.turns if t.purpose == "consent")
    assert reviewer.commit == "turn-2@save/2", "not the branch, on which the change does not stand"
    said = next(f for f in simulator.of(Consented) if isinstance(f, Consented))
    assert said.allowed is allowed
    assert state.main.consented == ({"tests/a.py": "turn-2@save/2"} if allowed else {})


@pytest.mark.req("C49")
@pytest.mark.parametrize(("told", "allowed"), [("", False), ("claude-sonnet-4-5", True)])
def test_the_authors_own_program_consents_only_where_both_models_are_told(told: str, *, allowed: bool) -> None:
    wanted = Claim(protected_changes=(ProtectedChange("tests/a.py", "it is wrong"),), source="report-file")

    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        if effect.purpose == "consent":
            return TurnEnded("ok", claim=APPROVED, model="claude-opus-4-5")
        ended = ok(wanted) if effect.turn == 2 else honest(effect)
        return msgspec.structs.replace(ended, model=told)

    task = a_reviewed_task()
    author = task.settings.choice("GREEN").agent
    roles = {**task.settings.roles, "qa": AgentChoice(author, "opus")}
    task = msgspec.structs.replace(task, settings=msgspec.structs.replace(task.settings, roles=roles))
    simulator = Simulator(world(turn), task)
    simulator.run()
    said = next(f for f in simulator.of(Consented) if isinstance(f, Consented))
    assert said.allowed is allowed


@pytest.mark.req("C42")
def test_what_was_allowed_and_changed_since_is_asked_for_anew_and_what_was_refused_is_not() -> None:
    wanted = Claim(
        protected_changes=(ProtectedChange("tests/a.py"), ProtectedChange("tests/b.py")), source="report-file"
    )
    made = world(lambda t, _s: ok(wanted) if t.stage == "GREEN" and t.purpose != "consent" else honest(t))
    honest_look = made.measure
    trick = Trick("test-weakened", "tests/a.py", "less than before")

    def look(measure: Measure, state: State) -> Measurement:
        found = honest_look(measure, state)
        return msgspec.structs.replace(found, tricks=(trick,)) if measure.kind == "green" else found

    made.measure = look
    simulator = Simulator(made, a_reviewed_task())
    while len(simulator.of(Consented)) < 2:
        simulator.step()
    paths = [f.paths for f in simulator.of(Consented) if isinstance(f, Consented)]
    assert paths == [("tests/a.py", "tests/b.py"), ("tests/a.py",)]


@pytest.mark.req("C60", "C61")
@pytest.mark.parametrize("kind", ["red", "qa"])
def test_a_measurement_broken_off_by_a_signal_is_made_again(kind: str) -> None:
    simulator = Simulator(world())
    assert simulator.state is not None
    broken: list[str] = []
    perform = simulator.world.perform

    def interrupted(effect: object, state: State) -> object:
        if isinstance(effect, Measure) and effect.kind == kind and not broken:
            broken.append(effect.id)
            return Interrupted("broken off")
        return perform(effect, state)  # type: ignore[arg-type]

    simulator.world.perform = interrupted  # type: ignore[method-assign,assignment]
    while not broken:
        simulator.step()
    simulator.append(TaskStopped("interrupted", "SIGINT"), AGAIN)
    assert simulator.run().decision == "DONE"
    attempts = [
        e.fact.effect.attempt for e in simulator.events if isinstance(e.fact, Begun) and e.fact.effect.id == broken[0]
    ]
    assert attempts == [1, 2]


@pytest.mark.req("C52")
def test_a_branch_that_could_not_be_written_is_tried_again_on_resume() -> None:
    simulator = Simulator(world())
    taken = [True]
    perform = simulator.world.perform

    def conflicted(effect: object, state: State) -> object:
        if isinstance(effect, Deliver) and taken[0]:
            return Undelivered("somebody moved it")
        return perform(effect, state)  # type: ignore[arg-type]

    simulator.world.perform = conflicted  # type: ignore[method-assign,assignment]
    assert simulator.run().decision == "BLOCKED"
    taken[0] = False
    simulator.append(AGAIN, PersonSpoke("resume"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("C40", "C42")
def test_what_is_kept_of_a_stage_is_the_tree_that_was_measured() -> None:
    simulator = Simulator(world())
    simulator.run()
    measured = {o.measurement.tree for e in simulator.events for o in _outcomes(e.fact) if isinstance(o, Measured)}
    accepted = [
        e.fact.effect.tree
        for e in simulator.events
        if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Save) and e.fact.effect.accepted
    ]
    assert len(accepted) == 5
    assert set(accepted[:4]) <= measured
    assert accepted[4] == "", "the report adds no tree of the workspace's"


def _outcomes(fact: object) -> tuple[object, ...]:
    return (fact.outcome,) if isinstance(fact, Ended) else ()


@pytest.mark.req("C65")
def test_a_word_that_comes_after_the_end_changes_nothing() -> None:
    simulator = Simulator(world())
    done = simulator.run()
    simulator.append(PersonSpoke("abort"), PersonSpoke("answer", "x", question="ask/1"))
    assert simulator.state is not None
    assert simulator.state.stopped == done.stopped


def test_an_answer_by_default_is_told_apart_from_a_persons() -> None:
    made = world(asking("spaces"))
    made.answer = lambda _a, _s: None
    perform = made.perform
    made.perform = lambda effect, state: (  # type: ignore[method-assign]
        Answered("spaces", "default") if isinstance(effect, Ask) else perform(effect, state)
    )
    simulator = Simulator(made)
    simulator.run()
    learned = next(f for f in simulator.of(LearningRecorded) if isinstance(f, LearningRecorded))
    assert "default was taken" in learned.context


@pytest.mark.req("C6")
def test_criteria_of_a_document_are_confirmed_only_when_the_plan_is_to_be_approved() -> None:
    def asked(*, approve: bool) -> list[str]:
        names: list[str] = []
        chosen = Settings(
            gates=(Gate("test", "t"),), roles={"default": AgentChoice("a")}, attended=True, approve_plan=approve
        )
        world = Honest()

        def answer(ask: Ask, _state: State) -> str:
            names.append(ask.question.name)
            return "yes"

        world.answer = answer
        assert Simulator(world, a_task(settings=chosen)).run().decision == "DONE"
        return names

    assert asked(approve=False) == []
    assert asked(approve=True) == ["criteria"]


@pytest.mark.req("C40")
@pytest.mark.parametrize(
    ("held", "signal", "before", "expected"),
    [
        (True, True, 1, (True, False, 0)),
        (True, False, 1, (False, False, 2)),
        (False, True, 1, (False, True, 0)),
        (False, False, 1, (False, False, 0)),
    ],
)
def test_both_gates_together_let_out_and_each_alone_is_what_it_is(
    *, held: bool, signal: bool, before: int, expected: tuple[bool, bool, int]
) -> None:
    found = weighed(Claim(exit_signal=signal), held=held, unsignalled=before)
    assert (found.can_exit, found.false_claim, found.unsignalled) == expected


@pytest.mark.req("C40")
def test_what_an_agent_wants_to_know_is_not_asked_when_its_stage_is_over() -> None:
    asking = Claim(exit_signal=True, questions=(OpenQuestion("Floats?", ("yes", "no"), "yes"),))
    assert weighed(asking, held=True).questions == ()
    asked = weighed(asking, held=False).questions
    assert [(q.text, [o.key for o in q.options], q.default) for q in asked] == [("Floats?", ["yes", "no"], "yes")]
    assert weighed(msgspec.structs.replace(asking, exit_signal=False), held=True).questions == asked


@pytest.mark.req("C31")
def test_a_number_that_is_not_what_was_measured_is_flagged_and_told_to_the_next_turn() -> None:
    told = Claim(metrics={"tests_passing": 9, "tests_total": 6, "mood": "good"})
    assert weighed(told, held=True).disagreements == ("tests_passing: reported 9, measured 6",)
    simulator = Simulator(world(lambda t, _s: ok(told) if t.turn == 2 else honest(t)))
    simulator.run()
    passing = judged(simulator)[1].gate_1.values["tests_passing"]
    assert f"Your report says otherwise than the measurement: tests_passing: reported 9, measured {passing}" in (
        simulator.turns[2].prompt
    )


def weighed(claim: Claim, *, held: bool, unsignalled: int = 0) -> Judged:
    """The verdict on a GREEN iteration whose gate holds, or does not."""
    values: dict[str, Scalar] = {"tests_passing": 6, "tests_total": 6}
    gate = GateVerdict(held, "c", () if held else ("a test fails",), values)
    known = a_state(a_task(), START, "GREEN", unsignalled=unsignalled)
    turn = RunAgent(EffectId("turn/1"), "implementer", "GREEN", "scripted", "", "", 1, 1)
    return judge(known, known.main, lambda *_: Weighed(gate, False, 1.0), turn, ok(claim), Measurement("c", "t"))


@pytest.mark.req("O44")
def test_each_accepted_stage_is_a_checkpoint_with_its_label_and_ids_and_a_second_stay_has_its_number() -> None:
    rejections = iter([REJECTED])
    simulator = Simulator(world(lambda t, _s: ok(next(rejections, APPROVED)) if t.role == "qa" else honest(t)))
    simulator.run()
    begun = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun)]
    messages = {e.label: e.message.splitlines() for e in begun if isinstance(e, Save) and e.accepted}
    assert {label: (lines[0], lines[-1]) for label, lines in messages.items()} == {
        "RED": ("tests: make it work", "Checkpoint: RED - AC-1"),
        "GREEN": ("make it work", "Checkpoint: GREEN - AC-1"),
        "REFACTOR": ("refactor: make it work", "Checkpoint: REFACTOR - AC-1"),
        "DOCUMENT": ("docs: make it work", "Checkpoint: DOCUMENT - AC-1"),
        "GREEN-2": ("make it work", "Checkpoint: GREEN-2 - AC-1"),
        "report": ("docs: report on make it work", "Checkpoint: report - AC-1"),
    }


@pytest.mark.req("C52")
@pytest.mark.parametrize("push", [False, True])
def test_the_finished_branch_is_to_be_pushed_only_where_that_is_set(*, push: bool) -> None:
    simulator = Simulator(world(), a_task(settings=msgspec.structs.replace(settings(), push=push)))
    assert simulator.run().decision == "DONE"
    begun = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun)]
    assert [e.push for e in begun if isinstance(e, Deliver)] == [push]
