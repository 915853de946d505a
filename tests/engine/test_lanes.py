"""Lanes for real: the loop, the performer and git, with agents that are functions; one conflict and one panel on the way."""

import asyncio
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.paper import PLAN, SUBTASKS
from tests.engine.no_setup import NoSetup

from flyball.clock import SystemClock
from flyball.core.model.batch_events import LaneClosed, SeatAnswered
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Ended, SessionStarted, TaskOpened
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Conflicted, Recalled, TurnEnded
from flyball.core.model.task import Settings, Task, TaskId
from flyball.core.workflows import registry
from flyball.engine.driver import Driver
from flyball.engine.performer import Performer
from flyball.journal.memory import MemoryJournal
from flyball.journal.records import Holder, task_scope
from flyball.ports import Notify, Stop, Workspace
from flyball.process import StopFlag
from flyball.testing.simulator import APPROVED, DONE, a_task, suite
from flyball.workspace import GitWorkspace, Repository

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Writer:
    """Adds a line for its subtask to a file all share, and a file of its own; as a reviewer it approves."""

    def __init__(self) -> None:
        self.trees: set[Path] = set()

    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        if request.copy:
            return TurnEnded("ok", claim=APPROVED)
        self.trees.add(tree)
        (tree / f"{request.item}.txt").write_text(f"{request.item}\n")
        shared = tree / "shared.txt"
        shared.write_text(f"{shared.read_text()}{request.item}\n")
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", request.item)
        return TurnEnded("ok", claim=DONE)

    def ask(self, *_: object) -> None:
        return None


class Green:
    def measure(
        self, request: Measure, *, settings: Settings, workspace: Workspace, folder: Path, stop: Stop, notify: Notify
    ) -> Measurement:
        return suite(request.candidate, workspace.tree_of(request.candidate))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    person, root = tmp_path / "person", tmp_path / "project"
    person.mkdir()
    root.mkdir()
    (person / ".gitconfig").write_text("[user]\n\tname = User\n\temail = user@localhost\n[gc]\n\tauto = 0\n")
    monkeypatch.setenv("HOME", str(person))
    git(root, "init", "-q", "-b", "main")
    (root / "shared.txt").write_text("begin\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "begin")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 3])
def test_lanes_meet_a_conflict_are_reviewed_and_end_as_one_branch(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    monkeypatch.setitem(registry.WORKFLOWS, PLAN.name, PLAN)
    model = a_task(items=SUBTASKS)
    task = replace(model, workflow=PLAN.name, settings=replace(model.settings, parallel=parallel))
    journal, writer = MemoryJournal(), Writer()
    record = journal.open_task(
        "it-works", workflow=PLAN.name, title="it works", at=AT, opening=lambda id_: [_opening(task, id_)]
    )
    workspace = GitWorkspace(Repository.find(repository), tmp_path / "home", record.id)
    driver = Driver(
        record.id,
        epoch=journal.next_epoch(task_scope(record.id), Holder(1, "here", AT)),
        journal=journal,
        inbox=journal,
        clock=SystemClock(),
        perform=_performer(task, workspace, writer, tmp_path / "task"),
        make_stop=StopFlag,
    )
    state = asyncio.run(driver.run(SessionStarted(1, "here", "0")))
    assert state.decision == "DONE", state.stopped
    branch = f"flyball/{record.id}"
    names = sorted(item.id for item in SUBTASKS)
    files = git(repository, "ls-tree", "--name-only", branch).splitlines()
    assert sorted(set(files) - {"shared.txt"}) == sorted(f"{name}.txt" for name in names)
    shared = git(repository, "show", f"{branch}:shared.txt").splitlines()
    assert sorted(shared[1:]) == names, "every accepted line is there once, and no marker"
    facts = [event.fact for event in journal.read(record.id)]
    conflicts = [f for f in facts if isinstance(f, Ended) and isinstance(f.outcome, Conflicted)]
    assert bool(conflicts) == (parallel > 1)
    closed = [f.reason for f in facts if isinstance(f, LaneClosed)]
    assert closed.count("integrated") == len(SUBTASKS)
    assert len([f for f in facts if isinstance(f, SeatAnswered)]) == len(SUBTASKS)
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "log", "-1", "--format=%s", "main") == "begin"
    assert len(writer.trees) <= parallel, "a lane that is closed leaves its workspace to the next"


def _opening(task: Task, id_: TaskId) -> TaskOpened:
    return TaskOpened(replace(task, id=id_), "EXECUTE")


def _performer(task: Task, workspace: GitWorkspace, writer: Writer, folder: Path) -> Performer:
    return Performer(
        task,
        workspace=workspace,
        agents={"scripted": writer},
        measurer=Green(),
        people=writer,
        setup=NoSetup(),
        clock=SystemClock(),
        folder=folder,
        notify=lambda *_said: None,
        others={},
        pull_requests=writer,  # type: ignore[arg-type]
        recall=lambda _effect: Recalled(),
    )
