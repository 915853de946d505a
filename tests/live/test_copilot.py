"""Copilot CLI itself, driven by flyball, with a scripted model of its user's own: no login is needed."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.live.conftest import BIN, LONG, Live
from tests.live.looking import left_behind, published, terminated
from tests.support.model_script import Call, Fault, ModelAnswer
from tests.support.model_server import ModelServer
from tests.support.recordings import tokens

from flyball.agents.dialects.copilot import COPILOT

pytestmark = pytest.mark.slow

WEEKLY = ModelAnswer(
    fault=Fault(
        429, message="You have hit your weekly limit. Please try again in 3 seconds.", headers={"retry-after": "7200"}
    )
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HOME of somebody whose Copilot has unpacked itself."""
    home = tmp_path_factory.mktemp("copilot")
    if (BIN / "copilot").exists():
        env = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}
        subprocess.run([BIN / "copilot", "--version"], env=env, check=True, capture_output=True)
    return home


@pytest.fixture
def copilot(live: Live, unpacked: Path) -> Live:
    """A Copilot that was used before."""
    live.program("copilot")
    shutil.copytree(unpacked, live.home, symlinks=True, copy_function=os.link, dirs_exist_ok=True)
    return live


def env(server: ModelServer) -> dict[str, str]:
    provider = {"BASE_URL": f"{server.url}/v1", "API_KEY": "dummy"}
    own = {"COPILOT_OFFLINE": "true", "COPILOT_MODEL": "scripted-model"}
    return {**own, **{f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}}


@pytest.mark.e2e
@pytest.mark.req("C2", "C11")
def test_a_task_is_implemented_and_goes_to_done_with_a_usage_limit_waited_out_on_the_way(copilot: Live) -> None:
    server = copilot.serve(WEEKLY, *copilot.green())

    ran = copilot.run_with_help("copilot", env=env(server))

    assert (ran.code, ran.status["decision"]) == (0, "DONE"), ran.status
    assert [turn["kind"] for turn in ran.turns()] == ["ok", "usage_limit", *["ok"] * 3]
    assert "reset_at" in ran.turns()[1]
    assert [fact["agent"] for fact in ran.facts("limit.hit")] == ["copilot"]
    assert "multiply" in published(copilot, ran.status["branch"], "calc/__init__.py")


@pytest.mark.req("C2")
def test_its_own_edit_tool_edits_the_tree_and_a_conversations_total_is_not_counted_twice(copilot: Live) -> None:
    path = str(copilot.repository / "README.md")
    edit = Call("edit", {"path": path, "old_str": "# calc", "new_str": "# calculator"})
    server = copilot.serve(
        ModelAnswer(say="I will edit.", calls=(edit,)), copilot.reported("edited"), copilot.reported("two")
    )

    first = copilot.turn(COPILOT, env=env(server), prompt=LONG + 'Edit, and report with "nonce": "{nonce}".\n')

    assert "word Edit, and report" in str(server.requests[-1].body)
    assert (first.kind, first.claim.exit_signal, tokens(first.usage)) == ("ok", True, (200, 40)), first.detail
    assert (copilot.repository / "README.md").read_text().startswith("# calculator\n")
    assert "I will edit." in copilot.shown(COPILOT)

    going_on: dict[str, Any] = {"session": first.session, "session_usage": first.session_usage}
    second = copilot.turn(COPILOT, env=env(server), prompt="And now?\n", **going_on)

    assert (second.kind, second.session, tokens(second.usage)) == ("ok", first.session, (100, 20))
    assert "I will edit." in str(server.requests[-1].body)


def test_a_tool_the_user_denies_is_a_denial_with_its_name(copilot: Live) -> None:
    server = copilot.serve(ModelAnswer(shell="touch made"), ModelAnswer(say="I was not allowed to."))

    turn = copilot.turn(COPILOT, env=env(server), cli={"args": ("--deny-tool", "shell(touch)")})

    assert turn.kind == "denied", copilot.transcript()
    assert "touch made" in turn.detail
    assert not (copilot.repository / "made").exists()


@pytest.mark.e2e
def test_a_question_becomes_a_question_of_flyballs(copilot: Live) -> None:
    asked = {"text": "Floats or integers?", "options": ["floats", "integers"]}
    report = copilot.reported("a question", exit_signal=False, status="needs_clarification", questions=[asked])

    ran = copilot.run("copilot", env=env(copilot.serve(report)))

    assert (ran.code, ran.status["decision"]) == (3, "BLOCKED"), ran.status
    assert [question["text"] for question in ran.status["questions"]] == ["Floats or integers?"]


def test_without_a_login_it_says_so(copilot: Live) -> None:
    turn = copilot.turn(COPILOT, env={})

    assert (turn.kind, turn.detail) == ("not_logged_in", "Error: No authentication information found.")


@pytest.mark.e2e
@pytest.mark.req("C60")
def test_sigterm_leaves_no_process(copilot: Live) -> None:
    server = copilot.serve(ModelAnswer(hang=True))

    code = terminated(copilot, "copilot", server, env=env(server))

    assert code == 130
    assert left_behind(copilot) == []
