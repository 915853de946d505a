import pytest

from flyball.core.loop.progress import StageNumbers
from flyball.core.workflows.tdd.percentages import WEIGHTS, overall_percent, phase_percent

pytestmark = pytest.mark.req("C70")


@pytest.mark.parametrize(
    ("phase", "numbers", "percent"),
    [
        ("RED", StageNumbers(criteria=4, criteria_covered=3), 75),
        ("RED", StageNumbers(), 0),
        ("GREEN", StageNumbers(tests_total=10, tests_passing=7), 63),
        ("GREEN", StageNumbers(tests_total=10, tests_passing=10, green_runs=1), 95),
        ("GREEN", StageNumbers(tests_total=10, tests_passing=10, green_runs=9), 100),
        ("REFACTOR", StageNumbers(iteration=3), 60),
        ("REFACTOR", StageNumbers(iteration=30), 100),
        ("DOCUMENT", StageNumbers(documents=2), 33),
        ("DOCUMENT", StageNumbers(documents=7), 100),
        ("QA", StageNumbers(checks_total=11, checks_passing=11, queries=2), 85),
        ("QA", StageNumbers(checks_total=11, checks_passing=11, queries=9, approved=True), 100),
        ("SHIP", StageNumbers(iteration=3), 0),
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
