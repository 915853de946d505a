"""A home with repositories and tasks in every state, and the server over it, in this process."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient
from tests.support.builders import Story, short_tdd_run, tdd_task

from flyball.core.model.effects import Option, Prepare, Question, Save
from flyball.core.model.events import Begun, Ended, Fact, SessionStarted, TaskOpened, TaskStopped
from flyball.core.model.outcomes import Prepared, Saved
from flyball.core.model.task import Commit, EffectId, Task, TaskId
from flyball.web.access import AccessRules, hosts_of, token_of
from flyball.web.app import make_app
from flyball.wiring.site import Site

ORIGIN = "http://127.0.0.1"
QUESTION = Question(
    "agent-1",
    "How are foreign amounts rounded when a statement gives more than two decimals?",
    (Option("half-even", "Rounds to the even cent."), Option("half-up", "Rounds 5 up."), Option("TEXT", "")),
    "half-even",
    detail="Two contract tests contradict each other:\ntest_fx_half_up expects 10.35",
)


def put(site: Site, story: Story, *, at_once: int = 1) -> TaskId:
    """Put a story into a journal under a number of its own, moved so that it ends now; a long one in larger parts."""
    shift = datetime.now(UTC) - story.at
    opened, *rest = story.events
    fact = opened.fact
    assert isinstance(fact, TaskOpened)

    def opening(task: TaskId) -> list[TaskOpened]:
        return [TaskOpened(replace(fact.task, id=task, opened_at=fact.task.opened_at + shift), fact.stage)]

    record = site.journal.open_task(
        "parse-rows", workflow=fact.task.workflow, title=fact.task.request, at=opened.at + shift, opening=opening
    )
    for start in range(0, len(rest), at_once):
        part = rest[start : start + at_once]
        site.journal.append(record.id, [event.fact for event in part], epoch=0, at=part[-1].at + shift)
    return record.id


def asking(task: Task | None = None, **changes: object) -> Story:
    deadline = datetime.now(UTC) + timedelta(minutes=40)
    question = replace(QUESTION, **{"deadline_at": deadline, **changes})
    return (
        Story(task)
        .start()
        .iterate(failing=("a::b",))
        .ask(question)
        .add(TaskStopped("blocked", "a question", question=EffectId("ask/1")))
    )


def long_story(iterations: int, *, most_failing: int = 60) -> Story:
    """Very many iterations; every seventh is a false claim, every fiftieth is rolled back."""
    story = Story().start()
    for n in range(iterations):
        failing = tuple(f"tests/a.py::t{i}" for i in range((iterations - n) % most_failing))
        story.iterate(failing=failing, signal=n % 7 == 3, restore_to="base0000" if n % 50 == 49 else "")
    return story


def now() -> datetime:
    return datetime.now(UTC)


def add(site: Site, task: TaskId, *facts: Fact) -> None:
    site.journal.append(task, list(facts), epoch=0, at=now())


CHANGED = {"dedupe.py": 'def accept(posting):\n    key = "<script>"\n    return key\n'}


def worked_on(site: Site, files: Mapping[str, str] = CHANGED, task: Task | None = None) -> TaskId:
    """A task whose first turn really changed files in its own checkout."""
    record = site.journal.open_task(
        "x",
        workflow="tdd",
        title="x",
        at=now(),
        opening=lambda name: [TaskOpened(replace(task or tdd_task(), id=name), "RED")],
    )
    workspace = site.workspace(site.state(record.id).task)
    workspace.prepare()
    prepare = Prepare(EffectId("prepare"), at=now())
    base = workspace.base
    add(site, record.id, SessionStarted(1, "host", "0"), Begun(prepare))
    add(site, record.id, Ended(prepare.id, Prepared(base, workspace.tree_of(base), workspace.branch)))
    for name, text in files.items():
        (workspace.root / name).write_text(text)
    save = Save(EffectId("save/1"), label="turn-1", message="turn 1", parent=base, at=now())
    kept = workspace.snapshot("turn-1", "turn 1", now())
    add(site, record.id, Begun(save), Ended(save.id, Saved(Commit(kept.commit), kept.tree, "turn-1")))
    return record.id


@pytest.fixture(scope="session")
def one_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("one") / "ledger"
    root.mkdir()
    (root / "README.md").write_text("# rows\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


@pytest.fixture
def site(one_commit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    (tmp_path / "person").mkdir()
    shutil.copytree(one_commit, tmp_path / "ledger")
    found = Site.find(tmp_path / "ledger")
    (found.home.trust / "agreed").touch()
    return found


Serve = Callable[..., TestClient]


@pytest.fixture
def serve(site: Site) -> Iterator[Serve]:
    """A browser that has opened the link, unless told otherwise."""
    made = []

    def begin(*, logged_in: bool = True, read_only: bool = False) -> TestClient:
        gate = AccessRules(token_of(site.home.home), hosts_of("127.0.0.1", ()), read_only)
        client = TestClient(make_app(site.home.home, gate), base_url=ORIGIN, raise_server_exceptions=True)
        made.append(client)
        if logged_in:
            assert client.get("/", params={"token": gate.token}).status_code == 200
        return client

    yield begin
    for client in made:
        client.close()


def form_token(client: TestClient) -> str:
    gate: AccessRules = client.app.state.gate  # type: ignore[attr-defined]
    return gate.form_token


def say(client: TestClient, address: str, **fields: str) -> Any:
    """A form as a browser sends it."""
    data = {"form_token": form_token(client), **fields}
    return client.post(address, data=data, headers={"Origin": ORIGIN}, follow_redirects=False)


def place(site: Site, task: TaskId) -> str:
    return f"/t/{site.home.name}/{task}"


__all__ = [
    "ORIGIN",
    "QUESTION",
    "Serve",
    "add",
    "asking",
    "form_token",
    "long_story",
    "now",
    "place",
    "put",
    "say",
    "short_tdd_run",
    "worked_on",
]
