"""CONTINUE, DONE or BLOCKED: each rule, their order, and what no input can bring about."""

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.core.workflows.backlog.counting import Name, steps

from flyball.core.claims.reviews import VALIDATORS, Validation
from flyball.core.workflows.backlog.evaluator import RULES, Weighing, evaluate
from flyball.core.workflows.backlog.values import ISSUE_FILES, Backlog, Deviation, Issue, Session, Situation

PASSED = tuple(Validation(kind, "pass") for kind in VALIDATORS)
GOOD = Situation(validations=PASSED, build="pass", gates="met")


def issue(id: str = "BUG-001@a1b2c3", status: str = "proposed", file: str = "high.md", **more) -> Issue:
    return Issue(id=id, status=status, file=file, **more)  # type: ignore[arg-type]


def given_issues(*issues: Issue, base: Situation = GOOD, **more) -> Situation:
    return msgspec.structs.replace(base, backlog=Backlog(issues), **more)


@pytest.mark.req("E11")
def test_an_empty_backlog_with_everything_known_and_good_is_done():
    said = evaluate(GOOD)
    assert (said.decision, said.trigger, said.promise) == ("DONE", "done", "LOOP_DONE")
    assert said.reason == "All issues completed, no regressions found, quality gates met."
    assert said.next_issue is None


@pytest.mark.req("E11")
def test_where_nothing_was_changed_there_is_nothing_to_validate():
    assert evaluate(Situation(build="pass", gates="met", untouched=True)).decision == "DONE"
    assert evaluate(Situation(build="pass", untouched=True)).trigger == "unverified"


@pytest.mark.req("E10")
def test_only_issues_that_need_input_block_and_each_cause_is_named():
    said = evaluate(
        given_issues(
            issue("BUG-001@a1b2c3", tags=("needs-input",)),
            issue("BUG-002@a1b2c3", tags=("Requires_Human", "windows-only")),
            issue("BUG-003@a1b2c3", blocked_by=("BUG-001@a1b2c3",)),
        )
    )
    assert (said.decision, said.trigger) == ("BLOCKED", "no_actionable")
    assert said.reason == "3 proposed issues but none actionable autonomously"
    assert said.blocked_on == (
        "BUG-001@a1b2c3: tagged needs-input",
        "BUG-002@a1b2c3: tagged requires-human, requires windows, and here is linux",
        "BUG-003@a1b2c3: blocked by BUG-001@a1b2c3, which is proposed",
    )


@pytest.mark.req("E10")
def test_in_progress_beside_blocked_goes_on():
    said = evaluate(given_issues(issue("A-001@a1b2c3", "in-progress"), issue("A-002@a1b2c3", "blocked")))
    assert (said.decision, said.next_issue) == ("CONTINUE", "A-001@a1b2c3")


@pytest.mark.req("E10")
def test_a_failed_validation_with_nothing_queued_blocks():
    said = evaluate(msgspec.structs.replace(GOOD, validations=(Validation("spec audit", "fail"),)))
    assert (said.decision, said.trigger, said.blocked_on) == ("BLOCKED", "gates_unmet", ("spec audit",))
    assert "validation failed (spec audit)" in said.reason


@pytest.mark.req("E12")
def test_an_issue_that_validation_created_is_next_in_its_order():
    validation = Validation("code review", "fail", created=("SEC-002@a1b2c3",))
    said = evaluate(
        given_issues(
            issue("BUG-001@a1b2c3", "completed"),
            issue("BUG-003@a1b2c3", file="low.md"),
            issue("SEC-002@a1b2c3", file="critical.md"),
            validations=(validation,),
        )
    )
    assert (said.decision, said.next_issue) == ("CONTINUE", "SEC-002@a1b2c3")
    assert said.reason == "Validation created 1 issue to fix; 2 actionable issues remain."


@pytest.mark.req("E10")
def test_the_same_issue_rejected_three_times_blocks():
    twice = Session(failures={"BUG-001@a1b2c3": 2})
    thrice = Session(failures={"BUG-001@a1b2c3": 3})
    assert evaluate(given_issues(issue(), session=twice)).decision == "CONTINUE"
    said = evaluate(given_issues(issue(), session=thrice))
    assert (said.decision, said.trigger) == ("BLOCKED", "failed_3x")
    assert said.reason == "Issue BUG-001@a1b2c3 failed validation 3 times"
    assert said.blocked_on == ("BUG-001@a1b2c3",)


def test_failures_of_an_issue_that_is_finished_no_longer_count():
    failed = Session(failures={"BUG-001@a1b2c3": 3})
    assert evaluate(given_issues(issue(status="completed"), session=failed)).decision == "DONE"
    moved = msgspec.structs.replace(GOOD, backlog=Backlog(finished=("BUG-001@a1b2c3",)), session=failed)
    assert evaluate(moved).decision == "DONE"
    reopened = msgspec.structs.replace(moved, backlog=Backlog((issue(),), finished=("BUG-001@a1b2c3",)))
    assert evaluate(reopened).trigger == "failed_3x"


@pytest.mark.req("E10")
@pytest.mark.parametrize(
    ("session", "trigger"),
    [
        (Session(cycles=3), "no_completion"),
        (Session(cycles=2), "actionable"),
        (Session(cycles=9, completed=("X-001@a1b2c3",)), "actionable"),
        (Session(cycles=9, completed_count=1), "actionable"),
        (Session(cycles=9, completed=("X-001@a1b2c3",), cycles_without_completion=3), "no_completion"),
        (Session(cycles=9, cycles_without_completion=0), "actionable"),
    ],
)
def test_three_cycles_in_a_row_without_a_completed_issue_block(session, trigger):
    said = evaluate(given_issues(issue(), session=session))
    assert said.trigger == trigger
    if trigger == "no_completion":
        assert said.reason == "3 cycles with no completed issues"


@pytest.mark.req("E10")
def test_an_unrecoverable_error_blocks_before_all_else():
    said = evaluate(given_issues(issue(), unrecoverable=True, errors=("disk full",), session=Session(cycles=9)))
    assert (said.trigger, said.reason, said.blocked_on) == ("unrecoverable_error", "Error: disk full", ("disk full",))


@pytest.mark.req("E10")
def test_a_critical_security_finding_blocks_and_names_its_file():
    found = Validation("security audit", "fail", critical_security=True, critical_in="src/db.py")
    said = evaluate(given_issues(issue(), validations=(found,)))
    assert (said.trigger, said.reason) == ("critical_security", "Critical security finding in src/db.py")


@pytest.mark.req("E10")
def test_a_focus_that_needs_input_blocks_though_other_work_is_left():
    asking = issue("BUG-001@a1b2c3", tags=("needs-input",))
    other = issue("BUG-002@a1b2c3")
    for focus in ("BUG-001@a1b2c3", "BUG-001"):
        said = evaluate(given_issues(asking, other, session=Session(focus=focus)))
        assert (said.trigger, said.reason) == ("needs_input", "Issue BUG-001@a1b2c3 requires human input")
    assert evaluate(given_issues(asking, other, session=Session(focus="BUG-002@a1b2c3"))).decision == "CONTINUE"


@pytest.mark.req("E10")
def test_only_blocked_issues_left_block():
    said = evaluate(given_issues(issue("A-001@a1b2c3", "blocked"), issue("A-002@a1b2c3", "completed")))
    assert (said.trigger, said.reason) == ("only_blocked", "Only blocked issues remain (1 blocked)")
    assert said.blocked_on == ("A-001@a1b2c3",)


@pytest.mark.req("E10", "E23")
def test_a_failing_build_with_nothing_open_blocks_and_suggests_an_issue():
    said = evaluate(msgspec.structs.replace(GOOD, build="fail"))
    assert (said.trigger, said.reason) == ("build_failing", "Build failing with no issues to fix")
    assert "Create issue for build failure" in said.warnings
    assert evaluate(given_issues(issue(), build="fail")).decision == "CONTINUE"


@pytest.mark.req("E10")
@pytest.mark.parametrize(
    ("change", "trigger"),
    [
        ({"gates": "unmet"}, "gates_unmet"),
        ({"build": "unknown"}, "unverified"),
        ({"gates": "unknown"}, "unverified"),
        ({"validations": ()}, "unverified"),
        ({"backlog": Backlog(unread=(Deviation("low.md", 3, "x"),))}, "unverified"),
        ({"validations": (Validation("code review", "warn", created=("X-001@a1b2c3",)), *PASSED[1:])}, "unverified"),
        ({"validations": PASSED[1:]}, "unverified"),
        ({"validations": (Validation("code review", "warn"), *PASSED[1:])}, "done"),
        ({"validations": (Validation("Code-Review", "pass"), *PASSED[1:])}, "done"),
        ({"validations": PASSED[:1], "validators": ("code review",)}, "done"),
        ({"validators": (*VALIDATORS, "licence review")}, "unverified"),
        ({"validations": (), "validators": ()}, "unverified"),
    ],
)
def test_nothing_open_is_done_only_when_all_is_known_and_good(change, trigger):
    said = evaluate(msgspec.structs.replace(GOOD, **change))
    assert said.trigger == trigger
    assert (said.decision == "DONE") == (trigger == "done")


@pytest.mark.req("E11")
def test_every_validator_that_is_missing_is_named():
    said = evaluate(msgspec.structs.replace(GOOD, validations=PASSED[:2]))
    assert said.reason == "Nothing is left to work on, but no performance review and no spec audit was given"
    assert said.blocked_on == ("no performance review and no spec audit was given",)


@pytest.mark.req("E30")
def test_an_id_that_a_validator_says_it_created_and_nobody_finds_is_a_deviation():
    validation = Validation("spec audit", "warn", created=("X-001@a1b2c3", "BUG-001@a1b2c3"), file="v.md")
    said = evaluate(given_issues(issue(), validations=(validation,)))
    assert said.deviations == (
        Deviation("v.md", 0, "the spec audit says it created X-001@a1b2c3, which is in no file"),
    )


@pytest.mark.req("E13")
@pytest.mark.parametrize(
    ("cycles", "limit", "trigger", "warned"),
    [
        (3, 5, "actionable", ()),
        (4, 5, "actionable", ("approaching cycle limit (4/5)",)),
        (5, 5, "cycle_limit", ()),
        (7, 5, "cycle_limit", ()),
        (99, 0, "actionable", ()),
    ],
)
def test_the_cycle_limit_warns_one_cycle_early_and_stops_when_reached(cycles, limit, trigger, warned):
    session = Session(cycles=cycles, max_cycles=limit, completed_count=1)
    said = evaluate(given_issues(issue(), session=session))
    assert (said.trigger, said.warnings) == (trigger, warned)
    assert (said.decision, said.next_issue) == ("CONTINUE" if trigger == "actionable" else "BLOCKED", issue().id)


@pytest.mark.req("E13")
def test_at_the_cycle_limit_work_that_is_done_is_still_done():
    at_limit = Session(cycles=5, max_cycles=5, completed_count=2)
    assert evaluate(msgspec.structs.replace(GOOD, session=at_limit)).decision == "DONE"


def test_counts_are_given_for_every_file():
    said = evaluate(
        given_issues(issue(), issue("A-001@a1b2c3", "in-progress"), issue("A-002@a1b2c3", "blocked", "low.md"))
    )
    assert list(said.counts) == list(ISSUE_FILES)
    assert (said.counts["high.md"].proposed, said.counts["high.md"].in_progress, said.counts["low.md"].blocked) == (
        1,
        1,
        1,
    )
    assert said.actionable == 2


def test_errors_that_can_be_recovered_from_are_warnings():
    said = evaluate(given_issues(issue(), errors=("flaky network",), warnings=("slow",)))
    assert said.decision == "CONTINUE"
    assert said.warnings == ("slow", "error: flaky network")


def test_the_rules_are_asked_in_the_order_the_reference_gives():
    assert [rule.__name__.strip("_") for rule in RULES] == (
        "unrecoverable critical_security failed_often nothing_completed focus_needs_input none_actionable only_blocked "
        "build_fails gates_unmet not_verified all_done cycle_limit actionable"
    ).split()


IDS = st.sampled_from([f"BUG-{number:03}@a1b2c3" for number in range(1, 6)])
ISSUES = st.builds(
    Issue,
    id=IDS,
    title=st.sampled_from(["", "a", "b"]),
    status=st.sampled_from(["proposed", "in-progress", "blocked", "completed", "won't-fix"]),
    file=st.sampled_from([*ISSUE_FILES, "other.md"]),
    tags=st.lists(st.sampled_from(["needs-input", "blocked", "requires-human", "windows-only", "x"]), max_size=2).map(
        tuple
    ),
    created=st.sampled_from(["", "2026-01-05", "2026-01-04T10:00:00Z", "soon"]),
    blocked_by=st.lists(IDS, max_size=2).map(tuple),
    requires=st.lists(st.sampled_from(["linux", "windows", "gpu"]), max_size=1).map(tuple),
    order=st.integers(0, 9),
)
VALIDATIONS = st.builds(
    Validation,
    kind=st.sampled_from(["code review", "security audit"]),
    result=st.sampled_from(["pass", "warn", "fail"]),
    created=st.lists(IDS, max_size=1).map(tuple),
    critical_security=st.sampled_from([False, False, False, True]),
)
SESSIONS = st.builds(
    Session,
    cycles=st.integers(0, 6),
    max_cycles=st.integers(0, 6),
    completed=st.lists(IDS, max_size=2).map(tuple),
    failures=st.dictionaries(IDS, st.integers(0, 4), max_size=2),
    cycles_without_completion=st.none() | st.integers(0, 4),
    focus=st.just("") | IDS,
    answered=st.lists(IDS, max_size=1).map(tuple),
)
SITUATIONS = st.builds(
    Situation,
    backlog=st.builds(
        Backlog,
        issues=st.lists(ISSUES, max_size=6).map(tuple),
        unread=st.sampled_from([(), (), (), (Deviation("low.md", 3, "x"),)]),
        finished=st.lists(IDS, max_size=2).map(tuple),
    ),
    validations=st.lists(VALIDATIONS, max_size=3).map(tuple),
    session=SESSIONS,
    errors=st.lists(st.just("oh"), max_size=1).map(tuple),
    unrecoverable=st.sampled_from([False, False, False, True]),
    build=st.sampled_from(["pass", "pass", "fail", "unknown"]),
    gates=st.sampled_from(["met", "met", "unmet", "unknown"]),
    untouched=st.booleans(),
)


@pytest.mark.req("E14")
@settings(max_examples=100, deadline=None)
@given(SITUATIONS)
def test_done_is_impossible_while_any_issue_is_open_and_without_proof(situation):
    said = evaluate(situation)
    if said.decision == "DONE":
        assert not any(each.status in ("proposed", "in-progress", "blocked") for each in situation.backlog.issues)
        assert (situation.build, situation.gates, situation.backlog.unread) == ("pass", "met", ())
        assert all(v.result != "fail" and not v.created for v in situation.validations)
        assert situation.untouched or {v.kind for v in situation.validations} >= set(VALIDATORS)


@pytest.mark.req("E14")
@settings(max_examples=60, deadline=None)
@given(SITUATIONS)
def test_the_same_input_gives_the_same_answer_also_as_json(situation):
    again = msgspec.json.decode(msgspec.json.encode(situation), type=Situation)
    assert again == situation
    assert msgspec.json.encode(evaluate(again)) == msgspec.json.encode(evaluate(situation))


@pytest.mark.req("E12", "E14")
@settings(max_examples=60, deadline=None)
@given(SITUATIONS, st.randoms(use_true_random=False))
def test_the_answer_does_not_depend_on_the_order_in_which_issues_are_listed(situation, random):
    issues = [msgspec.structs.replace(each, order=number) for number, each in enumerate(situation.backlog.issues)]
    shuffled = random.sample(issues, len(issues))
    one, other = (
        evaluate(
            msgspec.structs.replace(situation, backlog=msgspec.structs.replace(situation.backlog, issues=tuple(each)))
        )
        for each in (issues, shuffled)
    )
    assert (one.decision, one.trigger, one.next_issue, one.reason) == (
        other.decision,
        other.trigger,
        other.next_issue,
        other.reason,
    )


@settings(max_examples=60, deadline=None)
@given(SITUATIONS)
def test_some_rule_always_answers_and_what_goes_on_has_a_next_issue(situation):
    said = evaluate(situation)
    assert not said.reason.startswith("No rule fits")
    assert (said.decision == "CONTINUE") == (said.trigger == "actionable")
    assert said.decision != "CONTINUE" or said.next_issue in {
        each.id for each in situation.backlog.issues if each.is_open
    }
    assert said.promise == f"LOOP_{said.decision}"


def test_a_situation_no_rule_knows_is_not_taken_for_done():
    from flyball.core.workflows.backlog.evaluator import unforeseen
    from flyball.core.workflows.backlog.selection import Candidates

    said = unforeseen(Weighing(GOOD, Candidates((), ()), (), ()))
    assert (said.decision, said.trigger) == ("BLOCKED", "unverified")


def test_the_work_of_an_evaluation_grows_with_the_backlog_and_not_with_its_square():
    def work(number: int) -> int:
        names = [Name(f"BUG-{n:05}@a1b2c3") for n in range(number)]
        issues = tuple(issue(name, blocked_by=(Name(names[n // 2]),)) for n, name in enumerate(names))
        situation = given_issues(*issues, session=Session(failures=dict.fromkeys(names, 1)))
        return steps(lambda: evaluate(situation))

    assert work(1000) < 20 * work(100)


@pytest.mark.req("E10")
def test_of_several_reasons_to_block_the_first_in_the_fixed_order_is_given():
    security = Validation("security audit", "fail", critical_security=True)
    stuck = "BUG-001@a1b2c3"
    all_of_them = given_issues(
        issue(stuck, tags=("needs-input",)),
        unrecoverable=True,
        validations=(security,),
        session=Session(cycles=9, failures={stuck: 3}, focus=stuck),
    )
    peeled = (
        {"unrecoverable": False},
        {"validations": ()},
        {"session": Session(cycles=9, focus=stuck)},
        {"session": Session(focus=stuck)},
        {"session": Session()},
    )
    triggers, situation = [evaluate(all_of_them).trigger], all_of_them
    for changes in peeled:
        situation = msgspec.structs.replace(situation, **changes)
        triggers.append(evaluate(situation).trigger)
    assert triggers == (
        "unrecoverable_error critical_security failed_3x no_completion needs_input no_actionable".split()
    )


@pytest.mark.req("E10")
def test_with_nothing_open_the_reasons_have_their_order_too():
    failed = (Validation("spec audit", "fail"),)
    nothing = msgspec.structs.replace(
        GOOD, backlog=Backlog((issue(status="blocked"),)), build="fail", gates="unmet", validations=failed
    )
    triggers = [evaluate(nothing).trigger]
    for changes in ({"backlog": Backlog()}, {"build": "unknown"}, {"gates": "met", "validations": GOOD.validations}):
        nothing = msgspec.structs.replace(nothing, **changes)
        triggers.append(evaluate(nothing).trigger)
    assert triggers == "only_blocked build_failing gates_unmet unverified".split()
