"""Measures what the page costs: idle with 50 tasks, the first paint of a task with 100,000 events, and 20 open pages on a running task.

usage: python benchmarks/views.py [EVENTS]
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

from flyball.core.model.events import Event, TaskOpened
from flyball.core.model.task import TaskId
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.web.access import token_of
from flyball.wiring.site import Site
from flyball.wiring.tasks.kept_views import MANY

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.builders import Story, short_tdd_run

IDLE_S, PAGES, APPENDS = 10.0, 20, 150
MOST_IDLE, MOST_MB, MOST_PAINT_S, MOST_SLOWER = 0.01, 120.0, 1.0, 1.25


class Server:
    """`flyball serve` as a process of its own, and a browser's cookie for it."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "flyball", "serve", "--port", "0"]
        env = {**os.environ, "FLYBALL_HOME": str(home)}
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = next(m for line in self.process.stdout if (m := re.search(r"http://127\.0\.0\.1:\d+", line)))
        self.address = found[0]
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> bytes:
        with self.browser.open(self.address + path) as answer:
            return bytes(answer.read())

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found
        return int(found[1]) / 1024

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def opened(home: Path) -> Server:
    """A server whose link was opened at a page that reads no task."""
    server = Server(home)
    server.get(f"/start?token={token_of(home)}")
    return server


def put(site: Site, events: list[Event]) -> TaskId:
    first = events[0].fact
    assert isinstance(first, TaskOpened)
    record = site.journal.open_task(
        "bench",
        workflow=first.task.workflow,
        title="bench",
        at=events[0].at,
        opening=lambda task: [TaskOpened(_named(first, task), first.stage)],
    )
    for start in range(1, len(events), 500):
        part = events[start : start + 500]
        site.journal.append(record.id, [event.fact for event in part], epoch=0, at=part[-1].at)
    return record.id


def _named(opened: TaskOpened, task: TaskId):  # noqa: ANN202 - a task
    from msgspec.structs import replace

    return replace(opened.task, id=task)


def repository(place: Path) -> Site:
    root = place / "bench"
    root.mkdir()
    (root / "a").write_text("a\n")
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    os.environ["FLYBALL_HOME"] = str(place / "home")
    return Site.find(root)


def idle(place: Path) -> tuple[float, float]:
    """The part of a core and the memory with 50 tasks, one home page open."""
    site = repository(place)
    for _ in range(50):
        put(site, short_tdd_run().events)
    server = opened(site.home.home)
    server.get("/")
    watching = threading.Thread(target=_watch, args=(server, "/"), daemon=True)
    watching.start()
    time.sleep(3)
    before, begun = server.cpu_s(), time.monotonic()
    time.sleep(IDLE_S)
    used = (server.cpu_s() - before) / (time.monotonic() - begun)
    memory = server.memory_mb()
    server.end()
    return used, memory


def _watch(server: Server, path: str) -> None:
    try:
        with server.browser.open(f"{server.address}/live?path={path}") as stream:
            while stream.readline():
                pass
    except OSError:
        return


def first_paint(place: Path, count: int) -> tuple[float, float, float]:
    """Seconds until the page of a long task is there, asked for with the link at once: never seen before, after a restart, and again."""
    site = repository(place)
    story = Story().start()
    while len(story.events) < count:
        story.iterate(failing=("tests/a.py::b",))
    task = put(site, story.events)
    path = f"/t/{site.home.name}/{task}"
    server = Server(site.home.home)
    link = f"{path}?token={token_of(site.home.home)}"
    unseen = _painted(server, link)
    view = site.home.task(task) / "view"
    while count >= MANY and not view.exists():
        time.sleep(0.1)
    server.end()
    server = Server(site.home.home)
    first, again = _painted(server, link), _painted(server, path)
    server.end()
    return unseen, first, again


def _painted(server: Server, path: str) -> float:
    begun = time.monotonic()
    server.get(path)
    return time.monotonic() - begun


def appending(site: Site, task: TaskId) -> float:
    """Seconds a task needs for so many facts, as its controller appends them."""
    lease = Lease.take(site.journal, site.home.locks, task_scope(task), this_process(Story().at))
    story = Story().start().iterate()
    seen = len(story.events)
    while len(story.events) < seen + APPENDS:
        story.iterate(failing=("a::b",))
    begun = time.monotonic()
    for event in story.events[seen : seen + APPENDS]:
        site.journal.append(task, [event.fact], epoch=lease.epoch, at=event.at)
        time.sleep(0.01)
    taken = time.monotonic() - begun
    lease.release()
    return taken


def open_pages(place: Path) -> tuple[float, float]:
    """The same work with nobody looking, and with 20 pages open."""
    site = repository(place)
    first, second = (put(site, Story().start().iterate().events) for _ in range(2))
    alone = appending(site, first)
    server = opened(site.home.home)
    for _ in range(PAGES):
        path = f"/t/{site.home.name}/{second}"
        threading.Thread(target=_watch, args=(server, path), daemon=True).start()
    time.sleep(2)
    watched = appending(site, second)
    server.end()
    return alone, watched


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        tempfile.TemporaryDirectory() as three,
    ):
        used, memory = idle(Path(one))
        print(
            f"idle with 50 tasks   {used * 100:6.2f} % of a core, {memory:5.0f} MB   target {MOST_IDLE * 100:g} %, {MOST_MB:g} MB"
        )
        unseen, cold, warm = first_paint(Path(two), count)
        print(
            f"first paint          {cold:6.2f} s of {count:,} events, {warm:.2f} s again, {unseen:.2f} s if never read before"
            f"   target {MOST_PAINT_S:g} s"
        )
        alone, watched = open_pages(Path(three))
        print(f"{PAGES} pages open        {watched:6.2f} s against {alone:.2f} s alone   target {MOST_SLOWER:g} times")
    good = used <= MOST_IDLE and memory <= MOST_MB and cold <= MOST_PAINT_S and watched <= MOST_SLOWER * alone
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
