"""The monitor: one health and one remedy for whatever a loop does."""

import math

import msgspec
import pytest
from hypothesis import assume, given, settings, strategies as st

from flyball.core.failures.signature import signature
from flyball.core.health.history import History
from flyball.core.health.monitor import assess, change_remedy, follow
from flyball.core.health.observation import (
    RECENT_RESULTS,
    RECENT_TREES,
    REMEMBERED_FAILURES,
    TRACKED_ITEMS,
    Observation,
    begin_loop,
    observe,
)
from flyball.core.health.verdict import Blocker, Confidence, Health, Remedy, Thresholds, Trend


def judged(*seen, thresholds=None):
    """The verdicts on a whole loop."""
    history, verdicts = History(), []
    for one in seen:
        history, verdict = follow(history, one, thresholds or Thresholds())
        verdicts.append(verdict)
    return verdicts


def batch(number, passed=(), failed=(), **more):
    return Observation(
        iteration=number, kind="plan", batch=(*passed, *failed), passed=tuple(passed),
        failed={name: signature(f"{name} broke in run {number}: {'x' * number}", (name,)) for name in failed}, **more,
    )  # fmt: skip


def red(number, failing=("t",), fine=None, **more):
    return Observation(iteration=number, failing=tuple(failing), fine=fine or f"f{number}", **more)


@pytest.mark.req("M10")
@pytest.mark.parametrize(
    ("kinds", "recommendation"),
    [
        (["dependency"], "unblock:[needs a key]"),
        (["dependency", "external"], "escalate"),
        (["fundamental"], "escalate"),
    ],
)
def test_a_blocked_subtask_blocks_at_once(kinds, recommendation):
    blockers = tuple(Blocker(f"s{number}", kind, "needs a key") for number, kind in enumerate(kinds))
    (verdict,) = judged(batch(1, passed=["a"], blocked=blockers))
    assert (verdict.health, verdict.recommendation, verdict.remedy) == (Health.BLOCKED, recommendation, Remedy.ASK)
    assert verdict.blockers == blockers


@pytest.mark.req("M17")
def test_evidence_and_recommendation_are_one_line_whatever_a_blocker_says():
    (verdict,) = judged(batch(1, blocked=(Blocker("s", "dependency", "needs\r\n a\u2028key" + "!" * 5000),)))
    assert verdict.recommendation.startswith("unblock:[needs a key!!!")
    assert verdict.evidence.startswith("s: dependency: needs a key!!!")
    assert len(verdict.evidence) <= 1000


@pytest.mark.req("M11")
def test_the_first_iteration_is_progress_whatever_failed():
    (verdict,) = judged(batch(1, failed=["a", "b"]))
    assert (verdict.health, verdict.remedy) == (Health.PROGRESSING, Remedy.CONTINUE)


@pytest.mark.req("M12")
def test_a_subtask_that_reversed_twice_is_flip_flopping():
    verdicts = judged(batch(1, passed=["a"]), batch(2, failed=["a"]), batch(3, passed=["a"]))
    assert [verdict.health for verdict in verdicts[:2]] == [Health.PROGRESSING] * 2
    assert (verdicts[2].health, verdicts[2].recommendation) == (Health.FLIP_FLOPPING, "rollback")
    assert "a reversed 2x" in verdicts[2].evidence


@pytest.mark.req("M12")
@pytest.mark.parametrize("rest", ["passed", "failed"])
def test_a_subtask_whose_last_two_results_agree_no_longer_flip_flops(rest):
    results = ["passed", "failed", "passed", "failed", "passed", "failed"]
    results = [*results[: 5 if rest == "passed" else 6], rest]
    verdicts = judged(*(batch(n, **{name: ["a"]}) for n, name in enumerate(results, 1)))
    assert {verdict.health for verdict in verdicts[2:-1]} == {Health.FLIP_FLOPPING}
    assert verdicts[-1].health is Health.PROGRESSING


@pytest.mark.req("M12")
def test_a_subtask_that_four_batches_did_not_attempt_no_longer_flip_flops():
    flips = [batch(1, passed=["a"]), batch(2, failed=["a"]), batch(3, passed=["a"])]
    others = [batch(n, passed=[f"p{n}"]) for n in range(4, 8)]
    healths = [verdict.health for verdict in judged(*flips, *others)]
    assert healths[2:] == [*[Health.FLIP_FLOPPING] * 4, Health.PROGRESSING]
    tried = [*others[:2], Observation(iteration=6, kind="plan", batch=("a", "p6"), passed=("p6",)), others[3]]
    assert judged(*flips, *tried)[-1].health is Health.FLIP_FLOPPING


@pytest.mark.req("M12")
def test_a_restored_tree_starts_the_comparison_anew():
    flips = [batch(1, passed=["a"]), batch(2, failed=["a"]), batch(3, passed=["a"])]
    assert judged(*flips, batch(4, failed=["a"]))[-1].health is Health.FLIP_FLOPPING
    anew = judged(*flips, batch(4, failed=["a"], restored=True), batch(5, passed=["a"]))
    assert [verdict.health for verdict in anew[3:]] == [Health.PROGRESSING] * 2


@pytest.mark.req("M12")
def test_failing_tests_that_alternate_are_flip_flopping():
    verdicts = judged(red(1, "A"), red(2, "B"), red(3, "A"))
    assert verdicts[-1].health is Health.FLIP_FLOPPING


@pytest.mark.req("M12")
def test_a_tree_that_comes_back_is_flip_flopping_but_not_after_a_restore():
    back = [red(1, tree="x"), red(2, tree="y"), red(3, tree="x")]
    assert judged(*back)[-1].health is Health.FLIP_FLOPPING
    restored = [*back[:2], msgspec.structs.replace(back[2], restored=True)]
    assert judged(*restored)[-1].health is not Health.FLIP_FLOPPING
    assert judged(red(1, tree="x"), red(2, tree="x", context=2))[-1].health is Health.PROGRESSING


@pytest.mark.req("M13")
def test_a_pass_rate_that_fell_twice_running_is_regressing():
    rates = [0.9, 0.8, 0.7]
    verdicts = judged(*(Observation(iteration=n, pass_rate=rate) for n, rate in enumerate(rates, 1)))
    assert (verdicts[1].health, verdicts[1].trend) == (Health.PROGRESSING, Trend.DECLINING)
    assert (verdicts[2].health, verdicts[2].remedy) == (Health.REGRESSING, Remedy.ROLLBACK)
    assert verdicts[2].evidence == "pass rate fell 2x running: 90% → 80% → 70%"


@pytest.mark.req("M13")
@pytest.mark.parametrize("between", [0.85, 0.8])
def test_a_rise_or_a_halt_between_two_falls_is_not_regressing(between):
    rates = [0.9, 0.8, between, 0.7]
    verdicts = judged(*(Observation(iteration=n, pass_rate=rate) for n, rate in enumerate(rates, 1)))
    assert verdicts[-1].health is Health.PROGRESSING


@pytest.mark.req("M14", "M22")
@pytest.mark.parametrize("restored", [False, True])
def test_the_same_error_in_three_attempts_is_a_stall_in_a_fresh_context_and_on_a_restored_tree_too(restored):
    error = signature("TypeError in parse_row", ("parse",))
    seen = [
        Observation(
            iteration=n, context=context, batch=("a",), failed={"a": error}, fine=error.fine, tree=f"t{n}", restored=put
        )
        for n, context, put in ((1, 1, False), (2, 1, False), (3, 2, restored))
    ]
    last = judged(*seen)[-1]
    assert (last.health, last.remedy) == (Health.STALLED, Remedy.FRESH_CONTEXT)
    assert "iterations 1, 2, 3" in last.evidence


@pytest.mark.req("M14")
def test_three_batches_with_nothing_passed_are_a_stall():
    verdicts = judged(*(batch(n, failed=[f"s{n}"]) for n in (1, 2, 3)))
    assert [verdict.health for verdict in verdicts] == [Health.PROGRESSING, Health.PROGRESSING, Health.STALLED]
    assert (verdicts[2].recommendation, verdicts[2].remedy) == ("retry-with-change", Remedy.FRESH_CONTEXT)


@pytest.mark.req("M14")
@pytest.mark.req("M17")
def test_the_same_error_in_three_attempts_is_a_stall_and_named():
    seen = [
        Observation(
            iteration=n,
            kind="plan",
            batch=("a", f"p{n}"),
            passed=(f"p{n}",),
            failed={"a": signature(f"File x, line {n}\nTypeError: row", ("a",))},
        )
        for n in (4, 5, 6)
    ]
    verdict = judged(*seen)[-1]
    assert verdict.health is Health.STALLED
    assert verdict.evidence == "same error 3x: TypeError: row, iterations 4, 5, 6"


@pytest.mark.req("M14")
def test_three_iterations_that_change_nothing_are_a_stall():
    seen = [Observation(iteration=n, tree="x", failing=("t",), fine=f"f{n}", context=n) for n in (1, 2, 3, 4)]
    assert [verdict.health for verdict in judged(*seen)][2:] == [Health.PROGRESSING, Health.STALLED]


@pytest.mark.req("M14")
def test_a_tree_that_stays_has_the_same_failing_set_whatever_a_gate_that_names_none_prints():
    seen = [Observation(iteration=n, changed_files=(), coarse=f"c{n}", fine=f"f{n}", context=n) for n in (1, 2, 3)]
    assert judged(*seen)[-1].health is Health.STALLED
    named = [Observation(iteration=n, changed_files=(), failing=(f"t{n}",), fine=f"f{n}", context=n) for n in (1, 2, 3)]
    assert judged(*named)[-1].health is not Health.STALLED


@pytest.mark.req("M15")
def test_a_loop_that_moves_is_progressing():
    verdicts = judged(red(1, "abc"), red(2, "ab"), red(3, "a"))
    assert {verdict.health for verdict in verdicts} == {Health.PROGRESSING}
    assert verdicts[-1].recommendation == "continue"


@pytest.mark.req("M16")
def test_confidence_grows_with_history_and_agreement():
    failing = [batch(n, failed=[f"s{n}"]) for n in (1, 2, 3, 4)]
    assert [verdict.confidence for verdict in judged(*failing)] == ["LOW", "LOW", "MEDIUM", "HIGH"]
    blocker = (Blocker("a", "dependency", "x"),)
    blocked = judged(*failing[:2], batch(3, blocked=blocker))
    assert blocked[-1].confidence is Confidence.HIGH
    assert judged(batch(1, blocked=blocker))[0].confidence is Confidence.LOW


@pytest.mark.req("M16")
def test_trend_follows_the_pass_rate():
    rates = [0.5, 0.7, 0.7, 0.6]
    verdicts = judged(*(Observation(iteration=n, pass_rate=rate) for n, rate in enumerate(rates, 1)))
    assert [verdict.trend for verdict in verdicts] == ["stable", "improving", "stable", "declining"]


@pytest.mark.req("M17")
def test_thresholds_are_settings():
    falls = [Observation(iteration=n, pass_rate=rate) for n, rate in enumerate([0.9, 0.8], 1)]
    assert judged(*falls, thresholds=Thresholds(falls=1))[-1].health is Health.REGRESSING


@pytest.mark.req("M18")
@pytest.mark.parametrize(
    "seen",
    [
        [red(1, "ab", "same"), red(2, "abc", "same")],
        [red(1, "a"), red(2, "a"), red(3, "a")],
        [red(1, "a", edit="e1"), red(2, "ab", edit="e2"), red(3, "abc", edit="e1")],
        [red(1, "a", changed_files=()), red(2, "ab", changed_files=())],
    ],
    ids=["same failure twice", "same failing set three times", "same edit again", "unchanged tree twice"],
)
def test_what_does_not_heal_inside_a_context_asks_for_a_fresh_one(seen):
    verdicts = judged(*seen)
    assert {verdict.remedy for verdict in verdicts[:-1]} == {Remedy.CONTINUE}
    assert (verdicts[-1].health, verdicts[-1].remedy) == (Health.STALLED, Remedy.FRESH_CONTEXT)
    assert verdicts[-1].recommendation == "retry-with-change"
    apart = [msgspec.structs.replace(one, context=number) for number, one in enumerate(seen)]
    assert judged(*apart)[-1].remedy is Remedy.CONTINUE


@pytest.mark.req("M18")
def test_a_failure_that_ended_two_contexts_stops_the_loop_when_it_repeats_in_a_third():
    failure = {"summary": "ValueError: 3", "changed_files": ("x",)}
    verdicts = judged(*(red(n, "ab", "same", context=(n + 1) // 2, **failure) for n in range(1, 7)))
    fresh, go_on = Remedy.FRESH_CONTEXT, Remedy.CONTINUE
    assert [each.remedy for each in verdicts] == [go_on, fresh, go_on, fresh, go_on, Remedy.STOP]
    assert verdicts[-1].evidence.endswith("; the same failure ended 2 earlier contexts")
    assert verdicts[-1].evidence.count("ValueError: 3") == 1, "it is named once"


@pytest.mark.req("M18")
def test_a_failure_that_two_contexts_did_not_get_past_counts_though_another_came_last():
    def context(number, *failures):
        return [red(10 * number + n, "ab", one, context=number) for n, one in enumerate(failures)]

    seen = [*context(1, "same", "x"), *context(2, "same", "y"), *context(3, "same", "same")]
    assert judged(*seen)[-1].remedy is Remedy.STOP


@pytest.mark.req("M18")
def test_a_failure_that_earlier_contexts_overcame_does_not_stop_the_loop():
    seen = [
        one
        for number in (1, 2, 3)
        for one in (
            red(2 * number, "ab", "same", context=number, restored=number > 1),
            red(2 * number + 1, *(("ab", "same") if number == 3 else ("a", f"x{number}")), context=number),
        )
    ]
    assert judged(*seen)[-1].remedy is Remedy.FRESH_CONTEXT


@pytest.mark.req("M18")
def test_a_failure_before_a_rollback_is_counted_once_for_its_attempt():
    seen = [red(1, "ab", "same"), red(2, "ab", "x", restored=True), red(3, "ab", "y", context=2)]
    history = History()
    for one in seen:
        history = observe(history, one)
    assert [ending.failures for ending in history.endings] == [("same",), ("x",)]


@pytest.mark.req("M18")
def test_five_spent_contexts_stop_the_loop():
    seen = [red(n, f"t{(n + 1) // 2}", f"f{(n + 1) // 2}", context=(n + 1) // 2) for n in range(1, 11)]
    verdicts = judged(*seen)
    assert verdicts[7].remedy is Remedy.FRESH_CONTEXT
    assert verdicts[9].remedy is Remedy.STOP
    assert "5 contexts are spent" in verdicts[9].evidence


@pytest.mark.req("M18")
def test_a_gate_broken_on_two_trees_stops_the_loop():
    one = Observation(iteration=1, tree="x", gate_broken="timed out", fine="a")
    assert judged(one, msgspec.structs.replace(one, iteration=2, fine="b"))[-1].remedy is Remedy.CONTINUE
    other = msgspec.structs.replace(one, iteration=2, tree="y", fine="b")
    assert judged(one, other)[-1].remedy is Remedy.STOP
    mended = Observation(iteration=2, tree="z", failing=("t",), fine="c")
    assert judged(one, mended, msgspec.structs.replace(other, iteration=3))[-1].remedy is Remedy.CONTINUE


@pytest.mark.req("M18")
def test_a_spent_budget_stops_the_loop_and_a_gate_that_holds_continues_it():
    assert judged(red(1, budget_gone=True))[0].remedy is Remedy.STOP
    assert judged(red(1, "a", "s"), red(2, (), "s", gate_held=True))[-1].remedy is Remedy.CONTINUE


@pytest.mark.req("M19")
def test_an_optimising_loop_is_patient_for_twenty_iterations():
    flat = [Observation(iteration=n, kind="optimise", metric=1.0, fine="same", failing=("t",)) for n in range(1, 23)]
    healths = [verdict.health for verdict in judged(*flat)]
    assert set(healths[:20]) == {Health.PROGRESSING}
    assert healths[20] is Health.STALLED


@pytest.mark.req("M19")
def test_patience_is_twice_the_longest_dry_spell():
    values = [1.0] * 16 + [2.0] + [2.0] * 29
    seen = [Observation(iteration=n, kind="optimise", metric=value) for n, value in enumerate(values, 1)]
    assert judged(*seen)[-1].health is Health.PROGRESSING
    assert judged(*seen, Observation(iteration=99, kind="optimise", metric=2.0))[-1].health is Health.STALLED


@pytest.mark.req("M19")
def test_a_better_number_within_the_noise_is_no_improvement():
    seen = [
        Observation(iteration=n, kind="optimise", metric=1 - n / 1000, metric_noise=0.1, lower_is_better=True)
        for n in range(1, 23)
    ]
    assert judged(*seen)[-1].health is Health.STALLED
    quiet = [msgspec.structs.replace(one, metric_noise=0.0) for one in seen]
    assert judged(*quiet)[-1].health is Health.PROGRESSING


def simulate(agent, turns=20):
    """A loop that obeys remedies: the agent maps (turn, tree) to (tree, failing); returns the verdicts until it stops."""
    history, context, tree, restored, verdicts = History(), 1, "start", False, []
    for turn in range(1, turns + 1):
        before = tree
        tree, failing = agent(turn, tree)
        changed = () if tree == before else ("src.py",)
        seen = red(
            turn, failing, "".join(failing), tree=tree, changed_files=changed, context=context, restored=restored
        )
        history = observe(history, seen)
        verdict = assess(history, seen)
        verdicts.append(verdict)
        restored = verdict.remedy in {Remedy.FRESH_CONTEXT, Remedy.ROLLBACK}
        context += verdict.remedy is Remedy.FRESH_CONTEXT
        tree = history.best.tree if restored and history.best else tree
        if verdict.remedy is Remedy.STOP:
            break
    return verdicts


@pytest.mark.req("M18")
def test_an_agent_that_changes_nothing_is_stopped_within_six_turns_after_two_fresh_contexts():
    verdicts = simulate(lambda turn, tree: (tree, ("t",)))
    assert len(verdicts) <= 6
    assert [verdict.remedy for verdict in verdicts].count(Remedy.FRESH_CONTEXT) == 2
    assert verdicts[-1].remedy is Remedy.STOP


@pytest.mark.req("M18")
def test_an_agent_that_adds_only_useless_files_is_stopped_within_six_turns():
    verdicts = simulate(lambda turn, tree: (f"{tree}+{turn}", ("t",)))
    assert len(verdicts) <= 6
    assert verdicts[-1].remedy is Remedy.STOP


@pytest.mark.req("M12")
@pytest.mark.parametrize("cycles", [True, False], ids=["the same trees", "new trees"])
def test_a_breaks_b_and_b_breaks_a_is_named_within_four_turns_and_stopped_within_eight(cycles):
    def agent(turn, tree):
        side = "B" if tree.startswith("A") else "A"
        return (side if cycles else f"{side}{turn}"), (side,)

    verdicts = simulate(agent)
    assert Health.FLIP_FLOPPING in [verdict.health for verdict in verdicts[:4]]
    assert len(verdicts) <= 8
    assert verdicts[-1].remedy is Remedy.STOP


names = st.sampled_from("abcd")
observations = st.builds(
    Observation,
    iteration=st.integers(1, 50),
    context=st.integers(1, 4),
    kind=st.sampled_from(["fix", "plan", "optimise"]),
    batch=st.lists(names, max_size=3).map(tuple),
    passed=st.lists(names, max_size=3).map(tuple),
    failed=st.dictionaries(names, st.sampled_from(["boom", "bang", ""]).map(signature), max_size=2),
    blocked=st.lists(st.builds(Blocker, names, st.sampled_from(["external", "dependency", ""])), max_size=1).map(tuple),
    reviewed=st.booleans(),
    tree=st.none() | names,
    edit=st.none() | names,
    changed_files=st.none() | st.lists(names, max_size=1).map(tuple),
    failing=st.none() | st.lists(names, max_size=3).map(tuple),
    pass_rate=st.none() | st.floats(0, 1),
    metric=st.none() | st.floats(),
    fine=st.none() | names,
    gate_held=st.booleans(),
    gate_broken=st.none() | st.just("timed out"),
    restored=st.booleans(),
    budget_gone=st.booleans(),
)


@settings(deadline=None, max_examples=80)
@given(st.lists(observations, max_size=20))
def test_any_loop_gets_exactly_one_verdict_each_time_and_always_the_same(loop):
    verdicts = judged(*loop)
    assert verdicts == judged(*loop)
    assert all(
        isinstance(verdict.health, Health) and verdict.evidence and "\n" not in verdict.evidence for verdict in verdicts
    )


@settings(deadline=None, max_examples=50)
@given(st.lists(observations, max_size=15))
def test_a_history_survives_being_stored(loop):
    assume(all(seen.metric is None or math.isfinite(seen.metric) for seen in loop))
    history = History()
    for seen in loop:
        history = observe(history, seen)
    restored = msgspec.json.decode(msgspec.json.encode(history), type=History)
    assert restored == history


def test_a_history_does_not_grow_with_the_loop():
    history, sizes = History(), []
    for number in range(1, 1201):
        failing = tuple(f"test_{(number * 7 + index) % 5000}" for index in range(60))
        history = observe(history, red(number, failing, tree=f"tree{number}", edit=f"e{number}", context=number // 3))
        sizes.append(len(msgspec.json.encode(history)))
    assert max(sizes[600:]) <= max(sizes[:600]) + 500
    assert len(history.results) <= RECENT_RESULTS
    assert len(history.trees) <= RECENT_TREES
    assert len(history.items) <= TRACKED_ITEMS


@pytest.mark.req("M18")
def test_a_gate_that_holds_needs_no_remedy_whatever_repeats():
    again = [red(number, failing=(), edit="e", gate_held=True) for number in (1, 2, 3)]
    assert [verdict.remedy for verdict in judged(*again)] == [Remedy.CONTINUE] * 3
    still_red = [red(number, edit="e", fine="f") for number in (1, 2)]
    assert judged(*still_red)[-1].remedy == Remedy.FRESH_CONTEXT


def falling(first, *rates, context=1, restored_at=0):
    """Iterations of one context whose pass rate goes this way; one of them began on a tree flyball had restored."""
    return [
        red(
            number,
            (f"t{number}",),
            pass_rate=rate,
            context=context,
            tree=f"tree-{number}",
            restored=number == restored_at,
        )
        for number, rate in enumerate(rates, first)
    ]


@pytest.mark.req("M18")
@pytest.mark.parametrize(
    ("seen", "health", "remedy"),
    [
        (falling(1, 0.9, 0.8, 0.7), Health.REGRESSING, Remedy.ROLLBACK),
        (falling(1, 0.9, 0.8, 0.7, 0.6, restored_at=2), Health.REGRESSING, Remedy.FRESH_CONTEXT),
        (falling(1, 0.9, 0.8, 0.7, restored_at=1), Health.REGRESSING, Remedy.ROLLBACK),
        (falling(1, 0.5, 0.6, 0.7, restored_at=2), Health.PROGRESSING, Remedy.CONTINUE),
    ],
    ids=["the first fall", "a rollback did not help", "the context began with it", "a rollback helped"],
)
def test_a_rollback_that_did_not_help_in_a_context_is_followed_by_a_fresh_one(seen, health, remedy):
    verdict = judged(*seen)[-1]
    assert (verdict.health, verdict.remedy) == (health, remedy)


@pytest.mark.req("M18")
def test_spent_contexts_forbid_another_fresh_one_and_no_rollback():
    earlier = [
        red(number, (f"s{number}",), pass_rate=0.9, context=number, tree=f"c{number}") for number in (1, 2, 3, 4)
    ]
    assert judged(*earlier, *falling(5, 0.9, 0.8, 0.7, context=5))[-1].remedy == Remedy.ROLLBACK


@pytest.mark.req("M14")
@pytest.mark.parametrize(("held", "health"), [(False, Health.STALLED), (True, Health.PROGRESSING)])
def test_iterations_that_change_or_pass_nothing_are_a_stall_unless_the_gate_holds(*, held, health):
    idle = [Observation(iteration=n, tree="t", changed_files=(), failing=(), gate_held=held) for n in (1, 2, 3, 4)]
    assert judged(*idle)[-1].health is health
    empty = [Observation(iteration=n, pass_rate=0.0, tree=f"t{n}", gate_held=held) for n in (1, 2, 3)]
    assert judged(*empty)[-1].health is health


@pytest.mark.req("M12")
@pytest.mark.parametrize(
    ("last", "held", "health"),
    [((), True, Health.PROGRESSING), ((), False, Health.FLIP_FLOPPING), (("t",), False, Health.FLIP_FLOPPING)],
    ids=["it passes and all holds", "it passes and something else does not", "it fails"],
)
def test_a_test_that_came_to_rest_as_passed_while_everything_holds_is_a_finished_story(last, held, health):
    course = [("t",), (), ("t",), last] if not last else [(), ("t",), (), last]
    seen = [red(n, failing, tree=f"t{n}", gate_held=held and n == 4) for n, failing in enumerate(course, 1)]
    assert judged(*seen)[-1].health is health


TREES = st.none() | st.sampled_from("xyz")
ANY_ITERATION = st.builds(
    Observation,
    iteration=st.just(0),
    context=st.none() | st.integers(1, 3),
    kind=st.sampled_from(["fix", "fix", "plan", "optimise"]),
    batch=st.lists(st.sampled_from("ab"), max_size=2, unique=True).map(tuple),
    passed=st.lists(st.sampled_from("ab"), max_size=1).map(tuple),
    failed=st.dictionaries(st.sampled_from("ab"), st.sampled_from([signature("x"), signature("y")]), max_size=2),
    blocked=st.sampled_from([(), (), (), (Blocker("s", "external", "no key"),)]),
    reviewed=st.sampled_from([True, True, True, False]),
    tree=TREES,
    edit=TREES,
    changed_files=st.sampled_from([None, None, (), ("f",)]),
    failing=st.none() | st.lists(st.sampled_from("tuv"), max_size=2, unique=True).map(tuple),
    pass_rate=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    metric=st.none() | st.sampled_from([1.0, 2.0]),
    fine=st.none() | st.sampled_from(["f1", "f2", "f3"]),
    gate_held=st.sampled_from([False, False, False, True]),
    gate_broken=st.sampled_from([None, None, None, "timed out"]),
    restored=st.sampled_from([False, False, False, True]),
    budget_gone=st.sampled_from([False] * 9 + [True]),
)
AGREED = {
    Health.PROGRESSING: ({Remedy.CONTINUE}, "continue"),
    Health.STALLED: ({Remedy.FRESH_CONTEXT, Remedy.STOP}, "retry-with-change"),
    Health.REGRESSING: ({Remedy.ROLLBACK, Remedy.FRESH_CONTEXT, Remedy.STOP}, "rollback"),
    Health.FLIP_FLOPPING: ({Remedy.ROLLBACK, Remedy.FRESH_CONTEXT, Remedy.STOP}, "rollback"),
    Health.BLOCKED: ({Remedy.ASK, Remedy.STOP}, None),
}


@pytest.mark.slow
@pytest.mark.req("M22")
@settings(deadline=None, max_examples=200)
@given(st.lists(ANY_ITERATION, min_size=1, max_size=14))
def test_no_history_makes_health_remedy_and_evidence_contradict_each_other(iterations):
    history = History()
    met: set[str] = set()
    for number, one in enumerate(iterations, 1):
        seen = msgspec.structs.replace(one, iteration=number)
        if number % 5 == 0:
            history = begin_loop(history)
        history, verdict = follow(history, seen)
        remedies, recommended = AGREED[verdict.health]
        assert verdict.remedy in remedies
        if recommended:
            assert verdict.recommendation == ("escalate" if verdict.remedy is Remedy.STOP else recommended)
        if not seen.reviewed:
            continue
        result = history.results[-1]
        names = {name for name in (result.failure, result.failing_set) if name is not None}
        if "nothing repeats" in verdict.evidence:
            assert not names & met
        met |= names


@pytest.mark.req("M22")
def test_a_verdict_whose_health_and_remedy_disagree_cannot_be_made():
    (verdict,) = judged(red(1))
    with pytest.raises(ValueError, match="PROGRESSING cannot carry the remedy fresh-context"):
        msgspec.convert({**msgspec.to_builtins(verdict), "cure": "fresh-context"}, type(verdict))


@pytest.mark.req("M5", "M11", "M22")
def test_a_new_loop_begins_with_its_first_iteration_and_still_knows_the_failures_of_the_task():
    history = History()
    for number in (1, 2):
        history, _ = follow(history, red(number, "a", "same"))
    history = begin_loop(history)
    history, first = follow(history, red(1, "a", "same", context=2))
    history, other = follow(history, red(2, "b", "new", context=2))
    _, again = follow(history, red(3, "c", "same", context=3))
    assert (first.health, first.evidence, first.confidence) == (Health.PROGRESSING, "first iteration", "LOW")
    assert other.evidence == "iteration 2: nothing repeats"
    assert again.evidence == "iteration 3: a failure seen before in this task"


@pytest.mark.req("M22")
def test_a_loop_that_has_forgotten_failures_does_not_say_that_nothing_repeats():
    history = History()
    for number in range(REMEMBERED_FAILURES // 2 + 1):
        history = observe(history, red(number, (f"t{number}",), context=number))
    history, verdict = follow(history, red(2000, "t", context=2000))
    assert len(history.met) == REMEMBERED_FAILURES
    assert verdict.evidence.endswith(f"new among the last {REMEMBERED_FAILURES} failures")


@pytest.mark.req("M22", "M19")
def test_a_loop_that_optimises_with_green_gates_and_runs_dry_is_stalled_and_begins_afresh():
    seen = [Observation(iteration=n, kind="optimise", metric=1.0, gate_held=True) for n in range(22)]
    assert (judged(*seen)[-1].health, judged(*seen)[-1].remedy) == (Health.STALLED, Remedy.FRESH_CONTEXT)


@pytest.mark.req("M22")
@pytest.mark.parametrize("remedy", [Remedy.FRESH_CONTEXT, Remedy.STOP])
def test_a_loop_that_is_given_another_remedy_is_no_longer_called_progressing(remedy):
    (verdict,) = judged(red(1))
    changed = change_remedy(verdict, remedy, "the breaker opened")
    assert (verdict.health, changed.health, changed.remedy) == (Health.PROGRESSING, Health.STALLED, remedy)
    assert changed.evidence == "the breaker opened"
