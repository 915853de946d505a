"""flyball hook stop: what an agent that is about to stop is told."""

import fcntl
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flyball import hook
from flyball.config.home import home_folder
from flyball.core.claims.reviews import VALIDATORS, Validation
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.values import Session, Situation
from flyball.documents.governed import govern, release
from flyball.documents.work_folder import WorkFolder
from flyball.hook import MOST_ALIKE, MOST_BLOCKS, stop

TASK = "003-parse-rows"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"FLYBALL_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}


def event(tree: Path, *, active: bool | None = False, session: str = "s1", **more: object) -> io.StringIO:
    said = {"session_id": session, "cwd": str(tree), "hook_event_name": "Stop", "stop_hook_active": active, **more}
    return io.StringIO(json.dumps({key: value for key, value in said.items() if value is not None}))


def write(
    tmp_path: Path, tree: Path, decision: str = "CONTINUE", *, task: str = TASK, lock: Path | None = None, **more
):
    """The verdict on a task that works in the tree."""
    known = {
        "task": task,
        "decision": decision,
        "stage": "GREEN",
        "reason": "2 tests fail",
        "missing": ["test_a"],
        **more,
    }
    govern(str(tmp_path / "home"), str(tree), task, verdict=json.dumps(known), lock=str(lock or tmp_path / "none.lock"))


def test_a_folder_nobody_governs_is_left_alone(tree, environment):
    assert stop(event(tree), environment) is None


def test_an_unfinished_task_keeps_the_agent_and_says_what_is_missing(tmp_path, tree, environment):
    write(tmp_path, tree)
    answer = stop(event(tree / "src"), environment)
    assert answer is not None
    assert answer["decision"] == "block"
    for part in (TASK, "GREEN", "2 tests fail", "test_a", f"flyball resume {TASK}"):
        assert part in answer["reason"]


def test_at_a_limit_the_command_that_raises_it_is_named(tmp_path, tree, environment):
    write(tmp_path, tree, stopped="limit", next_command=f"flyball resume {TASK} --max-turns N")
    answer = stop(event(tree), environment)
    assert answer is not None
    assert f"flyball resume {TASK} --max-turns N" in answer["reason"]


def test_gemini_is_answered_in_its_own_words(tmp_path, tree, environment):
    write(tmp_path, tree)
    answer = stop(event(tree, hook_event_name="AfterAgent"), environment)
    assert answer is not None
    assert answer["decision"] == "deny"


@pytest.mark.parametrize(("decision", "more"), [("BLOCKED", {}), ("CONTINUE", {"stopped": "paused"})])
def test_what_only_a_person_can_move_does_not_keep_the_agent_but_is_told(tmp_path, tree, environment, decision, more):
    write(tmp_path, tree, decision, **more)
    answer = stop(event(tree), environment)
    assert answer is not None
    assert set(answer) == {"systemMessage"}
    assert TASK in answer["systemMessage"]


def test_a_finished_task_says_nothing(tmp_path, tree, environment):
    write(tmp_path, tree, "DONE")
    assert stop(event(tree), environment) is None


def test_a_task_that_is_over_governs_nothing(tmp_path, tree, environment):
    write(tmp_path, tree)
    release(str(tmp_path / "home"), str(tree), TASK)
    release(str(tmp_path / "home"), str(tree), TASK)
    assert stop(event(tree), environment) is None


def test_a_turn_that_flyball_drives_ends_when_it_ends(tmp_path, tree, environment):
    write(tmp_path, tree)
    assert stop(event(tree), {**environment, "FLYBALL_NONCE": "abc"}) is None


def test_while_a_controller_works_in_the_tree_nobody_else_is_sent_on(tmp_path, tree, environment):
    lock = tmp_path / "task.lock"
    lock.write_text('{"pid": 1}')
    write(tmp_path, tree, lock=lock)
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert stop(event(tree), environment) is None
    assert stop(event(tree), environment) is not None


def test_of_several_tasks_in_one_tree_the_last_written_speaks(tmp_path, tree, environment):
    write(tmp_path, tree, task="001-older")
    write(tmp_path, tree, task="002-newer")
    older = next((tmp_path / "home" / "trees").rglob("001-older.json"))
    os.utime(older, (1, 1))
    answer = stop(event(tree), environment)
    assert answer is not None
    assert "002-newer" in answer["reason"]


def blocks(
    tmp_path: Path, tree: Path, environment: dict[str, str], *, changing: bool, active: bool | None = True
) -> int:
    """How often the agent is kept in a row; the host says that it was."""
    for number in range(30):
        write(tmp_path, tree, reason=f"{number} tests fail" if changing else "2 tests fail")
        answer = stop(event(tree, active=active if number else (False if active else None)), environment)
        if "decision" not in (answer or {}):
            assert answer is not None
            assert "not done" in answer["systemMessage"]
            return number
    pytest.fail("it would go on for ever")


def test_it_never_blocks_for_ever_and_stops_before_the_host_overrides_it(tmp_path, tree, environment):
    assert blocks(tmp_path, tree, environment, changing=True) == MOST_BLOCKS < 8


def test_the_same_reason_is_not_given_over_and_over(tmp_path, tree, environment):
    assert blocks(tmp_path, tree, environment, changing=False) == MOST_ALIKE


def test_a_host_that_does_not_say_whether_it_was_kept_before_is_counted_too(tmp_path, tree, environment):
    assert blocks(tmp_path, tree, environment, changing=True, active=None) == MOST_BLOCKS


def test_a_new_prompt_of_the_person_begins_a_new_count(tmp_path, tree, environment):
    blocks(tmp_path, tree, environment, changing=True)
    answer = stop(event(tree, active=False), environment)
    assert answer is not None
    assert answer["decision"] == "block"


def test_conversations_are_counted_apart(tmp_path, tree, environment):
    blocks(tmp_path, tree, environment, changing=True)
    answer = stop(event(tree, active=True, session="s2"), environment)
    assert answer is not None
    assert answer["decision"] == "block"


def test_where_blocks_cannot_be_counted_there_is_one_at_most(tmp_path, tree, environment):
    write(tmp_path, tree)
    (tmp_path / "home" / "hooks").write_text("in the way")
    first, second = stop(event(tree), environment), stop(event(tree, active=True), environment)
    assert first is not None
    assert second is not None
    assert ("decision" in first, "decision" in second) == (True, False)


def test_the_count_goes_when_the_work_is_done(tmp_path, tree, environment):
    write(tmp_path, tree)
    stop(event(tree), environment)
    assert list((tmp_path / "home" / "hooks").iterdir())
    write(tmp_path, tree, "DONE")
    assert stop(event(tree, active=True), environment) is None
    assert not list((tmp_path / "home" / "hooks").iterdir())


ISSUE = "---\nid: FEAT-001@a1b2c3\ntitle: Parse rows\nstatus: {}\n---\n\nDo it.\n"


def issues(tree: Path, status: str) -> None:
    folder = tree / ".work" / "agent" / "issues"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "high.md").write_text(ISSUE.format(status))


def test_an_open_issue_of_a_backlog_keeps_the_agent_and_is_named(tree, environment):
    issues(tree, "proposed")
    answer = stop(event(tree / "src"), environment)
    assert answer is not None
    assert answer["decision"] == "block"
    assert "FEAT-001" in answer["reason"]


def test_a_backlog_that_changed_is_read_anew_and_an_unchanged_one_is_not(tree, environment, monkeypatch):
    issues(tree, "proposed")
    first = stop(event(tree), environment)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "flyball.wiring.tools.evaluation", None)
        assert stop(event(tree), environment) == first
    issues(tree, "blocked")
    answer = stop(event(tree), environment)
    assert answer is not None
    assert "BLOCKED" in answer["systemMessage"]


def test_issues_are_not_read_anew_for_a_change_beside_them(tree, environment, monkeypatch):
    issues(tree, "proposed")
    first = stop(event(tree), environment)
    (tree / ".work" / "agent" / "focus.md").write_text("# Agent Focus\n")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "flyball.core.workflows.backlog.issues.reading", None)
        assert stop(event(tree), environment) == first
    (tree / ".work" / "agent" / "orchestrator-state.json").write_text('{"cycles": 3, "cycles_without_completion": 3}')
    answer = stop(event(tree), environment)
    assert answer is not None
    assert "BLOCKED" in answer["systemMessage"]


def test_a_change_is_seen_though_size_and_time_are_as_before(tree, environment):
    issues(tree, "proposed")
    path = tree / ".work" / "agent" / "issues" / "high.md"
    stop(event(tree), environment)
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        issues(tree, "deferred")  # as long as `proposed`
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    answer = stop(event(tree), environment)
    assert answer is not None
    assert "BLOCKED" in answer["systemMessage"]


def ended_done(tree: Path) -> None:
    """A loop worked through the backlog, and was told that all is well."""
    folder = WorkFolder(tree)
    passed = tuple(Validation(kind, "pass") for kind in VALIDATORS)
    said = evaluate(Situation(folder.backlog(), validations=passed, build="pass", gates="met"))
    assert said.decision == "DONE"
    folder.record(Session(), said, at="2026-01-05T10:00:00Z")


def test_a_backlog_that_ended_done_is_done_at_the_next_stop_and_after_an_evaluation_that_knows_nothing(
    tree, environment
):
    issues(tree, "completed")
    assert "BLOCKED" in (stop(event(tree), environment) or {})["systemMessage"]
    ended_done(tree)
    assert stop(event(tree), environment) is None
    folder = WorkFolder(tree)
    folder.record(Session(), evaluate(Situation(folder.backlog())), at="2026-01-05T11:00:00Z")
    assert stop(event(tree), environment) is None
    folder.record(Session(), evaluate(Situation(folder.backlog(), build="fail")), at="2026-01-05T12:00:00Z")
    assert "BLOCKED" in (stop(event(tree), environment) or {})["systemMessage"]


def test_an_issue_that_opens_in_a_folder_below_is_seen_at_the_next_stop(tree, environment):
    issues(tree, "completed")
    below = tree / ".work" / "agent" / "issues" / "later" / "more.md"
    below.parent.mkdir()
    below.write_text("---\nid: BUG-002@b2b2b2\ntitle: x\nstatus: completed\n---\n")
    ended_done(tree)
    assert stop(event(tree), environment) is None
    with below.open("r+") as file:
        file.write(file.read().replace("completed", "proposed"))
    assert "BUG-002@b2b2b2" in (stop(event(tree), environment) or {})["reason"]


def test_nothing_is_written_into_the_backlog(tree, environment):
    issues(tree, "in-progress")
    before = sorted((path, path.stat().st_mtime_ns) for path in (tree / ".work").rglob("*"))
    stop(event(tree), environment)
    assert sorted((path, path.stat().st_mtime_ns) for path in (tree / ".work").rglob("*")) == before


def test_a_backlog_outside_the_repository_is_none_of_its_business(tree, environment):
    issues(tree.parent, "proposed")
    (tree / ".git").mkdir()
    assert stop(event(tree / "src"), environment) is None


def test_a_task_that_works_here_comes_before_the_backlog(tmp_path, tree, environment):
    issues(tree, "proposed")
    write(tmp_path, tree)
    answer = stop(event(tree), environment)
    assert answer is not None
    assert TASK in answer["reason"]
    assert "FEAT-001" not in answer["reason"]


def run(*words: str, stdin: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flyball", "hook", *words]
    return subprocess.run(command, input=stdin, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("stdin", ["", "not json", "[]", "{", "[" * 100_000])
def test_bad_input_never_stops_the_host(stdin, environment):
    done = run("stop", stdin=stdin, environment=environment)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("flyball: the Stop hook gave no verdict: ")


@pytest.mark.parametrize("words", [(), ("start",), ("stop-it",)])
def test_a_hook_that_does_not_exist_is_no_block_either(words, environment):
    done = run(*words, stdin="{}", environment=environment)
    assert done.returncode == 1
    assert "flyball hook stop" in done.stderr


def test_a_file_of_ours_that_is_broken_is_passed_over(tmp_path, tree, environment):
    write(tmp_path, tree)
    next((tmp_path / "home" / "trees").rglob("*.json")).write_text('{"verdict": 3}')
    assert stop(event(tree), environment) is None


def test_the_command_answers_in_the_words_of_the_host(tmp_path, tree, environment):
    write(tmp_path, tree)
    done = run("stop", stdin=event(tree).getvalue(), environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["decision"] == "block"


def test_the_hook_finds_the_same_folder_as_everybody_else(monkeypatch, tmp_path):
    for name in ("FLYBALL_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert hook._home(os.environ) == str(home_folder())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert hook._home(os.environ) == str(home_folder())
    monkeypatch.setenv("FLYBALL_HOME", "~/fly")
    assert hook._home(os.environ) == str(home_folder())


def test_without_a_backlog_nothing_but_the_standard_library_is_imported(tree, environment):
    code = "import sys; from flyball import hook; hook.main(['stop']); sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=event(tree).getvalue(),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    tops = {name.partition(".")[0] for name in done.stderr.split()}
    assert not tops & {"msgspec", "typer", "rich", "yaml", "platformdirs", "asyncio", "pathlib"}
