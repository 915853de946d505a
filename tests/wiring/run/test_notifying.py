"""V40: telling is best effort, tried again, quiet at night, and never without a trust record."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, short_tdd_run

from flyball.config import file as config_file, trust
from flyball.config.home import RepositoryHome
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import Ended, TaskOpened
from flyball.core.model.outcomes import Answered
from flyball.core.model.task import EffectId, TaskId
from flyball.projections.pages.notices import Button, Notice, Notices, still_matters
from flyball.wiring.run import held_notices, notifying
from flyball.wiring.run.held_notices import HeldNotices, tell_held
from flyball.wiring.run.notifying import Notifier, NotifySettings, is_quiet, page_of, sends_of, settings_of, try_send
from flyball.wiring.site import Site

pytestmark = pytest.mark.req("V40")
NOTICE = Notice(
    "needed", "t:1", "NEEDS YOU: x", "Which?", "flyball answer 1 ask/1 a", "/t/r/t", (Button("a", "/t/r/t?answer=a"),)
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifying, "WAIT_S", 0.0)


@pytest.mark.slow
def test_each_notice_reaches_every_target_and_a_target_that_fails_is_tried_again(tmp_path: Path) -> None:
    got: list[str] = []
    failing = iter([OSError("down"), OSError("down"), None])

    def flaky(notice: Notice) -> str:
        error = next(failing)
        if error is not None:
            raise error
        got.append(f"flaky {notice.kind}")
        return ""

    def steady(notice: Notice) -> str:
        got.append(f"steady {notice.kind}")
        return ""

    story = short_tdd_run()
    with Notifier([flaky, steady], "r-1", log=tmp_path / "log") as notifier:
        notifier(story.events[-1], story.state)
    assert got == ["flaky ended", "steady ended"]


@pytest.mark.slow
def test_a_target_that_never_answers_changes_nothing_and_is_written_down(tmp_path: Path) -> None:
    story = short_tdd_run()
    with Notifier([lambda _n: "down"], "r-1", log=tmp_path / "log") as notifier:
        notifier(story.events[-1], story.state)
    assert "not told: down" in (tmp_path / "log").read_text()
    with Notifier([lambda _n: "down"], "r-1", log=tmp_path / "log", quiet=lambda: True) as notifier:
        notifier(story.events[-1], story.state)
    assert "quiet hours" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("hours", "at", "quiet"),
    [
        ("22:00-07:00", "23:10", True),
        ("22:00-07:00", "06:59", True),
        ("22:00-07:00", "07:00", False),
        ("12:00-13:00", "12:30", True),
        ("12:00-13:00", "13:30", False),
        ("", "03:00", False),
    ],
)
def test_quiet_hours_may_go_past_midnight(hours: str, at: str, quiet: bool) -> None:
    assert is_quiet(hours, datetime.fromisoformat(f"2026-01-05T{at}:00").replace(tzinfo=UTC)) is quiet


def test_nobody_is_told_where_nobody_agreed_to_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "flyball.toml").write_text(
        '[notify]\ntargets = ["ntfy://topic"]\ncommand = ["tell-me"]\nquiet_hours = "22:00-07:00"\n'
    )
    home = RepositoryHome.of(root / ".git", root, tmp_path / "home").prepare()
    assert settings_of(root, home) == NotifySettings()
    file = config_file.read(root)
    assert file is not None
    assert trust.needs_trust(file) == ("you are told by: tell-me", "you are told through: ntfy://topic")
    trust.record(home, file)
    assert settings_of(root, home) == NotifySettings(("ntfy://topic",), ("tell-me",), "22:00-07:00")


def test_a_command_of_the_users_gets_the_text_and_the_command_to_type(tmp_path: Path) -> None:
    script = tmp_path / "tell"
    script.write_text(
        f'#!/bin/sh\ncat > {tmp_path}/said\necho "$FLYBALL_TITLE|$FLYBALL_COMMAND|$FLYBALL_NOTICE" >> {tmp_path}/said\n'
    )
    script.chmod(0o755)
    (send,) = sends_of(NotifySettings(command=(str(script),)), tmp_path)
    assert send(NOTICE) == ""
    said = (tmp_path / "said").read_text()
    assert "Which?\nType: flyball answer 1 ask/1 a" in said
    assert "NEEDS YOU: x|flyball answer 1 ask/1 a|needed" in said
    (broken,) = sends_of(NotifySettings(command=("/bin/false",)), tmp_path)
    assert try_send(broken, NOTICE, wait_s=0) == "/bin/false ended with 1"


@pytest.fixture
def ntfy() -> Iterator[tuple[str, list[dict[str, object]]]]:
    got: list[dict[str, object]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"ntfy://127.0.0.1:{server.server_port}/mine", got
    server.shutdown()
    server.server_close()


def test_ntfy_gets_buttons_for_the_options_and_a_link_while_the_page_is_served(
    ntfy: tuple[str, list[dict[str, object]]], tmp_path: Path
) -> None:
    import os

    address, got = ntfy
    (send,) = sends_of(NotifySettings((address,)), tmp_path)
    assert send(NOTICE) == ""
    assert got[0]["topic"] == "mine"
    assert "click" not in got[0]
    (tmp_path / "serve").mkdir()
    (tmp_path / "serve" / "address").write_text(f"{os.getpid()} http://127.0.0.1:7117\n")
    assert page_of(tmp_path) == "http://127.0.0.1:7117"
    assert send(NOTICE) == ""
    assert got[1]["click"] == "http://127.0.0.1:7117/t/r/t"
    assert got[1]["actions"] == [{"action": "view", "label": "a", "url": "http://127.0.0.1:7117/t/r/t?answer=a"}]
    assert "token" not in json.dumps(got)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_other_services_go_through_apprise_and_a_secret_address_may_be_a_variables_name(
    ntfy: tuple[str, list[dict[str, object]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, got = ntfy
    monkeypatch.setenv("MY_TARGET", address.replace("ntfy://", "json://"))
    (send,) = sends_of(NotifySettings(("env:MY_TARGET",)), tmp_path)
    assert send(NOTICE) == ""
    assert got[0]["title"] == "NEEDS YOU: x"
    monkeypatch.delenv("MY_TARGET")
    (missing,) = sends_of(NotifySettings(("env:MY_TARGET",)), tmp_path)
    assert missing(NOTICE) == "the variable MY_TARGET is not set"
    (unknown,) = sends_of(NotifySettings(("nonesuch://x",)), tmp_path)
    assert "not a service of Apprise" in unknown(NOTICE)


@pytest.fixture
def held_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    root = tmp_path / "ledger"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return Site.find(root)


def stored(site: Site, story: Story) -> str:
    """The story in a journal of its own; the task's name."""
    opened = story.events[0].fact
    assert isinstance(opened, TaskOpened)
    record = site.journal.open_task(
        "x",
        workflow="tdd",
        title="x",
        at=story.at,
        opening=lambda task: [TaskOpened(replace(opened.task, id=task), "RED")],
    )
    for event in story.events[1:]:
        site.journal.append(record.id, [event.fact], epoch=0, at=event.at)
    return record.id


def test_what_comes_in_quiet_hours_is_held_and_told_once_when_they_end_unless_it_is_settled(
    held_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = short_tdd_run()
    held = HeldNotices(held_site.home)
    with Notifier([lambda _n: "down"], "r-1", log=tmp_path / "log", quiet=lambda: True, hold=held.add) as notifier:
        notifier(story.events[-1], story.state)
    assert "not told yet: quiet hours" in (tmp_path / "log").read_text()
    (ended,) = held.take()
    assert not held
    done = stored(held_site, story)
    going = stored(held_site, Story().start())
    for task, kind in ((done, "ended"), (going, "ended"), (done, "goes on"), (done, "needed")):
        held.add(replace(ended, key=f"{task}:9", kind=kind))
    got: list[str] = []

    def send(notice: Notice) -> str:
        got.append(notice.key)
        return ""

    hours = iter((True, True, False))
    monkeypatch.setattr(held_notices, "is_quiet", lambda *_: next(hours))
    monkeypatch.setattr(held_notices, "LOOK_S", 0.0)
    monkeypatch.setattr(held_notices, "sends_of", lambda *_: [send])
    tell_held(held_site)
    assert got == [f"{done}:9"]
    assert "settled" in (held_site.home.task(TaskId(going)) / "notify.log").read_text()
    tell_held(held_site)
    with held.waiting() as first, held.waiting() as second:
        assert (first, second) == (True, False)
    assert got == [f"{done}:9"]


def test_a_question_matters_until_it_is_answered() -> None:
    story = Story().start().ask(Question("agent-1", "Which?", (Option("a", ""),)))
    notice = Notices("r").of(story.events[-1], story.state)
    assert notice is not None
    assert still_matters(notice, story.state, story.at)
    answered = story.add(Ended(EffectId("ask/1"), Answered("a", "person")))
    assert not still_matters(notice, answered.state, story.at)
