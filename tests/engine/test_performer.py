"""Doing effects with a workspace in memory: what is shipped, what was consented to, what a reviewer sees."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.no_setup import NoSetup
from tests.support.simulator import START, a_task

from flyball.clock import SystemClock
from flyball.core.model.effects import Deliver, Measure, OpenPullRequest, Recall, RunAgent, Save
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import (
    Delivered,
    Failed,
    Interrupted,
    Measured,
    PullRequested,
    Recalled,
    Saved,
    TurnEnded,
)
from flyball.core.model.task import Commit, EffectId, Settings
from flyball.engine.performer import Performer
from flyball.ports import Notify, Refusal, Stop, Workspace
from flyball.process import CommandTimedOut, StopFlag, WardenFailed

Files = dict[str, bytes]
HEAD = Commit("head")


class Kept:
    def __init__(self, commit: str) -> None:
        self.commit, self.tree, self.notes = commit, commit, ()


class MemoryWorkspace:
    """Commits are dictionaries of files; `now` is what lies in the folder."""

    root = Path("unused")
    branch = "flyball/001-it-works"

    def __init__(self, now: Files, **commits: Files) -> None:
        self.commits: dict[str, Files] = dict(commits)
        self.now = now
        self.copied: list[str] = []
        self.discarded: list[str] = []
        self.edited: tuple[str, ...] = ()
        self.pushed = 0

    def snapshot(self, _label: str, _message: str, _at: datetime) -> Kept:
        self.commits["snapshot"] = dict(self.now)
        return Kept("snapshot")

    def accept(self, _label: str, _message: str, _at: datetime, *, tree: str, parent: Commit) -> Kept:
        assert parent == HEAD
        return Kept(tree)

    def publish(self, commit: str) -> None:
        assert commit in self.commits

    def changed_files(self, old: Commit, new: Commit) -> tuple[tuple[str, str], ...]:
        before, after = self.commits[old], self.commits[new]
        return tuple(("M", p) for p in sorted({*before, *after}) if before.get(p) != after.get(p))

    def overlay(self, commit: Commit, paths: Mapping[str, Commit | None]) -> str:
        files = dict(self.commits[commit])
        for path, source in paths.items():
            content = self.commits[source].get(path) if source else None
            files.pop(path, None)
            if content is not None:
                files[path] = content
        self.commits["overlaid"] = files
        return "overlaid"

    def read_file(self, commit: Commit, path: str) -> bytes | None:
        return self.commits[commit].get(path)

    def lane(self, _name: str) -> "MemoryWorkspace":
        return self

    def copy(self, _name: str, commit: Commit, _shown: Mapping[str, Commit]) -> Path:
        self.copied.append(commit)
        return self.root

    def discard(self, name: str) -> tuple[str, ...]:
        self.discarded.append(name)
        return self.edited

    def push(self) -> str:
        self.pushed += 1
        return "The branch was pushed to origin."


class Measurer:
    def __init__(self) -> None:
        self.asked: list[Measure] = []

    def measure(
        self, request: Measure, *, settings: Settings, workspace: Workspace, folder: Path, stop: Stop, notify: Notify
    ) -> Measurement:
        self.asked.append(request)
        return Measurement(request.candidate, request.candidate)


class Quiet:
    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        return TurnEnded("ok")

    def ask(self, *_: object) -> None:
        return None


class NoHost:
    def open(self, request: OpenPullRequest) -> PullRequested:
        return PullRequested(detail=f"no host for {request.branch}")


def performer(
    workspace: MemoryWorkspace,
    measurer: Measurer | None = None,
    recall: Callable[[Recall], Recalled] = lambda _effect: Recalled(),
    **settings: Any,
) -> Performer:
    task = a_task()
    return Performer(
        replace(task, settings=replace(task.settings, **settings)),
        workspace=workspace,  # type: ignore[arg-type]
        agents={"any": Quiet()},
        measurer=measurer or Measurer(),
        people=Quiet(),
        setup=NoSetup(),
        clock=SystemClock(),
        folder=Path("unused"),
        notify=lambda *_said: None,
        others={},
        pull_requests=NoHost(),
        recall=recall,
    )


@pytest.mark.req("C42", "O3")
def test_what_is_shipped_is_the_accepted_tree_and_the_report_whatever_else_lies_in_the_workspace() -> None:
    accepted = {"product.py": b"measured", "kept.py": b"kept"}
    now = {"product.py": b"changed later", "stray.py": b"never measured", ".loop/001/report.md": b"report"}
    workspace = MemoryWorkspace(now, head=accepted)
    save = Save(EffectId("save/report-1"), label="report", message="report", parent=HEAD, accepted=True, at=START)
    saved = performer(workspace)(save, StopFlag())
    assert isinstance(saved, Saved)
    assert workspace.commits[saved.commit] == {**accepted, ".loop/001/report.md": b"report"}


@pytest.mark.req("C42")
def test_consent_holds_for_the_file_as_it_was_seen_and_for_nothing_later() -> None:
    seen = {"tests/a.py": b"mended", "tests/b.py": b"mended"}
    later = {"tests/a.py": b"mended", "tests/b.py": b"emptied"}
    workspace = MemoryWorkspace({}, seen=seen, later=later)
    measurer = Measurer()
    measure = Measure(
        EffectId("measure/3"), kind="green", candidate=Commit("later"), base=HEAD, accepted=HEAD,
        consented=dict.fromkeys(("tests/a.py", "tests/b.py"), Commit("seen")),
    )  # fmt: skip
    performer(workspace, measurer)(measure, StopFlag())
    assert measurer.asked[0].consented == {"tests/a.py": "seen"}


@pytest.mark.req("C42")
def test_a_reviewer_sees_the_commit_it_is_asked_about() -> None:
    workspace = MemoryWorkspace({}, head={}, candidate={})
    turn = RunAgent(EffectId("turn/1"), "qa", "GREEN", "any", "", "", 1, 1, copy="qa", commit=Commit("candidate"))
    performer(workspace)(turn, StopFlag())
    assert workspace.copied == ["candidate"]


@pytest.mark.req("C2")
@pytest.mark.parametrize(
    ("copy", "edited", "detail"),
    [
        ("qa", (), ""),
        ("qa", ("a.py", "b.py"), "edits in the disposable copy were discarded: a.py, b.py"),
        ("", ("a.py",), ""),
    ],
)
def test_what_a_reviewer_edits_in_its_copy_is_thrown_away_and_told(
    copy: str, edited: tuple[str, ...], detail: str
) -> None:
    workspace = MemoryWorkspace({}, head={})
    workspace.edited = edited
    ended = performer(workspace)(RunAgent(EffectId("turn/1"), "qa", "QA", "any", "", "", 1, 1, copy=copy), StopFlag())
    assert isinstance(ended, TurnEnded)
    assert (ended.detail, workspace.discarded) == (detail, [copy] if copy else [])


@pytest.mark.req("C52")
@pytest.mark.parametrize("push", [False, True])
def test_a_finished_branch_is_pushed_only_if_the_task_says_so(*, push: bool) -> None:
    workspace = MemoryWorkspace({}, head={})
    done = performer(workspace)(Deliver(EffectId("deliver/1"), commit=HEAD, push=push), StopFlag())
    assert isinstance(done, Delivered)
    assert (workspace.pushed, bool(done.notes)) == (int(push), push)


@pytest.mark.parametrize(
    "error",
    [
        Refusal("there is no remote"),
        CommandTimedOut("'git update-index' did not end within 600 s and was killed"),
        WardenFailed("the process that keeps a run's programs together failed"),
        OSError(28, "No space left on device"),
    ],
)
def test_what_the_world_refuses_is_an_outcome_with_its_words(error: Exception) -> None:
    class Refusing(MemoryWorkspace):
        def snapshot(self, _label: str, _message: str, _at: datetime) -> Kept:
            raise error

    save = Save(EffectId("save/1"), label="turn-1", message="turn-1", parent=HEAD, at=START)
    outcome = performer(Refusing({}, head={}))(save, StopFlag())
    assert outcome == Failed(f"save/1: {error}")


class Slow(Measurer):
    """Says how many measure at the same time, and waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = self.most = 0
        self.go_on = threading.Event()
        self.entered = threading.Semaphore(0)

    def measure(self, request: Measure, **more: Any) -> Measurement:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.entered.release()
        assert self.go_on.wait(30)
        self.inside -= 1
        return super().measure(request, **more)


@pytest.mark.parametrize("side_by_side", [False, True])
def test_gates_of_lanes_run_one_at_a_time_unless_the_settings_allow_more(side_by_side: bool) -> None:
    measurer = Slow()
    perform = performer(MemoryWorkspace({}), measurer, gates_side_by_side=side_by_side)
    with ThreadPoolExecutor(3) as threads:
        ended = [threads.submit(perform, a_measurement(lane), StopFlag()) for lane in ("1.1", "1.2", "1.3")]
        for _ in range(3 if side_by_side else 1):
            assert measurer.entered.acquire(timeout=30)
        measurer.go_on.set()
        assert all(isinstance(each.result(30), Measured) for each in ended)
    assert measurer.most == (3 if side_by_side else 1)


def test_a_measurement_that_waits_for_another_can_be_broken_off() -> None:
    measurer, stop = Slow(), StopFlag()
    perform = performer(MemoryWorkspace({}), measurer)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(perform, a_measurement("1.1"), StopFlag())
        assert measurer.entered.acquire(timeout=30)
        stop.set("no longer wanted")
        assert isinstance(perform(a_measurement("1.2"), stop), Interrupted)
        measurer.go_on.set()
        assert isinstance(first.result(30), Measured)


def a_measurement(lane: str) -> Measure:
    nothing = Commit("c")
    return Measure(
        EffectId(f"{lane}/measure"),
        kind="gates",
        candidate=nothing,
        base=nothing,
        accepted=nothing,
        lane=lane,
        at=START,
    )


@pytest.mark.req("O41")
@pytest.mark.parametrize("error", [OSError("the disk is gone"), Refusal("the journal is damaged")])
def test_a_memory_that_cannot_be_read_is_a_sentence_and_no_failure(error: Exception) -> None:
    def broken(_effect: Recall) -> Recalled:
        raise error

    outcome = performer(MemoryWorkspace({}), recall=broken)(Recall(EffectId("recall/1"), words="w"), StopFlag())
    assert outcome == Recalled(problem=f"recall/1: {error}")
