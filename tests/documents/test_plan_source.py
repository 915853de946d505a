"""Recognising the plan of another tool, and reading it as what a task starts from."""

import json
from pathlib import Path

import pytest

from flyball.core.workflows.plan.sources.values import Format
from flyball.documents.errors import DocumentError
from flyball.documents.plan_source import format_of_boxes, read_plan_source, recognise, with_note_on_boxes
from flyball.documents.source import SourceDocument, read_source

pytestmark = pytest.mark.req("O23")

TASKS = b"# Tasks: Albums\n\n## Phase 1: Setup\n- [ ] T001 Write src/a.py\n- [x] T002 Write src/b.py\n"
TASK_MASTER = {
    "master": {"tasks": [{"id": 1, "title": "a", "status": "pending"}]},
    "feature": {"tasks": [{"id": 7, "title": "b", "status": "pending"}]},
}


def put(root: Path, place: str, content: bytes | str) -> Path:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, root: Path) -> SourceDocument:
    format = recognise(path, root)
    assert format is not None
    return read_plan_source(path, root, format)


@pytest.mark.parametrize(
    ("place", "content", "format"),
    [
        ("specs/001-albums/tasks.md", TASKS, "spec-kit"),
        ("openspec/changes/x/tasks.md", b"- [ ] 1.1 a\n", "openspec"),
        (".kiro/specs/x/tasks.md", b"- [ ] 1. a\n", "kiro"),
        ("docs/plans/login.md", b"### Task 1: A\n- [ ] a\n", "ralphex"),
        (".ralph/fix_plan.md", b"- [ ] a\n", "fix_plan"),
        ("tasks.md", b"Some words.\n\n- [ ] a\n", "plain"),
        ("wishes.md", b"# Wishes\n- [ ] a\n- [ ] b\n", "plain"),
        (".taskmaster/tasks/tasks.json", json.dumps(TASK_MASTER), "task-master"),
        ("prd.json", b"{}", "ralph"),
        ("backlog/tasks/task-1 - A.md", b"---\nid: task-1\nstatus: To Do\n---\n", None),
        ("login.md", b"# Login\n\n## Acceptance Criteria\n- [ ] it works\n", None),
        ("notes.md", b"# Notes\n\nWords.\n\nMore words.\n\n- [ ] a\n", None),
        ("work.json", json.dumps(TASK_MASTER), "task-master"),
        ("work.json", b'{"tasks": [{"id": 1, "title": "a", "status": "pending"}]}', "task-master"),
        ("work.json", b'{"userStories": []}', "ralph"),
        ("config.json", b"{}", None),
        ("config.json", b"{", None),
        ("tasks.md", b"\xff\xfe", None),
    ],
)
def test_a_plan_is_known_by_its_path_then_by_its_content(
    tmp_path: Path, place: str, content: bytes | str, format: Format | None
) -> None:
    assert recognise(put(tmp_path, place, content), tmp_path) == format


def test_a_folder_of_backlog_md_is_known_by_its_files(tmp_path: Path) -> None:
    put(tmp_path, "backlog/config.yml", 'statuses: ["Open", "Shipped"]\n')
    put(tmp_path, "backlog/tasks/task-2 - B.md", "---\nid: task-2\nstatus: Open\ndependencies: [task-1]\n---\n")
    put(tmp_path, "backlog/tasks/task-3 - C.md", "---\nid: task-3\nstatus: Shipped\n---\n")
    put(tmp_path, "backlog/completed/task-1 - A.md", "---\nid: task-1\nstatus: Shipped\n---\n")
    found = read(tmp_path / "backlog", tmp_path)
    assert [(item.id, item.status) for item in found.items] == [("task-2", "not-started"), ("task-3", "completed")]
    assert recognise(tmp_path / "backlog/tasks", tmp_path) == "backlog.md"
    assert recognise(tmp_path, tmp_path) is None


def test_a_plan_becomes_a_request_with_its_items_and_what_is_to_be_read_beside_it(tmp_path: Path) -> None:
    put(tmp_path, "specs/001-albums/spec.md", "# Spec\n")
    found = read(put(tmp_path, "specs/001-albums/tasks.md", TASKS), tmp_path)
    assert found.title == "Albums"
    assert found.request == "Albums\n\nRead also: specs/001-albums/spec.md"
    assert [(item.id, item.status) for item in found.items] == [("T001", "not-started"), ("T002", "completed")]
    assert (found.source.path, found.source.format) == ("specs/001-albums/tasks.md", "spec-kit")
    assert found.living


def test_kiro_requirements_become_acceptance(tmp_path: Path) -> None:
    requirements = (
        "### Requirement 1: Login\n\n#### Acceptance Criteria\n\n1. WHEN a code is wrong THEN it is refused\n2. x\n"
    )
    put(tmp_path, ".kiro/specs/x/requirements.md", requirements)
    found = read(put(tmp_path, ".kiro/specs/x/tasks.md", "- [ ] 1. a\n  - _Requirements: 1.1_\n"), tmp_path)
    assert found.items[0].acceptance == ("WHEN a code is wrong THEN it is refused",)


def test_the_tag_of_task_master_is_typed_after_the_path_or_the_one_in_use(tmp_path: Path) -> None:
    path = put(tmp_path, ".taskmaster/tasks/tasks.json", json.dumps(TASK_MASTER))
    assert read(path, tmp_path).source.selector == "master"
    assert read(path.with_name("tasks.json#feature"), tmp_path).source.selector == "feature"
    put(tmp_path, ".taskmaster/state.json", '{"currentTag": "feature"}')
    assert read(path, tmp_path).items[0].id == "7"
    with pytest.raises(DocumentError, match="there is no tag other; expected one of master, feature"):
        read(path.with_name("tasks.json#other"), tmp_path)


@pytest.mark.parametrize(
    ("place", "content", "problem"),
    [
        ("tasks.md", "- [ ] T001 a\n- [ ] T002 b (depends on T009)\n", r"tasks\.md, line 2: T002 depends on T009"),
        ("tasks.md", "- [ ] a\n- [ x] b\n", r"tasks\.md, line 2: \[ x\] is not read as a box; expected \[ \] or \[x\]"),
        ("tasks.md", "- [ ] a\n```\n- [ ] b\n", r"tasks\.md, line 2: this fence is not closed"),
        ("fix_plan.md", "## Notes\n- [ ] a\n", r"holds nothing to work on; expected a box such as"),
        ("tasks.json", "{\n  // x\n}", r"tasks\.json, line 2: it is not valid JSON"),
        ("prd.json", '{"name": "x"}', r"prd\.json: it is a product description"),
    ],
)
def test_what_cannot_be_worked_is_named_with_file_line_and_what_was_expected(
    tmp_path: Path, place: str, content: str, problem: str
) -> None:
    with pytest.raises(DocumentError, match=problem):
        read(put(tmp_path, place, content), tmp_path)


def test_duplicates_checklists_and_optional_entries_are_told_before_the_work_begins(tmp_path: Path) -> None:
    boxes = "".join(f"- [ ] T00{number} a\n" for number in range(1, 8))
    path = put(tmp_path, "tasks.md", f"{boxes}- [ ] T007 b\n- [ ]* T008 c\n- [ ] all reviewed\n")
    assert read(path, tmp_path).notes == (
        "line 8: the id T007 stands in lines 7, 8; the entries are T007, T007~2 here, and a dependency on T007 is one on all",
        "1 entry of a checklist: shown, not worked",
        "1 optional entry: worked only with --optional",
    )


MIXED = """# Rename the parts

Some words on why this is wanted,
and some more on how it came to be.

| part | new name |
|---|---|
| a | b |

- [ ] **1** Rename a
- [ ] **2** Rename the callers (depends_on: 1)
- [ ] **3** Tell the users
"""


def test_a_document_that_is_wanted_as_a_plan_is_one_if_it_holds_a_box_among_other_things(tmp_path: Path) -> None:
    path = put(tmp_path, "notes.md", MIXED)
    assert recognise(path, tmp_path) is None
    assert format_of_boxes(path, tmp_path) == "plain"
    assert [item.id for item in read_plan_source(path, tmp_path, "plain").items] == ["1", "2", "3"]
    assert format_of_boxes(put(tmp_path, "plan.txt", MIXED), tmp_path) == "plain"
    assert format_of_boxes(put(tmp_path, "none.md", "# Words\n\n- and a point\n"), tmp_path) is None
    assert format_of_boxes(tmp_path / "absent.md", tmp_path) is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("- [ ] **2**", "- [ x] **2**", "line 11: [ x] is not read as a box"),
        ("- [ ] **2**", "- [] **2**", "line 11: [] is not read as a box"),
        ("depends_on: 1", "depends_on: 9", "line 11: 2 depends on 9, which no entry of the file has"),
        ("Rename a\n", "Rename a (depends_on: 2)\n", "line 10: 1 waits for 2 waits for 1: a circle"),
    ],
)
def test_an_entry_among_other_things_that_cannot_be_worked_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = put(tmp_path, "notes.md", MIXED.replace(old, new))
    assert format_of_boxes(path, tmp_path) == "plain"
    with pytest.raises(DocumentError) as refused:
        read_plan_source(path, tmp_path, "plain")
    assert told in str(refused.value)


def test_a_document_with_no_box_but_malformed_ones_is_one_with_boxes(tmp_path: Path) -> None:
    assert format_of_boxes(put(tmp_path, "notes.md", "# Work\n\n- [] one\n- [ x] two\n"), tmp_path) == "plain"


def test_acceptance_criteria_are_no_entries(tmp_path: Path) -> None:
    text = (
        "# Login\n\n## Goal\n\nLog in.\n\n## Acceptance criteria\n\n- [ ] a user logs in\n- [ ] a stranger does not\n"
    )
    path = put(tmp_path, "prp.md", text)
    assert format_of_boxes(path, tmp_path) is None
    assert format_of_boxes(put(tmp_path, "both.md", text + "\n## Work\n\n- [ ] write it\n"), tmp_path) == "plain"
    assert with_note_on_boxes(read_source(path, tmp_path), path, tmp_path, "tdd", "plan").notes == ()


def test_a_document_with_boxes_that_are_not_worked_says_so_and_how_to_have_them_worked(tmp_path: Path) -> None:
    path = put(tmp_path, "notes.md", MIXED)
    (note,) = with_note_on_boxes(read_source(path, tmp_path), path, tmp_path, "tdd", "plan").notes
    assert note.startswith(
        "notes.md is taken as a document for tdd: its boxes are neither worked one by one nor ticked."
    )
    assert note.endswith(f"flyball run --workflow plan --from {path} --new")
