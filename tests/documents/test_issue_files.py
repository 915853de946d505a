"""Changes to issue files on disk: durable, minimal, and whole again after a crash at any step."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.work_folder import Work, block

from flyball import faults
from flyball.core.workflows.backlog.issues.edits import HEADER, MAX_HISTORY
from flyball.core.workflows.backlog.selection import in_order
from flyball.core.workflows.backlog.values import Issue
from flyball.documents.errors import DocumentError, WorkFolderUnusable
from flyball.documents.issue_files import IssueFiles
from flyball.documents.kept_files import KeptFolder
from flyball.documents.work_folder import WorkFolder

ONE, TWO, THREE = "BUG-001@a1b2c3", "BUG-002@b2c3d4", "BUG-003@c3d4e5"
AT = "2026-03-01T12:00:00Z"


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path)
    made.put("high.md", block(ONE), block(TWO, "in-progress"), block(THREE))
    return made


@pytest.fixture
def files(work: Work) -> IssueFiles:
    return IssueFiles(work.root)


def test_a_status_is_changed_in_its_file_and_no_other_byte(work, files):
    before = work.everything()
    files.set_status("high.md", ONE, "in-progress")
    name = ".work/agent/issues/high.md"
    edited = before[name].replace(b"status: proposed", b"status: in-progress", 1)
    assert work.everything() == before | {name: edited}
    files.set_status("high.md", ONE, "in-progress")
    assert work.everything() == before | {name: edited}


def test_what_cannot_be_changed_is_refused_in_a_sentence_and_nothing_is_written(work, files):
    before = work.everything()
    for deed, said in (
        (lambda: files.set_status("high.md", ONE, "completed"), "cannot become completed"),
        (lambda: files.set_status("low.md", ONE, "in-progress"), f"low.md: {ONE} is in no block"),
        (lambda: files.move_to_history("high.md", ONE, at=AT), "cannot become completed"),
        (lambda: files.move_to_history("high.md", "BUG-009@a1b2c3", at=AT), "is in no block"),
        (lambda: files.revert(ONE, at=AT, reason="x"), "is not in history"),
    ):
        with pytest.raises(DocumentError, match=said):
            deed()
    assert work.everything() == before


@pytest.mark.req("E30")
def test_a_new_issue_is_added_once_and_a_file_that_was_missing_gets_a_title(work, files):
    new = Issue(
        "SEC-001@d4e5f6", title="Hole", file="critical.md", type="security", priority="critical", created="2026-03-01"
    )
    files.add(new, "security-audit")
    files.add(new, "security-audit")
    assert work.text("critical.md").startswith("# Critical\n\n---\nid: SEC-001@d4e5f6\n")
    assert work.text("critical.md").count("SEC-001@d4e5f6") == 1


@pytest.mark.req("E31")
def test_a_finished_issue_moves_to_history_and_leaves_no_trace_in_its_file(work, files):
    files.move_to_history("high.md", TWO, at=AT)
    assert work.text("high.md") == f"# high.md\n\n{block(ONE)}{block(THREE)}"
    history = work.text("history.md")
    assert history.startswith(HEADER)
    assert f"id: {TWO}" in history
    assert "status: completed\ncompleted: 2026-03-01T12:00:00Z\nmoved_from: high.md\n" in history
    assert WorkFolder(work.root).backlog().finished == (TWO,)


@pytest.mark.req("E31")
def test_rolling_back_recreates_the_issue_under_its_id_and_history_only_grows(work, files):
    files.move_to_history("high.md", TWO, at=AT)
    before = work.text("history.md")
    assert files.revert(TWO, at="2026-03-02T12:00:00Z", reason="tests went red") == "high.md"
    assert work.text("history.md").startswith(before)
    assert "status: reverted\nreverted: 2026-03-02T12:00:00Z\nreason: 'tests went red'\n" in work.text("history.md")
    backlog = WorkFolder(work.root).backlog()
    assert {issue.id: issue.status for issue in backlog.issues} == {ONE: "proposed", TWO: "proposed", THREE: "proposed"}
    assert backlog.finished == ()
    files.revert(TWO, at="2026-03-03T12:00:00Z", reason="again")
    assert work.text("history.md").count("status: reverted") == 1
    files.set_status("high.md", TWO, "in-progress")
    files.move_to_history("high.md", TWO, at="2026-03-04T12:00:00Z")
    assert WorkFolder(work.root).backlog().finished == (TWO,)
    assert work.text("history.md").count(f"id: {TWO}") == 3


@pytest.mark.req("E30")
def test_the_shortlist_gives_issues_to_history_and_gets_none_back(work, files):
    work.put("shortlist.md", block(TWO, "in-progress", priority="low"))
    work.put("high.md")
    files.move_to_history("shortlist.md", TWO, at=AT)
    assert work.text("shortlist.md") == "# shortlist.md\n\n"
    assert files.revert(TWO, at=AT, reason="x") == "low.md"
    assert work.text("shortlist.md") == "# shortlist.md\n\n"


@pytest.mark.req("E1")
def test_a_history_above_150_kb_is_put_aside_under_the_next_number(work, files):
    full = HEADER + block("BUG-000@000000", "completed") + "x" * MAX_HISTORY
    (work.issues / "history.md").write_text(full)
    (work.issues / "history-7.md").write_text("older\n")
    files.move_to_history("high.md", TWO, at=AT)
    assert work.text("history-8.md") == full
    assert work.text("history-7.md") == "older\n"
    assert work.text("history.md").startswith(HEADER)
    assert WorkFolder(work.root).backlog().finished == ("BUG-000@000000", TWO)


@pytest.mark.req("E1")
def test_every_markdown_file_below_the_folder_counts_after_low_and_before_the_backlog(work, files):
    names = ("medium-2.md", "Critical.md", "migration-review.md", "HIGH_2.MD", "later/more.md")
    for number, name in enumerate(names):
        work.put(name, block(f"BUG-01{number}@a1b2c3"))
    work.put("low.md", block("BUG-020@a1b2c3", "in-progress", priority="low"))
    work.put("backlog.md", block("BUG-021@a1b2c3", "in-progress"))
    work.put("notes.txt", block("BUG-022@a1b2c3"))
    backlog = WorkFolder(work.root).backlog()
    assert [issue.file for issue in in_order(backlog.issues, {})] == [
        *["high.md"] * 3,
        "low.md",
        *sorted(names),
        "backlog.md",
    ]
    assert [each.file for each in backlog.deviations] == sorted(names)
    assert backlog.unread == ()


@pytest.mark.req("E1", "E31")
@pytest.mark.parametrize("name", ["Critical.md", "later/more.md"])
def test_an_issue_of_another_file_is_worked_and_moved_to_history_as_any_other(work, files, name):
    work.put(name, block("BUG-010@a1b2c3", priority="medium"), block("BUG-011@a1b2c3"))
    files.set_status(name, "BUG-010@a1b2c3", "in-progress")
    files.move_to_history(name, "BUG-010@a1b2c3", at=AT)
    assert "BUG-010@a1b2c3" not in work.text(name)
    assert "BUG-011@a1b2c3" in work.text(name)
    assert WorkFolder(work.root).backlog().finished == ("BUG-010@a1b2c3",)
    assert files.revert("BUG-010@a1b2c3", at=AT, reason="x") == "medium.md"


@pytest.mark.req("E1")
def test_templates_are_left_out_and_files_of_the_format_never_are(work):
    for name in ("template.md", "templates/bug.md", "notes.md"):
        work.put(name, block("BUG-010@a1b2c3"))
    found = WorkFolder(work.root, ("template*", "*.md")).backlog()
    assert {issue.file for issue in found.issues} == {"high.md"}
    found = WorkFolder(work.root, ("Template*.md", "templates/*")).backlog()
    assert {issue.file for issue in found.issues} == {"high.md", "notes.md"}


@pytest.mark.req("E1")
def test_a_document_in_a_folder_may_mention_issues_and_what_it_defines_counts(work):
    work.put("references/notes.md", "# Notes\n\nSEC-009@a1b2c3 was hard.\n")
    assert WorkFolder(work.root).backlog().unread == ()
    work.put("references/notes.md", "# Notes\n\n- [ ] SEC-009@a1b2c3\n")
    assert [place.line for place in WorkFolder(work.root).backlog().unread] == [5]


@pytest.mark.req("E14")
def test_an_open_issue_that_stands_in_history_alone_is_named(work):
    work.put("history.md", block("SEC-009@a1b2c3"), block("SEC-010@a1b2c3", "completed"))
    (place,) = WorkFolder(work.root).backlog().unread
    assert (place.file, place.message) == ("history.md", "SEC-009@a1b2c3 is proposed here, and no other file has it")


def test_line_ends_of_the_file_survive_the_move(work, files):
    text = f"\ufeff{block(ONE)}{block(TWO, 'in-progress')}".replace("\n", "\r\n")
    (work.issues / "high.md").write_bytes(text.encode())
    files.move_to_history("high.md", TWO, at=AT)
    assert (work.issues / "high.md").read_bytes() == f"\ufeff{block(ONE)}".replace("\n", "\r\n").encode()


class Killed(BaseException):
    """The process ended here."""


def steps(deed: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(faults, "point", seen.append)
        deed()
    return seen


def crash_at(step: int, deed: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    left = step

    def point(_name: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(faults, "point", point)
        with pytest.raises(Killed):
            deed()


def places(work: Work, id: str) -> set[str]:
    return {p.name for p in work.issues.glob("*.md") if f"id: {id}\n" in p.read_text()}


@pytest.mark.req("E31")
@pytest.mark.parametrize("step", range(1, 10))
def test_a_move_killed_at_any_step_loses_nothing_and_can_be_made_again(tmp_path, monkeypatch, step):
    def prepared(folder: Path) -> Work:
        made = Work(folder)
        made.put("high.md", block(ONE), block(TWO, "in-progress"), block(THREE))
        (made.issues / "history.md").write_text(HEADER + "x" * MAX_HISTORY)
        return made

    whole = prepared(tmp_path / "whole")
    seen = steps(lambda: IssueFiles(whole.root).move_to_history("high.md", TWO, at=AT), monkeypatch)
    assert len(seen) == 9
    killed = prepared(tmp_path / "killed")
    crash_at(step, lambda: IssueFiles(killed.root).move_to_history("high.md", TWO, at=AT), monkeypatch)
    assert places(killed, TWO), f"in neither file after {seen[step - 1]}"
    assert WorkFolder(killed.root).backlog().unread == ()
    IssueFiles(killed.root).move_to_history("high.md", TWO, at="2026-03-09T12:00:00Z")
    assert places(killed, TWO) == {"history.md"}
    assert killed.text("history.md").count(f"id: {TWO}") == 1
    left = {name: raw for name, raw in killed.everything().items() if not name.endswith("/history.md")}
    assert left == {name: raw for name, raw in whole.everything().items() if not name.endswith("/history.md")}


@pytest.mark.req("E31")
@pytest.mark.parametrize("step", range(1, 8))
def test_a_rollback_killed_at_any_step_loses_nothing_and_can_be_made_again(tmp_path, monkeypatch, step):
    work = Work(tmp_path)
    work.put("high.md", block(ONE), block(TWO, "in-progress"))
    files = IssueFiles(work.root)
    files.move_to_history("high.md", TWO, at=AT)
    crash_at(step, lambda: files.revert(TWO, at=AT, reason="x"), monkeypatch)
    assert places(work, TWO)
    files.revert(TWO, at=AT, reason="x")
    assert places(work, TWO) == {"high.md", "history.md"}
    assert work.text("history.md").count("status: reverted") == 1
    assert work.text("high.md").count(f"id: {TWO}") == 1
    assert not list(work.issues.glob(".*"))


@pytest.mark.slow
@pytest.mark.req("E31")
@pytest.mark.parametrize("step", [2, 4, 6])
def test_a_move_killed_for_real_is_made_again(work, step):
    program = (
        "import sys; from pathlib import Path; from flyball.documents.issue_files import IssueFiles; "
        f"IssueFiles(Path(sys.argv[1])).move_to_history('high.md', {TWO!r}, at={AT!r})"
    )
    command = [sys.executable, "-c", program, str(work.root)]
    env = {**os.environ, "FLYBALL_FAULT_KILL": str(step)}
    ended = subprocess.run(command, env=env, capture_output=True, check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert places(work, TWO)
    subprocess.run(command, check=True, timeout=60)
    assert places(work, TWO) == {"history.md"}


def test_what_a_person_writes_meanwhile_is_not_written_over(work, monkeypatch):
    path = work.issues / "high.md"
    written = iter([b"\nA remark.\n"])

    def point(name: str) -> None:
        if name == "work.write.inside":
            path.write_bytes(path.read_bytes() + next(written, b""))

    monkeypatch.setattr(faults, "point", point)
    IssueFiles(work.root).set_status("high.md", ONE, "in-progress")
    assert path.read_bytes().endswith(b"\nA remark.\n")
    assert b"status: in-progress" in path.read_bytes().split(TWO.encode())[0]


def test_a_folder_where_a_file_should_be_is_named_and_counts_as_malformed(work):
    (work.issues / "medium.md").mkdir()
    backlog = WorkFolder(work.root).backlog()
    assert len(backlog.unread) == 1
    assert "medium.md is not a regular file; expected a text file" in backlog.deviations[0].message


def test_what_may_not_be_written_is_not_called_a_link(work, monkeypatch):
    def refused(*_arguments, **_options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("os.rename", refused)
    with pytest.raises(
        WorkFolderUnusable, match=r"\(Permission denied\); expected a file and a folder you may read and write"
    ):
        IssueFiles(work.root).set_status("high.md", ONE, "in-progress")


def test_no_link_is_followed(work, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text(block(ONE))
    (work.issues / "low.md").symlink_to(outside)
    with pytest.raises(WorkFolderUnusable, match="not a link"):
        IssueFiles(work.root).set_status("low.md", ONE, "in-progress")
    backlog = WorkFolder(work.root).backlog()
    assert len(backlog.unread) == 1
    assert backlog.deviations[0].file == "low.md"
    work.issues.rename(tmp_path / "elsewhere")
    work.issues.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkFolderUnusable, match="not a plain folder"):
        IssueFiles(work.root).set_status("high.md", ONE, "in-progress")


def test_a_disk_that_takes_no_more_leaves_the_file_as_it_was(work, files, monkeypatch):
    before = work.everything()

    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkFolderUnusable, match="No space left on device"):
        files.set_status("high.md", ONE, "in-progress")
    assert work.everything() == before


@pytest.mark.req("E32")
def test_the_beginnings_of_constitution_and_memory_are_given_where_there_are_any(work):
    assert WorkFolder(work.root).excerpts() == {"constitution.md": "# Constitution\n\nBe kind."}
    (work.agent / "memory.md").write_text("Rows have headers.\n" * 3)
    assert WorkFolder(work.root).excerpts(10)["memory.md"] == "Rows have "


@pytest.mark.parametrize(
    ("raw", "said"), [(b"\xff\xfei\x00d\x00", "UTF-16"), (b"id: x\0", "binary")], ids=["utf-16", "binary"]
)
def test_a_file_that_is_no_text_counts_as_malformed(work, raw, said):
    (work.issues / "low.md").write_bytes(raw)
    backlog = WorkFolder(work.root).backlog()
    assert len(backlog.unread) == 1
    assert said in backlog.deviations[0].message


def test_the_mode_of_a_file_survives_an_edit(work, files):
    path = work.issues / "high.md"
    path.chmod(0o600)
    files.set_status("high.md", ONE, "in-progress")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_named_pipe_in_the_place_of_a_file_keeps_nobody_waiting(work):
    os.mkfifo(work.issues / "low.md")
    with KeptFolder.below(work.root, ".work", "agent", "issues") as folder, pytest.raises(WorkFolderUnusable):
        folder.read("low.md")
