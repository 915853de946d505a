"""Gate 1 and progress of each stage: one flaw at a time keeps it shut, one number at a time is progress."""

from typing import Literal

import msgspec
import pytest
from tests.support.builders import a_state
from tests.support.simulator import START, Honest, Simulator, World, a_task

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.health.breaker import CLOSED
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Confidence, Health, Remedy, Trend, Verdict
from flyball.core.loop import gates
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Begun, ItemsSet, Judged, Moved
from flyball.core.model.measurement import (
    Check,
    Counts,
    Files,
    GateResult,
    GateVerdict,
    Measurement,
    NewTest,
    Quality,
    Trick,
)
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Item, open_items
from flyball.core.workflows.tdd import gates as tdd_gates
from flyball.core.workflows.tdd.prompts import brief

APPROVED = Claim(verdict="pass", exit_signal=True)
NEW = NewTest("t::test_ac_1", "t", "failing", "assertion", criteria=("AC-1",))
OTHER = NewTest("t::test_ac_2", "t", "failing", "missing-name", criteria=("AC-2",))
FAILING = GateResult("test", "pytest", passed=False, exit_code=1)
ITEMS = (Item("AC-1", "a"), Item("AC-2", "b"))


def counted(total: int = 6, failing: int = 0, skipped: int = 0, known: int = 0) -> Counts:
    return Counts(total, total - failing - skipped - known, failing, skipped, known)


def measured(counts: Counts | None = None, **changes: object) -> Measurement:
    counts = counts or counted()
    gate = GateResult("test", "pytest", passed=not counts.failing, exit_code=int(bool(counts.failing)), counts=counts)
    found = Measurement(
        "c", "tree", (gate,), counts, green_runs=2, files=Files(documents=3, decision_records=1), quality=Quality(10),
        new_tests=(NEW, OTHER), checks=(Check("readme", "pass", True), Check("naming", "fail", False)),
    )  # fmt: skip
    return msgspec.structs.replace(found, **changes)


def state(stage: str = "GREEN", **known: object) -> State:
    return a_state(a_task(), START, stage, items=ITEMS, **known)


STAGES: dict[str, gates.Weigh] = {
    "RED": tdd_gates.red,
    "GREEN": gates.green,
    "REFACTOR": tdd_gates.refactor,
    "DOCUMENT": tdd_gates.document,
    "QA": gates.review,
}


def weigh(stage: str, found: Measurement, claim: Claim = APPROVED, **known: object) -> gates.Weighed:
    there = state(stage, **known)
    return STAGES[stage](there, there.main, found, claim)


@pytest.mark.req("C41")
@pytest.mark.parametrize("stage", STAGES)
def test_each_gate_holds_when_all_of_its_conditions_do(stage: str) -> None:
    assert weigh(stage, measured()).gate.held


@pytest.mark.req("C7", "C41")
def test_a_test_that_names_its_criterion_and_fails_wrongly_is_told_by_its_failure_first() -> None:
    wrong = NewTest("t::b", "t", "uncollected", "error", "ImportError: tlz", criteria=("AC-2",))
    missing = weigh("RED", measured(new_tests=(NEW, wrong))).gate.missing
    assert "ImportError: tlz" in missing[0]
    assert missing[1].startswith("no test of AC-2 fails as it should")
    assert not any("no new test names" in line for line in missing)


FLAWS: list[tuple[str, str, Measurement]] = [
    ("RED", "no new test names AC-2", measured(new_tests=(NEW,))),
    ("RED", "no new test names AC-1", measured(new_tests=())),
    ("RED", "passes before", measured(new_tests=(NEW, OTHER, NewTest("t::x", "t", "passing")))),
    ("RED", "skipped", measured(new_tests=(NEW, OTHER, NewTest("t::x", "t", "skipped")))),
    ("RED", "wrong reason", measured(new_tests=(NEW, OTHER, NewTest("t::x", "t", "uncollected", "error")))),
    ("RED", "no longer passes", measured(old_tests_broken=("t::old",))),
    ("RED", "could not run", measured(gates=(GateResult("test", "pytest", passed=False, broken="timed out"),))),
    ("GREEN", "fails: t::a", measured(counted(failing=1), failing=("t::a",))),
    ("GREEN", "1 more test fails", measured(counted(failing=1))),
    ("GREEN", "2 more tests fail", measured(counted(failing=2))),
    ("GREEN", "1 of 2 runs", measured(green_runs=1)),
    ("GREEN", "flaky", measured(flaky=("t::a",))),
    ("GREEN", "no tests ran", measured(Counts())),
    ("GREEN", "no test passed, of 4 found", measured(counted(4, skipped=4))),
    ("GREEN", "passes on the rejected tree", measured(passing_on_rejected=("t::new",))),
    *[
        flaw
        for stage in ("GREEN", "REFACTOR", "DOCUMENT")
        for flaw in (
            (stage, "is gone", measured(missing=("t::old",))),
            (stage, "newly skipped", measured(newly_skipped=("t::old",))),
            (stage, "exit 1", measured(gates=(FAILING,))),
            (stage, "could not run", measured(gates=(msgspec.structs.replace(FAILING, broken="timed out"),))),
        )
    ],
    ("REFACTOR", "code limits", measured(quality=Quality(over_limit=("f",)))),
    ("DOCUMENT", "2 of 3 documents", measured(files=Files(documents=2, decision_records=1))),
    ("DOCUMENT", "empty document does not count: b.md", measured(files=Files(2, documents_empty=("b.md",)))),
    ("DOCUMENT", "decision record", measured(files=Files(documents=3))),
    ("DOCUMENT", "diagram", measured(files=Files(documents=3, decision_records=1, diagrams_broken=("d",)))),
    ("QA", "readme", measured(checks=(Check("readme", "fail", True),))),
    *[(stage, "t: less", measured(tricks=(Trick("test-weakened", "t", "less"),))) for stage in STAGES],
]


@pytest.mark.req("C6", "C41", "C42")
@pytest.mark.parametrize(("stage", "said", "found"), FLAWS, ids=[f"{s}: {said}" for s, said, _ in FLAWS])
def test_each_flaw_keeps_the_gate_shut_and_is_named(stage: str, said: str, found: Measurement) -> None:
    gate = weigh(stage, found).gate
    assert not gate.held
    assert any(said in line for line in gate.missing), gate.missing


@pytest.mark.req("C41")
@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim(), "gave no approval"),
        (Claim(verdict="warn", findings=(Finding("critical", "it burns"),)), "it burns"),
        (Claim(verdict="fail"), "rejected"),
        (Claim(verdict="pass", findings=(Finding("major", "it leaks"),)), "it leaks"),
    ],
)
def test_qa_needs_an_approval_and_no_blocking_finding(claim: Claim, said: str) -> None:
    gate = weigh("QA", measured(), claim).gate
    assert not gate.held
    assert any(said in line for line in gate.missing)


@pytest.mark.req("C41", "C50", "E5")
@pytest.mark.parametrize("verdict", ["pass", "warn"])
def test_minor_findings_and_warnings_do_not_block(verdict: Literal["pass", "warn"]) -> None:
    claim = Claim(verdict=verdict, findings=(Finding("minor", "a name"), Finding("suggestion", "shorter")))
    weighed = weigh("QA", measured(), claim)
    assert weighed.gate.held
    assert not weighed.rejected
    assert weighed.gate.values["verdict"] == "APPROVE"


@pytest.mark.req("C41")
@pytest.mark.parametrize(("before", "holds"), [(3, False), (4, True)])
def test_from_the_fifth_iteration_on_refactor_no_longer_insists_on_the_limits(*, before: int, holds: bool) -> None:
    long = measured(quality=Quality(over_limit=("f",)))
    assert weigh("REFACTOR", long, iteration=before).gate.held is holds


@pytest.mark.req("C7")
def test_known_failing_tests_are_not_required_but_no_others_are_let_through() -> None:
    known = GateResult("test", "pytest", passed=True, exit_code=1, counts=counted(known=2))
    assert weigh("GREEN", measured(counted(known=2), gates=(known,))).gate.held
    grown = measured(counted(failing=1, known=2), failing=("t::new",))
    assert not weigh("GREEN", grown).gate.held


@pytest.mark.req("C51")
@pytest.mark.parametrize(
    ("findings", "holds"),
    [
        ((Finding("critical", "no test names AC-2", check="criteria_covered"),), True),
        ((Finding("critical", "no test", check="criteria_covered"), Finding("major", "it is slow")), False),
        ((Finding("major", "it is slow"),), False),
        ((), False),
    ],
    ids=["coverage alone", "coverage and more", "a reviewer's", "none"],
)
def test_added_tests_must_fail_on_the_rejected_tree_unless_coverage_alone_was_the_finding(
    findings: tuple[Finding, ...], *, holds: bool
) -> None:
    found = measured(passing_on_rejected=("t::new",))
    assert weigh("GREEN", found, findings=findings).gate.held is holds


@pytest.mark.req("C51")
def test_the_findings_of_a_rejection_stay_open_while_green_works_on_them() -> None:
    open_ones = (Finding("major", "it is slow"),)
    assert weigh("GREEN", measured(), findings=open_ones).findings == open_ones


@pytest.mark.req("C51")
@pytest.mark.parametrize(
    ("claim", "checks", "rejected"),
    [
        (Claim(verdict="pass"), (), False),
        (Claim(), (), False),
        (Claim(verdict="fail", summary="it is slow"), (), True),
        (Claim(verdict="pass", findings=(Finding("critical", "it leaks"),)), (), True),
        (Claim(verdict="pass"), (Check("readme", "fail", True),), True),
        (Claim(), (Check("readme", "fail", True),), True),
    ],
    ids=[
        "approved",
        "silent",
        "a no",
        "a yes with a blocking finding",
        "a yes against a check",
        "silent against a check",
    ],
)
def test_a_rejection_is_a_no_or_a_blocking_finding_whoever_made_it(
    claim: Claim, checks: tuple[Check, ...], *, rejected: bool
) -> None:
    weighed = weigh("QA", measured(checks=checks), claim)
    assert weighed.rejected is rejected
    assert bool(weighed.findings) is rejected, "whoever must work on it is told why"


GREEN_BEFORE = measured(counted(failing=3), failing=("a", "b", "c"))
MOVES: list[tuple[str, str, Measurement, Measurement, bool]] = [
    ("RED", "more tests", measured(new_tests=(NEW,)), measured(new_tests=(NEW, OTHER)), True),
    ("RED", "another criterion", measured(new_tests=(NEW, NEW)), measured(new_tests=(NEW, OTHER)), True),
    ("RED", "the same", measured(), measured(), False),
    ("GREEN", "more pass", GREEN_BEFORE, measured(counted(7, failing=3)), True),
    ("GREEN", "fewer fail", GREEN_BEFORE, measured(counted(failing=2)), True),
    ("GREEN", "fewer fail and none more passes", GREEN_BEFORE, measured(counted(failing=2, skipped=1)), True),
    ("GREEN", "fewer fail because there are fewer", GREEN_BEFORE, measured(counted(5, failing=2)), False),
    ("GREEN", "the same", GREEN_BEFORE, GREEN_BEFORE, False),
    ("REFACTOR", "simpler", measured(), measured(quality=Quality(9)), True),
    ("REFACTOR", "less repetition", measured(quality=Quality(10, 0, 5)), measured(quality=Quality(10, 0, 4)), True),
    ("REFACTOR", "simpler and broken", measured(), measured(counted(failing=1), quality=Quality(9)), False),
    ("REFACTOR", "the same", measured(), measured(), False),
    ("DOCUMENT", "a document", measured(files=Files()), measured(files=Files(documents=1)), True),
    ("DOCUMENT", "a diagram", measured(files=Files()), measured(files=Files(diagrams_valid=1)), True),
    ("DOCUMENT", "the first record", measured(files=Files()), measured(files=Files(decision_records=1)), True),
    ("DOCUMENT", "a second record", measured(), measured(files=Files(0, 0, 0, 3, 2)), False),
]


@pytest.mark.req("C30")
@pytest.mark.parametrize(
    ("stage", "what", "before", "now", "progress"), MOVES, ids=[f"{s}: {what}" for s, what, *_ in MOVES]
)
def test_progress_is_what_moved_since_the_last_iteration_of_the_stage(
    stage: str, what: str, before: Measurement, now: Measurement, *, progress: bool
) -> None:
    assert weigh(stage, now, last=before).progress is progress, what


@pytest.mark.req("C30")
@pytest.mark.parametrize("stage", ["GREEN", "REFACTOR", "DOCUMENT"])
def test_the_first_iteration_is_compared_with_the_entry_of_the_stage(stage: str) -> None:
    before = measured(counted(failing=1), files=Files(), quality=Quality(20))
    assert weigh(stage, measured(), entry=before).progress
    assert not weigh(stage, measured(), entry=measured()).progress


@pytest.mark.req("C30")
@pytest.mark.parametrize(("passing", "blocking", "progress"), [(2, 1, True), (1, 0, True), (1, 1, False)])
def test_qa_moves_when_more_checks_pass_or_fewer_findings_block(passing: int, blocking: int, *, progress: bool) -> None:
    earlier = GateVerdict(False, "", (), {"checks_passing": 1, "blocking_issues": 1})
    verdict = Verdict(Health.PROGRESSING, "continue", Remedy.CONTINUE, Confidence.LOW, Trend.STABLE, "")
    judged = Judged("QA", 1, 1, earlier, False, Observation(1), verdict, CLOSED)
    checks = (Check("readme", "pass", True), Check("lint_clean", "pass", True))[:passing]
    claim = Claim(findings=(Finding("major", "it leaks"),) * blocking)
    assert weigh("QA", measured(checks=checks), claim, judged=judged).progress is progress


@pytest.mark.req("C30")
def test_green_after_a_rejection_moves_when_fewer_blocking_checks_fail() -> None:
    failed = (Check("readme", "fail", True), Check("changelog", "fail", True))
    assert weigh("GREEN", measured(checks=failed[:1]), entry=measured(checks=failed)).progress
    assert not weigh("GREEN", measured(checks=failed), entry=measured(checks=failed)).progress


@pytest.mark.req("C41")
def test_one_test_that_names_two_criteria_is_one_test_too_few() -> None:
    items = (Item("AC-1", "one"), Item("AC-2", "two"))
    known = a_state(a_task(items=items), START, "RED", items=items)
    both = NewTest("t.py::test_both", "t.py", "failing", "assertion", criteria=("AC-1", "AC-2"))
    alone = msgspec.structs.replace(both, id="t.py::test_two", criteria=("AC-2",))
    assert not tdd_gates.red(known, known.main, measured(new_tests=(both,)), Claim()).gate.held
    assert tdd_gates.red(known, known.main, measured(new_tests=(both, alone)), Claim()).gate.held


NONE_YET = NewTest("t::test_ac_2", "t", "passing", criteria=("AC-2",))
ORDERED: list[tuple[str, list[Measurement]]] = [
    (
        "RED",
        [
            measured(new_tests=()),
            measured(new_tests=(NEW, NONE_YET)),
            measured(new_tests=(NEW, OTHER), old_tests_broken=("t::old",)),
            measured(new_tests=(NEW, OTHER)),
            measured(new_tests=(NEW, OTHER, msgspec.structs.replace(OTHER, id="t::test_ac_2b"))),
        ],
    ),
    (
        "GREEN",
        [
            measured(counted(failing=3)),
            measured(counted(failing=2)),
            measured(counted(failing=1), missing=("t::a",)),
            measured(counted(5), missing=("t::a",)),
            measured(counted(5)),
            measured(),
        ],
    ),
    (
        "REFACTOR",
        [
            measured(counted(failing=1), quality=Quality(10)),
            measured(quality=Quality(10, over_limit=("f", "g"))),
            measured(quality=Quality(10, over_limit=("f",))),
            measured(quality=Quality(10)),
        ],
    ),
    (
        "DOCUMENT",
        [
            measured(counted(failing=1)),
            measured(files=Files(documents=1)),
            measured(files=Files(documents=3, diagrams_broken=("d",))),
            measured(files=Files(documents=3)),
            measured(files=Files(documents=3, decision_records=1)),
        ],
    ),
]


@pytest.mark.req("M18", "O50")
@pytest.mark.parametrize(("stage", "trees"), ORDERED, ids=[stage for stage, _ in ORDERED])
def test_of_two_trees_the_better_one_has_the_higher_score(stage: str, trees: list[Measurement]) -> None:
    scores = [weigh(stage, tree).score for tree in trees]
    assert scores == sorted(set(scores)), "each is better than all before it"


def test_refactor_without_a_measurable_language_rests_on_its_tests() -> None:
    unmeasured = weigh("REFACTOR", measured(quality=None))
    assert (unmeasured.gate.held, unmeasured.progress) == (True, False)
    assert unmeasured.gate.values["functions_over_limit"] == 0
    assert weigh("REFACTOR", measured(quality=Quality(10, over_limit=("f",)))).gate.values["functions_over_limit"] == 1


@pytest.mark.req("C6")
def test_what_is_done_already_needs_no_new_test_unless_all_of_it_is() -> None:
    done, left = Item("AC-1", "a", status="completed"), Item("AC-2", "b")
    assert open_items((done, left)) == (left,)
    assert open_items((done,)) == (done,)


@pytest.mark.req("C41")
def test_only_criteria_of_the_task_are_covered_and_a_single_one_needs_no_naming_but_a_test() -> None:
    stranger = msgspec.structs.replace(OTHER, criteria=("AC-9",))
    assert tdd_gates.covered_criteria(ITEMS, (NEW, stranger)) == {"AC-1"}
    assert tdd_gates.covered_criteria(ITEMS[:1], (stranger,)) == {"AC-1"}
    assert tdd_gates.covered_criteria(ITEMS[:1], ()) == frozenset()


@pytest.mark.req("C30", "C41")
def test_red_moves_by_more_tests_or_more_criteria_and_an_unsound_test_covers_none() -> None:
    nothing, unsound = measured(new_tests=()), measured(new_tests=(NEW, NONE_YET))
    assert [weigh("RED", tree).progress for tree in (nothing, unsound)] == [False, True]
    assert weigh("RED", unsound).gate.values["criteria_covered"] == 1
    assert weigh("RED", measured(), last=unsound).progress, "as many tests, one more criterion"
    assert not weigh("RED", measured(), last=measured()).progress
    more = measured(new_tests=(NEW, OTHER, msgspec.structs.replace(OTHER, id="t::test_ac_2b")))
    assert weigh("RED", more, last=measured()).progress, "as many criteria, one more test"
    assert weigh("RED", measured(new_tests=(NEW,))).rate == 0.5


COUNTED = GateResult("test", "pytest", passed=True, exit_code=0, counts=counted())


@pytest.mark.req("C31", "C41")
@pytest.mark.parametrize(
    ("gates", "missing"),
    [
        ((COUNTED, GateResult("types", "mypy", passed=False, exit_code=2)), ("types fails: exit 2",)),
        ((COUNTED, GateResult("types", "mypy", passed=True, exit_code=0)), ()),
        (
            (msgspec.structs.replace(COUNTED, passed=False, exit_code=3),),
            ("test did not pass: exit 3",),
        ),
        (
            (COUNTED, GateResult("types", "mypy", passed=False, broken="timed out after 9 s")),
            ("types could not run: timed out after 9 s",),
        ),
    ],
    ids=["exit code alone", "passes by its exit code", "a report that hides it", "broken"],
)
def test_a_gate_that_did_not_pass_is_named_once_in_its_own_way(
    gates: tuple[GateResult, ...], missing: tuple[str, ...]
) -> None:
    assert weigh("GREEN", measured(gates=gates)).gate.missing == missing


@pytest.mark.req("C41")
def test_gates_that_count_no_tests_are_judged_by_their_exit_codes() -> None:
    exit_code = GateResult("test", "make check", passed=True, exit_code=0)
    assert weigh("GREEN", measured(Counts(), gates=(exit_code,))).gate.held


def test_a_suite_in_which_nothing_passes_is_said_to_fail_and_not_to_be_empty() -> None:
    red = weigh("GREEN", measured(counted(1, failing=1), failing=("t::a",)))
    assert red.gate.missing == ("fails: t::a",)
    assert red.rate == 0.0
    assert weigh("GREEN", measured(counted(4, failing=1))).rate == 0.75


def test_a_long_list_is_cut_with_its_number() -> None:
    failing = tuple(f"t::{n}" for n in range(14))
    shown = weigh("GREEN", measured(counted(14, failing=14), failing=failing)).gate.missing
    assert (len(shown), shown[-1]) == (13, "and 2 more")
    assert len(weigh("GREEN", measured(counted(12, failing=12), failing=failing[:12])).gate.missing) == 12


@pytest.mark.req("C51")
@pytest.mark.parametrize(
    ("claim", "findings"),
    [
        (Claim(verdict="fail", findings=(Finding("minor", "a typo"),)), ["a typo"]),
        (Claim(verdict="fail", summary="it is slow"), ["it is slow"]),
        (Claim(verdict="fail"), ["the reviewer rejected it and gave no reason"]),
    ],
)
def test_a_rejection_is_told_by_its_smallest_finding_or_its_summary(claim: Claim, findings: list[str]) -> None:
    assert [f.message for f in weigh("QA", measured(), claim).findings] == findings


@pytest.mark.req("C50", "C51")
def test_qa_is_told_in_numbers_and_its_words_and_keeps_what_blocks_apart_from_what_does_not() -> None:
    both = (Finding("major", "it leaks"), Finding("minor", "a typo"))
    rejected = weigh("QA", measured(), Claim(verdict="fail", findings=both))
    assert [f.message for f in rejected.findings] == ["it leaks"]
    verdicts = [weigh("QA", measured(), Claim(verdict=v)).gate.values["verdict"] for v in ("pass", "fail", "")]
    assert verdicts == ["APPROVE", "REJECT", ""]
    assert weigh("QA", measured()).score > rejected.score


@pytest.mark.req("C42", "C51")
def test_an_approval_of_a_tree_that_cannot_be_trusted_is_a_rejection() -> None:
    forged = weigh("QA", measured(tricks=(Trick("report-forged", "test", "it hides failures"),)))
    assert (forged.gate.held, forged.rejected) == (False, True)
    assert weigh("QA", measured()).rejected is False


@pytest.mark.req("C30")
def test_qas_first_look_is_compared_with_nothing_and_not_with_another_stage() -> None:
    values = GateVerdict(False, "", (), {"checks_passing": 9, "blocking_issues": 9})
    verdict = Verdict(Health.PROGRESSING, "continue", Remedy.CONTINUE, Confidence.LOW, Trend.STABLE, "")
    green = Judged("GREEN", 1, 1, values, False, Observation(1), verdict, CLOSED)
    assert weigh("QA", measured(), judged=green).progress, "one check passes, and none was known before"
    assert not weigh("QA", measured(checks=()), judged=green).progress


@pytest.mark.req("C42")
def test_what_was_set_aside_and_harms_nothing_shuts_no_gate() -> None:
    assert weigh("GREEN", measured(tricks=(Trick("test-weakened", "t.py", "put back", harmless=True),))).gate.held


def test_the_checks_of_a_rejection_are_compared_only_where_both_sides_have_them() -> None:
    failed = (Check("readme", "fail", True),)
    assert not weigh("GREEN", measured(checks=()), entry=measured(checks=failed)).progress
    assert not weigh("GREEN", measured(checks=failed), entry=measured(checks=())).progress
    assert not weigh("GREEN", measured(checks=failed)).progress, "there is nothing to compare with"


@pytest.mark.req("C41", "C17")
@pytest.mark.parametrize("name", ["readme", "changelog", "decision_record"])
def test_document_is_not_left_while_qa_would_reject_its_documents(name: str) -> None:
    work, before = state("DOCUMENT"), measured(checks=(Check(name, "fail", True, "not there"),))
    weighed = tdd_gates.document(work, work.main, before, Claim())
    assert not weighed.gate.held
    assert f"{name}: not there" in weighed.gate.missing
    work.main.loop.last = before
    after = tdd_gates.document(work, work.main, measured(checks=(Check(name, "pass", True),)), Claim())
    assert (after.gate.held, after.progress) == (True, True)


@pytest.mark.req("C41")
def test_document_asks_for_nothing_that_is_switched_off() -> None:
    checks = (Check("readme", "n/a", True, "switched off"), Check("complexity", "fail", True, "not its own"))
    work = state("DOCUMENT")
    assert tdd_gates.document(work, work.main, measured(checks=checks), Claim()).gate.held


CRITERIA = "### Acceptance Criteria\n- [ ] it adds\n- [ ] it says so\n"


class Small(Honest):
    """An honest agent whose code is within the limits; `plan` is what its tester says of the criteria."""

    def __init__(self, plan: str = CRITERIA) -> None:
        super().__init__()
        self.plan = plan

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        ended = super().work(turn, state)
        named = msgspec.structs.replace(ended.claim, plan=self.plan if turn.role in {"tester", "planner"} else "")
        return msgspec.structs.replace(ended, claim=named)

    def look(self, measure: Measure, state: State) -> Measurement:
        tests = tuple(msgspec.structs.replace(each, id=f"{each.id}-{state.turns}") for each in (NEW, OTHER))
        found = super().look(measure, state)
        return msgspec.structs.replace(found, quality=Quality(), new_tests=tests if found.new_tests else ())


def asked(world: World, *, attended: bool = False) -> Simulator:
    task = a_task(items=())
    changed = msgspec.structs.replace(task.settings, attended=attended)
    simulator = Simulator(world, msgspec.structs.replace(task, settings=changed))
    assert simulator.run().decision == "DONE"
    return simulator


@pytest.mark.req("C6", "C18", "C40")
def test_a_small_feature_from_a_request_takes_four_turns_where_nobody_is_there() -> None:
    simulator = asked(Small())
    assert [turn.role for turn in simulator.turns] == ["tester", "implementer", "documenter", "qa"]
    assert [(i.id, i.text) for i in simulator.known.items] == [("AC-1", "it adds"), ("AC-2", "it says so")]
    assert [fact.by for fact in simulator.of(ItemsSet) if isinstance(fact, ItemsSet)] == ["tester"]
    wanted = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Measure)]
    assert [len(each.items) for each in wanted if each.kind == "red"] == [2], "the tests are measured by its criteria"
    [left] = [f for f in simulator.of(Moved) if isinstance(f, Moved) and f.previous == "REFACTOR"]
    assert left.reason == "no changed function exceeds the limits: the worst complexity is 0, under 10"
    assert not left.forced


@pytest.mark.req("C6")
def test_a_tester_that_names_no_criteria_works_to_the_request_itself() -> None:
    simulator = asked(Small(plan=""))
    assert [(i.id, i.text) for i in simulator.known.items] == [("AC-1", "make it work")]


@pytest.mark.req("C6")
def test_criteria_that_a_person_confirms_are_written_in_a_turn_of_their_own() -> None:
    simulator = asked(Small(), attended=True)
    assert [turn.role for turn in simulator.turns][:2] == ["planner", "tester"]


@pytest.mark.req("C6")
def test_the_tester_is_asked_for_criteria_until_there_are_some() -> None:
    there = a_state(a_task(items=()), START, "RED", items=())
    assert "There are no acceptance criteria yet: write them first" in brief(there, there.main, "tester")
    assert "There are no acceptance criteria yet" not in brief(state("RED"), state("RED").main, "tester")


@pytest.mark.req("C40", "C41")
@pytest.mark.parametrize(
    "changes",
    [
        {"quality": Quality(over_limit=("calc.py:1 add: complexity 12",))},
        {"quality": None},
        {"tree": "another"},
        {"failing": ("t::a",)},
    ],
    ids=["a function is over the limits", "nothing was measured", "another tree", "a test fails"],
)
def test_refactor_takes_a_turn_where_the_measurement_does_not_make_it_unnecessary(changes: dict[str, object]) -> None:
    there = state("REFACTOR")
    there.main.tree = "tree"
    there.main.loop.entry = measured()
    assert tdd_gates.within_limits(there, there.main)
    there.main.loop.entry = measured(**changes)  # type: ignore[arg-type]
    assert not tdd_gates.within_limits(there, there.main)


@pytest.mark.req("C41")
def test_how_many_documents_are_wanted_is_a_setting() -> None:
    settings = msgspec.structs.replace(a_task().settings, documents=1)
    there = a_state(a_task(settings=settings), START, "DOCUMENT", items=ITEMS)
    one = measured(files=Files(documents=1, decision_records=1))
    assert tdd_gates.document(there, there.main, one, APPROVED).gate.held
    assert "at least 1 document (.md" in brief(there, there.main, "documenter")
    missing = weigh("DOCUMENT", one).gate.missing
    assert missing == ("1 of 3 documents added or changed since the task began",)
