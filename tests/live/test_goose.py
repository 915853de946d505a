"""Goose itself, driven by flyball, its model scripted."""

from typing import Any

import msgspec
import pytest
from tests.live.conftest import LONG, Live
from tests.live.looking import left_behind, published, terminated, tokens
from tests.support.model_script import Fault, ModelAnswer
from tests.support.model_server import ModelServer

from flyball.agents.dialect import Invocation, TurnRequest
from flyball.agents.dialects.goose import GOOSE, Goose

pytestmark = pytest.mark.slow

TRIES = 4
"""How often Goose asks before it gives up on a limit."""
LIMITED = ModelAnswer(
    fault=Fault(429, "insufficient_quota", "You exceeded your current quota. Please try again in 3s."), repeat=TRIES
)


@pytest.fixture
def goose(live: Live) -> Live:
    live.program("goose")
    return live


def offline(server: ModelServer) -> dict[str, str]:
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "scripted-model",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_API_KEY": "dummy",
        "OPENAI_HOST": server.url,
    }


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_is_implemented_and_goes_to_done_with_a_usage_limit_waited_out_on_the_way(goose: Live) -> None:
    server = goose.serve(LIMITED, *goose.green())

    ran = goose.run_with_help("goose", env=offline(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.stderr
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "usage_limit", *["ok"] * 3]
    assert "reset_at" in ran.turns()[1]
    assert [fact["guard"] for fact in ran.facts("guard.held")] == ["provider"]
    assert ran.status["usage"]["input_tokens"] == 100 * server.taken - 100 * TRIES
    assert "multiply" in published(goose, ran.status["branch"], "calc/__init__.py")


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(401, "invalid_api_key", "Incorrect API key provided: dummy."), "not_logged_in"),
        (Fault(402, "insufficient_credits", "Credits exhausted"), "usage_limit"),
        (Fault(400, "context_length_exceeded", "This model's maximum context length is 1000 tokens."), "context_full"),
    ],
)
def test_a_failure_of_the_provider_is_named_though_goose_ends_well(goose: Live, fault: Fault, kind: str) -> None:
    server = goose.serve(ModelAnswer(fault=fault, repeat=0), tools_needed=False)

    turn = goose.turn(GOOSE, env=offline(server))

    assert (turn.kind, turn.exit_code) == (kind, 0)


class Approving(Goose):
    """A Goose that wants every tool approved, which flyball otherwise spares it."""

    def invoke(self, asked: TurnRequest) -> Invocation:
        invocation = super().invoke(asked)
        return msgspec.structs.replace(invocation, env={**invocation.env, "GOOSE_MODE": "approve"})


def test_a_tool_that_nobody_could_approve_is_a_denial(goose: Live) -> None:
    server = goose.serve(ModelAnswer(shell="touch made"), ModelAnswer(say="never"))

    turn = goose.turn(Approving(), env=offline(server))

    assert turn.kind == "denied", goose.transcript()
    assert "Tool approval required" in turn.detail
    assert not (goose.repository / "made").exists()


def test_its_cap_on_turns_is_kept(goose: Live) -> None:
    server = goose.serve(ModelAnswer(shell="true", repeat=0))

    turn = goose.turn(GOOSE, env=offline(server), cli={"max_turns": 2})

    assert turn.kind == "max_turns"
    assert server.taken == 2
    assert tokens(turn) == (200, 40)


@pytest.mark.e2e
def test_a_question_becomes_a_question_of_flyballs(goose: Live) -> None:
    asked: dict[str, Any] = {"text": "Floats or integers?", "options": ["floats", "integers"]}
    report = goose.reported("a question", exit_signal=False, status="needs_clarification", questions=[asked])
    server = goose.serve(report)

    ran = goose.run("goose", env=offline(server))

    assert (ran.code, ran.status["decision"]) == (3, "BLOCKED"), ran.stderr
    assert [question["text"] for question in ran.status["questions"]] == ["Floats or integers?"]


@pytest.mark.req("C2")
def test_a_session_goes_on_and_its_total_is_not_counted_twice(goose: Live) -> None:
    server = goose.serve(goose.by_shell("one.txt", "1\n"), goose.reported("one"), goose.reported("two"))

    first = goose.turn(GOOSE, env=offline(server), prompt="Write one.txt, please.\n")
    second = goose.turn(
        GOOSE, env=offline(server), prompt="And now?\n", session=first.session, session_usage=first.session_usage
    )

    assert (goose.repository / "one.txt").read_text() == "1\n"
    assert [tokens(first), tokens(second)] == [(200, 40), (100, 20)]
    assert second.session == first.session
    assert "Write one.txt, please." in str(server.requests[-1].body)


def test_a_conversation_that_is_gone_makes_for_a_fresh_context(goose: Live) -> None:
    server = goose.serve(goose.reported("never said"))

    turn = goose.turn(GOOSE, env=offline(server), session="flyball-gone")

    assert turn.kind == "context_full"
    assert server.taken == 0


def test_a_prompt_longer_than_a_command_line_may_be_arrives_whole(goose: Live) -> None:
    server = goose.serve(goose.reported("read it"))

    turn = goose.turn(GOOSE, env=offline(server), prompt=f"{LONG}The end.\n")

    assert turn.kind == "ok"
    assert "word The end." in str(server.requests[-1].body)


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(goose: Live) -> None:
    server = goose.serve(ModelAnswer(hang=True))

    code = terminated(goose, "goose", server, env=offline(server))

    assert code == 130
    assert left_behind(goose) == []
