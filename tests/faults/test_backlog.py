"""A backlog worked by real processes: to its end, killed on the way, rolled back, and against what agents do to it."""

import json
import shutil

import pytest
from tests.faults.world import PROGRAMS, World, check_journal
from tests.support.work_folder import block

from flyball.core.fold.evolve import fold
from flyball.core.model.events import Event, TaskReopened
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.core.workflows.backlog.record import record_of
from flyball.journal.sqlite import SqliteJournal

pytestmark = pytest.mark.slow

ONE, TWO, ASKING = "BUG-001@aaaaaa", "FEAT-002@bbbbbb", "FEAT-003@cccccc"
TASK = TaskId("001-work-through-backlog")
BRANCH = f"flyball/{TASK}"
REPORTED = "docs: report on Work through the backlog in .work"
KILLS = (
    "work.write.inside:1",
    "work.write.after:2",
    "work.history.written:1",
    "work.history.moved:2",
    "work.write.after:7",
    "engine.outcome.known:8",
    "engine.outcome.known:13",
    "journal.append.after:60",
)
"""While an issue is taken up, moved and decided upon, and while its validators are at work."""


class Backlog:
    """A world whose repository has a backlog, tracked as the rest of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.agent = f"sh {PROGRAMS / 'tiny_backlog_agent.sh'}"
        self.issues = world.repository / ".work" / "agent" / "issues"
        self.issues.mkdir(parents=True)
        (self.issues / "high.md").write_text(f"# High\n\n{block(ONE)}")
        (self.issues / "medium.md").write_text(f"# Medium\n\n{block(TWO, priority='medium')}")
        (world.repository / ".work" / "constitution.md").write_text("# Constitution\n\nBe kind.\n")
        world.git("add", ".work")
        world.git("commit", "-q", "-m", "A backlog", ".work")

    def arguments(self, *more: str) -> list[str]:
        world = self.world
        flags = ["--unattended", "--sandbox", "none", "--agent-command", world.agent, "--gate", f"test={world.gate}"]
        return ["run", "--from", ".work", *flags, *more]

    def waiting(self) -> "Backlog":
        """One more issue, which only a person can settle."""
        (self.issues / "low.md").write_text(
            f"# Low\n\n{block(ASKING, 'proposed', 'tags: [needs-input]', priority='low')}"
        )
        return self

    def text(self, file: str) -> str:
        path = self.issues / file
        return path.read_text() if path.exists() else ""

    def events(self) -> list[Event]:
        with SqliteJournal.open(next(self.world.home.glob("repos/*/journal.sqlite"))) as journal:
            return list(journal.read(TASK))

    def state(self) -> State:
        state = fold(self.events())
        assert state is not None
        return state

    def subjects(self) -> list[str]:
        return self.world.git("log", "--format=%s", f"main..{BRANCH}").splitlines()


@pytest.fixture
def backlog(world: World) -> Backlog:
    return Backlog(world)


@pytest.mark.req("E30")
def test_a_backlog_is_worked_to_its_end_and_the_branch_merges(backlog: Backlog) -> None:
    world = backlog.world
    code, said = world.flyball(*backlog.arguments())
    assert code == 0, said
    assert backlog.subjects() == [REPORTED, f"fix: About {TWO}", f"fix: About {ONE}"]
    assert f"Fixes: {TWO}\nCheckpoint: {TWO} - {TWO}" in world.git("log", "--format=%b", "-1", "--skip=1", BRANCH)
    assert backlog.text("high.md") == "# High\n\n"
    assert [backlog.text("history.md").count(f"id: {issue}") for issue in (ONE, TWO)] == [1, 1]
    assert "Decision: DONE" in (backlog.issues.parent / "focus.md").read_text()
    changed = world.git("diff", "--name-only", f"main...{BRANCH}", "--", ".work")
    assert changed == "", "the branch does not touch the backlog, whatever the agent did to it"
    world.git("merge", "-q", "--no-edit", BRANCH)
    check_journal(backlog.events())


@pytest.mark.req("C66")
def test_feedback_on_a_finished_backlog_is_an_issue_of_it_and_is_worked_on(backlog: Backlog) -> None:
    world = backlog.world
    assert world.flyball(*backlog.arguments())[0] == 0
    tip, known = world.git("rev-parse", BRANCH), backlog.events()
    code, said = world.flyball("reopen", TASK, "say goodbye, too")
    assert code == 0, said
    (event,) = [e.fact for e in backlog.events() if isinstance(e.fact, TaskReopened)]
    assert event.feedback == "say goodbye, too"
    (issue,) = event.items
    assert issue.startswith("ENHANCE-001@")
    assert f"id: {issue}" in backlog.text("history.md")
    assert "source: person" in backlog.text("history.md")
    assert backlog.subjects()[0] == REPORTED
    assert backlog.subjects()[1] == "feat: say goodbye, too"
    assert record_of(backlog.state()).completed == (ONE, TWO, issue)
    assert backlog.state().decision == "DONE"
    assert backlog.events()[: len(known)] == known
    world.git("merge-base", "--is-ancestor", tip, BRANCH)
    assert all(each in world.flyball("report", TASK)[1] for each in (ONE, TWO, issue))
    check_journal(backlog.events())


@pytest.mark.req("C61", "C66")
@pytest.mark.parametrize(
    "kill", ["journal.post.after:1", "work.write.inside:1", "work.write.after:1", "journal.append.after:6"]
)
def test_feedback_on_a_backlog_is_written_once_though_flyball_is_killed(backlog: Backlog, kill: str) -> None:
    world = backlog.world
    assert world.flyball(*backlog.arguments())[0] == 0
    assert world.flyball("reopen", TASK, "say goodbye, too", kill=kill)[0] == -9
    code, said = world.flyball("resume", TASK)
    assert code == 0, said
    (event,) = [e.fact for e in backlog.events() if isinstance(e.fact, TaskReopened)]
    assert backlog.text("history.md").count("say goodbye, too") == backlog.text("history.md").count(event.items[0]) * 2
    assert len(event.items) == 1
    check_journal(backlog.events())


@pytest.mark.req("E30")
def test_what_agents_write_into_the_backlog_or_a_copy_is_discarded_and_named(backlog: Backlog) -> None:
    world = backlog.world
    assert world.flyball(*backlog.arguments())[0] == 0
    code, report = world.flyball("report", TASK)
    assert code == 0
    assert ".work/agent/issues/high.md stays as it was" in report
    assert "edits in the disposable copy were discarded: README.md" in report
    assert "mine" not in backlog.text("high.md")
    assert world.git("show", f"{BRANCH}:README.md") == "# greeter"


@pytest.mark.req("E13")
def test_the_cycle_limit_exits_4_and_more_cycles_go_on(backlog: Backlog) -> None:
    world = backlog.world
    code, said = world.flyball(*backlog.arguments("--max-cycles", "1"))
    assert code == 4, said
    assert f"flyball resume {TASK} --max-cycles 10" in said
    assert world.flyball("resume", TASK, "--max-cycles", "10")[0] == 0


def test_an_issue_that_waits_for_a_person_ends_blocked_and_an_answer_lets_it_go_on(backlog: Backlog) -> None:
    world = backlog.waiting().world
    code, said = world.flyball(*backlog.arguments())
    assert code == 3, said
    assert f"{ASKING}: tagged needs-input" in said
    assert world.flyball("resume")[0] == 3, "nothing has changed"
    question = backlog.state().stopped
    assert question is not None
    assert world.flyball("answer", TASK, question.question, "red, please")[0] == 0
    code, said = world.flyball("resume")
    assert code == 0, said
    assert backlog.text("history.md").count(f"id: {ASKING}") == 1


@pytest.mark.req("E31")
def test_a_rollback_proposes_the_issue_again_and_it_can_be_done_again(backlog: Backlog) -> None:
    world = backlog.waiting().world
    assert world.flyball(*backlog.arguments())[0] == 3
    code, said = world.flyball("rollback", TASK, "--to", ONE)
    assert code == 0, said
    assert "status: proposed" in backlog.text("medium.md")
    assert f"id: {TWO}" in backlog.text("medium.md")
    assert "status: reverted" in backlog.text("history.md")
    assert ONE not in backlog.text("high.md")
    assert record_of(backlog.state()).completed == (ONE,)
    code, said = world.flyball("resume")
    assert code == 3, said
    assert f"id: {TWO}" not in backlog.text("medium.md")
    assert record_of(backlog.state()).completed == (ONE, TWO)


def test_the_other_commands_know_a_backlog_task(backlog: Backlog) -> None:
    world = backlog.waiting().world
    assert world.flyball(*backlog.arguments())[0] == 3
    status = json.loads(world.flyball("status", TASK, "--json")[1])
    assert (status["workflow"], status["stage"], status["decision"]) == ("backlog", "EVALUATE", "BLOCKED")
    assert [(each["id"], each["state"]) for each in status["subtasks"]] == [(ONE, "completed"), (TWO, "completed")]
    assert TASK in world.flyball("list")[1]
    assert f"cycle 2: {TWO}" in world.flyball("logs", TASK)[1]
    assert "Be kind." in world.flyball("prompt", "spec-auditor", TASK)[1]
    assert "FEAT_002_bbbbbb.txt" in world.flyball("diff", TASK, ONE)[1]
    assert ONE in world.flyball("checkpoints", TASK)[1]


@pytest.mark.req("E32")
def test_without_a_constitution_nothing_is_begun_and_init_can_write_one(backlog: Backlog) -> None:
    world = backlog.world
    (world.repository / ".work" / "constitution.md").unlink()
    code, said = world.flyball(*backlog.arguments())
    assert code == 2
    assert "flyball init --constitution" in said
    assert world.flyball("list", "--json")[1].strip() == "[]"
    assert world.flyball("init", "--constitution")[0] == 0
    assert world.flyball("init", "--constitution")[0] == 2, "one that is there is the user's"
    assert world.flyball(*backlog.arguments())[0] == 0


def test_running_again_takes_up_the_same_task_and_a_finished_one_leads_to_a_new_one(backlog: Backlog) -> None:
    world = backlog.world
    assert world.flyball(*backlog.arguments("--max-cycles", "1"))[0] == 4
    assert world.flyball(*backlog.arguments("--max-cycles", "9"))[0] == 0
    code, said = world.flyball(*backlog.arguments())
    assert code == 0, said
    assert "002-work-through-backlog" in said
    assert "All issues completed" in said


@pytest.mark.req("E31", "C61")
def test_a_kill_on_the_way_loses_no_issue_and_completes_none_twice(backlog: Backlog) -> None:
    world = backlog.world
    untouched = world.outside / "untouched"
    shutil.copytree(world.folder, untouched, symlinks=True)
    for kill in KILLS:
        shutil.rmtree(world.folder)
        shutil.copytree(untouched, world.folder, symlinks=True)
        code, said = world.flyball(*backlog.arguments(), kill=kill)
        assert code == -9, f"{kill} was not reached: {said}"
        texts = [path.read_text() for path in backlog.issues.glob("*.md")]
        assert all(any(f"id: {issue}" in text for text in texts) for issue in (ONE, TWO)), f"lost at {kill}"
        code, said = world.flyball("resume")
        assert code == 0, f"{kill}: {said}"
        assert backlog.subjects() == [REPORTED, f"fix: About {TWO}", f"fix: About {ONE}"], kill
        assert [backlog.text("history.md").count(f"id: {issue}") for issue in (ONE, TWO)] == [1, 1], kill
        assert backlog.text("high.md") == "# High\n\n", kill
        check_journal(backlog.events())
    assert world.orphans() == []
