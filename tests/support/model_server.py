"""A model that follows a script, behind the interfaces real agents speak to; it listens on the loopback interface only.

    with ModelServer(Script((Step(shell="touch made"), Step(say="Done.")))) as server:
        ...  # ANTHROPIC_BASE_URL=server.url, OPENAI_BASE_URL=f"{server.url}/v1", ...

As a command: `python -m tests.support.model_server SCRIPT.json`. Requests that offer no tools (titles, classifiers) get a
short answer and take no step.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from pathlib import Path
from typing import Any, Self

import msgspec
from tests.support.model_apis.anthropic import Anthropic
from tests.support.model_apis.chat import Chat
from tests.support.model_apis.gemini import GeminiApi
from tests.support.model_apis.responses import Responses
from tests.support.model_apis.wire import Api
from tests.support.model_script import ModelAnswer, ModelScript, Reply, fill_times, load, reply

from flyball.clock import system_clock

_APIS: tuple[tuple[str, Api], ...] = (
    ("/messages", Anthropic()),
    ("/responses", Responses()),
    ("/chat/completions", Chat()),
    (":generateContent", GeminiApi()),
    (":streamGenerateContent", GeminiApi()),
)
SMALL_TALK = "ok"


class Request(msgspec.Struct, frozen=True):
    """One request as it came; `step` is the number of the step it took, None if it took none."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    step: int | None


class ModelServer:
    """Answers by a script until it is closed; `requests` are all that came."""

    def __init__(self, script: ModelScript, port: int = 0, log: Path | None = None) -> None:
        self._script, self._log = script, log
        self._lock = threading.Lock()
        self._steps = _answers(script)
        self._number = 0
        self.requests: list[Request] = []
        self.closed = threading.Event()
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = _Server(("127.0.0.1", port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def taken(self) -> int:
        """How many steps were taken."""
        return sum(request.step is not None for request in self.requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def step_for(self, api: Api | None, handler: _Handler, body: Any) -> tuple[ModelAnswer, int]:
        """The step this request takes, if it takes one; every request is kept."""
        takes = api is not None and (bool(api.tools(body)) or not self._script.tools_needed)
        with self._lock:
            step = next(self._steps) if takes else ModelAnswer(say=SMALL_TALK)
            self._number += 1
            request = Request(handler.command, handler.path, dict(handler.headers), body, self.taken if takes else None)
            self.requests.append(request)
            if self._log is not None:
                with self._log.open("ab") as log:
                    log.write(msgspec.json.encode(request) + b"\n")
            return step, self._number


def _answers(script: ModelScript) -> Iterator[ModelAnswer]:
    for step in script.steps:
        yield from repeat(step, step.repeat) if step.repeat else repeat(step)
    yield from repeat(ModelAnswer(say=script.afterwards))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """A client that goes away in the middle is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    model: ModelServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Lists of models, and whatever else a client looks up before it works."""
        self.model.step_for(None, self, None)
        model = {"id": "scripted-model", "object": "model", "created": 1_700_000_000, "owned_by": "flyball"}
        self._send(200, {"object": "list", "data": [model], "models": [{"name": "models/scripted-model"}]})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        try:
            body = json.loads(text or "{}")
        except ValueError:
            body = None
        path = self.path.partition("?")[0]
        api = next((api for suffix, api in _APIS if path.endswith(suffix)), None) if isinstance(body, dict) else None
        step, number = self.model.step_for(api, self, body)
        if api is None:
            self._send(200, {"input_tokens": 10, "totalTokens": 10})
            return
        if self.model.closed.wait(None if step.hang else step.delay_s):
            self.close_connection = True
            return
        if step.fault is not None:
            fault, now = step.fault, system_clock.now()
            error = api.error(fault) if fault.body is None else fault.body
            self._send(fault.status, fill_times(error, now), fill_times(fault.headers, now))
            return
        self._answer(api, step, reply(step, number, api.tools(body), text), body)

    def _answer(self, api: Api, step: ModelAnswer, said: Reply, body: Any) -> None:
        headers = fill_times(step.headers, system_clock.now())
        if not api.streams(body, self.path):
            self._send(200, api.whole(said, body), headers)
            return
        events = list(api.events(said, body))
        kept = events[: max(1, len(events) // 2)] if step.broken or step.cut else events
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers})
        for event in [*kept, *([api.error_event(step.broken)] if step.broken else ())]:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
        if step.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, status: int, body: Any, headers: Mapping[str, object] | None = None) -> None:
        content = json.dumps(body).encode()
        self._head(status, {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(content)

    def _head(self, status: int, headers: Mapping[str, object]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Requests are kept, not printed."""


def main() -> None:
    """Serve a script until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_server", description=main.__doc__)
    parser.add_argument("script", type=Path, help="a JSON file: a list of steps, or an object with steps")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log", type=Path, help="a file to which every request is appended, one JSON object a line")
    given = parser.parse_args()
    with ModelServer(load(given.script), given.port, given.log) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
