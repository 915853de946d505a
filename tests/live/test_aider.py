"""aider itself, driven by flyball, its model scripted; it starts slowly, so there are few of these."""

import json
from typing import Any

import pytest
from tests.live.conftest import FILES, MULTIPLY, Live
from tests.live.looking import files, left_behind, published, terminated, tokens
from tests.support.model_script import Fault, ModelAnswer
from tests.support.model_server import ModelServer

from flyball.agents.dialects.aider import AIDER

pytestmark = pytest.mark.slow


@pytest.fixture
def aider(live: Live) -> Live:
    """aider with a list of prices of its own, which it would look for in the net otherwise."""
    live.program("aider")
    prices = live.home / ".aider" / "caches" / "model_prices_and_context_window.json"
    prices.parent.mkdir(parents=True)
    prices.write_text('{"none": {}}')
    return live


def offline(server: ModelServer) -> dict[str, str]:
    return {
        "AIDER_MODEL": "openai/scripted-model",
        "AIDER_EDIT_FORMAT": "diff",
        "OPENAI_API_KEY": "dummy",
        "OPENAI_API_BASE": f"{server.url}/v1",
    }


def appended(path: str, text: str) -> str:
    """An edit as aider reads it out of an answer: nothing to search for makes a file, or adds to its end."""
    return f"{path}\n```\n<<<<<<< SEARCH\n=======\n{text}>>>>>>> REPLACE\n```\n"


def answer(summary: str, *edits: str, **more: Any) -> ModelAnswer:
    """Edits and report together; an answer that names a file aider has not given is asked for once more, with that file."""
    report = {"nonce": "{nonce}", "status": "complete", "exit_signal": True, "summary": summary, **more}
    return ModelAnswer(say="\n".join([f"{summary}\n", *edits, f"```flyball-report\n{json.dumps(report)}\n```\n"]))


SPENT = ModelAnswer(
    fault=Fault(
        402, message='{"error":{"message":"Insufficient credits: usage limit reached, try again in 3 s","code":402}}'
    )
)
"""The one limit against which aider does not go on trying for a minute by itself."""


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_goes_to_done_with_a_usage_limit_waited_out_and_no_commits_or_leavings_of_its_own(aider: Live) -> None:
    server = aider.serve(
        SPENT,
        ModelAnswer(say="I want to change calc/__init__.py."),
        answer("multiply multiplies", appended("calc/__init__.py", MULTIPLY)),
        tools_needed=False,
    )

    ran = aider.run_with_help("aider", env=offline(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.stderr
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "usage_limit", *["ok"] * 3]
    assert "reset_at" in ran.turns()[1]
    answered = 2
    """Without what met the limit, and without aider's own summary of a long conversation, whose tokens it does not report."""
    assert ran.status["usage"]["input_tokens"] == 100 * answered
    assert published(aider, ran.status["branch"], "calc/__init__.py") == FILES["calc/__init__.py"] + MULTIPLY
    assert not {name for name in files(aider, ran.status["branch"]) if ".aider" in name}


def test_a_missing_login_is_named_though_aider_ends_well(aider: Live) -> None:
    server = aider.serve(
        ModelAnswer(fault=Fault(401, "invalid_api_key", "Incorrect API key provided: dummy."), repeat=0),
        tools_needed=False,
    )

    turn = aider.turn(AIDER, env=offline(server))

    assert (turn.kind, turn.exit_code) == ("not_logged_in", 0)
    assert "Incorrect API key" in turn.detail


def test_a_file_the_prompt_names_is_given_to_the_model_and_a_question_is_taken_from_its_answer(aider: Live) -> None:
    asked = {"text": "Floats or integers?", "options": ["floats", "integers"]}
    server = aider.serve(answer("a question", exit_signal=False, questions=[asked]), tools_needed=False)

    turn = aider.turn(
        AIDER, env=offline(server), prompt='Look at calc/__init__.py, and report with "nonce": "{nonce}".\n'
    )

    assert (turn.kind, tokens(turn)) == ("ok", (100, 20))
    assert [question.text for question in turn.claim.questions] == ["Floats or integers?"]
    given = [message["content"] for message in server.requests[-1].body["messages"] if message["role"] == "user"]
    assert any("added these files to the chat" in text and FILES["calc/__init__.py"] in text for text in given)


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(aider: Live) -> None:
    server = aider.serve(ModelAnswer(hang=True), tools_needed=False)

    code = terminated(aider, "aider", server, env=offline(server))

    assert code == 130
    assert left_behind(aider) == []
