"""Who judges a track: another model than the executor's, where the settings have one."""

import pytest

from flyball.config.agents import Cast
from flyball.config.file import parse
from flyball.core.model.task import AgentChoice, AgentSpec
from flyball.ports import Refusal
from flyball.wiring.tools.judges import (
    _judge,
    require_agent,
)

pytestmark = pytest.mark.req("D20")


def test_another_model_than_the_executors_is_asked():
    agents = (AgentSpec("claude", "claude"), AgentSpec("codex", "codex"))
    player, said = _judge(Cast(agents, {"default": AgentChoice("claude")}, ()))
    assert player.agent == "codex"
    assert "another model" in said


def test_where_there_is_no_other_that_is_said():
    only = AgentSpec("mine", command=("mine",))
    player, said = _judge(Cast((only,), {"default": AgentChoice("mine")}, ()))
    assert player.agent == "mine"
    assert "the same model as the executor" in said


def test_without_an_agent_it_is_refused_with_what_to_do():
    for file in (None, parse("")):
        with pytest.raises(Refusal, match="--measured-only"):
            require_agent(file)
    assert require_agent(parse('agent = "claude"\n')).agents
