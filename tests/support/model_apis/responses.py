"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.model_apis.wire import Body, as_text, sse
from tests.support.model_script import Fault, Reply


class Responses:
    """`POST /v1/responses`."""

    def tools(self, body: Body) -> dict[str, dict[str, Any]]:
        """What is offered as tools, and what newer clients put among the input as additional ones."""
        offered = list(body.get("tools") or ())
        given = body.get("input")
        for item in given if isinstance(given, list) else ():
            if isinstance(item, dict) and item.get("type") == "additional_tools":
                offered += item.get("tools") or ()
        inner = [part for tool in offered for part in (tool.get("tools") or [tool]) if isinstance(part, dict)]
        return {str(tool.get("name") or tool.get("type")): tool.get("parameters") or {} for tool in inner}

    def streams(self, body: Body, path: str) -> bool:
        return bool(body.get("stream"))

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        status = "incomplete" if reply.truncated else "completed"
        return {**_head(reply, body), "status": status, "output": _items(reply), "usage": _usage(reply)}

    def events(self, reply: Reply, body: Body) -> Iterator[bytes]:
        yield _event("response.created", response={**_head(reply, body), "status": "in_progress", "output": []})
        for index, item in enumerate(_items(reply)):
            yield _event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
            if item["type"] == "message":
                place = {"item_id": item["id"], "output_index": index, "content_index": 0}
                yield _event("response.output_text.delta", **place, delta=item["content"][0]["text"])
            yield _event("response.output_item.done", output_index=index, item=item)
        kind = "response.incomplete" if reply.truncated else "response.completed"
        yield _event(kind, response=self.whole(reply, body))

    def error(self, fault: Fault) -> dict[str, Any]:
        return {"error": {"message": fault.message, "type": fault.type, "code": fault.type, "param": None}}

    def error_event(self, fault: Fault) -> bytes:
        failed = {"id": "resp_failed", "object": "response", "status": "failed", "output": []}
        return _event("response.failed", response={**failed, "error": {"code": fault.type, "message": fault.message}})


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, kind)


def _head(reply: Reply, body: Body) -> dict[str, Any]:
    named = {"id": f"resp_{reply.number:04}", "object": "response"}
    return {**named, "created_at": 1_700_000_000, "model": body.get("model", "")}


def _items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.text or not reply.calls:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        head = {"type": "message", "id": f"msg_{reply.number}", "role": "assistant", "status": "completed"}
        items.append({**head, "content": content})
    for call, name, given in reply.calls:
        head = {"id": f"fc_{call}", "call_id": call, "name": name, "status": "completed"}
        if isinstance(given, str):
            items.append({"type": "custom_tool_call", **head, "input": given})
        else:
            items.append({"type": "function_call", **head, "arguments": as_text(given)})
    return items


def _usage(reply: Reply) -> dict[str, Any]:
    used = reply.usage
    return {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cached},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input + used.output,
    }
