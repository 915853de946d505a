"""Goose itself, driven by flyball over the Agent Client Protocol, its model scripted."""

import importlib.util
from datetime import UTC, datetime, timedelta

import pytest
from tests.live.conftest import Live
from tests.live.looking import left_behind, published, terminated

from flyball.agents.dialects import speaking_acp
from flyball.testing.model_script import Fault, Step
from flyball.testing.model_server import ModelServer
from flyball.testing.recordings import tokens

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
env = ["GOOSE_MODE"]
"""
LIMITED = Step(fault=Fault(429, message="You have reached your usage limit. Try again in 5 seconds."), repeat=4)


@pytest.fixture
def goose(live: Live) -> Live:
    live.program("goose")
    return live


def env(server: ModelServer) -> dict[str, str]:
    """A Goose that asks before it does anything: the client grants it."""
    model = {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "scripted-model"}
    return {
        **model,
        "GOOSE_MODE": "approve",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_API_KEY": "dummy",
        "OPENAI_HOST": server.url,
    }


def settings(goose: Live) -> None:
    (goose.repository / "flyball.toml").write_text(SETTINGS)
    goose.flyball("trust", "--yes", env={})


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_whole_task_goes_from_red_to_done_and_waits_out_a_usage_limit_on_the_way(goose: Live) -> None:
    server = goose.serve(LIMITED, *goose.whole_task())
    settings(goose)

    ran = goose.run("mine", env=env(server), timeout_s=900.0)

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), (ran.status, ran.stderr)
    limited, *rest = ran.turns()
    assert limited["kind"] == "usage_limit"
    assert [turn["kind"] for turn in rest] == ["ok"] * 5
    assert [fact["agent"] for fact in ran.facts("limit.hit")] == ["mine"]
    assert "multiply" in published(goose, ran.status["branch"], "calc/__init__.py")


def test_a_permission_is_granted_inside_the_sandbox_and_the_tree_is_edited(goose: Live) -> None:
    server = goose.serve(goose.by_shell("made.txt", "made\n"), goose.reported("made it"))

    turn = goose.turn(
        GOOSE, env=env(server), cli={"env": ("GOOSE_MODE",)}, prompt='Do it, and report with "nonce": "{nonce}".\n'
    )

    assert (turn.kind, turn.claim.exit_signal, tokens(turn.usage)) == ("ok", True, (100, 20)), turn.detail
    assert (goose.repository / "made.txt").read_text() == "made\n"
    assert '"type": "permission"' in goose.transcript()


@pytest.mark.req("C11")
def test_a_usage_limit_told_as_an_answer_is_a_usage_limit_with_its_end(goose: Live) -> None:
    turn = goose.turn(GOOSE, env=env(goose.serve(LIMITED)))

    assert turn.kind == "usage_limit", turn.detail
    assert turn.reset_at is not None
    assert turn.reset_at - datetime.now(UTC) < timedelta(seconds=6)


@pytest.mark.req("C2")
def test_a_session_goes_on(goose: Live) -> None:
    server = goose.serve(goose.reported("one"), goose.reported("two"))

    first = goose.turn(GOOSE, env=env(server), prompt="Remember the heron.\n")
    second = goose.turn(GOOSE, env=env(server), prompt="And now?\n", session=first.session)

    assert (first.kind, second.kind, second.session) == ("ok", "ok", first.session)
    assert "Remember the heron." in str(server.requests[-1].body)


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(goose: Live) -> None:
    server = goose.serve(Step(hang=True))
    settings(goose)

    code = terminated(goose, "mine", server, env=env(server))

    assert code == 130
    assert left_behind(goose) == []
