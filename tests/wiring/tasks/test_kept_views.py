"""V12: what was read of a long task is taken up again, and only by who may trust it."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.builders import Story

from flyball.core.model.events import TaskOpened
from flyball.core.model.task import Task, TaskId
from flyball.web.sites import Sites
from flyball.wiring.site import Site
from flyball.wiring.tasks import kept_views
from flyball.wiring.tasks.kept_views import ViewReader, keep, load

pytestmark = pytest.mark.req("V12")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    subprocess.run(["git", "init", "-q", str(tmp_path / "ledger")], check=True)
    return Site.find(tmp_path / "ledger")


def anew(site: Site) -> Site:
    """As another process finds it."""
    return Site(site.repository, site.home, site.journal, {})


def put(site: Site, story: Story) -> TaskId:
    opened = story.events[0].fact
    assert isinstance(opened, TaskOpened)
    record = site.journal.open_task(
        "x", workflow="tdd", title="x", at=story.at, opening=lambda t: [TaskOpened(replace(opened.task, id=t), "RED")]
    )
    add(site, record.id, story, 1)
    return record.id


def add(site: Site, task: TaskId, story: Story, first: int) -> None:
    for event in story.events[first:]:
        site.journal.append(task, [event.fact], epoch=0, at=event.at)


def test_what_was_kept_goes_on_exactly_as_if_all_had_been_read(ledger: Site) -> None:
    story = Story().start().iterate(failing=("a::b",)).iterate(signal=True)
    task = put(ledger, story)
    ledger.view(task)
    keep(ledger, task)
    kept = len(story.events)
    story.leave("GREEN").iterate(failing=("a::c",), restore_to="base0000")
    add(ledger, task, story, kept)
    taken, read = anew(ledger), anew(ledger)
    assert load(taken, task) == kept
    assert load(taken, task) == 0, "it is read already"
    quick, whole = taken.view(task), read.view(task)
    assert quick.state == whole.state
    for name in ("turns", "judgements", "checkpoints", "rows", "verified", "rollbacks"):
        assert getattr(quick.history, name) == getattr(whole.history, name)
    assert quick.history.timeline.marks == whole.history.timeline.marks
    assert quick.history.timeline.lanes == whole.history.timeline.lanes
    assert quick.history.learnings == whole.history.learnings


def test_nothing_is_taken_from_other_code_another_journal_or_a_damaged_file(
    ledger: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = put(ledger, Story().start().iterate()), put(ledger, Story().start())
    path = ledger.home.task(one) / "view"
    assert load(anew(ledger), one) == 0
    ledger.view(one)
    keep(ledger, one)
    assert path.stat().st_mode & 0o077 == 0
    good = path.read_bytes()
    elsewhere = ledger.home.task(other) / "view"
    elsewhere.parent.mkdir(parents=True, exist_ok=True)
    elsewhere.write_bytes(good)
    assert load(anew(ledger), other) == 0
    mark, _, body = good.partition(b"\n")
    for bad in (b"", b"x", good[:-20], good[:-1] + b"x", mark[:-1] + b"\n" + body):
        path.write_bytes(bad)
        assert load(anew(ledger), one) == 0
    path.write_bytes(good)
    assert load(anew(ledger), one) > 0
    monkeypatch.setattr(kept_views, "_code", lambda: "other")
    assert load(anew(ledger), one) == 0


class Harm:
    """Would make a folder where a reader follows it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("harm",)


def test_a_file_that_somebody_made_runs_nothing(ledger: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    task = put(ledger, Story().start())
    path = ledger.home.task(task) / "view"
    path.parent.mkdir(parents=True, exist_ok=True)
    for body in (pickle.dumps(Harm()), pickle.dumps(kept_views.keep), pickle.dumps(Path("x"))):
        path.write_bytes(b"mark\n" + body)
        assert load(anew(ledger), task) == 0
    assert not (tmp_path / "harm").exists()
    reader = ViewReader(io.BytesIO())
    assert reader.find_class("flyball.core.model.task", "Task") is Task
    for module, name in (
        ("flyball.process.capturing", "subprocess.Popen"),
        ("flyball.projections.history.timeline", "datetime"),
        ("flyball.projections.wording", "plain"),
        ("flyball.web.sites", "Sites"),
        ("os", "system"),
    ):
        with pytest.raises(pickle.UnpicklingError):
            reader.find_class(module, name)


def test_a_server_keeps_long_tasks_alone_and_each_only_when_it_has_grown(
    ledger: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = put(ledger, Story().start()), put(ledger, Story().start().iterate().iterate())
    monkeypatch.setattr(kept_views, "MANY", 15)
    sites = Sites(ledger.home.home)
    sites.warm()
    sites.keep()
    assert not (ledger.home.task(short) / "view").exists()
    path = ledger.home.task(long) / "view"
    path.unlink()
    sites.keep()
    assert not path.exists(), "nothing was added"
    again = Sites(ledger.home.home)
    again.warm()
    again.keep()
    assert path.exists()
