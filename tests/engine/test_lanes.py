"""Workflows on paper for real: the loop, the performer and git, with agents that are functions; conflicts, panels and fixes on the way."""

import asyncio
import subprocess
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.paper import EVALUATORS, PLAN, SUBTASKS, TRACK
from tests.engine.no_setup import NoSetup
from tests.journal.memory_journal import MemoryJournal
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.clock import SystemClock
from flyball.core.claims.values import Claim
from flyball.core.loop.workflow import Workflow
from flyball.core.model.batch_events import LaneClosed, SeatAnswered
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Begun, Ended, Fact, Judged, Moved, SessionStarted, TaskOpened
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Conflicted, Recalled, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Settings, Task, TaskId
from flyball.core.workflows import registry
from flyball.engine.driver import Driver
from flyball.engine.performer import Performer
from flyball.journal.records import Holder, task_scope
from flyball.ports import Notify, Stop, Workspace
from flyball.process import StopFlag
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace

REJECTED = Claim(verdict="fail", source="report-file")
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def is_refused(role: str, turns: Iterable[RunAgent]) -> bool:
    """Whether a reviewer says no: one evaluator does, the first time it is asked."""
    return role == EVALUATORS[0] and sum(turn.role == role for turn in turns) == 1


class Writer:
    """Adds a line for its subtask or its role to a file all share, and a file of its own; as a reviewer it answers."""

    def __init__(self) -> None:
        self.trees: set[Path] = set()
        self.turns: list[RunAgent] = []

    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        self.turns.append(request)
        if request.copy:
            return TurnEnded("ok", claim=REJECTED if is_refused(request.role, self.turns) else APPROVED)
        self.trees.add(tree)
        name = request.item or request.role
        (tree / f"{name}.txt").write_text(f"{name}\n")
        shared = tree / "shared.txt"
        shared.write_text(f"{shared.read_text()}{name}\n")
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", name)
        return TurnEnded("ok", claim=DONE)

    def ask(self, *_: object) -> None:
        return None


class Green:
    def measure(
        self, request: Measure, *, settings: Settings, workspace: Workspace, folder: Path, stop: Stop, notify: Notify
    ) -> Measurement:
        return suite(request.candidate, workspace.tree_of(request.candidate))


class Written(World):
    """What the writer does, in a world without files."""

    def __init__(self) -> None:
        super().__init__(self.work, lambda m, _state: suite(m.candidate, self.trees[m.lane]))
        self.turns: list[RunAgent] = []

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        self.turns.append(turn)
        if turn.copy:
            return ok(REJECTED if is_refused(turn.role, self.turns) else APPROVED)
        self.trees[turn.lane] = f"{self.trees[turn.lane]}+{turn.item or turn.role}"
        return ok(DONE)


@pytest.fixture(autouse=True)
def _on_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    for workflow in (PLAN, TRACK):
        monkeypatch.setitem(registry.WORKFLOWS, workflow.name, workflow)


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


def paper_task(workflow: Workflow, parallel: int) -> Task:
    model = a_task(items=SUBTASKS)
    return replace(model, workflow=workflow.name, settings=replace(model.settings, parallel=parallel))


class Performed:
    """A task that was driven to its end with real git: what is known of it then, its facts and its branch."""

    def __init__(self, task: Task, repository: Path, home: Path) -> None:
        journal, self.writer = MemoryJournal(), Writer()
        record = journal.open_task(
            "it-works", workflow=task.workflow, title="it works", at=AT, opening=lambda id_: [_opening(task, id_)]
        )
        workspace = GitWorkspace(Repository.find(repository), home / "home", record.id)
        driver = Driver(
            record.id,
            epoch=journal.next_epoch(task_scope(record.id), Holder(1, "here", AT)),
            journal=journal,
            inbox=journal,
            clock=SystemClock(),
            perform=_performer(task, workspace, self.writer, home / "task"),
            make_stop=StopFlag,
        )
        self.state = asyncio.run(driver.run(SessionStarted(1, "here", "0")))
        self.facts = [event.fact for event in journal.read(record.id)]
        self.branch = f"flyball/{record.id}"


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 3])
def test_lanes_meet_a_conflict_are_reviewed_and_end_as_one_branch(
    repository: Path, tmp_path: Path, parallel: int
) -> None:
    done = Performed(paper_task(PLAN, parallel), repository, tmp_path)
    assert done.state.decision == "DONE", done.state.stopped
    names = sorted(item.id for item in SUBTASKS)
    files = git(repository, "ls-tree", "--name-only", done.branch).splitlines()
    assert sorted(set(files) - {"shared.txt"}) == sorted(f"{name}.txt" for name in names)
    shared = git(repository, "show", f"{done.branch}:shared.txt").splitlines()
    assert sorted(shared[1:]) == names, "every accepted line is there once, and no marker"
    conflicts = [f for f in done.facts if isinstance(f, Ended) and isinstance(f.outcome, Conflicted)]
    assert bool(conflicts) == (parallel > 1)
    closed = [f.reason for f in done.facts if isinstance(f, LaneClosed)]
    assert closed.count("integrated") == len(SUBTASKS)
    assert len([f for f in done.facts if isinstance(f, SeatAnswered)]) == len(SUBTASKS)
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "log", "-1", "--format=%s", "main") == "begin"
    assert len(done.writer.trees) <= parallel, "a lane that is closed leaves its workspace to the next"


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_panel_that_rejects_leads_to_a_fix_and_both_are_on_the_branch(
    repository: Path, tmp_path: Path, parallel: int
) -> None:
    done = Performed(paper_task(TRACK, parallel), repository, tmp_path)
    assert done.state.decision == "DONE", done.state.stopped
    moves = [f.stage for f in done.facts if isinstance(f, Moved)]
    assert moves == ["EVALUATE", "FIX", "EVALUATE", "COMPLETE"]
    assert Counter(turn.role for turn in done.writer.turns) == {
        "executor": 1,
        "fixer": 1,
        **dict.fromkeys(EVALUATORS, 2),
    }
    files = git(repository, "ls-tree", "--name-only", done.branch).splitlines()
    assert files == ["executor.txt", "fixer.txt", "shared.txt"], "nothing that a reviewer wrote, and nothing lost"
    assert git(repository, "status", "--porcelain") == ""
    assert len(done.writer.trees) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workflow", [PLAN, TRACK], ids=lambda each: str(each.name))
def test_a_workflow_on_paper_goes_the_same_way_simulated_and_performed(
    repository: Path, tmp_path: Path, workflow: Workflow
) -> None:
    task = paper_task(workflow, 1)
    simulator = Simulator(Written(), task, "EXECUTE")
    simulator.run()
    done = Performed(task, repository, tmp_path)
    assert way(done.facts) == way(event.fact for event in simulator.events)


def way(facts: Iterable[Fact]) -> list[tuple[str, ...]]:
    """The facts of a journal without what depends on the world: commits, trees, dates."""
    return [_outline(fact) for fact in facts]


def _outline(fact: Fact) -> tuple[str, ...]:
    match fact:
        case Begun():
            return ("Begun", fact.effect.id, type(fact.effect).__name__, fact.effect.lane)
        case Ended():
            return ("Ended", fact.id, type(fact.outcome).__name__)
        case Moved():
            return ("Moved", fact.lane, fact.previous, fact.stage, fact.reason)
        case Judged():
            return ("Judged", fact.lane, str(fact.turn), str(fact.can_exit))
    return (type(fact).__name__, str(getattr(fact, "lane", "")))


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
