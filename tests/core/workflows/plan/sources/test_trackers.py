"""Backlog.md's folder, and issues as bd and gh print them."""

import json
from typing import Any

import pytest

from flyball.core.workflows.plan.sources.backlog_md import done_status, read_backlog_md
from flyball.core.workflows.plan.sources.trackers import read_beads, read_github
from flyball.core.workflows.plan.sources.values import JUDGED_BY_REVIEW, PlanUnreadable

pytestmark = pytest.mark.req("O23")


def page(id: str, status: str = "To Do", *, head: str = "", body: str = "") -> bytes:
    return f"---\nid: {id}\ntitle: Title of {id}\nstatus: {status}\n{head}---\n\n{body}".encode()


CRITERIA = (
    "## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [x] #1 it lists `src/a.py`\n- [ ] #2 it sorts\n<!-- AC:END -->\n"
)


def test_backlog_md_tasks_have_criteria_dependencies_in_any_case_and_parents() -> None:
    plan = read_backlog_md(
        {
            "task-10 - Ten.md": page("TASK-10", head="dependencies: [task-2, TASK-1]\n"),
            "task-2 - Two.md": page("task-2", body=CRITERIA),
            "task-3 - Three.md": page("task-3", head="assignee: @somebody\nparent_task_id: TASK-10\n"),
            "task-4 - Four.md": page("task-4", head="dependencies:\n  - task-10\n  - task-2\n"),
            "task-5 - Five.md": page("task-5", "Won't Do"),
            "notes.md": b"no head\n",
        },
        finished=["task-1"],
    )
    found = {entry.item.id: entry for entry in plan.entries}
    assert list(found) == ["task-2", "task-3", "task-4", "task-5", "TASK-10"]
    assert found["task-2"].item.acceptance == ("it lists `src/a.py`", "it sorts")
    assert [mark.mark for mark in found["task-2"].marks] == ["To Do", "x", " "]
    assert found["task-3"].item.acceptance == (JUDGED_BY_REVIEW,)
    assert (found["TASK-10"].role, found["task-5"].role) == ("parent", "checklist")
    assert found["task-3"].parent == "TASK-10"
    assert found["task-4"].item.depends_on == ("task-3", "task-2")
    (defect,) = plan.defects
    assert (defect.fatal, defect.message.partition(":")[0]) == (False, "notes.md")


def test_a_dependency_on_a_task_that_is_nowhere_is_fatal() -> None:
    (defect,) = read_backlog_md({"a.md": page("task-1", head="dependencies: [task-9]\n")}).defects
    assert defect.fatal
    assert "task-1 depends on task-9" in defect.message


@pytest.mark.parametrize(
    ("config", "done"),
    [
        ('statuses: ["To Do", "In Progress", "Shipped"]\n', "Shipped"),
        ("project: x\nstatuses:\n  - Open\n  - Closed\n", "Closed"),
        ("", "Done"),
    ],
)
def test_the_last_status_of_the_settings_means_done(config: str, done: str) -> None:
    assert done_status(config) == done
    assert read_backlog_md({"a.md": page("task-1", done)}, done=done).items[0].status == "completed"


def bead(id: str, status: str = "open", *links: tuple[str, str], **more: Any) -> dict[str, Any]:
    dependencies = [{"issue_id": id, "depends_on_id": other, "type": kind} for other, kind in links]
    return {"id": id, "title": f"Bead {id}", "status": status, "priority": 1, "dependencies": dependencies, **more}


BEADS = [
    bead("bd-a1", description="in src/a.py"),
    bead("bd-b2", "open", ("bd-a1", "blocks"), ("bd-e5", "parent-child"), acceptance_criteria="it is fast"),
    bead("bd-c3", "open", ("bd-a1", "related"), ("bd-gone", "blocks")),
    bead("bd-d4", "pinned"),
    bead("bd-e5", issue_type="epic"),
]


@pytest.mark.parametrize("raw", [json.dumps(BEADS).encode(), json.dumps({"schema_version": 1, "data": BEADS}).encode()])
def test_beads_come_bare_or_in_an_envelope_and_only_blocking_links_are_dependencies(raw: bytes) -> None:
    plan = read_beads(raw)
    assert {item.id: item.depends_on for item in plan.items} == {"bd-a1": (), "bd-b2": ("bd-a1",), "bd-c3": ()}
    assert plan.items[1].acceptance == ("it is fast",)
    roles = {entry.item.id: entry.role for entry in plan.entries}
    assert (roles["bd-d4"], roles["bd-e5"]) == ("checklist", "parent")


def test_a_closed_bead_without_a_date_is_named() -> None:
    (defect,) = read_beads(json.dumps([bead("bd-a1", "closed")]).encode()).defects
    assert "bd show bd-a1" in defect.message


def issue(number: int, body: str = "", **more: Any) -> dict[str, Any]:
    return {"number": number, "title": f"Issue {number}", "body": body, "state": "OPEN", **more}


def test_github_issues_take_boxes_as_acceptance_and_blockers_from_fields_or_words() -> None:
    issues = [
        issue(7, "- [ ] a flag in cli.py\n- [ ] a test"),
        issue(8, "Blocked by #7, #99"),
        issue(9, blockedBy={"nodes": [{"number": 8}]}),
        issue(10, parent={"number": 7}),
    ]
    plan = read_github(json.dumps(issues).encode())
    found = {entry.item.id: entry for entry in plan.entries}
    assert found["#7"].role == "parent"
    assert found["#7"].item.acceptance == ("a flag in cli.py", "a test")
    assert found["#8"].item.depends_on == ("#7",)
    assert found["#9"].item.depends_on == ("#8",)


@pytest.mark.parametrize(("read", "raw"), [(read_beads, b'{"error": "x"}'), (read_github, b"[{}]")])
def test_other_output_is_refused(read: Any, raw: bytes) -> None:
    with pytest.raises(PlanUnreadable):
        read(raw)


def test_a_task_of_backlog_md_that_waits_for_itself_is_refused() -> None:
    raw = b"---\nid: task-1\ntitle: One\nstatus: To Do\ndependencies: [task-1]\n---\n"
    (defect,) = read_backlog_md({"task-1 - one.md": raw}).defects
    assert defect.fatal
    assert "waits for" in defect.message
