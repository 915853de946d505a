"""What each kind of iteration does to the breaker's counts, and when the monitor's table takes them for a stall."""

import pytest

from flyball.core.health.breaker import CLOSED, Breaker, Strikes, after, cool_down
from flyball.core.health.history import History
from flyball.core.health.observation import Observation, observe
from flyball.core.health.table import HealthCase, Own, find_health
from flyball.core.health.verdict import Thresholds
from flyball.core.model.task import BreakerSettings
from flyball.core.text.quantities import plural
from flyball.core.workflows.registry import own_strikes


def struck(times: int, strikes: Strikes, error: str = "") -> Breaker:
    breaker = CLOSED
    for _ in range(times):
        breaker = after(breaker, strikes, progress=False, gate_held=False, error=error)
    return breaker


def stall(breaker: Breaker, strikes: Strikes) -> str:
    """What the table says of nothing but the breaker's counts."""
    seen = Observation(iteration=1)
    found = find_health(HealthCase(observe(History(), seen), seen, Thresholds(), Own(breaker, strikes)))
    return found[1][0].text if found else ""


@pytest.mark.req("C20")
@pytest.mark.parametrize(
    ("stage", "no_progress", "same_error"),
    [("RED", 3, 5), ("GREEN", 2, 3), ("REFACTOR", 5, 5), ("DOCUMENT", 3, 5), ("QA", 3, 3), ("PLAN", 3, 5)],
)
def test_each_stage_has_its_thresholds(stage: str, no_progress: int, same_error: int) -> None:
    assert BreakerSettings().strikes(stage, own_strikes(stage)) == Strikes(no_progress, same_error)


@pytest.mark.req("C20", "C21")
@pytest.mark.parametrize("stage", ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"])
def test_it_warns_early_and_opens_at_the_threshold(stage: str) -> None:
    strikes = BreakerSettings().strikes(stage, own_strikes(stage))
    early = min(2, strikes.no_progress - 1)
    states = [struck(n, strikes).state for n in range(strikes.no_progress + 1)]
    assert states[:early] == ["CLOSED"] * early
    assert set(states[early:]) == {"HALF_OPEN"}
    assert [bool(stall(struck(n, strikes), strikes)) for n in range(strikes.no_progress + 1)].index(True) == (
        strikes.no_progress
    )
    assert struck(early, strikes).reason == f"no progress in {plural(early, 'iteration')}"
    assert struck(early - 1, strikes).reason == ""


@pytest.mark.req("C20", "C21")
def test_the_same_error_opens_it_before_the_lack_of_progress_does() -> None:
    strikes = Strikes(no_progress=9, same_error=3)
    assert not stall(struck(2, strikes, "E"), strikes)
    assert stall(struck(3, strikes, "E"), strikes) == "the same error 3 times"


@pytest.mark.req("C21")
def test_another_error_starts_the_count_anew_and_an_error_free_iteration_clears_it() -> None:
    strikes = Strikes(no_progress=9, same_error=3)
    twice = struck(2, strikes, "E")
    assert twice.same_error == 2
    assert after(twice, strikes, progress=False, gate_held=False, error="F").same_error == 1
    assert after(twice, strikes, progress=False, gate_held=False, error="").same_error == 0


@pytest.mark.req("C21")
def test_an_iteration_whose_gate_holds_is_no_strike_and_progress_clears_everything() -> None:
    strikes = Strikes(3, 5)
    warned = struck(2, strikes, "E")
    held = after(warned, strikes, progress=False, gate_held=True, error="")
    assert (held.no_progress, held.same_error, held.state) == (2, 0, "HALF_OPEN")
    moved = after(warned, strikes, progress=True, gate_held=False, error="E")
    assert (moved.state, moved.no_progress, moved.same_error) == ("CLOSED", 0, 0)


@pytest.mark.req("C23")
def test_a_cool_down_gives_one_more_try_and_keeps_the_counters() -> None:
    strikes = Strikes(3, 5)
    opened = struck(3, strikes, "E")
    again = cool_down(opened)
    assert (again.state, again.no_progress, again.same_error) == ("HALF_OPEN", 3, 3)
    assert stall(after(again, strikes, progress=False, gate_held=False, error="E"), strikes)
    assert after(again, strikes, progress=True, gate_held=False, error="").state == "CLOSED"
