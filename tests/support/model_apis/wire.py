"""What the interfaces have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tests.support.model_script import Fault, Reply

Body = Mapping[str, Any]


class Api(Protocol):
    """One provider's interface."""

    def tools(self, body: Body) -> dict[str, dict[str, Any]]:
        """The schemas of the tools a request offers, by name."""

    def streams(self, body: Body, path: str) -> bool: ...
    def whole(self, reply: Reply, body: Body) -> dict[str, Any]: ...
    def events(self, reply: Reply, body: Body) -> Iterable[bytes]:
        """The answer as server-sent events."""

    def error(self, fault: Fault) -> dict[str, Any]: ...
    def error_event(self, fault: Fault) -> bytes:
        """An error in the middle of a stream."""


def sse(data: Any, event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
