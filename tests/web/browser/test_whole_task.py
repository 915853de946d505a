"""A person with a phone and no terminal takes a task from its start to its end, while its sandboxed agent tries to get at the page."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.web.browser.conftest import Opened
from tests.web.browser.stage import MARKS, Server, fits, in_home, repository, until

from flyball.config import file as config_file, trust
from flyball.core.model.task import TaskId
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.workspace.sandbox import Unavailable, available

pytestmark = MARKS
SANDBOX = "none" if isinstance(available(), Unavailable) else "bwrap"
SETTINGS = """\
workflow = "tdd"
agent = "probe"
sandbox = "{sandbox}"
[agents.probe]
command = ["{python}", "-S", "{agents}/agent.py", "{home}", "{address}"]
[gates]
test = "test -e README.md"
unnoticed = "allow"
"""
AGENT = '''\
import json, os, pathlib, re, sys, time, urllib.error, urllib.request

home, address = sys.argv[1:]
turn = int(os.environ["FLYBALL_TURN"])


def attempt(path, **more):
    try:
        request = urllib.request.Request(address + path, **more)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        return type(error).__name__


def looked():
    """Whatever could hold the token: the home, what lies around it, the environments and files of other processes."""
    around = [pathlib.Path(home), pathlib.Path(home).parent, pathlib.Path("/tmp"), pathlib.Path("/dev/shm")]
    files = [pathlib.Path(home, "serve", name) for name in ("token", "open.html", "address")]
    for folder in around:
        files += [pathlib.Path(top, name) for top, _, names in os.walk(folder) for name in names][:2000]
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        files += [process / "environ", process / "cmdline", process / "root" / home.lstrip("/") / "serve" / "token"]
    found = set()
    for file in files:
        try:
            found |= set(re.findall(rb"[0-9a-f]{32,64}", file.read_bytes()[:100_000]))
        except OSError:
            pass
    return sorted(each.decode() for each in found)


def tried():
    words = looked()
    task = "/t/" + os.environ["FLYBALL_TASK"]
    headers = {"Origin": address, "Content-Type": "application/x-www-form-urlencoded"}
    said = [attempt(path) for path in ("/", "/metrics", "/live?path=/", "/?token=")]
    said += [attempt(path, data=b"sure=yes&form_token=", headers=headers) for path in (task + "/say/abort", "/start")]
    for word in words[:50]:
        said += [attempt("/?token=" + word), attempt("/", headers={"Cookie": "flyball=" + word})]
    return {"said": said, "words": words}


if turn == 1:
    print(json.dumps(tried()), flush=True)
    pathlib.Path("app.py").write_text("def rounded(amount):\\n    return round(amount)\\n")
report = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": turn > 2, "verdict": "pass"}
if turn == 1:
    report |= {"status": "needs_clarification", "questions": [
        {"text": "How are amounts rounded?", "options": ["half-even", "half-up"], "default": "half-even"}]}
else:
    pathlib.Path(f"turn_{turn}.py").write_text(f"TURN = {turn}\\n")
while turn < 3 and not pathlib.Path(__file__).with_name(f"go-{turn}").exists():
    time.sleep(0.05)
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
'''


class Garden:
    """A repository with an agent that is trusted, and the controller of its one task."""

    def __init__(self, place: Path) -> None:
        self.place, self.root, self.agents = place, place / "garden", place / "agents"
        for folder in (self.root, self.agents):
            folder.mkdir()
        (self.root / "README.md").write_text("# garden\n")
        with in_home(place / "home"):
            self.site = Site.find(repository(self.root))
        self.server = Server(self.site.home.home)
        (self.agents / "agent.py").write_text(AGENT)
        values = {"python": sys.executable, "agents": self.agents, "home": self.site.home.home, "sandbox": SANDBOX}
        (self.root / "flyball.toml").write_text(SETTINGS.format(address=self.server.address, **values))
        file = config_file.read(self.root)
        assert file is not None
        trust.record(self.site.home, file)

    @property
    def task(self) -> TaskId:
        return self.site.journal.tasks()[0].id

    @property
    def controller(self) -> int:
        holder = controller_of(self.site, self.task)
        return holder.pid if holder else 0

    def kept(self, turn: int, name: str) -> str:
        path = self.site.home.turns(self.task) / f"{turn:04d}-1" / name
        return path.read_text() if path.exists() else ""

    def end(self) -> None:
        self.server.end()
        if self.site.journal.tasks() and self.controller:
            os.kill(self.controller, signal.SIGKILL)


@pytest.fixture
def garden(tmp_path: Path) -> Iterator[Garden]:
    made = Garden(tmp_path)
    yield made
    made.end()


def kill_and_heal(page: Page, garden: Garden) -> None:
    """The server is killed and begun again under an open page: the page says so, and the task does not care."""
    begun = garden.controller
    assert os.getsid(begun) == begun, "apart from the server"
    garden.server.end(signal.SIGKILL)
    page.get_by_role("button", name="Try now").wait_for()
    assert page.locator("#live-word").inner_text() == "Lost contact"
    garden.server.begin()
    page.get_by_role("button", name="Try now").tap()
    page.get_by_role("button", name="Try now").wait_for(state="hidden")
    assert page.locator("#live-word").inner_text() == "Live"
    assert garden.controller == begun


def check_kept_out(garden: Garden) -> None:
    """The agent of the first turn reached the port, and nothing behind it."""
    tried = json.loads(garden.kept(1, "stdout"))
    assert garden.server.gate.token not in tried["words"]
    assert set(tried["said"]) == {403}
    assert garden.site.journal.pending(garden.task) == []


@pytest.mark.req("V5", "V6", "V7", "V8", "V9", "V11")
def test_a_whole_task_from_a_phone_and_no_way_for_its_agent_to_the_page(opened: Opened, garden: Garden) -> None:
    page = opened("/start", 375, of=garden.server, has_touch=True)
    page.get_by_label("What is to be done").fill("Round amounts.")
    for field, choice in (("Workflow", "quick"), ("Agent", "probe"), ("Questions", "yes")):
        page.get_by_label(field).select_option(choice)
    page.get_by_role("button", name="Start").tap()
    page.wait_for_selector("#message")
    here = f"{garden.server.address}/t/{garden.site.home.name}/{garden.task}"
    page.goto(here)
    page.get_by_role("link", name="turn 1").wait_for(timeout=60_000)
    while not garden.kept(1, "stdout").endswith("\n"):
        page.wait_for_timeout(50)
    kill_and_heal(page, garden)
    (garden.agents / "go-1").touch()

    page.get_by_role("link", name="Answer").tap(timeout=60_000)
    if SANDBOX == "bwrap":
        check_kept_out(garden)
    page.get_by_text("half-up", exact=True).tap()
    page.get_by_role("button", name="Answer half-up").tap()
    page.wait_for_url("**said=kept")
    page.get_by_role("link", name="turn 2").wait_for(timeout=60_000)
    page.get_by_role("link", name="Diff").tap()
    page.locator("details", has_text="app.py").get_by_text("return round(amount)").tap()
    page.keyboard.type("Use the answer here.")
    fits(page)
    page.get_by_role("button", name="Send as guidance").tap()
    page.wait_for_url("**said=sent")
    (garden.agents / "go-2").touch()

    page.goto(here)
    until(page, "document.querySelector('h1').dataset.state === 'DONE'", 90)
    assert "half-up" in garden.kept(2, "prompt.md")
    assert "app.py:2 (`return round(amount)`): Use the answer here." in garden.kept(3, "prompt.md")
    page.goto(f"{here}/diff")
    assert "delivered with turn 3" in page.content()
