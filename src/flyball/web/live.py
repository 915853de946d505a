"""Changes as they happen: one look a second for all open pages, and each different page is made once for all that show it."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from flyball.clock import system_clock

LOOK_S = 0.5
BEAT_S = 4.0
AGAIN_S = 60.0
"""A page is made anew this often though nothing was added: what it says of time goes on."""
_REGION = re.compile(r"<!--live:([a-z]+)-->(.*?)<!--/live:\1-->", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)

Make = Callable[[], Awaitable[str]]


def regions(html: str) -> dict[str, str]:
    """The parts of a page that may change, by the id of what holds them; texts of others cannot look like their borders."""
    found = dict(_REGION.findall(html))
    title = _TITLE.search(html)
    return {**found, "": title[1]} if title else found


class Hub:
    """Remembers what the pages that are open now look like."""

    def __init__(self, version: Callable[[], object]) -> None:
        self._version = version
        self._seen: object = None
        self._looked = float("-inf")
        self._made: dict[str, tuple[object, dict[str, str]]] = {}
        self._making: dict[str, asyncio.Lock] = {}
        self.open = 0
        self.ending: Callable[[], bool] = lambda: False

    async def version(self) -> object:
        """What there is to see; asked of the disk at most twice a second, however many ask."""
        now = system_clock.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            self._seen = await asyncio.to_thread(self._version)
        return self._seen

    async def page(self, key: str, mark: object, make: Make) -> dict[str, str]:
        """The regions of a page as of a version; made once, whoever asks."""
        lock = self._making.setdefault(key, asyncio.Lock())
        async with lock:
            kept = self._made.get(key)
            if kept is None or kept[0] != mark:
                kept = mark, regions(await make())
                if len(self._made) > 64:
                    self._made.clear()
                self._made[key] = kept
            return kept[1]


async def stream(request: Request, make: Make, mark: Callable[[], object]) -> Response:
    """Server-sent events: what changed on one page, as HTML by id."""
    hub: Hub = request.app.state.hub
    path = request.query_params.get("path", "/")

    async def events() -> AsyncIterator[str]:
        hub.open += 1
        sent: dict[str, str] = {}
        first, beat, last = True, system_clock.monotonic(), object()
        try:
            yield "retry: 1500\n\n"
            while not hub.ending():
                minute = int(system_clock.monotonic() // AGAIN_S)
                now = (await hub.version(), await asyncio.to_thread(mark), minute)
                if now != last:
                    last = now
                    found = await hub.page(path, now, make)
                    changed = {key: html for key, html in found.items() if sent.get(key) != _mark(html)}
                    sent = {key: _mark(html) for key, html in found.items()}
                    if changed:
                        yield f"event: {'all' if first else 'change'}\ndata: {json.dumps(changed)}\n\n"
                    first = False
                if system_clock.monotonic() - beat > BEAT_S:
                    beat = system_clock.monotonic()
                    yield "event: beat\ndata: {}\n\n"
                await asyncio.sleep(LOOK_S)
        finally:
            hub.open -= 1

    return StreamingResponse(events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


def _mark(html: str) -> str:
    return hashlib.sha256(html.encode()).hexdigest()
