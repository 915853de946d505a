import pytest
from hypothesis import given, strategies as st

from flyball.core.claims.native_markers import PhaseMetrics, parse_metrics, scalar

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


@pytest.mark.parametrize("line", ["what is this", "- 3", "{a: 1", "a: b: c"])
def test_a_mapping_with_a_line_that_is_no_pair_is_named_and_left_out(line):
    (found,) = parse_metrics(f"RED_PHASE_METRICS:\n  {line}\n  tests_generated: 4")
    assert found.values == {}
    (problem,) = found.problems
    assert problem.startswith("RED_PHASE_METRICS is not YAML in line ")


@pytest.mark.parametrize("text", ["1e999", "nan", ".inf", "9" * 400, "0x10", "yes"])
def test_a_value_that_is_no_plain_number_stays_text(text):
    assert scalar(text) == text


@given(st.text(st.characters()))
def test_no_text_makes_the_parser_raise(text):
    parse_metrics(text)
    parse_metrics("GREEN_PHASE_METRICS:\n  " + text)
    parse_metrics("GREEN_PHASE_METRICS:\n" + "".join(f"{' ' * n}k{n}:\n" for n in range(1, 60)) + text)
