"""Tells a person, through services or a command of theirs: best effort, once for each event, never in the way of the work."""

import json
import queue
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec

from flyball import process
from flyball.clock import system_clock
from flyball.config import file as config_file, trust
from flyball.config.home import RepositoryHome, environment
from flyball.config.schema import NotifyTable
from flyball.core.extras import install_command
from flyball.core.model.events import Event
from flyball.core.model.state import State
from flyball.ports import Refusal
from flyball.projections.pages.notices import Notice, Notices

TRIES, WAIT_S, LAST_S, COMMAND_S = 3, 2.0, 15.0, 30.0
ENV = "env:"

Send = Callable[[Notice], str]
"""Tells one target; the answer is what went wrong, or nothing."""


class NotifySettings(msgspec.Struct, frozen=True):
    targets: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    quiet_hours: str = ""


def settings_of(root: Path, home: RepositoryHome) -> NotifySettings:
    """What a trusted file of the repository says; without a trust record nobody is told anything."""
    try:
        file = config_file.read(root)
    except Refusal:
        return NotifySettings()
    if file is None or not trust.is_trusted(home, file):
        return NotifySettings()
    return from_table(file.notify)


def from_table(table: NotifyTable) -> NotifySettings:
    return NotifySettings(table.targets, table.command or (), table.quiet_hours or "")


def is_quiet(hours: str, now: datetime) -> bool:
    """Whether a local time lies in the quiet hours, which may go past midnight."""
    if not hours:
        return False
    begin, end = (time.fromisoformat(part) for part in hours.split("-"))
    here = now.time().replace(second=0, microsecond=0)
    return begin <= here < end if begin <= end else here >= begin or here < end


class Notifier:
    """A listener of the loop that tells from a thread of its own; what cannot be told is written to a log and forgotten."""

    def __init__(
        self,
        sends: Sequence[Send],
        repository: str,
        *,
        log: Path,
        quiet: Callable[[], bool] = lambda: False,
        hold: Callable[[Notice], None] | None = None,
    ) -> None:
        self._sends, self._log, self._quiet, self._hold = sends, log, quiet, hold
        self._notices = Notices(repository)
        self._queue: queue.Queue[Notice | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="notifier", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join(LAST_S)

    def __call__(self, event: Event, state: State) -> None:
        notice = self._notices.of(event, state)
        if notice is not None and self._sends:
            self._queue.put(notice)

    def _work(self) -> None:
        while (notice := self._queue.get()) is not None:
            if self._quiet():
                note(self._log, f"{notice.key} not told yet: quiet hours")
                if self._hold is not None:
                    self._hold(notice)
                continue
            for send in self._sends:
                problem = try_send(send, notice)
                note(self._log, f"{notice.key} {f'not told: {problem}' if problem else 'told'}")


def note(log: Path, line: str) -> None:
    with suppress(OSError):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{system_clock.now().isoformat()} {line}\n")


def try_send(send: Send, notice: Notice, *, wait_s: float = WAIT_S) -> str:
    """Tell a target, and try again if it fails; the last problem, or nothing."""
    problem = ""
    for attempt in range(TRIES):
        try:
            problem = send(notice)
        except Exception as error:  # noqa: BLE001 - whatever a service does, the work goes on
            problem = f"{type(error).__name__}: {error}"
        if not problem:
            return ""
        if attempt < TRIES - 1:
            threading.Event().wait(wait_s * (attempt + 1))
    return problem


def sends_of(settings: NotifySettings, home: Path) -> list[Send]:
    """One for each target; a variable's name stands for an address that is a secret."""
    env = environment()
    sends: list[Send] = [_by_command(settings.command, home, env)] if settings.command else []
    for target in settings.targets:
        address = env.get(target.removeprefix(ENV), "") if target.startswith(ENV) else target
        if not address:
            sends.append(lambda _notice, name=target: f"the variable {name.removeprefix(ENV)} is not set")  # type: ignore[misc]
        elif urlsplit(address).scheme in {"ntfy", "ntfys"}:
            sends.append(_ntfy(address, home))
        else:
            sends.append(_apprise(address, home))
    return sends


def page_of(home: Path) -> str:
    """The address of the page where it is served now; empty where it is not."""
    with suppress(OSError, ValueError):
        pid, address = (home / "serve" / "address").read_text(encoding="ascii").split()
        Path(f"/proc/{int(pid)}").stat()
        return address
    return ""


def _body(notice: Notice, home: Path) -> str:
    page = page_of(home)
    lines = [notice.text, f"Type: {notice.command}" if notice.command else "", f"{page}{notice.path}" if page else ""]
    return "\n".join(filter(None, lines))


def _by_command(argv: Sequence[str], home: Path, env: Mapping[str, str]) -> Send:
    def send(notice: Notice) -> str:
        page = page_of(home)
        told = {
            "FLYBALL_NOTICE": notice.kind,
            "FLYBALL_TITLE": notice.title,
            "FLYBALL_TEXT": notice.text,
            "FLYBALL_COMMAND": notice.command,
            "FLYBALL_LINK": f"{page}{notice.path}" if page else "",
        }
        text = f"{notice.title}\n{_body(notice, home)}\n".encode()
        done = process.capture(list(argv), cwd=Path("/"), env={**env, **told}, input=text, timeout=COMMAND_S)
        return "" if done.code == 0 else f"{argv[0]} ended with {done.code}"

    return send


def _apprise(address: str, home: Path) -> Send:
    def send(notice: Notice) -> str:
        if find_spec("apprise") is None:
            return f"the library for services is not installed; type: {install_command('notify', sys.executable)}"
        import apprise  # noqa: PLC0415 - an extra

        teller = apprise.Apprise()
        if not teller.add(address):
            return f"{urlsplit(address).scheme}:// is not a service of Apprise"
        return "" if teller.notify(title=notice.title, body=_body(notice, home)) else "the service refused the message"

    return send


def _ntfy(address: str, home: Path) -> Send:
    """Of ntfy itself: its message may have buttons, which open the form with that answer chosen."""
    parts = urlsplit(address)
    scheme = "https" if parts.scheme == "ntfys" or not parts.path.strip("/") else "http"
    host, topic = (parts.netloc, parts.path.strip("/")) if parts.path.strip("/") else ("ntfy.sh", parts.netloc)
    login, _, place = host.rpartition("@")

    def send(notice: Notice) -> str:
        page = page_of(home)
        message: dict[str, Any] = {"topic": topic, "title": notice.title, "message": _body(notice, home)}
        if page:
            message["click"] = f"{page}{notice.path}"
            message["actions"] = [
                {"action": "view", "label": b.label, "url": f"{page}{b.path}"} for b in notice.buttons
            ]
        request = urllib.request.Request(f"{scheme}://{place}/", json.dumps(message).encode())  # noqa: S310 - http or https
        if login:
            request.add_header("Authorization", f"Bearer {login.rpartition(':')[2]}")
        try:
            with urllib.request.urlopen(request, timeout=COMMAND_S):  # noqa: S310 - http or https
                return ""
        except urllib.error.URLError as error:
            return str(error.reason)

    return send


def notifier_of(root: Path, home: RepositoryHome, task: str, hold: Callable[[Notice], None]) -> Notifier:
    """The notifier of a task's run, as its repository configures it; `hold` keeps what comes in quiet hours."""
    settings = settings_of(root, home)
    return Notifier(
        sends_of(settings, home.home),
        home.name,
        log=home.folder / "tasks" / task / "notify.log",
        quiet=lambda: is_quiet(settings.quiet_hours, system_clock.now().astimezone()),
        hold=hold,
    )
