"""checkpoints, diff and rollback on real trees."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import settle
from tests.support.builders import Story, tdd_task

from flyball.clock import system_clock
from flyball.core.model.effects import Prepare, RunAgent, Save
from flyball.core.model.events import Begun, Moved, TaskOpened, TaskStopped
from flyball.core.model.outcomes import Prepared, Saved, TurnEnded
from flyball.core.model.task import Commit, EffectId, TaskId
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.ports import Refusal
from flyball.projections.history.task_history import TaskHistory
from flyball.wiring.run.manual_session import ManualSession, manual_session
from flyball.wiring.site import Site
from flyball.wiring.tasks.checkpoints import (
    checkpoints,
    find_checkpoint,
)

TASK = TaskId("001-parse-rows")


class Work:
    """A task worked by hand: every step is a fact and a tree."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def open(self) -> None:
        def opening(task: TaskId) -> list[TaskOpened]:
            from msgspec.structs import replace

            return [TaskOpened(replace(tdd_task(), id=task), "RED")]

        self.site.journal.open_task(
            "parse-rows", workflow="tdd", title="parse the rows", at=system_clock.now(), opening=opening
        )

    def do(self, *steps: Callable[[ManualSession], object]) -> None:
        with manual_session(self.site, TASK) as hand:
            hand.workspace.prepare()
            for step in steps:
                step(hand)

    @property
    def tree(self) -> Path:
        return self.site.home.folder / "tasks" / TASK / "tree"


def prepare(hand: ManualSession) -> None:
    def do(_state: object) -> Prepared:
        space = hand.workspace
        return Prepared(space.base, space.tree_of(space.base), space.branch)

    hand.perform(Prepare(EffectId("prepare")), do)


def turn(name: str, text: str) -> Callable[[ManualSession], None]:
    """A turn that writes one file, and the checkpoint after it."""

    def step(hand: ManualSession) -> None:
        number = hand.state.turns + 1
        stage = hand.state.main.stage
        effect = RunAgent(
            EffectId(f"turn/{number}"), role="x", stage=stage, agent="a", model="", prompt="", iteration=1, turn=number
        )
        (hand.workspace.root / name).write_text(text)
        hand.perform(effect, lambda _state: TurnEnded("ok"))
        save = Save(EffectId(f"save/{number}"), label=f"turn-{number}", message="t", parent=hand.state.main.head)

        def do(_state: object) -> Saved:
            kept = hand.workspace.snapshot(save.label, save.message, system_clock.now())
            return Saved(Commit(kept.commit), kept.tree, save.label)

        hand.perform(save, do)

    return step


def accept(to: str) -> Callable[[ManualSession], None]:
    """The stage is left: its tree becomes an accepted checkpoint on the branch."""

    def step(hand: ManualSession) -> None:
        label = hand.state.main.stage
        save = Save(EffectId(f"accept/{label}"), label=label, message=label, parent=hand.state.main.head, accepted=True)

        def do(_state: object) -> Saved:
            kept = hand.workspace.accept(
                label, label, system_clock.now(), tree=hand.state.main.tree, parent=hand.state.main.head
            )
            hand.workspace.publish(kept.commit)
            return Saved(Commit(kept.commit), kept.tree, label, accepted=True)

        hand.perform(save, do)
        hand.append(Moved(to, label, "dual gate held"))

    return step


@pytest.fixture(scope="module")
def worked(one_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RED and GREEN are accepted, one turn of REFACTOR was made, and the task was blocked: done once, and kept beside."""
    place = tmp_path_factory.mktemp("history") / "place"
    shutil.copytree(one_commit, place / "project")
    with pytest.MonkeyPatch.context() as monkeypatch:
        site = Site.find(settle(place, monkeypatch))
        work = Work(site)
        work.open()
        work.do(
            prepare, turn("test_rows.py", "tests\n"), accept("GREEN"), turn("rows.py", "green\n"), accept("REFACTOR"),
            turn("rows.py", "worse\n"), lambda hand: hand.append(TaskStopped("blocked", "REFACTOR makes no progress")),
        )  # fmt: skip
        site.journal.close()
    shutil.copytree(place, place.with_name("kept"), symlinks=True)
    return place


@pytest.fixture
def repository(worked: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The work as it was left; at the place where it was done, since its vault knows that by name."""
    shutil.rmtree(worked)
    shutil.copytree(worked.with_name("kept"), worked, symlinks=True)
    return settle(worked, monkeypatch)


@pytest.fixture
def work(site: Site) -> Work:
    return Work(site)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


def test_checkpoints_are_listed_with_label_commit_stage_and_whether_accepted(work, flyball):
    shown = flyball("checkpoints", "1").out
    assert [line.split()[0] for line in shown.splitlines()] == ["start", "turn-1", "RED", "turn-2", "GREEN", "turn-3"]
    rows = json.loads(flyball("checkpoints", "1", "--json").out)
    assert [row["label"] for row in rows if row["accepted"]] == ["start", "RED", "GREEN"]
    assert all({"label", "sha", "at"} <= set(row) for row in rows)


@pytest.mark.req("C25")
def test_diff_of_a_turn_starts_at_the_tree_that_the_turn_began_with_and_leaves_out_flyballs_files(work, flyball):
    flyball("rollback", "1", "--to", "RED")
    own = work.tree / ".loop" / "note.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("flyball's own\n")
    work.do(turn("rows.py", "worse\n"))
    shown = flyball("diff", "1", "--turn", "4").out
    assert "+worse" in shown
    assert "green" not in shown
    assert ".loop" not in shown
    assert "rows.py" in flyball("diff", "1", "--turn", "4", "--stat").out
    assert flyball("diff", "1", "--turn", "9").err.startswith("flyball: Turn 9 left no checkpoint")


@pytest.mark.req("O45")
def test_rollback_to_a_label_restores_the_code_and_keeps_what_is_undone_reachable(work, site, flyball):
    done = json.loads(flyball("rollback", "1", "--to", "RED", "--json").out)
    assert not (work.tree / "rows.py").exists()
    assert (work.tree / "test_rows.py").read_text() == "tests\n"
    undone = json.loads(flyball("checkpoints", "1", "--json").out)[-2]
    assert undone["label"] == done["undone"]
    assert "worse" in flyball("diff", "1", done["undone"]).out
    assert site.state(TASK).main.stage == done["stage"] == "GREEN"


@pytest.mark.req("C46", "O45")
def test_what_a_tree_held_beside_checkpoints_is_listed_and_can_be_gone_back_to(work, site, flyball):
    space = site.workspace(site.state(TASK).task)
    label = space._keep(space.overlay(space.tip, {"rows.py": None}))
    rows = json.loads(flyball("checkpoints", "1", "--json").out)
    assert (label, rows[-1]["label"], rows[-1]["accepted"]) == ("kept-1", "kept-1", False)
    assert json.loads(flyball("rollback", "1", "--to", label, "--json").out)["to"] == label
    assert not (work.tree / "rows.py").exists()


@pytest.mark.req("O45")
def test_rollback_is_a_fact_with_a_history_row_and_an_anti_pattern(work, site, flyball):
    flyball("rollback", "1", "--to", "RED")
    story = TaskHistory(site.journal.read(TASK))
    assert story.rollbacks[-1].undone
    assert any("rolled back to" in row.notes for row in story.rows)
    (lesson,) = [learning for learning in story.learnings if learning.kind == "anti-pattern"]
    assert "rolled back to RED" in lesson.title
    assert "rolled back" in (site.repository.root / ".loop" / TASK / "loop-state.md").read_text()


@pytest.mark.req("O45", "O46")
def test_the_branch_goes_on_with_the_older_tree_and_loses_no_commit(work, site, flyball):
    branch = f"flyball/{TASK}"
    before = git(site.repository.root, "rev-parse", branch).strip()
    index = (site.repository.root / ".git" / "index").read_bytes()
    flyball("rollback", "1", "--to", "RED")
    assert git(site.repository.root, "rev-parse", f"{branch}~1").strip() == before
    assert "rows.py" not in git(site.repository.root, "ls-tree", "--name-only", branch).split()
    assert site.state(TASK).main.head == git(site.repository.root, "rev-parse", branch).strip()
    assert (site.repository.root / ".git" / "index").read_bytes() == index


@pytest.mark.req("O45")
@pytest.mark.parametrize(
    ("word", "label", "stage", "content"),
    [
        ("last-good", "GREEN", "REFACTOR", "green\n"),
        ("1", "RED", "GREEN", None),
        ("2", "start", "RED", None),
        ("turn-3", "turn-3", "REFACTOR", "worse\n"),
    ],
)
def test_rollback_understands_last_good_and_steps_back(work, site, flyball, word, label, stage, content):
    done = json.loads(flyball("rollback", "1", "--to", word, "--json").out)
    assert (done["to"], done["stage"]) == (label, stage)
    file = work.tree / "rows.py"
    assert (file.read_text() if file.exists() else None) == content
    assert site.state(TASK).stopped == TaskStopped("paused", f"rolled back to {label} by a person")


@pytest.mark.req("O45", "C42")
def test_back_at_the_start_the_undone_tests_are_no_longer_protected(work, site, flyball):
    flyball("rollback", "1", "--to", "start")
    state = site.state(TASK)
    assert state.main.stage == "RED"
    assert state.main.tests_accepted == state.main.head
    with manual_session(site, TASK) as hand:
        assert hand.workspace.list_files(state.main.tests_accepted) == ("README.md",)


@pytest.mark.req("O45")
def test_rollback_to_a_commit_and_back_again(work, site, flyball):
    green = next(k.commit for k in TaskHistory(site.journal.read(TASK)).checkpoints if k.label == "GREEN")
    undone = json.loads(flyball("rollback", "1", "--to", "start", "--json").out)["undone"]
    assert flyball("rollback", "1", "--to", green[:12]).code == 0
    assert (work.tree / "rows.py").read_text() == "green\n"
    assert flyball("rollback", "1", "--to", undone).code == 0
    assert (work.tree / "rows.py").read_text() == "worse\n"


@pytest.mark.req("O45")
def test_an_impossible_rollback_changes_nothing(work, site, flyball):
    before = list(site.journal.read(TASK))
    for word in ("nonsense", "9", "ffffffff", ""):
        refused = flyball("rollback", "1", "--to", word)
        assert refused.code == 2, word
        assert "checkpoint" in refused.err
    assert list(site.journal.read(TASK)) == before
    assert (work.tree / "rows.py").read_text() == "worse\n"


@pytest.mark.req("O45")
@pytest.mark.parametrize("word", ["-1", "-2", "-1000"])
def test_a_negative_number_of_steps_back_is_refused_with_what_is_allowed(work, site, flyball, word):
    before = list(site.journal.read(TASK))
    refused = flyball("rollback", "1", "--to", word)
    assert refused.code == 2
    assert f"{word} is not a number of checkpoints; expected 1 for" in refused.err
    assert "a label, a commit or last-good" in refused.err
    assert list(site.journal.read(TASK)) == before


@pytest.mark.req("O45", "C63")
def test_rollback_is_refused_while_a_controller_runs(work, site, flyball):
    before = list(site.journal.read(TASK))
    with Lease.take(site.journal, site.home.locks, task_scope(TASK), this_process(system_clock.now())):
        refused = flyball("rollback", "1", "--to", "RED")
    assert refused.code == 75
    assert str(this_process(system_clock.now()).pid) in refused.err
    assert list(site.journal.read(TASK)) == before


def test_a_killed_turn_is_accounted_for_before_the_tree_is_taken_back(work, site, flyball):
    def begin(hand: ManualSession) -> None:
        effect = RunAgent(
            EffectId("turn/9"), role="x", stage="REFACTOR", agent="a", model="", prompt="", iteration=2, turn=9
        )
        hand.append(Begun(effect))
        (hand.workspace.root / "half.py").write_text("half\n")

    work.do(begin)
    done = json.loads(flyball("rollback", "1", "--to", "GREEN", "--json").out)
    assert site.state(TASK).open == {}
    assert site.state(TASK).main.at_work is None
    assert not (work.tree / "half.py").exists()
    assert "half.py" in flyball("diff", "1", done["undone"], "--stat").out


def test_a_single_checkpoint_is_not_said_to_be_several(work, site):
    first = checkpoints(site, TASK)[:1]
    with pytest.raises(Refusal, match="001-parse-rows has 1 accepted checkpoint; 1 back is before the first"):
        find_checkpoint(TASK, first, "1")


@pytest.mark.req("O45")
def test_a_task_without_checkpoints_says_no_checkpoints(told, flyball):
    told(Story())
    for words in (["checkpoints", "7"], ["rollback", "7", "--to", "RED"], ["diff", "7"]):
        refused = flyball(*words)
        assert refused.code == 2, words
        assert refused.err.startswith("flyball: NO_CHECKPOINTS: 007-parse-rows")


def test_a_name_that_is_no_text_or_holds_a_line_end_is_spelt_out(work, flyball):
    work.do(turn("bad\udcff.txt", "x\n"), turn("two\nlines.txt", "x\n"))
    names = {f["path"] for f in json.loads(flyball("diff", "1", "--json").out)["files"]}
    assert {"bad\\udcff.txt", "two\nlines.txt"} <= names
    shown = flyball("diff", "1", "--stat").out
    assert "bad\\udcff.txt\n" in shown
    assert "two\\nlines.txt\n" in shown


def test_diff_compares_with_the_start_or_a_checkpoint_and_counts_lines(work, flyball):
    whole = flyball("diff", "1").out
    assert "+tests" in whole
    assert "+worse" in whole
    since = flyball("diff", "1", "GREEN").out
    assert "-green" in since
    assert "+tests" not in since
    assert "2 files, 2 lines added, 0 deleted" in flyball("diff", "1", "--stat").out
    assert "1 file, 1 line added, 1 deleted" in flyball("diff", "1", "GREEN", "--stat").out
    assert {f["path"] for f in json.loads(flyball("diff", "1", "--json").out)["files"]} == {"rows.py", "test_rows.py"}
    assert flyball("diff", "1", "nonsense").code == 2
