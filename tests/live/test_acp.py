"""Goose itself, driven by flyball over the Agent Client Protocol, its model scripted."""

import importlib.util
from typing import Any

import pytest
from tests.live.conftest import Live
from tests.live.looking import left_behind, published, terminated
from tests.support.model_script import Fault, ModelAnswer
from tests.support.model_server import ModelServer
from tests.support.recordings import tokens

from flyball.agents.dialects.table import speaking_acp

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("acp") is None, reason="needs: pip install 'flyball[acp]'"),
]

COMMAND = ("goose", "acp", "--with-builtin", "developer")
GOOSE = speaking_acp(COMMAND)
SETTINGS = f"""\
[agents.mine]
type = "acp"
command = {list(COMMAND)}
env = ["GOOSE_MODE", "GOOSE_PROVIDER_SKIP_BACKOFF"]
"""
LIMITED = ModelAnswer(fault=Fault(429, message="You have reached your usage limit. Try again in 3 seconds."), repeat=4)


@pytest.fixture
def goose(live: Live) -> Live:
    live.program("goose")
    return live


def env(server: ModelServer) -> dict[str, str]:
    """A Goose that asks before it does anything, which the client grants, and does not sleep on a limit."""
    model = {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "scripted-model"}
    return {
        **model,
        "GOOSE_MODE": "approve",
        "GOOSE_PROVIDER_SKIP_BACKOFF": "true",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_API_KEY": "dummy",
        "OPENAI_HOST": server.url,
    }


def settings(goose: Live) -> None:
    (goose.repository / "flyball.toml").write_text(SETTINGS)
    goose.flyball("trust", "--yes", env={})


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_is_implemented_and_goes_to_done_with_a_usage_limit_waited_out_on_the_way(goose: Live) -> None:
    server = goose.serve(LIMITED, *goose.green())
    settings(goose)

    ran = goose.run_with_help("mine", env=env(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), (ran.status, ran.stderr)
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "usage_limit", *["ok"] * 3]
    assert "reset_at" in ran.turns()[1]
    assert [fact["agent"] for fact in ran.facts("limit.hit")] == ["mine"]
    assert "multiply" in published(goose, ran.status["branch"], "calc/__init__.py")


@pytest.mark.req("C2")
def test_a_permission_is_granted_inside_the_sandbox_and_the_conversation_goes_on(goose: Live) -> None:
    server = goose.serve(goose.by_shell("made.txt", "made\n"), goose.reported("made it"), goose.reported("two"))
    asking: dict[str, Any] = {"env": env(server), "cli": {"env": ("GOOSE_MODE",)}}

    first = goose.turn(GOOSE, **asking, prompt='Make it, and report with "nonce": "{nonce}".\n')

    assert (first.kind, first.claim.exit_signal, tokens(first.usage)) == ("ok", True, (100, 20)), first.detail
    assert (goose.repository / "made.txt").read_text() == "made\n"
    assert '"type": "permission"' in goose.transcript()

    second = goose.turn(GOOSE, **asking, prompt="And now?\n", session=first.session)

    assert (second.kind, second.session) == ("ok", first.session)
    assert "Make it, and report" in str(server.requests[-1].body)


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(goose: Live) -> None:
    server = goose.serve(ModelAnswer(hang=True))
    settings(goose)

    code = terminated(goose, "mine", server, env=env(server))

    assert code == 130
    assert left_behind(goose) == []
