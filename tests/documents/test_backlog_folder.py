"""The backlog as the loop reads and edits it: on real files, against people who write meanwhile, and killed at every step."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.work_folder import Work, block

from flyball import faults
from flyball.core.model.outcomes import Edited, Stale
from flyball.core.model.task import EffectId
from flyball.core.workflows.backlog.edits import (
    AddIssue,
    Archive,
    KeepDecision,
    KeepSession,
    Reopen,
    SetStatus,
    WorkEdit,
)
from flyball.core.workflows.backlog.effects import BacklogRead, EditBacklog, ReadBacklog
from flyball.core.workflows.backlog.values import Issue, Session
from flyball.documents.backlog_folder import (
    BacklogFolders,
)
from flyball.documents.errors import DocumentError

ONE, TWO, THREE = "BUG-001@aaaaaa", "BUG-002@bbbbbb", "FEAT-003@cccccc"
NEW = Issue("SEC-001@dddddd", "Injection", file="high.md", type="security", priority="high", created="2026-02-01")
DECIDED = KeepDecision("CONTINUE", "1 actionable issue remains.", "actionable", "2026-02-01", Session(cycles=1), TWO)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path)
    made.put("high.md", block(ONE), block(TWO, "in-progress"))
    made.put("shortlist.md", block(THREE, "in-progress", priority="low"))
    return made


def read(work: Work, issue: str = "") -> BacklogRead:
    return BacklogFolders(work.root).read(ReadBacklog(EffectId("read/1"), ".work", issue))


def edit(work: Work, *edits: WorkEdit, seen: dict[str, str] | None = None) -> Edited | Stale:
    known = read(work).files if seen is None else seen
    return BacklogFolders(work.root).edit(EditBacklog(EffectId("edit/1"), ".work", known, edits))


def status(work: Work, issue: str) -> str:
    found = next((each for each in read(work).backlog.issues if each.id == issue), None)
    return found.status if found else ""


def test_what_is_read_has_the_hash_of_each_file_and_the_whole_text_of_one_issue(work: Work) -> None:
    seen = read(work, TWO)
    assert seen.files == {
        name: hashlib.sha256((work.issues / name).read_bytes()).hexdigest() for name in ("high.md", "shortlist.md")
    }
    bodies = {issue.id: bool(issue.body) for issue in seen.backlog.issues}
    assert bodies == {ONE: False, TWO: True, THREE: False}
    assert seen.constitution.startswith("# Constitution")
    assert seen.environment == ("linux",)


@pytest.mark.req("E32")
def test_memory_is_read_from_either_of_its_places(work: Work) -> None:
    assert read(work).memory == ""
    (work.agent / "memory.md").write_text("- prices are cents\n")
    assert read(work).memory == "- prices are cents"


def test_what_is_finished_is_known_by_its_id_alone(work: Work) -> None:
    work.put("low.md", block("BUG-009@eeeeee", "completed"))
    seen = read(work)
    assert "BUG-009@eeeeee" in seen.backlog.finished
    assert "BUG-009@eeeeee" not in {issue.id for issue in seen.backlog.issues}


@pytest.mark.req("E30")
def test_one_field_is_changed_and_nothing_else(work: Work) -> None:
    before = work.text("high.md")
    assert isinstance(edit(work, SetStatus("high.md", ONE, "proposed", "in-progress")), Edited)
    assert work.text("high.md") == before.replace("status: proposed", "status: in-progress", 1)


def test_a_file_that_changed_since_it_was_read_is_not_edited(work: Work) -> None:
    seen = read(work).files
    work.put("high.md", block(ONE), block(TWO, "in-progress"), "\nA note by a person.\n")
    before = work.everything()
    assert isinstance(edit(work, SetStatus("high.md", ONE, "proposed", "in-progress"), seen=seen), Stale)
    assert isinstance(edit(work, Archive("high.md", TWO, "2026-02-01"), seen=seen), Stale)
    assert isinstance(edit(work, AddIssue(NEW, "security-audit"), seen=seen), Stale)
    assert work.everything() == before


def test_an_issue_whose_status_somebody_else_changed_is_left_to_them(work: Work) -> None:
    work.put("high.md", block(ONE, "blocked"), block(TWO, "in-progress"))
    assert isinstance(edit(work, SetStatus("high.md", ONE, "proposed", "in-progress")), Stale)
    assert status(work, ONE) == "blocked"


def test_edits_of_one_file_follow_each_other_in_one_request(work: Work) -> None:
    done = edit(work, Archive("high.md", TWO, "2026-02-01"), AddIssue(NEW, "security-audit"), DECIDED)
    assert isinstance(done, Edited)
    assert status(work, NEW.id) == "proposed"
    assert status(work, TWO) == ""
    assert TWO in work.text("history.md")
    assert work.state_now()["cycles"] == 1


def test_every_edit_made_twice_is_made_once(work: Work) -> None:
    seen = read(work).files
    edits = (
        SetStatus("high.md", ONE, "proposed", "in-progress"),
        Archive("high.md", TWO, "2026-02-01"),
        AddIssue(NEW, "security-audit"),
        DECIDED,
        KeepSession({"current_issue": ONE}),
    )
    assert isinstance(edit(work, *edits, seen=seen), Edited)
    once = work.everything()
    assert isinstance(edit(work, *edits, seen=seen), Edited)
    assert work.everything() == once


@pytest.mark.req("E30", "E31")
def test_a_completed_issue_leaves_the_shortlist_for_the_history(work: Work) -> None:
    assert isinstance(edit(work, Archive("shortlist.md", THREE, "2026-02-01")), Edited)
    assert THREE not in work.text("shortlist.md")
    assert "moved_from: shortlist.md" in work.text("history.md")


@pytest.mark.req("E31")
def test_what_is_rolled_back_is_proposed_again_and_history_says_so(work: Work) -> None:
    edit(work, Archive("high.md", TWO, "2026-02-01"))
    assert isinstance(edit(work, Reopen(TWO, "2026-02-02")), Edited)
    assert status(work, TWO) == "proposed"
    assert "status: reverted" in work.text("history.md")
    again = work.everything()
    edit(work, Reopen(TWO, "2026-02-02"))
    assert work.everything() == again


@pytest.mark.req("E22")
def test_half_a_character_in_the_state_is_kept_as_it_was_written(work: Work) -> None:
    work.state(theirs="half \ud800")
    assert isinstance(edit(work, DECIDED, KeepSession({"current_issue": TWO})), Edited)
    assert (work.state_now()["theirs"], work.state_now()["current_issue"]) == ("half \ud800", TWO)


@pytest.mark.req("E22")
def test_keys_of_the_state_that_are_not_ours_are_kept(work: Work) -> None:
    work.state(theirs={"deep": [1]}, cycles=7)
    edit(work, DECIDED, KeepSession({"current_issue": TWO}))
    now = work.state_now()
    assert now["theirs"] == {"deep": [1]}
    assert (now["cycles"], now["current_issue"], now["last_decision"]) == (1, TWO, "CONTINUE")


def test_a_folder_that_is_gone_is_a_refusal_and_no_internal_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no folder"):
        BacklogFolders(tmp_path).read(ReadBacklog(EffectId("read/1"), ".work"))


class Killed(BaseException):
    """As a kill: nothing catches it."""


def killing_at(step: int, seen: list[str]) -> Callable[[str], None]:
    def point(name: str) -> None:
        seen.append(name)
        if len(seen) == step:
            raise Killed

    return point


SETTLING = (Archive("high.md", TWO, "2026-02-01"), AddIssue(NEW, "security-audit"), DECIDED)
STEPS = 17


def test_a_cycle_is_written_down_in_so_many_steps(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[str] = []
    monkeypatch.setattr(faults, "point", killing_at(0, points))
    edit(work, *SETTLING)
    assert len(points) == STEPS


@pytest.mark.req("E31")
@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_a_cycle_written_down_and_killed_at_any_step_is_the_same_when_written_again(
    work: Work, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    points: list[str] = []
    seen = read(work).files
    with monkeypatch.context() as patched:
        patched.setattr(faults, "point", killing_at(step, points))
        with pytest.raises(Killed):
            edit(work, *SETTLING, seen=seen)
    assert TWO in work.text("high.md") or TWO in work.text("history.md"), f"lost after {points[-1]}"
    # As the loop does it: the same once more, and where that meets a changed file, what is still wanted after a new look.
    if isinstance(edit(work, *SETTLING, seen=seen), Stale):
        there = {issue.id for issue in read(work).backlog.issues}
        wanted = [each for each in SETTLING if not isinstance(each, Archive) or each.issue in there]
        assert isinstance(edit(work, *wanted), Edited)
    assert work.text("history.md").count(f"id: {TWO}") == 1
    assert work.text("high.md").count(NEW.id) == 1
    assert TWO not in work.text("high.md")
    assert work.state_now()["last_decision"] == "CONTINUE"
