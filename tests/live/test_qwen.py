"""Qwen Code itself, driven by flyball, its model scripted."""

import json
from functools import partial

import pytest
from tests.live.conftest import LONG, Live
from tests.live.looking import left_behind, published, terminated
from tests.support.model_script import Call, Fault, ModelAnswer
from tests.support.model_server import ModelServer
from tests.support.recordings import tokens

from flyball.agents.dialects.qwen import QWEN
from flyball.agents.run.frame import Patience

pytestmark = pytest.mark.slow

SLOW = Patience(wall_s=300.0, idle_s=200.0)
LIMITED = ModelAnswer(fault=Fault(402, message="You have reached your usage limit. Try again in 3 seconds."))


@pytest.fixture
def qwen(live: Live) -> Live:
    live.program("qwen")
    return live


def env(server: ModelServer) -> dict[str, str]:
    return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_MODEL": "scripted-model"}


def written(qwen: Live, path: str, text: str) -> ModelAnswer:
    """Its shell refuses to substitute commands, so that files are written by its own tool, read first if they are there."""
    file = str(qwen.repository / path)
    return ModelAnswer(
        calls=(Call("read_file", {"file_path": file}), Call("write_file", {"file_path": file, "content": text}))
    )


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_is_implemented_and_goes_to_done_with_a_usage_limit_waited_out_on_the_way(qwen: Live) -> None:
    server = qwen.serve(LIMITED, *qwen.green(partial(written, qwen)))

    ran = qwen.run_with_help("qwen", env=env(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.status
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "usage_limit", *["ok"] * 3]
    assert "reset_at" in ran.turns()[1]
    assert [fact["agent"] for fact in ran.facts("limit.hit")] == ["qwen"]
    assert "multiply" in published(qwen, ran.status["branch"], "calc/__init__.py")


def test_its_own_tool_edits_the_tree_and_a_cap_on_turns_is_kept(qwen: Live) -> None:
    server = qwen.serve(
        written(qwen, "made.txt", "made\n"), written(qwen, "more.txt", "more\n"), qwen.reported("never")
    )

    turn = qwen.turn(QWEN, patience=SLOW, env=env(server), cli={"max_turns": 1})

    assert turn.kind == "max_turns", turn.detail
    assert (qwen.repository / "made.txt").read_text() == "made\n"
    assert not (qwen.repository / "more.txt").exists()


def test_a_tool_the_users_rules_deny_is_a_denial_with_its_name(qwen: Live) -> None:
    folder = qwen.home / ".qwen"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"permissions": {"deny": ["Bash(touch *)"]}}))
    server = qwen.serve(
        ModelAnswer(calls=(Call("run_shell_command", {"command": "touch made"}),)), ModelAnswer(say="No.")
    )

    turn = qwen.turn(QWEN, patience=SLOW, env=env(server))

    assert turn.kind == "denied", qwen.transcript()
    assert "touch made" in turn.detail
    assert not (qwen.repository / "made").exists()


@pytest.mark.e2e
def test_a_question_becomes_a_question_of_flyballs(qwen: Live) -> None:
    asked = {"text": "Floats or integers?", "options": ["floats", "integers"]}
    report = qwen.reported("a question", exit_signal=False, status="needs_clarification", questions=[asked])

    ran = qwen.run("qwen", env=env(qwen.serve(report)))

    assert (ran.code, ran.status["decision"]) == (3, "BLOCKED"), ran.status
    assert [question["text"] for question in ran.status["questions"]] == ["Floats or integers?"]


@pytest.mark.req("C2")
def test_a_session_goes_on_and_its_total_is_not_counted_twice(qwen: Live) -> None:
    server = qwen.serve(qwen.reported("one"), qwen.reported("two"))

    first = qwen.turn(QWEN, patience=SLOW, env=env(server), prompt=f"{LONG}Remember the heron.\n")
    second = qwen.turn(
        QWEN,
        patience=SLOW,
        env=env(server),
        prompt="And now?\n",
        session=first.session,
        session_usage=first.session_usage,
    )

    assert (first.kind, second.kind, tokens(first.usage)) == ("ok", "ok", (100, 20))
    assert second.session == first.session
    assert second.usage.input_tokens < second.session_usage.input_tokens
    assert any("word Remember the heron." in str(request.body) for request in server.requests[1:])


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(qwen: Live) -> None:
    server = qwen.serve(ModelAnswer(hang=True))

    code = terminated(qwen, "qwen", server, env=env(server))

    assert code == 130
    assert left_behind(qwen) == []
