"""What each role is told in each of its situations, word by word."""

import pytest
from tests.prompts.plays import GOLDEN, SITUATIONS, prompt_in

from flyball.core.workflows.registry import WORKFLOWS

UNASKED = {"eval-code-quality"}
"""Evaluators that measure only."""


@pytest.mark.req("C2")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_prompt_is_as_it_was(situation: str) -> None:
    expected = (GOLDEN / f"{situation}.md").read_text()
    assert prompt_in(situation) == expected, "Type tools/record-prompts, and read the difference."


def test_every_role_of_every_workflow_has_a_golden_prompt() -> None:
    wanted = {(flow.name, role) for flow in WORKFLOWS.values() for role in flow.roles if role not in UNASKED}
    assert {(situation.partition("/")[0], role) for situation, (_, role, _) in SITUATIONS.items()} == wanted


def test_no_golden_prompt_is_left_over() -> None:
    assert {str(path.relative_to(GOLDEN).with_suffix("")) for path in GOLDEN.glob("*/*")} == set(SITUATIONS)
