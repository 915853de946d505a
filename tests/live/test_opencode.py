"""OpenCode itself, driven by flyball, with a scripted provider of its user's own."""

import json
from typing import Any

import pytest
from tests.live.conftest import LONG, Live
from tests.live.looking import left_behind, published, terminated
from tests.support.model_script import Call, Fault, ModelAnswer
from tests.support.model_server import ModelServer

from flyball.agents.dialects.opencode import OPENCODE
from flyball.agents.run.frame import Patience
from flyball.core.model.outcomes import Usage

pytestmark = pytest.mark.slow

SLOW = Patience(wall_s=300.0, idle_s=200.0)
"""It needs ten seconds where others need two."""
TRIES = 6
LIMITED = ModelAnswer(
    fault=Fault(429, message="You have reached your usage limit.", headers={"retry-after": "1"}), repeat=TRIES
)
STRICT = {"permission": {"bash": "deny"}}


@pytest.fixture
def opencode(live: Live) -> Live:
    live.program("opencode")
    return live


def env(server: ModelServer, **more: Any) -> dict[str, str]:
    """A provider by configuration, and no word to anybody else."""
    model = {"name": "Scripted", "limit": {"context": 128000, "output": 8192}, "cost": {"input": 1, "output": 2}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Local",
        "options": {"baseURL": f"{server.url}/v1", "apiKey": "dummy"},
        "models": {"scripted-model": model},
    }
    chosen = "local/scripted-model"
    settings = {
        "share": "disabled",
        "snapshot": False,
        "provider": {"local": provider},
        "model": chosen,
        "small_model": chosen,
        **more,
    }
    quiet = ("MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(settings), **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet}}


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_is_implemented_and_goes_to_done_with_a_usage_limit_waited_out_on_the_way(opencode: Live) -> None:
    server = opencode.serve(LIMITED, *opencode.green())

    ran = opencode.run_with_help("opencode", env=env(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.status
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "usage_limit", *["ok"] * 3]
    assert "reset_at" in ran.turns()[1]
    assert [fact["agent"] for fact in ran.facts("limit.hit")] == ["opencode"]
    assert "multiply" in published(opencode, ran.status["branch"], "calc/__init__.py")
    assert ran.status["usage"]["known_usd"] > 0
    assert ran.status["usage"]["usd"] is None, "the small program that plays the other roles tells no money"


@pytest.mark.req("C2")
def test_its_own_edit_tool_edits_the_tree_its_steps_are_added_up_and_the_conversation_goes_on(opencode: Live) -> None:
    path = str(opencode.repository / "README.md")
    edit = Call("edit", {"filePath": path, "oldString": "# calc", "newString": "# calculator"})
    server = opencode.serve(
        ModelAnswer(say="I will edit.", calls=(edit,)), opencode.reported("edited"), opencode.reported("two")
    )

    first = opencode.turn(
        OPENCODE, patience=SLOW, env=env(server), prompt=LONG + 'Edit, and report with "nonce": "{nonce}".\n'
    )

    assert "word Edit, and report" in str(server.requests[-1].body)
    assert (first.kind, first.claim.exit_signal) == ("ok", True), first.detail
    assert first.usage == Usage(200, 40, 0.00028)
    assert (opencode.repository / "README.md").read_text().startswith("# calculator\n")
    assert "I will edit." in opencode.shown(OPENCODE)

    second = opencode.turn(OPENCODE, patience=SLOW, env=env(server), prompt="And now?\n", session=first.session)

    assert (second.kind, second.session, second.usage) == ("ok", first.session, Usage(100, 20, 0.00014))
    assert "I will edit." in str(server.requests[-1].body)


def test_a_tool_the_users_rules_deny_is_a_denial_with_its_name(opencode: Live) -> None:
    server = opencode.serve(
        ModelAnswer(calls=(Call("bash", {"command": "touch made", "description": "touch"}),)), ModelAnswer(say="No.")
    )

    turn = opencode.turn(OPENCODE, patience=SLOW, env=env(server, **STRICT))

    assert (turn.kind, turn.detail) == ("denied", "denied: bash"), opencode.transcript()
    assert not (opencode.repository / "made").exists()


@pytest.mark.e2e
def test_a_question_becomes_a_question_of_flyballs(opencode: Live) -> None:
    asked = {"text": "Floats or integers?", "options": ["floats", "integers"]}
    report = opencode.reported("a question", exit_signal=False, status="needs_clarification", questions=[asked])

    ran = opencode.run("opencode", env=env(opencode.serve(report)))

    assert (ran.code, ran.status["decision"]) == (3, "BLOCKED"), ran.status
    assert [question["text"] for question in ran.status["questions"]] == ["Floats or integers?"]


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(opencode: Live) -> None:
    server = opencode.serve(ModelAnswer(hang=True))

    code = terminated(opencode, "opencode", server, env=env(server))

    assert code == 130
    assert left_behind(opencode) == []
