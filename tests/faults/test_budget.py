"""Budgets stop a real loop before the turn that would exceed them, whatever became of the turns before."""

import json

import pytest
from tests.faults.world import PROGRAMS, TASK, World

pytestmark = pytest.mark.slow

SPENT = {"input_tokens": 1800, "output_tokens": 200, "usd": 0.5}


@pytest.mark.req("C1")
@pytest.mark.parametrize("status", [0, 1], ids=["good turns", "failed turns"])
@pytest.mark.parametrize(("flag", "limit"), [("--budget-tokens", "2500"), ("--budget-usd", "0.7")])
def test_a_third_turn_that_would_exceed_it_is_not_begun(world: World, flag: str, limit: str, status: int) -> None:
    world.agent = f"sh {PROGRAMS / 'costly.sh'} {status}"

    code, said = world.flyball(*world.run_arguments(flag, limit))

    assert code == 4, said
    assert f"of {limit} {'tokens' if 'tokens' in flag else 'USD'}; the next turn may take" in said
    shown = json.loads(world.flyball("status", TASK, "--json")[1])
    assert (shown["turns"], shown["decision"]) == (2, "CONTINUE")
    assert {name: shown["usage"][name] for name in SPENT} == SPENT
    told = json.loads(world.flyball("report", TASK, "--json")[1])
    assert [turn["usd"] for turn in told["turns"]] == [0.25, 0.25]
    assert told["total"]["usd"] == 0.5
