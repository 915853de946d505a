"""OpenAI Chat Completions, as many other providers speak it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.model_apis.wire import Body, as_text, sse
from tests.support.model_script import Fault, Reply


class Chat:
    """`POST /v1/chat/completions`."""

    def tools(self, body: Body) -> dict[str, dict[str, Any]]:
        offered = [tool.get("function") or tool for tool in body.get("tools") or ()]
        return {str(tool.get("name")): tool.get("parameters") or {} for tool in offered}

    def streams(self, body: Body, path: str) -> bool:
        return bool(body.get("stream"))

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        message = {"role": "assistant", "content": reply.text or None}
        calls = {"tool_calls": _calls(reply)} if reply.calls else {}
        choice = {"index": 0, "message": {**message, **calls}, "finish_reason": _finish(reply)}
        return {**_head(reply, body, "chat.completion"), "choices": [choice], "usage": _usage(reply)}

    def events(self, reply: Reply, body: Body) -> Iterator[bytes]:
        head = _head(reply, body, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": reply.text}]
        deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(_calls(reply))]
        for delta in deltas:
            yield sse({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        last = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]}
        yield sse(last)
        yield sse({**head, "choices": [], "usage": _usage(reply)})
        yield b"data: [DONE]\n\n"

    def error(self, fault: Fault) -> dict[str, Any]:
        return {"error": {"message": fault.message, "type": fault.type, "code": fault.type, "param": None}}

    def error_event(self, fault: Fault) -> bytes:
        return sse(self.error(fault))


def _head(reply: Reply, body: Body, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.number}", "object": kind, "created": 1_700_000_000, "model": body.get("model", "")}


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": call, "type": "function", "function": {"name": name, "arguments": as_text(given)}}
        for call, name, given in reply.calls
    ]


def _finish(reply: Reply) -> str:
    if reply.truncated:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> dict[str, Any]:
    used = reply.usage
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached},
    }
