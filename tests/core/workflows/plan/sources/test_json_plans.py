"""Task Master's tasks.json and ralph's prd.json."""

import json
from typing import Any

import pytest

from flyball.core.workflows.plan.sources.ralph import read_ralph
from flyball.core.workflows.plan.sources.task_master import read_task_master
from flyball.core.workflows.plan.sources.values import ImportedPlan, PlanUnreadable

pytestmark = pytest.mark.req("O23")


def task(id: Any, status: str = "pending", *dependencies: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "title": f"Task {id}", "status": status, "dependencies": list(dependencies), **more}


def tagged(**tags: list[dict[str, Any]]) -> bytes:
    return json.dumps({tag: {"tasks": tasks, "metadata": {}} for tag, tasks in tags.items()}, indent=2).encode()


def after(plan: ImportedPlan) -> dict[str, tuple[str, ...]]:
    return {item.id: item.depends_on for item in plan.items}


NESTED = [
    task(1, "done"),
    task("2", "pending", 1, subtasks=[task(1), task(2, "pending", 1), task("3", "pending", "2.1")]),
    task(3, "in-progress", "2", testStrategy="run pytest tests/test_three.py"),
    task(4, "deferred"),
    task(5, "cancelled"),
]


def test_task_master_runs_leaves_with_local_and_dotted_dependencies_and_those_of_their_parents() -> None:
    plan = read_task_master(tagged(master=NESTED))
    assert after(plan) == {
        "1": (),
        "2.1": ("1",),
        "2.2": ("1", "2.1"),
        "2.3": ("1", "2.1"),
        "3": ("2.1", "2.2", "2.3"),
        "4": (),
    }
    roles = {entry.item.id: entry.role for entry in plan.entries}
    assert (roles["2"], roles["5"]) == ("parent", "checklist")
    found = {item.id: item for item in plan.items}
    assert found["1"].status == "completed"
    assert found["4"].optional
    assert found["3"].acceptance == ("run pytest tests/test_three.py",)
    assert found["3"].files == ("tests/test_three.py",)
    assert not plan.defects


@pytest.mark.parametrize("raw", [json.dumps({"tasks": NESTED}).encode(), json.dumps(NESTED).encode()])
def test_older_shapes_of_task_master_have_no_tag(raw: bytes) -> None:
    plan = read_task_master(raw)
    assert plan.selector == ""
    assert len(plan.items) == 6


def test_the_tag_is_the_one_asked_for_else_the_current_one_else_master_and_never_a_guess() -> None:
    raw = tagged(master=[task(1)], feature=[task(7)])
    assert read_task_master(raw, "feature").selector == "feature"
    assert read_task_master(raw, current="feature").selector == "feature"
    assert read_task_master(raw).selector == "master"
    assert read_task_master(tagged(only=[task(1)])).selector == "only"
    with pytest.raises(PlanUnreadable, match=r"expected one of a, b, named after the path: tasks\.json#a"):
        read_task_master(tagged(a=[task(1)], b=[task(2)]))
    with pytest.raises(PlanUnreadable, match="no tag other; expected one of master, feature"):
        read_task_master(raw, "other")


def test_dependencies_that_cannot_be_met_are_named_with_their_line() -> None:
    plan = read_task_master(tagged(master=[task(1, "pending", 9), task(2, "cancelled"), task(3, "pending", 2)]))
    assert [(d.line, d.fatal) for d in plan.defects] == [(4, True), (18, True)]
    assert "1 depends on 9, which is not in the file" in plan.defects[0].message
    assert "3 depends on 2, which is cancelled" in plan.defects[1].message


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"version": "2.0.0", "tasks": [{"label": "build", "type": "shell"}]}', "tasks of an editor"),
        (b'{\n  // a comment\n  "tasks": []}', "not valid JSON"),
        (b'[{"id": 1, "title": "a"}]', 'has no "status"'),
        (b'{"a": 1}', 'no list "tasks"'),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_other_files_of_that_name_are_refused_by_name(raw: bytes, problem: str) -> None:
    with pytest.raises(PlanUnreadable, match=problem):
        read_task_master(raw)


def story(id: str, priority: int | None = None, *, passes: bool | None = False, **more: Any) -> dict[str, Any]:
    values = {
        "id": id,
        "title": f"Story {id}",
        "acceptanceCriteria": ["it works"],
        "priority": priority,
        "passes": passes,
    }
    return {name: value for name, value in (values | more).items() if value is not None}


def prd(*stories: dict[str, Any]) -> bytes:
    return json.dumps({"project": "Albums", "branchName": "x", "userStories": stories}).encode()


def test_ralph_stories_go_by_priority_and_those_without_one_last() -> None:
    plan = read_ralph(prd(story("US-003"), story("US-002", 2), story("US-001", 1, passes=True), story("US-004", 2)))
    assert plan.title == "Albums"
    assert after(plan) == {"US-001": (), "US-002": ("US-001",), "US-004": ("US-002",), "US-003": ("US-004",)}
    assert plan.items[0].status == "completed"
    assert plan.items[1].acceptance == ("it works",)


def test_ralph_criteria_may_be_objects_and_their_commands_are_not_run() -> None:
    criteria = [
        {"id": "a", "text": "fast", "testCommand": "rm -rf x", "passes": True},
        {"text": "small", "passes": False},
    ]
    plan = read_ralph(prd(story("US-1", passes=None, acceptanceCriteria=criteria)))
    (entry,) = plan.entries
    assert entry.item.acceptance == ("fast", "small")
    assert [mark.mark for mark in entry.marks] == ["true", "false"]
    (defect,) = plan.defects
    assert not defect.fatal
    assert "testCommand" in defect.message


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (json.dumps([story("US-1")]).encode(), "a bare list of stories"),
        (b'{"tasks": [{"status": "open"}]}', 'a list "tasks", not a prd.json'),
        (b'{"name": "Albums", "vision": "x"}', "a product description"),
        (prd(story("US-1", passes=None)), 'has no "passes"'),
        (prd({"id": "US-1"}), 'story 1 has no "title"'),
    ],
)
def test_other_shapes_of_prd_json_are_refused_by_name(raw: bytes, problem: str) -> None:
    with pytest.raises(PlanUnreadable, match=problem):
        read_ralph(raw)


def test_two_stories_with_one_id_and_an_unknown_dependency_are_defects() -> None:
    plan = read_ralph(prd(story("US-1"), story("US-1"), story("US-2", dependsOn=["US-9"])))
    assert [defect.fatal for defect in plan.defects] == [True, True]


def test_a_task_or_a_story_that_waits_for_itself_is_refused() -> None:
    plans = (read_task_master(tagged(master=[task(1, "pending", 1)])), read_ralph(prd(story("1", dependsOn=["1"]))))
    for plan in plans:
        (defect,) = plan.defects
        assert defect.fatal
        assert defect.message.startswith("1 waits for 1: a circle")
