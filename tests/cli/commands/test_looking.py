"""list, status, logs, report, prompt: what there is and where it stands."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, short_tdd_run, tdd_task

from flyball.cli import sessions
from flyball.cli.ordering import Start
from flyball.cli.support import choosing
from flyball.config.settings import RunFlags
from flyball.core.loop.questions import FOUR_CHOICES
from flyball.core.model.effects import Question
from flyball.core.model.events import Event, Moved, TaskStopped
from flyball.core.model.task import AgentSpec, TaskId
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.journal.sqlite import SqliteJournal
from flyball.wiring.site import Site

TASK = TaskId("007-parse-rows")


def test_a_repository_without_tasks_says_how_to_start_one(repository: Path, flyball):
    assert 'flyball run "' in flyball("list").out
    found = flyball("status")
    assert found.code == 2
    assert found.err.startswith("flyball: There is no task")
    assert json.loads(flyball("list", "--json").out) == []


@pytest.mark.req("C68")
def test_list_shows_state_stage_age_branch_spend_space_and_request(told, site, flyball):
    told(short_tdd_run())
    site.repository.git().out("branch", f"flyball/{TASK}")
    (line,) = flyball("list").out.splitlines()
    cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
    assert cells[:3] == [TASK, "DONE", "SHIP"]
    assert cells[3].endswith(" d ago")
    assert cells[4:] == [f"flyball/{TASK}", "6 turns, 0.30 USD", "0 B", "parse the rows"]
    (row,) = json.loads(flyball("list", "--json").out)
    assert (row["task"], row["state"], row["decision"]) == (TASK, "DONE", "DONE")
    assert row["usage"]["usd"] == pytest.approx(0.3)


@pytest.mark.req("C68")
def test_status_and_list_say_that_contact_is_lost_once_nobody_holds_the_lease(told, site, flyball):
    told(Story().start())
    assert flyball("status").out.splitlines()[0].startswith(f"{TASK}: LOST CONTACT (its process is gone), ")
    assert json.loads(flyball("status", "--json").out)["state"] == "LOST CONTACT"
    with Lease.take(site.journal, site.home.locks, task_scope(TASK), this_process(datetime.now(UTC))):
        assert flyball("status").out.splitlines()[0].startswith(f"{TASK}: RUNNING, ")
        assert json.loads(flyball("list", "--json").out)[0]["state"] == "RUNNING"


@pytest.mark.req("O60")
def test_status_json_has_every_field_the_specification_names(told, site, flyball):
    told(short_tdd_run())
    shown = json.loads(flyball("status", "--json").out)
    wanted = "task workflow stage decision reason health iterations turns branch head checkpoints questions breaker usage started_at updated_at subtasks"
    assert set(wanted.split()) <= set(shown)
    assert shown["decision"] == "DONE"
    assert {"label", "sha", "at"} <= set(shown["checkpoints"][0])
    assert {"state", "no_progress", "same_error"} <= set(shown["breaker"])


def test_status_for_people_names_the_open_question_and_how_to_answer_it(told, site, flyball):
    story = Story().start().ask(Question("breaker", "GREEN makes no progress", FOUR_CHOICES))
    story.add(TaskStopped("blocked", "GREEN makes no progress"))
    told(story)
    shown = flyball("status", "parse rows").out
    assert "BLOCKED: GREEN makes no progress" in shown
    assert f"flyball answer {TASK} ask/1" in shown
    assert shown.count("GREEN makes no progress") == 1


def test_a_journal_that_was_lost_is_not_taken_for_a_repository_without_tasks(repository: Path, flyball):
    (repository / ".loop" / "003-lost").mkdir(parents=True)
    (repository / ".loop" / "003-lost" / "loop-state.json").write_text("{}")
    for command in ("status", "resume"):
        refused = flyball(command)
        assert refused.code == 2
        assert ".loop/ mentions 003-lost. See: flyball doctor" in refused.err


@pytest.mark.req("O2")
def test_words_that_match_several_tasks_give_the_list_and_exit_2(told, site, flyball):
    told(short_tdd_run())
    told(Story(replace(tdd_task(), id=TaskId("008-parse-columns"))).start())
    told(Story(replace(tdd_task(), id=TaskId("009-parse-cells"))).start())
    found = flyball("status", "parse")
    assert found.code == 2
    assert "[008-parse-columns] Status: APPROVED (LOST CONTACT)  " in found.err, "the word of every other screen, too"
    assert "[007-parse-rows] Status: COMPLETE (DONE)  " in found.err
    assert found.err.splitlines()[-1].startswith("flyball: 'parse' may mean several tasks")
    assert flyball("status").code == 2
    assert "008-parse-columns" in flyball("status", "columns").out


def test_a_negative_number_names_no_task(told, site, flyball):
    told(short_tdd_run())
    refused = flyball("status", "--", "-7")
    assert refused.code == 2
    assert refused.err == "flyball: -7 is not a task number; task numbers begin at 1. See: flyball list\n"


def test_words_that_match_nothing_exit_2_and_list_what_there_is(told, site, flyball):
    told(short_tdd_run())
    found = flyball("report", "zebra")
    assert found.code == 2
    assert "no task matches 'zebra'" in found.err
    assert str(TASK) in found.err


def test_commands_work_in_a_subfolder_and_refuse_outside_a_repository(
    told, site, flyball, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    told(short_tdd_run())
    below = site.repository.root / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    assert str(TASK) in flyball("list").out
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    monkeypatch.chdir(outside)
    for command in (["list"], ["status"], ["run", "x"], ["init"], ["trust"], ["reset", "7"]):
        refused = flyball(*command)
        assert refused.code == 2, command
        assert "not in a git repository" in refused.err


def test_a_linked_worktree_shares_its_tasks(told, site, flyball, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    told(short_tdd_run())
    linked = tmp_path / "linked"
    site.repository.git().out("worktree", "add", "-q", str(linked), "-b", "other")
    monkeypatch.chdir(linked)
    assert str(TASK) in flyball("list").out


def test_logs_tell_every_event_worth_telling_and_json_every_event(told, site, flyball):
    story = short_tdd_run()
    told(story)
    shown = flyball("logs", "7").out
    assert "RED -> GREEN: the measurements hold and the agent says that it is done" in shown
    assert "the agent says done, but" in shown
    events = [json.loads(line) for line in flyball("logs", "7", "--json").out.splitlines()]
    assert [event["seq"] for event in events] == [event.seq for event in story.events]


def test_following_ends_with_the_task(told, site, flyball):
    told(short_tdd_run())
    assert "DONE" in flyball("logs", "7", "-f").out.splitlines()[-1]


def test_the_transcript_of_a_turn_is_scrubbed_and_its_last_attempt(told, site, flyball):
    told(short_tdd_run())
    for attempt, said in ((1, b"first"), (2, b"\x1b[31msecond\x1b[0m\xff\n")):
        folder = site.home.turns(TASK) / f"0002-{attempt}"
        folder.mkdir(parents=True)
        (folder / "stdout").write_bytes(said)
    shown = flyball("logs", "7", "--turn", "2").out
    assert "second\\xff" in shown
    assert "\x1b" not in shown
    assert "first" not in shown
    data = json.loads(flyball("logs", "7", "--turn", "2", "--json").out)
    assert data["turn"] == 2
    assert data["files"]["stdout"]["end"].endswith("\\xff\n")
    missing = flyball("logs", "7", "--turn", "5")
    assert missing.code == 2
    assert "no transcript of turn 5" in missing.err


def test_a_link_in_the_place_of_a_transcript_is_not_followed(told, site, flyball, tmp_path):
    told(short_tdd_run())
    (tmp_path / "private").write_text("what only the user may read")
    folder = site.home.turns(TASK) / "0002-1"
    folder.mkdir(parents=True)
    (folder / "stdout").write_text("hello")
    (folder / "report.json").symlink_to(tmp_path / "private")
    shown = flyball("logs", "7", "--turn", "2").out
    assert "hello" in shown
    assert "what only the user may read" not in shown


@pytest.mark.req("C47")
def test_the_transcript_of_a_turn_under_way_shows_no_known_secret(told, site, flyball, monkeypatch):
    told(short_tdd_run())
    monkeypatch.setenv("GH_TOKEN", "ghp-4e81c07d55aa")
    folder = site.home.turns(TASK) / "0002-1"
    folder.mkdir(parents=True)
    (folder / "stdout").write_bytes(b"logged in with ghp-4e81c07d55aa\n")
    for words in ((), ("--json",)):
        shown = flyball("logs", "7", "--turn", "2", *words).out
        assert "logged in with [hidden]" in shown
        assert "ghp-4e81c07d55aa" not in shown


def test_a_turn_of_an_agents_program_is_told_in_words_with_its_end_and_raw_as_it_was(told, site, flyball):
    task = tdd_task()
    told(short_tdd_run(replace(task, agents=(AgentSpec(task.settings.roles["default"].agent, "claude"),))))
    folder = site.home.turns(TASK) / "0002-1"
    folder.mkdir(parents=True)
    call = {"type": "tool_use", "name": "Edit", "input": {"file_path": "rows.py", "new_string": "secret"}}
    event = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I will\nedit."}, call]}}
    printed = json.dumps(event).encode() + b"\n\xff\n"
    (folder / "stdout").write_bytes(printed)
    (folder / "stderr").write_bytes(b"\x1b[31maside")
    shown = flyball("logs", "7", "--turn", "2").out.splitlines()
    assert shown[1:5] == ["I will", "edit.", "→ Edit rows.py", "\\xff"]
    assert shown[6] == "aside"
    assert shown[-1].startswith(
        "===== GREEN 1 turn 2 implementer (scripted, large) … 41 s, 1000+100 tokens, 0.0500 USD; says"
    )
    needs = flyball("logs", "7", "--raw")
    assert (needs.code, "--turn N --raw" in needs.err) == (2, True)
    run = [sys.executable, "-m", "flyball", "logs", "7", "--turn", "2", "--raw"]
    done = subprocess.run(run, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (printed, b"\x1b[31maside")


@pytest.mark.req("O61")
def test_report_is_markdown_or_json_and_an_unknown_format_exits_2(told, site, flyball):
    told(short_tdd_run())
    assert flyball("report", "7").out.startswith("# Report: 007-parse-rows")
    assert json.loads(flyball("report", "7", "--format", "json").out)["decision"] == "DONE"
    assert json.loads(flyball("report", "7", "--json").out)["task"] == TASK
    assert flyball("report", "7", "--format", "pdf").code == 2


@pytest.mark.parametrize("command", ["status", "report", "checkpoints"])
def test_the_journal_is_read_once_however_much_is_told_of_it(
    told, site, flyball, monkeypatch: pytest.MonkeyPatch, command: str
):
    told(story := short_tdd_run())
    read: list[int] = []
    whole = SqliteJournal.read

    def counted(journal: SqliteJournal, task: TaskId, after: int = 0) -> Iterator[Event]:
        for event in whole(journal, task, after):
            read.append(event.seq)
            yield event

    monkeypatch.setattr(SqliteJournal, "read", counted)
    assert flyball(command, TASK).code == 0
    assert read == [event.seq for event in story.events]


def test_prompt_shows_what_a_role_would_get_now_and_names_the_roles_there_are(told, site, flyball):
    told(Story().start())
    shown = flyball("prompt", "tester", "7").out
    assert "RED: tester for task 007-parse-rows" in shown
    assert "AC-1: rows are parsed" in shown
    wrong = flyball("prompt", "pilot", "7")
    assert wrong.code == 2
    assert "implementer" in wrong.err
    assert json.loads(flyball("prompt", "qa", "7", "--json").out)["role"] == "qa"


def test_a_journal_that_cannot_be_read_exits_2_with_one_sentence(told, site, flyball):
    told(Story().start())
    site.journal.append(TASK, [Moved("GREEN", "RED", "x")], epoch=0, at=site.state(TASK).now)
    site.journal.close()
    path = site.home.journal
    for extra in path.parent.glob("journal.sqlite-*"):
        extra.unlink()
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\x55" * 4096
    path.write_bytes(bytes(data))
    broken = flyball("status", "7")
    assert broken.code == 2
    assert "damaged" in broken.err
    assert len(broken.err.strip().splitlines()) == 1


class Person:
    """Somebody at the terminal who types one line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
        self.asked: list[str] = []
        self.started: list[str] = []

        def ask(question: str) -> str:
            self.asked.append(question)
            return typed

        def start(_here: Path, order: Start, _flags: RunFlags) -> int:
            self.started.append(order.request)
            return 0

        monkeypatch.setattr(choosing, "at_terminal", lambda: True)
        monkeypatch.setattr(choosing, "ask", ask)
        monkeypatch.setattr(sessions, "start", start)


@pytest.mark.req("O2")
def test_ordinary_words_around_a_task_are_ignored(told, site, flyball):
    told(short_tdd_run())
    told(Story(replace(tdd_task(), id=TaskId("008-dark-mode"))).start())
    assert flyball("status", "keep working on dark mode").out.startswith("008-dark-mode: ")
    assert flyball("status", "the dark task please").out.startswith("008-dark-mode: ")


@pytest.mark.req("O2")
def test_the_question_which_task_is_meant_takes_a_new_request_too(told, site, flyball, monkeypatch):
    told(Story().start())
    told(Story(replace(tdd_task(), id=TaskId("008-parse-columns"))).start())
    person = Person(monkeypatch, "Add a dark mode")
    said = flyball("resume", "parse")
    assert said.code == 0
    assert "  1  [007-parse-rows] Status: APPROVED" in said.err
    assert "or say what is to be done instead" in person.asked[0]
    assert person.started == ["Add a dark mode"]
    other = Person(monkeypatch, "Add a dark mode")
    assert flyball("status", "parse").code == 2
    assert "instead" not in other.asked[0], "status starts nothing"


@pytest.mark.req("O2")
@pytest.mark.parametrize(("typed", "code"), [("Add a dark mode", 0), ("", 2)])
def test_without_a_task_resume_simply_asks_for_the_new_request(repository, flyball, monkeypatch, typed, code):
    person = Person(monkeypatch, typed)
    assert flyball("resume").code == code
    assert person.started == [typed] * (not code)
    assert "What is to be done?" in person.asked[0]


@pytest.mark.req("O2")
@pytest.mark.parametrize(
    "words", [["logs"], ["diff"], ["checkpoints"], ["rollback", "--to", "RED"], ["report"], ["prompt", "qa"]]
)
def test_commands_about_a_task_choose_the_same_one_as_status(told, site, flyball, words):
    told(short_tdd_run())
    told(Story(replace(tdd_task(), id=TaskId("008-parse-columns"))).start())
    chosen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        wanted = choosing.choose_task

        def note(site: Site, words: str = "", **more: bool) -> TaskId:
            chosen.append(wanted(site, words, **more))
            return TaskId(chosen[-1])

        patch.setattr(choosing, "choose_task", note)
        flyball("status")
        flyball(*words)
    assert chosen == ["008-parse-columns"] * 2


def test_the_session_of_a_turn_stands_in_its_log_and_in_the_report(told, site, flyball):
    story = Story().start().turn(session="5c2e-41")
    told(story)
    turn = site.home.turns(TASK) / "0001-1"
    turn.mkdir(parents=True)
    (turn / "stdout").write_text("hello\n")
    assert "===== turn 1, session 5c2e-41 of scripted" in flyball("logs", "--turn", "1").out
    assert json.loads(flyball("logs", "--turn", "1", "--json").out)["session"] == "5c2e-41"
    assert "- scripted `5c2e-41`: turn 1" in flyball("report").out
    assert json.loads(flyball("report", "--format", "json").out)["turns"][0]["session"] == "5c2e-41"


@pytest.mark.req("C70")
def test_status_prints_the_block_on_request_and_nothing_beside_it(told, flyball):
    told(short_tdd_run())
    shown = flyball("status", "7", "--block")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert (lines[0], lines[-1]) == ("---PRP_PHASE_STATUS---", "---END_PRP_PHASE_STATUS---")
    assert {"STATUS: COMPLETE", "EXIT_SIGNAL: true", "PROGRESS_PERCENT: 100"} <= set(lines)
    assert flyball("status", "7", "--block", "--json").code == 2
