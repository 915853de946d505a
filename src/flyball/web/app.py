"""The server: its addresses, and the checks every request passes before anything is read."""

import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flyball.journal.errors import JournalError
from flyball.markup.rendering import asset, render
from flyball.ports import Refusal
from flyball.web import diffing, looking, metrics, starting, words
from flyball.web.access import COOKIE, AccessRules
from flyball.web.frame import form_of, number_in, redirect, refusal
from flyball.web.live import Hub, stream
from flyball.web.sites import Sites
from flyball.wiring.tasks.transcripts import kept_files

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ASSETS = frozenset({"style.css", "page.js", "icon.svg", "icon-needs.svg", "manifest.webmanifest"})
YEAR = 365 * 24 * 3600

Look = Callable[[Request], Response]
Spoken = Callable[[Request, list[tuple[str, str]]], Response]


def make_app(home: Path, gate: AccessRules) -> Starlette:
    task = "/t/{repo}/{task}"
    app = Starlette(
        routes=[
            Route("/", _look(looking.home)),
            Route("/r/{repo}", _look(looking.home)),
            Route("/start", _look(starting.start)),
            Route("/start", _speak(lambda r, f: starting.begin(r, dict(f))), methods=["POST"]),
            Route("/theme", _speak(_theme, word=False), methods=["POST"]),
            Route("/live", _live),
            Route("/metrics", _look(metrics.metrics)),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _static),
            Route(task, _look(looking.task)),
            Route(f"{task}/iterations", _look(looking.iterations)),
            Route(f"{task}/checkpoints", _look(looking.checkpoints)),
            Route(f"{task}/report", _look(looking.report)),
            Route(f"{task}/turn/{{turn}}", _look(looking.turn)),
            Route(f"{task}/diff", _look(diffing.diff)),
            Route(f"{task}/comments", _speak(diffing.comments), methods=["POST"]),
            Route(f"{task}/comments/preview", _speak(diffing.comments), methods=["POST"]),
            Route(f"{task}/question/{{question}}", _look(looking.question)),
            Route(f"{task}/question/{{question}}", _speak(lambda r, f: words.answer(r, dict(f))), methods=["POST"]),
            Route(f"{task}/say", _look(words.words)),
            Route(f"{task}/say/{{word}}", _look(words.word)),
            Route(f"{task}/say/{{word}}", _speak(lambda r, f: words.say(r, dict(f))), methods=["POST"]),
        ],
        exception_handlers={404: _missing, 405: _missing},
    )
    sites = Sites(home)
    app.state.gate, app.state.sites, app.state.needs = gate, sites, 0
    app.state.hub = Hub(sites.version)
    app.add_middleware(Guarded, gate=gate)
    return app


class Guarded:
    """Refuses what is not for us before a page is made, and puts the policy on every answer."""

    def __init__(self, app: ASGIApp, gate: AccessRules) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                if not any(name == b"cache-control" for name, _ in message["headers"]):
                    own.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *own]
            await send(message)

        answer = self._early_answer(request)
        if answer is not None:
            await answer(scope, receive, sending)
        else:
            await self._app(scope, receive, sending)

    def _early_answer(self, request: Request) -> Response | None:
        """The answer to who may not pass, or came with the link; None for a request that pages answer."""
        gate = self._gate
        if not gate.knows_host(request.headers.get("host", "")):
            return PlainTextResponse("This server does not answer to that name.", 421)
        if request.url.path.startswith(("/static/", "/favicon.ico")):
            return None
        given = request.query_params.get("token", "")
        if given and request.method == "GET":
            if not gate.has_token(given):
                return HTMLResponse(render("login.html"), 403)
            # The link has done its work: a cookie takes its place, and the token leaves the address.
            rest = "&".join(f"{k}={v}" for k, v in request.query_params.multi_items() if k != "token")
            answer = redirect(request.url.path + (f"?{rest}" if rest else ""))
            secure = request.url.scheme == "https"
            answer.set_cookie(COOKIE, self._gate.cookie, max_age=YEAR, httponly=True, samesite="lax", secure=secure)
            return answer
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.url.path == "/metrics" and gate.has_token(bearer):
            return None
        if not gate.has_cookie(request.cookies.get(COOKIE, "")):
            return HTMLResponse(render("login.html"), 403)
        if request.method not in {"GET", "HEAD", "POST"}:
            return PlainTextResponse("That cannot be done here.", 405)
        return None


def _look(make: Look) -> Callable[[Request], Awaitable[Response]]:
    def make_or_refuse(request: Request) -> Response:
        try:
            return make(request)
        except KeyError:
            return refusal(request, "Nothing here", "There is no such task, turn or question.", status=404)
        except (Refusal, JournalError) as error:
            return refusal(request, "Cannot be shown", str(error), status=409)

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(make_or_refuse, request)

    return answer


def _speak(take: Spoken, *, word: bool = True) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        form = await form_of(request)
        gate: AccessRules = request.app.state.gate
        if not word:
            gate = AccessRules(gate.token, gate.hosts)
        refused = gate.may_speak(request.headers, dict(form).get("form_token", ""))
        if refused:
            return refusal(request, "Refused", refused, status=403)
        try:
            return await run_in_threadpool(take, request, form)
        except KeyError:
            return refusal(request, "Nothing here", "There is no such task, question or command.", status=404)
        except (Refusal, JournalError) as error:
            return refusal(request, "Refused", str(error), status=409)

    return answer


def _theme(_request: Request, form: list[tuple[str, str]]) -> Response:
    values = dict(form)
    answer = redirect(values.get("back", "/"))
    chosen = values.get("theme", "system")
    answer.set_cookie(
        "theme", chosen if chosen in {"light", "dark"} else "system", max_age=YEAR, samesite="lax", httponly=True
    )
    return answer


async def _static(request: Request) -> Response:
    name = request.path_params.get("name", "icon.svg")
    if name not in ASSETS:
        return PlainTextResponse("Nothing here.", 404)
    kind = "application/manifest+json" if name.endswith("webmanifest") else mimetypes.guess_type(name)[0]
    return Response(asset(name), media_type=kind, headers={"Cache-Control": "max-age=3600"})


async def _missing(request: Request, _error: Exception) -> Response:
    return await run_in_threadpool(lambda: refusal(request, "Nothing here", "There is no such page.", status=404))


async def _live(request: Request) -> Response:
    """The stream of one page: its path is looked up among our own addresses and made as its page is."""
    try:
        split = urlsplit(request.query_params.get("path", "/"))
    except ValueError:
        return PlainTextResponse("Nothing here.", 404)
    scope = {
        **request.scope,
        "path": split.path,
        "raw_path": split.path.encode(),
        "query_string": split.query.encode(),
        "root_path": "",
    }
    route = next((r for r in request.app.routes if isinstance(r, Route) and r.matches(scope)[0].value == 2), None)
    if route is None or "GET" not in (route.methods or ()) or split.path in {"/live", "/metrics"}:
        return PlainTextResponse("Nothing here.", 404)
    _, child = route.matches(scope)
    inner = Request({**scope, **child, "app": request.app})

    async def make() -> str:
        answer = await route.endpoint(inner)
        return bytes(answer.body).decode()

    return await stream(request, make, lambda: _growing(inner))


def _growing(request: Request) -> object:
    """How much a turn under way has said: its page grows without any fact."""
    params = request.path_params
    turn = number_in(str(params.get("turn", "")), 0)
    if not turn:
        return None
    sites: Sites = request.app.state.sites
    try:
        site, task = sites.find(params["repo"], params["task"])
    except KeyError:
        return None
    return tuple(path.stat().st_size for path in kept_files(site, task, turn).values())
