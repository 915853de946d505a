"""The scripted model answers as each provider does, streamed and whole, fails as told, and hears everything."""

import http.client
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.support.model_script import (
    Call,
    Fault,
    ModelAnswer,
    ModelScript,
    ScriptUnreadable,
    Tokens,
    load,
    shell_input,
)
from tests.support.model_server import ModelServer

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
ROOT = Path(__file__).parents[2]
NONCE = "00112233445566778899aabbccddeeff"
ASKED = f'Repeat it: {{"nonce": "{NONCE}"}}'
USER = {"role": "user", "content": ASKED}

BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "/v1/messages?beta=true",
        {"model": "m", "messages": [USER], "tools": [{"name": "Bash", "input_schema": SHELL}]},
    ),
    "responses": (
        "/v1/responses",
        {"model": "m", "input": ASKED, "tools": [{"type": "function", "name": "exec_command", "parameters": SHELL}]},
    ),
    "chat": (
        "/v1/chat/completions",
        {"model": "m", "messages": [USER], "tools": [{"function": {"name": "shell", "parameters": SHELL}}]},
    ),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": ASKED}]}],
            "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": SHELL}]}],
        },
    ),
}
APIS = sorted(BODIES)


def post(server: ModelServer, api: str, *, stream: bool = False, tools: bool = True) -> tuple[int, Any, str]:
    path, body = BODIES[api]
    body = body if tools else {name: value for name, value in body.items() if name != "tools"}
    if stream and api == "gemini":
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    data = json.dumps({**body, **({"stream": True} if stream and api != "gemini" else {})}).encode()
    request = urllib.request.Request(server.url + path, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_a_command_is_called_through_the_shell_tool_on_offer_and_then_it_speaks(api: str, stream: bool) -> None:
    with ModelServer(ModelScript((ModelAnswer(shell="touch made"), ModelAnswer(say="Done: {nonce}")))) as server:
        _, _, called = post(server, api, stream=stream)
        _, _, said = post(server, api, stream=stream)
    name = {"anthropic": "Bash", "responses": "exec_command", "chat": "shell", "gemini": "run_shell_command"}[api]
    assert name in called
    assert "touch made" in called
    assert f"Done: {NONCE}" in said
    assert ("data: " in said) is stream


@pytest.mark.parametrize("api", APIS)
def test_usage_is_what_the_step_says(api: str) -> None:
    with ModelServer(ModelScript((ModelAnswer(say="x", usage=Tokens(1234, 56)),))) as server:
        _, _, said = post(server, api)
    assert "1234" in said
    assert "56" in said


@pytest.mark.parametrize("api", APIS)
def test_a_request_without_tools_takes_no_step(api: str) -> None:
    with ModelServer(ModelScript((ModelAnswer(say="the step"),))) as server:
        _, _, small = post(server, api, tools=False)
        _, _, said = post(server, api)
        assert [request.step for request in server.requests] == [None, 0]
    assert "the step" not in small
    assert "the step" in said


def test_a_client_that_offers_no_tools_can_be_served_too() -> None:
    with ModelServer(ModelScript((ModelAnswer(say="the step"),), tools_needed=False)) as server:
        assert "the step" in post(server, "chat", tools=False)[2]


def test_any_tool_can_be_asked_for_and_a_text_is_the_input_of_a_custom_one() -> None:
    script = ModelScript(
        (ModelAnswer(calls=(Call("*", {"a": 1}),)), ModelAnswer(calls=(Call("apply_patch", "*** Begin Patch"),)))
    )
    with ModelServer(script) as server:
        assert '"name": "exec_command"' in post(server, "responses")[2]
        assert '"custom_tool_call"' in post(server, "responses")[2]


@pytest.mark.parametrize("api", APIS)
def test_a_fault_has_its_status_headers_and_words(api: str) -> None:
    fault = Fault(429, "rate_limit_error", "slow down", {"retry-after": "7200", "reset": "{now+7200}"})
    with ModelServer(ModelScript((ModelAnswer(fault=fault),))) as server:
        status, headers, body = post(server, api, stream=True)
    assert (status, headers["retry-after"]) == (429, "7200")
    assert abs(int(headers["reset"]) - time.time() - 7200) < 30
    assert "slow down" in body


def test_times_in_a_body_are_numbers_where_they_stand_alone_and_texts_where_they_do_not() -> None:
    body = {"error": {"resets_at": "{now+60}", "message": "until {iso+60}", "date": ["{http}"]}}
    with ModelServer(ModelScript((ModelAnswer(fault=Fault(429, body=body)),))) as server:
        error = json.loads(post(server, "responses")[2])["error"]
    assert isinstance(error["resets_at"], int)
    assert error["message"].startswith("until 20")
    assert error["date"][0].endswith("GMT")


@pytest.mark.parametrize("api", APIS)
def test_a_stream_can_break_with_an_error_or_be_cut(api: str) -> None:
    broken = ModelAnswer(say="half", broken=Fault(529, "overloaded_error", "too much"))
    with ModelServer(ModelScript((broken, ModelAnswer(say="half", cut=True)))) as server:
        assert "too much" in post(server, api, stream=True)[2]
        with pytest.raises(http.client.IncompleteRead):
            post(server, api, stream=True)


def test_an_answer_can_be_late_and_a_hang_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(ModelScript((ModelAnswer(say="late", delay_s=0.2), ModelAnswer(hang=True)))) as server:
        waited: list[float | None] = []

        def wait(seconds: float | None) -> bool:
            waited.append(seconds)
            return False

        monkeypatch.setattr(server.closed, "wait", wait)
        assert "late" in post(server, "chat")[2]
        assert waited == [0.2]
        monkeypatch.undo()
        ended: list[str] = []

        def ask() -> None:
            try:
                post(server, "chat")
            except (OSError, http.client.HTTPException) as error:
                ended.append(type(error).__name__)

        waiting = threading.Thread(target=ask)
        waiting.start()
        while len(server.requests) < 2:
            time.sleep(0.01)
        assert waiting.is_alive()
    waiting.join(60)
    assert ended


def test_a_step_can_be_repeated_and_after_the_last_one_nothing_is_left_to_do() -> None:
    with ModelServer(ModelScript((ModelAnswer(say="again", repeat=2),))) as server:
        said = [post(server, "chat")[2] for _ in range(3)]
    assert ["again" in text for text in said] == [True, True, False]
    assert "nothing left to do" in said[2]
    with ModelServer(ModelScript((ModelAnswer(say="for ever", repeat=0),))) as server:
        assert all("for ever" in post(server, "chat")[2] for _ in range(5))


def test_models_are_listed_and_other_calls_are_answered() -> None:
    with ModelServer(ModelScript()) as server:
        with urllib.request.urlopen(f"{server.url}/v1/models", timeout=60) as answer:
            assert json.load(answer)["data"][0]["id"] == "scripted-model"
        request = urllib.request.Request(f"{server.url}/telemetry", b"not json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200
        assert [request.method for request in server.requests] == ["GET", "POST"]


def test_only_the_loopback_interface_is_listened_on() -> None:
    with ModelServer(ModelScript()) as server:
        assert server._server.server_address[0] == "127.0.0.1"


def test_a_shells_input_is_what_its_schema_wants() -> None:
    as_list = {"properties": {"command": {"type": "array"}}}
    assert shell_input("ls", as_list) == {"command": ["bash", "-c", "ls"]}
    described = {
        "properties": {"cmd": {"type": "string"}, "why": {"type": "string"}, "tty": {"type": "boolean"}},
        "required": ["cmd", "why", "tty"],
    }
    assert shell_input("ls", described) == {"cmd": "ls", "why": "as asked", "tty": False}


def test_it_is_a_command_too(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"say": "from a file"}]')
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "tests.support.model_server", str(script), "--log", str(log)]
    path, body = BODIES["chat"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        request = urllib.request.Request(program.stdout.readline().strip() + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert "from a file" in answer.read().decode()
        program.communicate("", timeout=60)
    assert json.loads(log.read_text())["path"] == path


def test_a_file_that_is_no_script_is_named(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('[{"say": 1}]')
    with pytest.raises(ScriptUnreadable, match=r"script\.json: Expected `str`"):
        load(tmp_path / "script.json")
