import pytest
from hypothesis import given, strategies as st

from flyball.core.phase_metrics import (
    WEIGHTS,
    PhaseMetrics,
    PhaseNumbers,
    overall_percent,
    parse_metrics,
    phase_percent,
    scalar,
)

pytestmark = pytest.mark.req("C70")


def test_a_mapping_is_read_with_its_types():
    text = """Done.

DOCUMENT_PHASE_METRICS:
  docs_generated: 3   # three of six
  has_adr: true
  share: 0.75
  title: "a: b"
  nothing: null
  diagrams:
    total: 6
    valid: 5
  kinds:
    - flow
    - state
  after: True

Prose: 9
"""
    (found,) = parse_metrics(text)
    assert found.name == "DOCUMENT_PHASE_METRICS"
    assert found.values == {
        "docs_generated": 3,
        "has_adr": True,
        "share": 0.75,
        "title": "a: b",
        "diagrams.total": 6,
        "diagrams.valid": 5,
        "kinds": "flow, state",
        "after": "True",
    }
    assert found.text.startswith("DOCUMENT_PHASE_METRICS:\n  docs_generated")
    assert found.text.endswith("after: True")


def test_each_mapping_is_found_and_other_keys_are_not():
    text = "QA_VALIDATION_METRICS:\n  checks_total: 11\nOTHER_METRICS:\n  a: 1\nRED_PHASE_METRICS:\n"
    assert parse_metrics(text) == (
        PhaseMetrics("QA_VALIDATION_METRICS", {"checks_total": 11}, "QA_VALIDATION_METRICS:\n  checks_total: 11"),
        PhaseMetrics("RED_PHASE_METRICS", {}, "RED_PHASE_METRICS:"),
    )


def test_a_line_that_is_no_pair_is_noted_and_the_rest_kept():
    (found,) = parse_metrics("RED_PHASE_METRICS:\n  what is this\n  tests_generated: 4")
    assert found.values == {"tests_generated": 4}
    assert found.problems == ("RED_PHASE_METRICS: 'what is this' is not `key: value`",)


@pytest.mark.parametrize("text", ["1e999", "nan", ".inf", "9" * 400, "0x10", "yes"])
def test_a_value_that_is_no_plain_number_stays_text(text):
    assert scalar(text) == text


@given(st.text(st.characters()))
def test_no_text_makes_the_parser_raise(text):
    parse_metrics(text)
    parse_metrics("GREEN_PHASE_METRICS:\n  " + text)
    parse_metrics("GREEN_PHASE_METRICS:\n" + "".join(f"{' ' * n}k{n}:\n" for n in range(1, 60)) + text)


@pytest.mark.parametrize(
    ("phase", "numbers", "percent"),
    [
        ("RED", PhaseNumbers(criteria=4, criteria_covered=3), 75),
        ("RED", PhaseNumbers(), 0),
        ("GREEN", PhaseNumbers(tests_total=10, tests_passing=7), 63),
        ("GREEN", PhaseNumbers(tests_total=10, tests_passing=10, green_runs=1), 95),
        ("GREEN", PhaseNumbers(tests_total=10, tests_passing=10, green_runs=9), 100),
        ("REFACTOR", PhaseNumbers(iteration=3), 60),
        ("REFACTOR", PhaseNumbers(iteration=30), 100),
        ("DOCUMENT", PhaseNumbers(documents=2), 33),
        ("DOCUMENT", PhaseNumbers(documents=7), 100),
        ("QA", PhaseNumbers(checks_total=11, checks_passing=11, queries=2), 85),
        ("QA", PhaseNumbers(checks_total=11, checks_passing=11, queries=9, approved=True), 100),
        ("SHIP", PhaseNumbers(iteration=3), 0),
    ],
)
def test_the_percentage_of_a_phase_follows_its_own_rule(phase, numbers, percent):
    assert phase_percent(phase, numbers) == percent


def test_the_overall_percentage_adds_finished_phases_and_a_part_of_the_current_one():
    assert overall_percent("RED", 0, ()) == 0
    assert overall_percent("GREEN", 0, ["RED"]) == 10
    assert overall_percent("GREEN", 5, ["RED"]) == 32
    assert overall_percent("GREEN", 99, ["RED"]) == 55
    assert overall_percent("SHIP", 1, list(WEIGHTS)) == 100


def test_a_phase_done_twice_is_counted_once_and_a_phase_entered_again_is_not_behind_us():
    assert overall_percent("QA", 0, ["RED", "GREEN", "REFACTOR", "DOCUMENT", "GREEN"]) == 85
    assert overall_percent("GREEN", 0, ["RED", "GREEN", "REFACTOR", "DOCUMENT"]) == 40
