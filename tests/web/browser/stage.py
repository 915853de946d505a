"""The stage of the tests in a real browser: a server as its own process, a home with a task in every state, and how pages are looked at."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from msgspec.structs import replace
from playwright.sync_api import Page
from tests.support.builders import Story, short_tdd_run, tdd_task
from tests.web.conftest import asking, put, worked_on

from flyball.core.model.effects import Wait
from flyball.core.model.events import Begun, Ended, LearningRecorded, TaskStopped
from flyball.core.model.outcomes import Waited
from flyball.core.model.task import EffectId, Item, TaskId
from flyball.web.access import AccessRules, hosts_of, token_of
from flyball.wiring.site import Site

CHROMIUM = Path("/usr/bin/chromium")
MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed; `make test` installs it"),
]
REBOUND = "rebound.example"
"""A name that the browser is told to look for on this machine, as a name server of somebody else's would."""
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
]
WIDTHS = (375, 768, 1280)
AXE = Path(AXE_FILE_PATH).read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Server:
    """`flyball serve` as a process of its own."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home, self.options = home, options
        self.env = {**os.environ, "FLYBALL_HOME": str(home)}
        self.port = 0
        self.begin()

    def begin(self) -> None:
        command = [sys.executable, "-m", "flyball", "serve", "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                return
        raise AssertionError("the server did not begin")

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cpu_s(self) -> float:
        """What it has used of a core so far, however busy the machine is."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def gate(self) -> AccessRules:
        return AccessRules(token_of(self.home), hosts_of("127.0.0.1", ()))


@contextmanager
def in_home(home: Path) -> Iterator[None]:
    """As if flyball's home were there."""
    kept = os.environ.get("FLYBALL_HOME")
    os.environ["FLYBALL_HOME"] = str(home)
    yield
    os.environ.pop("FLYBALL_HOME") if kept is None else os.environ.update(FLYBALL_HOME=kept)


def repository(root: Path) -> Path:
    """A repository with all that lies there in one commit."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


class World:
    """A home with one task for each state, and the tasks pages are looked at with."""

    def __init__(self, place: Path) -> None:
        self.place = place
        root = place / "ledger"
        root.mkdir()
        (root / "README.md").write_text("# rows\n")
        with in_home(place / "home"):
            self.site = Site.find(repository(root))
            self.tasks: dict[str, TaskId] = {name: put(self.site, story) for name, story in stories().items()}
            self.tasks["changed"] = worked_on(self.site)

    def path(self, name: str) -> str:
        return f"/t/{self.site.home.name}/{self.tasks[name]}"

    def words(self, name: str) -> list[tuple[str, str]]:
        """What people said to a task that it has not heard yet."""
        return [(word.word, word.text) for word in self.site.journal.pending(self.tasks[name])]


def pictured() -> Story:
    """Twelve items in two lanes, thirty-seven iterations, a wait, money, a question."""
    names = ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "3.1", "3.2", "3.3", "3.4", "4.1"]
    after = {"1.2": ("1.1",), "1.3": ("1.1",), "2.4": ("1.1",), "2.1": ("1.2", "1.3"), "3.2": ("1.3",), "2.2": ("2.1",)}
    after |= {"2.3": ("2.1",), "3.1": ("2.1",), "3.3": ("3.2",), "3.4": ("3.2",), "4.1": ("2.2", "2.3", "3.1")}
    items = tuple(Item(name, f"Subtask {name} of the import", depends_on=after.get(name, ())) for name in names)
    task = tdd_task(request="Import bank statements")
    task = replace(
        task, items=items, settings=replace(task.settings, limits=replace(task.settings.limits, budget_usd=10.0))
    )
    story = Story(task).start()
    for n in range(37):
        failing = tuple(f"tests/a.py::t{i}" for i in range(48 - n))
        story.iterate(
            failing=failing,
            signal=n in {5, 31},
            missing=failing[:2],
            rejected=n == 24,
            restore_to="base0000" if n == 22 else "",
        )
        if n == 12:
            until = story.at + timedelta(minutes=69)
            story.add(Begun(Wait(EffectId("wait/1"), until=until, reason="usage limit of claude: resets at 11:40")))
            story.add(Ended(EffectId("wait/1"), Waited()), after_s=69 * 60)
    story.add(LearningRecorded(1, "decision", "yield postings", choice="a generator"))
    return story.ask(asking().state.questions[EffectId("ask/1")].question)


def stories() -> dict[str, Story]:
    return {
        "pictured": pictured(),
        "fresh": Story(),
        "done": short_tdd_run(),
        "paused": Story().start().iterate().add(TaskStopped("paused", "paused by a person")),
        "limit": Story().start().iterate().add(TaskStopped("limit", "the budget is used up: $5.87 of $6.00")),
        "aborted": Story().start().iterate().add(TaskStopped("aborted", "by a person")),
        "asking": asking(),
        "keyboard": asking(),
        "twice": asking(),
        "attacked": asking(),
        "live": Story().start().iterate(failing=("a::b",)),
    }


def until(page: Page, true: str, seconds: float = 15) -> None:
    """Wait for something a page shows by itself; the page's policy forbids to do so inside of it."""
    end = time.monotonic() + seconds
    while not page.evaluate(true):
        assert time.monotonic() < end, f"{true} on {page.url}"
        page.wait_for_timeout(100)


def fits(page: Page) -> None:
    """Nothing scrolls sideways."""
    wide, seen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide == seen, f"{page.url} is {wide} wide at {seen}"


def clean(page: Page, *, colours_only: bool = False) -> None:
    """Axe finds nothing; only its rule of contrast can see a change of colours."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    rules = {"runOnly": ["color-contrast"] if colours_only else TAGS, "reporter": "no-passes", "preload": False}
    found = page.evaluate("rules => axe.run(document, rules)", rules)
    told = [
        f"{v['id']}: {v['nodes'][0]['html'][:160]} {v['nodes'][0].get('failureSummary', '')[:200]}"
        for v in found["violations"]
    ]
    assert told == [], f"{page.url} at {page.viewport_size}: {told}"


def legible(page: Page) -> None:
    small = page.evaluate(
        "[...document.querySelectorAll('.plot text')].filter(t => t.getBoundingClientRect().width &&"
        " parseFloat(getComputedStyle(t).fontSize) * t.getCTM().a < 10.4).length"
    )
    assert small == 0


def looks_well(page: Page) -> None:
    """At every width, light and dark."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 812})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            fits(page)
            clean(page, colours_only=scheme == "dark")
        legible(page)
