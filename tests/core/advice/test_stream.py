"""Advice for loops that are not flyball's: what a line says, and what it is told."""

import json

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.advice.stream import GateOutput, StreamObservation, advise, broken_gate, of_stream
from flyball.core.health.history import History
from flyball.core.health.observation import observe
from flyball.core.health.verdict import Health, Remedy, Thresholds
from flyball.core.text.strict_json import JsonUnreadable, read_json


def red(number, output="ValueError: x", failing=("t",), **more):
    return StreamObservation(number, gates=(GateOutput("test", False, output, failing),), **more)


def advised(*lines):
    history, given = History(), []
    for line in lines:
        history, advice = advise(history, line)
        given.append(advice)
    return given


@pytest.mark.req("M33")
def test_a_stream_observation_is_read_with_its_gates():
    line = b'{"iteration":2,"context":1,"edit":"e","gates":[{"name":"test","passed":false,"output":"ValueError: x","failing":["t"]}]}'
    seen = of_stream(read_json(line, StreamObservation), History())
    assert (seen.failing, seen.summary, seen.gate_held) == (("t",), "ValueError: x", False)
    held = of_stream(StreamObservation(3, gates=(GateOutput("test", True),)), History())
    assert held.gate_held
    assert of_stream(StreamObservation(4, context=2), observe(History(), held)).restored


@pytest.mark.req("M33")
def test_advice_has_health_remedy_evidence_confidence_and_the_signature_of_the_failure():
    first, second, held = advised(red(1), red(2), StreamObservation(3, gates=(GateOutput("test", True),)))
    assert (first.health, first.remedy, first.signature) == (Health.PROGRESSING, Remedy.CONTINUE, second.signature)
    assert second.remedy is Remedy.FRESH_CONTEXT
    assert second.evidence == "same failure 2x in one context: ValueError: x, iterations 1, 2"
    assert (held.remedy, held.signature) == (Remedy.CONTINUE, None)
    assert list(msgspec.to_builtins(first)) == ["health", "cure", "evidence", "confidence", "signature"]


@pytest.mark.req("M14")
def test_the_same_failure_three_times_is_a_stall_of_a_loop_that_names_no_subtasks():
    given = advised(red(1), red(2), red(3), red(4), red(5, context=2))
    assert [advice.health for advice in given] == ["PROGRESSING", "STALLED", "STALLED", "STALLED", "PROGRESSING"]
    assert given[2].evidence == "same error 3x: ValueError: x, iterations 1, 2, 3"
    assert [advice.confidence for advice in given[2:4]] == ["MEDIUM", "HIGH"]
    assert {advice.remedy for advice in given[1:4]} == {Remedy.FRESH_CONTEXT}
    assert given[4].evidence == "iteration 5: a failure seen before in this task: ValueError: x"
    anew = advised(red(1), red(2), red(3, restored=True))[-1]
    assert anew.evidence == "same failure 3x in one context: ValueError: x, iterations 1, 2, 3"


def stops(lines):
    """The number of the first iteration after which the loop is told to stop."""
    return next((n for n, advice in enumerate(advised(*lines), 1) if advice.remedy is Remedy.STOP), None)


@pytest.mark.req("M18", "M33")
@pytest.mark.parametrize("restored", [None, False])
def test_the_same_failure_in_five_fresh_contexts_ends_a_loop_that_tells_no_edits(restored):
    def run(*outputs):
        return [red(n, output, (), context=n, restored=restored) for n, output in enumerate(outputs, 1)]

    assert stops(run(*["7 failed"] * 9)) == 5
    assert stops(run("7 failed", "7 failed", *["4 failed"] * 9)) == 8
    assert stops(run(*(f"{n} failed" for n in range(12)))) is None


@pytest.mark.req("M18", "M33")
def test_fresh_contexts_whose_edits_differ_are_given_twice_as_many_tries():
    assert stops(red(n, context=n, edit=f"e{n}") for n in range(1, 14)) == 10
    assert stops(red(n, context=n, edit="e") for n in range(1, 14)) == 5


@pytest.mark.req("M18", "M33")
def test_a_fresh_context_that_is_advised_and_never_begun_ends_the_loop():
    given = advised(*(red(n) for n in range(1, 8)))
    assert [advice.remedy for advice in given] == ["continue", *["fresh-context"] * 4, "stop", "stop"]
    assert given[-1].health is Health.STALLED
    assert "no advice was followed" in given[5].evidence


@pytest.mark.req("M33")
@pytest.mark.req("M17")
def test_a_stream_can_be_given_thresholds():
    _, advice = advise(History(), red(1))
    history, _ = advise(History(), red(1))
    patient = Thresholds(same_failure_in_context=3, same_failing_set_in_context=4)
    assert advise(history, red(2), patient)[1].remedy is advice.remedy is Remedy.CONTINUE


@pytest.mark.req("M19")
def test_a_loop_that_has_given_a_metric_goes_on_optimising_when_a_line_has_none():
    lines = [StreamObservation(1, metric=1.0), *(red(number) for number in range(2, 8))]
    assert {advice.remedy for advice in advised(*lines)} == {Remedy.CONTINUE}
    assert advised(*(msgspec.structs.replace(line, kind="fix") for line in lines))[2].remedy is Remedy.FRESH_CONTEXT


@pytest.mark.req("M19")
def test_the_noise_and_direction_of_a_metric_can_be_told():
    falling = [StreamObservation(n, metric=1 - n / 1000, lower_is_better=True) for n in range(1, 23)]
    assert advised(*falling)[-1].health is Health.PROGRESSING
    noisy = [msgspec.structs.replace(line, metric_noise=0.5) for line in falling]
    assert advised(*noisy)[-1].health is Health.STALLED


@pytest.mark.req("M10")
@pytest.mark.parametrize("claim", ["blocked", "Blocked ", {"status": "blocked", "summary": "no key"}])
def test_a_loop_that_says_it_is_blocked_is_blocked(claim):
    (advice,) = advised(red(1, claim=claim))
    assert (advice.health, advice.remedy) == (Health.BLOCKED, Remedy.ASK)


@pytest.mark.req("M33")
@pytest.mark.parametrize("claim", ["done", True, {"status": "complete", "exit_signal": True}, {"status": 7}, None])
def test_no_other_claim_changes_the_advice(claim):
    assert advised(red(1), red(2, claim=claim)) == advised(red(1), red(2))


@pytest.mark.req("M3")
def test_an_empty_diff_is_an_unchanged_tree():
    lines = [red(n, output=f"boom {n}" + "x" * n, failing=(f"t{n}",), diff_lines=0) for n in (1, 2)]
    assert "tree unchanged 2x" in advised(*lines)[-1].evidence


@pytest.mark.req("M18")
def test_a_spent_budget_stops_the_loop():
    assert advised(red(1, budget_gone=True))[0].remedy is Remedy.STOP


@pytest.mark.req("M18")
@pytest.mark.parametrize(
    "output",
    ["Tests timed out after 60 seconds", "sh: pytest: command not found", "collected 0 items", "Ran 0 tests in 0s"],
)
def test_a_gate_that_measured_nothing_is_broken(output):
    assert broken_gate(GateOutput("test", False, output))
    assert broken_gate(GateOutput("test", False, "1 failed", ("t",))) is None


@pytest.mark.req("M33")
@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "truncated"),
        (b"null", "expected object, got null"),
        (b"{}", "missing required field iteration"),
        (b'{"iteration": "1"}', r"expected int, got str - at \$.iteration"),
        (b'{"iteration": true}', "expected int, got bool"),
        (b'{"iteration": -1}', "expected int >= 0"),
        (b'{"iteration": 1, "metric": NaN}', "malformed"),
        (b'{"iteration": 1, "usd": 1e999}', "out of range"),
        (b'{"iteration": 1, "iteration": 2}', "the name 'iteration' appears twice"),
        (b'{"iteration": 1, "claim": {"a": 1, "a": 2}}', "the name 'a' appears twice"),
        (b'{"iteration": 1, "gates": [{"passed": true}]}', r"missing required field name - at \$.gates\[0\]"),
        (b'{"iteration": 1, "tree": "\xff"}', "utf-8"),
        (b'{"iteration": 1, "tree": "\\ud800"}', "."),
        (b'{"iteration": 1} {"iteration": 2}', "trailing characters"),
        (b'{"iteration": 1, "claim": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001, "nested too deeply"),
    ],
)
def test_a_line_that_is_no_observation_is_refused_with_the_reason(raw, problem):
    with pytest.raises(JsonUnreadable, match=problem):
        read_json(raw, StreamObservation)


names = st.sampled_from(["iteration", "context", "gates", "claim", "metric", "tree", "usd", "failing", "kind", "other"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.req("M33")
@settings(deadline=None, max_examples=80)
@given(st.binary(max_size=60) | st.dictionaries(names, values).map(lambda value: json.dumps(value).encode()))
def test_any_line_is_an_observation_that_gets_advice_or_is_refused(raw):
    try:
        line = read_json(raw, StreamObservation)
    except JsonUnreadable:
        return
    _, advice = advise(History(), line)
    assert advice.evidence
    assert "\n" not in advice.evidence


@pytest.mark.req("M33")
def test_a_field_that_is_not_known_is_refused_and_not_overlooked():
    for line in (b'{"iteration": 1, "gate": []}', b'{"iteration": 1, "gates": [{"name": "t", "ok": true}]}'):
        with pytest.raises(JsonUnreadable, match="unknown field"):
            read_json(line, StreamObservation)
