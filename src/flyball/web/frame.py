"""What every page has around its content, and answers in its form."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from flyball import __version__
from flyball.clock import system_clock
from flyball.core.model.task import TaskId
from flyball.markup.rendering import Crumb, assets_version, render
from flyball.projections.pages.summary import Known, Summary
from flyball.projections.wording import split_command
from flyball.web.access import LOOPBACK, AccessRules
from flyball.web.sites import Sites
from flyball.wiring.site import Site

MOST_FIELDS = 2000
LARGEST_FORM = 1024 * 1024


class PageFrame(msgspec.Struct):
    """The values of `base.html`; pages put their own beside them in `more`."""

    path: str
    theme: str
    form_token: str
    now: datetime
    crumbs: tuple[Crumb, ...]
    needs: int = 0
    live: bool = True
    typing: bool = False
    scripts: bool = True
    read_only: bool = False
    loopback: bool = True
    version: str = ""
    flyball: str = __version__
    host: str = ""
    message: str = ""
    message_command: str = ""
    tone: str = "note"
    brass_for: str = ""
    more: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.more[name]
        except KeyError:
            raise AttributeError(name) from None

    def brass(self, task: Summary) -> bool:
        """Whether this task has the one brass button of the page: the first that has a default."""
        self.brass_for = self.brass_for or task.path
        return self.brass_for == task.path


MESSAGES = {
    "kept": "Saved. The task applies it at its next step.",
    "pausing": "The task stops when its iteration ends; then this page says PAUSED.",
    "waits": "Saved. Apply it with:",
    "resumed": "The task runs again, independently of this page.",
    "started": "The task runs, independently of this page.",
    "ended": "The task has ended. Its checkpoints remain.",
    "rolled": "Rolled back. The task is paused and goes on from there when you resume it. What was undone is kept as a checkpoint.",
    "rolled-merged": "Rolled back. The task is paused and goes on from there when you resume it. What was merged already stays merged.",
    "rolled-marked": "Rolled back. The task is paused. A plan of yours still marks undone work as done; resuming the task removes the marks.",
    "sent": "Sent as guidance. Each comment is marked as delivered once a turn has had it.",
    "reopened": "Reopened with your feedback; the task runs independently of this page.",
}


def frame(
    request: Request, crumbs: Sequence[Crumb], *, live: bool = True, typing: bool = False, **more: Any
) -> PageFrame:
    """The frame of a page, from how it was asked for; where somebody is typing, nothing loads it anew."""
    gate: AccessRules = request.app.state.gate
    theme = request.cookies.get("theme", "system")
    said = request.query_params.get("said", "")
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    command = f"flyball resume {request.path_params.get('task', '')}" if said == "waits" else ""
    return PageFrame(
        path=path,
        theme=theme if theme in {"light", "dark"} else "system",
        form_token=gate.form_token,
        now=system_clock.now(),
        crumbs=tuple(crumbs),
        needs=request.app.state.needs,
        live=live,
        typing=typing,
        read_only=gate.read_only,
        loopback=gate.hosts == LOOPBACK,
        version=assets_version(),
        host=os.uname().nodename,
        message=MESSAGES.get(said, ""),
        message_command=command,
        tone="good" if said else "note",
        more=more,
    )


def page(template: str, framed: PageFrame, *, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(render(template, page=framed, **values), status)


def refusal(request: Request, title: str, text: str, *, status: int = 403, command: str = "") -> HTMLResponse:
    """A page that says why not, and what to type."""
    framed = frame(request, [Crumb("All repositories", "/"), Crumb(title)], live=False)
    text, command = (text, command) if command else split_command(text)
    return page(
        "message.html", framed, status=status, title=title, text=text, command=command, preview="", form=None, back="/"
    )


def read_only(request: Request, command: str) -> Response | None:
    """The page in place of a form that this server would not take; None where it would."""
    gate: AccessRules = request.app.state.gate
    if not gate.read_only:
        return None
    return refusal(request, "Read-only", "This page is read-only. Type in a terminal:", command=command)


def redirect(path: str) -> RedirectResponse:
    """To a page of our own, so that a reload repeats nothing."""
    own = path if path.startswith("/") and not path.startswith("//") and "\\" not in path else "/"
    return RedirectResponse(own, 303)


async def form_of(request: Request) -> list[tuple[str, str]]:
    """The fields of a form as browsers send them without files; none of a form that is too large, which is refused so."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return []
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        return []
    try:
        fields = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return []
    # What was typed with the line ends of every other text here; browsers send two for each, and nobody types a NUL.
    return [(name, value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")) for name, value in fields]


def sites_of(request: Request) -> Sites:
    found: Sites = request.app.state.sites
    return found


def find_task(request: Request) -> tuple[Site, TaskId]:
    return sites_of(request).find(request.path_params["repo"], request.path_params["task"])


def read_task(request: Request) -> tuple[Site, Known]:
    """The same, with everything that is known of it."""
    site, task = find_task(request)
    return site, sites_of(request).read(site, task)


def number_in(text: str, other: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else other


def crumbs_of(summary: Summary, *more: Crumb) -> list[Crumb]:
    repository = Crumb(summary.place.name, f"/r/{summary.place.repo}")
    return [Crumb("All", "/"), repository, Crumb(summary.task, summary.path), *more]
