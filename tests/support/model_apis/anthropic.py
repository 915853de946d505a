"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.model_apis.wire import Body, as_text, sse
from tests.support.model_script import Fault, Reply


class Anthropic:
    """`POST /v1/messages`."""

    def tools(self, body: Body) -> dict[str, dict[str, Any]]:
        return {str(tool.get("name")): tool.get("input_schema") or {} for tool in body.get("tools") or ()}

    def streams(self, body: Body, path: str) -> bool:
        return bool(body.get("stream"))

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        blocks = list(_blocks(reply))
        return {**_head(reply, body), "content": blocks, "stop_reason": _stop(reply), "usage": _usage(reply)}

    def events(self, reply: Reply, body: Body) -> Iterator[bytes]:
        yield sse({"type": "message_start", "message": _head(reply, body)}, "message_start")
        for index, block in enumerate(_blocks(reply)):
            yield from _block(index, block)
        delta = {"stop_reason": _stop(reply), "stop_sequence": None}
        yield sse({"type": "message_delta", "delta": delta, "usage": _usage(reply)}, "message_delta")
        yield sse({"type": "message_stop"}, "message_stop")

    def error(self, fault: Fault) -> dict[str, Any]:
        return {"type": "error", "error": {"type": fault.type, "message": fault.message}}

    def error_event(self, fault: Fault) -> bytes:
        return sse(self.error(fault), "error")


def _head(reply: Reply, body: Body) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.number:04}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_usage(reply), "output_tokens": 0},
    }


def _blocks(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.text or not reply.calls:
        yield {"type": "text", "text": reply.text}
    for call, name, given in reply.calls:
        yield {"type": "tool_use", "id": f"toolu_{call}", "name": name, "input": given}


def _block(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    if block["type"] == "text":
        begun: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": as_text(block["input"])}
    yield sse({"type": "content_block_start", "index": index, "content_block": begun}, "content_block_start")
    yield sse({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
    yield sse({"type": "content_block_stop", "index": index}, "content_block_stop")


def _stop(reply: Reply) -> str:
    if reply.truncated:
        return "max_tokens"
    return "tool_use" if reply.calls else "end_turn"


def _usage(reply: Reply) -> dict[str, int]:
    return {
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "cache_read_input_tokens": reply.usage.cached,
        "cache_creation_input_tokens": 0,
    }
