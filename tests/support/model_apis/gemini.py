"""Gemini generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.model_apis.wire import Body, sse
from tests.support.model_script import Fault, Reply


class GeminiApi:
    """`POST /v1beta/models/NAME:generateContent` and `:streamGenerateContent`."""

    def tools(self, body: Body) -> dict[str, dict[str, Any]]:
        offered = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]
        return {str(one.get("name")): one.get("parametersJsonSchema") or one.get("parameters") or {} for one in offered}

    def streams(self, body: Body, path: str) -> bool:
        return ":streamGenerateContent" in path

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        finish, used = "MAX_TOKENS" if reply.truncated else "STOP", reply.usage
        parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text or not reply.calls else []
        parts += [{"functionCall": {"id": call, "name": name, "args": given}} for call, name, given in reply.calls]
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
            "usageMetadata": {
                "promptTokenCount": used.input,
                "candidatesTokenCount": used.output,
                "totalTokenCount": used.input + used.output,
                "cachedContentTokenCount": used.cached,
            },
            "modelVersion": body.get("model", "scripted-model"),
            "responseId": f"reply-{reply.number}",
        }

    def events(self, reply: Reply, body: Body) -> Iterator[bytes]:
        yield sse(self.whole(reply, body))

    def error(self, fault: Fault) -> dict[str, Any]:
        return {"error": {"code": fault.status, "message": fault.message, "status": fault.type}}

    def error_event(self, fault: Fault) -> bytes:
        return sse(self.error(fault))
