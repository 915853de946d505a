"""A question an agent asks over the protocol: Claude Code's own asking tool, put to a person by flyball."""

import importlib.util
import json

import pytest
from tests.live import test_claude as claude_code
from tests.live.conftest import Live
from tests.support.model_script import Call, ModelAnswer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.e2e,
    pytest.mark.skipif(importlib.util.find_spec("acp") is None, reason="needs: pip install 'flyball[acp]'"),
]

SETTINGS = '[agents.mine]\ntype = "acp"\ncommand = ["claude-agent-acp"]\n'


def test_it_blocks_an_unattended_task_with_its_options(live: Live) -> None:
    live.program("claude-agent-acp")
    options = [{"label": "SQLite", "description": "small"}, {"label": "Postgres", "description": "large"}]
    question = {"question": "Which database?", "header": "DB", "multiSelect": False, "options": options}
    server = live.serve(
        ModelAnswer(calls=(Call("AskUserQuestion", {"questions": [question]}),)),
        ModelAnswer(say="I need an answer.", repeat=0),
    )
    (live.repository / "flyball.toml").write_text(SETTINGS)
    live.flyball("trust", "--yes", env={})

    ran = live.run("mine", env=claude_code.offline(server))

    assert (ran.code, [turn["kind"] for turn in ran.turns()]) == (3, ["question"]), (ran.status, ran.stderr)
    asked = json.dumps(ran.status["questions"])
    assert "Which database?" in asked
    assert "Postgres" in asked
