"""The client of the Agent Client Protocol, run as a turn runs it, against a small agent."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball import process
from flyball.agents.acp_client import NO_SDK, main
from flyball.agents.dialects.acp import Acp
from flyball.core.model.outcomes import TurnEnded

AGENT = Path(__file__).parent / "programs" / "acp_agent.py"
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}


class Spoken:
    """What the client printed, and what that means."""

    def __init__(self, folder: Path, stdout: Path, code: int | None) -> None:
        self.folder, self._stdout, self._code = folder, stdout, code

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._stdout.read_text().splitlines()]

    @property
    def turn(self) -> TurnEnded:
        return replay(Acp(("small",)), self._stdout, code=self._code)


def spoken(folder: Path, prompt: str, *options: str, agent: tuple[str, ...] = ()) -> Spoken:
    pytest.importorskip("acp", reason="needs: pip install 'flyball[acp]'")
    command = agent or (sys.executable, str(AGENT))
    argv = [sys.executable, "-P", "-m", "flyball.agents.acp_client", *options, "--", *command]
    stdout = folder / "stdout.jsonl"
    end = process.run(argv, cwd=folder, env=ENV, stdin=prompt.encode(), stdout=stdout, wall=600.0)
    return Spoken(folder, stdout, end.code)


@pytest.mark.slow
def test_a_turn_is_told_from_its_session_to_its_result_and_every_permission_is_granted(tmp_path: Path) -> None:
    told = spoken(tmp_path, "say It \nask\nclient-write made.txt\nsay works.\n")

    assert [event["type"] for event in told.events] == ["session", "update", "permission", "update", "update", "result"]
    assert told.turn.kind == "ok"
    assert "given id of allow_once" in told.turn.final_message
    assert (tmp_path / "made.txt").read_text() == "written\n"


@pytest.mark.slow
def test_a_permission_that_offers_nothing_but_no_is_a_denial(tmp_path: Path) -> None:
    turn = spoken(tmp_path, "refuse-me\n").turn

    assert (turn.kind, turn.detail) == ("denied", "denied: shell make")


@pytest.mark.slow
def test_a_question_is_for_a_person_with_what_it_offers_and_is_not_answered_meanwhile(tmp_path: Path) -> None:
    told = spoken(tmp_path, "question Which database?\n")

    assert {"type": "question", "text": "Which database?", "options": ["SQLite", "Postgres"]} in told.events
    assert (told.turn.kind, told.turn.final_message) == ("question", "they said cancel")
    (asked,) = told.turn.claim.questions
    assert (asked.text, asked.options) == ("Which database?", ("SQLite", "Postgres"))


@pytest.mark.slow
def test_a_conversation_goes_on_without_what_was_said_before_being_told_again(tmp_path: Path) -> None:
    turn = spoken(tmp_path, "say now\n", "--session", "s-1").turn

    assert (turn.session, turn.final_message) == ("s-1", "now")


@pytest.mark.slow
def test_a_conversation_that_is_gone_is_begun_afresh_by_the_loop(tmp_path: Path) -> None:
    assert spoken(tmp_path, "say now\n", "--session", "lost").turn.kind == "context_full"


@pytest.mark.slow
def test_the_model_is_chosen_and_a_key_is_used_where_a_login_is_asked_for(tmp_path: Path) -> None:
    login = (sys.executable, str(AGENT), "--login")

    turn = spoken(tmp_path, "say {model}\n", "--model", "big", agent=login).turn

    assert (turn.kind, turn.final_message) == ("ok", "big")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("fail 429 slow down", "overloaded"),
        ("fail -32603 Internal error", "overloaded"),
        ("terminal", "crashed"),
        ("stop max_turn_requests", "max_turns"),
        ("die", "crashed"),
    ],
)
def test_each_failure_has_its_kind(tmp_path: Path, prompt: str, kind: str) -> None:
    turn = spoken(tmp_path, f"{prompt}\n").turn

    assert turn.kind == kind
    assert turn.detail


@pytest.mark.slow
def test_an_agent_that_is_not_there_is_not_installed(tmp_path: Path) -> None:
    turn = spoken(tmp_path, "say hello\n", agent=("no-such-agent",)).turn

    assert (turn.kind, turn.detail) == ("not_installed", "no-such-agent cannot be started")


def test_without_the_library_one_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    assert main(["--", "some-agent"], {}) == 0
    assert json.loads(capsys.readouterr().out) == {"type": "error", "kind": "not_installed", "message": NO_SDK}
