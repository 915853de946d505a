"""Marking entries: one byte, one value or one line moves, and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.workflows.plan.sources import ralph, task_master
from flyball.core.workflows.plan.sources.backlog_md import read_backlog_md
from flyball.core.workflows.plan.sources.markdown import read_markdown
from flyball.core.workflows.plan.sources.marking import (
    EntryMoved,
    MarkChange,
    finishing,
    nothing_else_moved,
    undoing,
    with_marks,
)
from flyball.core.workflows.plan.sources.values import Format, ImportedPlan, Key

pytestmark = pytest.mark.req("O23")

WORDS = st.sampled_from(
    [
        "T001 a",
        "T001 a",
        "T002 b in src/b.py",
        "1.1 c",
        "d",
        "d",
        "- [ ] in the text",
        "e ✅",
        "[P] f",
        "",
        "x\u2028y",
        "g\x0ch",
    ]
)
BULLETS = st.sampled_from(["-", "*", "+", "1.", "10)"])
INDENTS = st.sampled_from(["", "", "  ", "\t", "    "])
MARKS = st.sampled_from([" ", " ", "x", "X", "~", "-", "!"])
BOXES = st.builds(lambda i, b, m, w: f"{i}{b} [{m}] {w}", INDENTS, BULLETS, MARKS, WORDS)
OTHERS = st.sampled_from(
    [
        "",
        "# Title",
        "## Phase 1: A",
        "### Task 1: t",
        "text",
        "  - point",
        "```",
        "~~~",
        "<!--",
        "-->",
        "- [2026-01-29] date",
        "- [P] note",
    ]
)
FORMATS: st.SearchStrategy[Format] = st.sampled_from(["plain", "spec-kit", "openspec", "kiro", "ralphex", "fix_plan"])


LINES = st.tuples(st.one_of(BOXES, BOXES, OTHERS), st.sampled_from(["\n", "\r\n"])).map("".join)
FILES = st.builds(
    lambda lines, last, bom: bom + ("".join(lines) if last else "".join(lines).rstrip("\r\n")).encode(),
    st.lists(LINES, max_size=14),
    st.booleans(),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
)


@settings(max_examples=150, deadline=None)
@given(raw=FILES, format=FORMATS, choice=st.randoms(use_true_random=False))
def test_to_tick_and_then_to_untick_gives_the_same_bytes(raw: bytes, format: Format, choice: Any) -> None:
    plan = read_markdown(raw, format)
    done = [item.id for item in plan.items if choice.random() < 0.6]
    changes = finishing(plan, done)
    ticked = with_marks(raw, format, "", changes)
    assert len(ticked) == len(raw)
    assert sum(old != new for old, new in zip(raw, ticked, strict=True)) == len(changes)
    assert nothing_else_moved(raw, ticked, format, "", changes)
    after = read_markdown(ticked, format)
    known = {entry.item.id: entry for entry in after.entries}
    assert all(known[id].item.status == "completed" for id in done)
    assert [entry.key for entry in after.entries] == [entry.key for entry in plan.entries]
    assert with_marks(ticked, format, "", changes) == ticked
    back = undoing(after, {change.key: change for change in changes}, done)
    assert with_marks(ticked, format, "", back) == raw


def test_a_mark_that_is_neither_the_old_nor_the_new_one_is_refused() -> None:
    change = MarkChange(Key("T001", "a"), " ", "X")
    with pytest.raises(EntryMoved, match="marked '~', neither ' ' nor 'X'"):
        with_marks(b"- [~] T001 a\n", "spec-kit", "", (change,))


def test_an_entry_is_found_after_it_moved_and_one_that_is_gone_is_refused_with_the_candidates() -> None:
    change = MarkChange(Key("", "a", 2), " ", "x")
    assert with_marks(b"- [ ] b\n- [ ] a\n\n- [ ] a\n", "plain", "", (change,)) == b"- [ ] b\n- [ ] a\n\n- [x] a\n"
    with pytest.raises(EntryMoved, match="not in the file; there are: 'a'"):
        with_marks(b"- [ ] a\n", "plain", "", (change,))


def test_a_parent_is_ticked_with_the_last_of_its_required_leaves_and_unticked_with_any() -> None:
    raw = b"- [ ] 1. a\n  - [x] 1.1 b\n  - [ ] 1.2 c\n  - [ ]* 1.3 d\n- [ ] 2. e\n"
    plan = read_markdown(raw, "kiro")
    changes = finishing(plan, ["1.2"])
    ticked = with_marks(raw, "kiro", "", changes)
    assert ticked == b"- [x] 1. a\n  - [x] 1.1 b\n  - [x] 1.2 c\n  - [ ]* 1.3 d\n- [ ] 2. e\n"
    back = undoing(read_markdown(ticked, "kiro"), {change.key: change for change in changes}, ["1.2"])
    assert with_marks(ticked, "kiro", "", back) == raw


def test_unticking_restores_the_remembered_mark_and_leaves_alone_what_a_person_changed_meanwhile() -> None:
    plan = read_markdown(b"- [-] 1.1 a\n- [ ] 1.2 b\n", "kiro")
    written = {change.key: change for change in finishing(plan, ["1.1", "1.2"])}
    now = read_markdown(b"- [x] 1.1 a\n- [~] 1.2 b\n", "kiro")
    assert [(c.key.id, c.before, c.after) for c in undoing(now, written, ["1.1", "1.2"])] == [("1.1", "x", "-")]


ODD_JSON = b"""\xef\xbb\xbf{
\t"master" : {"tasks":[
    {"id":1,"title":"caf\\u00e9","status":"pending", "status" : "in-progress" ,"n":1.0e0},
    {"title":"b","id":"2","status":"pending","subtasks":[{"id":1,"title":"c","status":"pending"},{"id":2,"title":"d","status":"done"}]}
  ],"metadata":{"x":[ ]}},\r
  "other":{"tasks":[{"id":1,"title":"e","status":"pending"}]}
}"""


def plan_of(raw: bytes) -> ImportedPlan:
    return task_master.read_task_master(raw, "master")


def test_task_master_changes_one_span_of_the_last_duplicate_key_and_marks_parents_with_their_subtasks() -> None:
    changes = finishing(plan_of(ODD_JSON), ["1", "2.1"])
    marked = with_marks(ODD_JSON, "task-master", "master", changes)
    expected = ODD_JSON.replace(b'"in-progress"', b'"done"').replace(
        b'"id":"2","status":"pending"', b'"id":"2","status":"done"'
    )
    assert marked == expected.replace(b'"title":"c","status":"pending"', b'"title":"c","status":"done"')
    assert nothing_else_moved(ODD_JSON, marked, "task-master", "master", changes)
    back = undoing(plan_of(marked), {change.key: change for change in changes}, ["1", "2.1"])
    assert with_marks(marked, "task-master", "master", back) == ODD_JSON


def test_a_change_in_another_tag_is_noticed() -> None:
    changes = finishing(plan_of(ODD_JSON), ["1"])
    marked = with_marks(ODD_JSON, "task-master", "master", changes).replace(b'"title":"e"', b'"title":"f"')
    assert not nothing_else_moved(ODD_JSON, marked, "task-master", "master", changes)


def test_ralph_changes_the_word_after_passes_alone() -> None:
    raw = b'{"userStories": [{"id":"US-1","title":"a","passes" :false,"n":1.50}, {"id":"US-2","title":"b","passes":false}]}\n'
    plan = ralph.read_ralph(raw)
    changes = finishing(plan, ["US-1"])
    marked = with_marks(raw, "ralph", "", changes)
    assert marked == raw.replace(b":false,", b":true,")
    assert nothing_else_moved(raw, marked, "ralph", "", changes)
    back = undoing(ralph.read_ralph(marked), {change.key: change for change in changes}, ["US-1"])
    assert with_marks(marked, "ralph", "", back) == raw


def test_ralph_criteria_with_marks_of_their_own_are_marked_each() -> None:
    criteria = [{"text": "a", "passes": True}, {"text": "b", "passes": False}]
    raw = json.dumps({"userStories": [{"id": "US-1", "title": "a", "acceptanceCriteria": criteria}]}).encode()
    changes = finishing(ralph.read_ralph(raw), ["US-1"])
    assert with_marks(raw, "ralph", "", changes) == raw.replace(b"false", b"true")


@pytest.mark.parametrize("status", ["To Do", '"To Do"', "'To Do'"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_backlog_md_changes_the_status_and_the_open_criteria(status: str, end: str) -> None:
    lines = (
        "---",
        "id: TASK-1",
        f"status: {status}  ",
        "who: @me",
        "---",
        "- [x] #1 a",
        "- [ ] #2 b",
        "- [ ] other",
        "",
    )
    raw = end.join(lines).encode()
    plan = read_backlog_md({"t.md": raw})
    changes = finishing(plan, ["TASK-1"])
    marked = with_marks(raw, "backlog.md", "", changes)
    assert marked == raw.replace(b"To Do", b"Done").replace(b"[ ] #2", b"[x] #2")
    assert nothing_else_moved(raw, marked, "backlog.md", "", changes)
    assert not nothing_else_moved(raw, marked + b"more", "backlog.md", "", changes)
    back = undoing(read_backlog_md({"t.md": marked}), {change.key: change for change in changes}, ["TASK-1"])
    assert with_marks(marked, "backlog.md", "", back) == raw
