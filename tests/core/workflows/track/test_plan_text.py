"""A track's plan.md: read as work, checked, and changed by the smallest edit."""

import pytest
from hypothesis import given, strategies as st

from flyball.core.workflows.track.plan_text import TaskNotFound, read_tasks, with_box, with_done, with_section

PAGE = """# Plan: a form

## Dependency Graph
```yaml
dag:
  nodes:
    - {id: "1.1", name: form, type: ui, files: [src/form.py], depends_on: []}
    - {id: "1.2", name: send, type: code, files: [src/send.py], depends_on: ["1.1"]}
```

## Phase 1
- [ ] Task 1.1: Build the form <!-- deps: none, parallel: pg-1 -->
  - Type: ui
  - Acceptance: it shows two fields
  - Files: `src/form.py`, `tests/test_form.py`
- [ ] Task 1.2: Send it <!-- parallel: pg-2 -->
  - Acceptance: it sends
- [ ] Task 1.3: Print it — deferred: next quarter
"""


@pytest.mark.req("D40")
def test_tasks_have_ids_dependencies_files_and_acceptance_from_their_lines_or_the_graph() -> None:
    plan = read_tasks(PAGE)
    form, send = plan.items
    assert (form.id, form.text, form.kind, form.files) == (
        "1.1",
        "Build the form",
        "ui",
        ("src/form.py", "tests/test_form.py"),
    )
    assert form.depends_on == ()
    assert (send.files, send.depends_on, send.acceptance) == (("src/send.py",), ("1.1",), ("it sends",))
    assert plan.tasks[2].page.deferred == "next quarter"
    assert plan.wrong == ()


@pytest.mark.req("D40")
@pytest.mark.parametrize(
    ("page", "check", "said"),
    [
        ("# Plan\n", "scope", "the plan has no task"),
        ("- [ ] Task 1: a\n", "task_quality", "line 1: task 1 has no `Acceptance:`"),
        ("- [ ] Task 1: a <!-- deps: 9 -->\n  - Acceptance: b\n", "dependencies", "depends on 9, which is no task"),
        ("- [ ] Task 1: a\n  - Acceptance: b\n- [ ] Task 1: c\n  - Acceptance: d\n", "dependencies", "more than once"),
        (
            "- [ ] Task 1: a <!-- deps: 2 -->\n  - Acceptance: b\n- [ ] Task 2: a <!-- deps: 1 -->\n  - Acceptance: b\n",
            "dag",
            "1 → 2 → 1",
        ),
        ("```yaml\ndag: [\n```\n- [ ] Task 1: a\n  - Acceptance: b\n", "dag", "not YAML"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named_with_its_line(page: str, check: str, said: str) -> None:
    assert any(said in problem for problem in read_tasks(page).problems[check])


@pytest.mark.req("D40")
def test_files_that_another_unfinished_track_plans_are_an_overlap() -> None:
    plan = read_tasks(PAGE, (("src/send.py", "mail_20261101"),))
    assert plan.problems["overlap"] == ("line 16: src/send.py is also planned by the track mail_20261101",)


@pytest.mark.req("D40")
def test_a_done_task_gets_its_box_commit_and_summary_and_nothing_else_moves() -> None:
    done = with_done(PAGE, "1.1", "abc1234", "two fields")
    assert "- [x] Task 1.1: Build the form <!-- deps: none, parallel: pg-1 --> <!-- abc1234 -->\n" in done
    assert "  - Files: `src/form.py`, `tests/test_form.py`\n  - two fields\n- [ ] Task 1.2" in done
    changed = [
        (a, b)
        for a, b in zip(PAGE.split("\n"), done.replace("  - two fields\n", "").split("\n"), strict=True)
        if a != b
    ]
    assert len(changed) == 1
    assert with_done(done, "1.1", "abc1234", "two fields") == done, "done twice is done once"


@pytest.mark.req("D40")
@pytest.mark.parametrize(
    "said",
    [
        "[x] Task 1.2: sent",
        "Files: `everything/`",
        "**Acceptance**: none",
        "commit: fedcba9",
        "so deferred: it all",
        "a <!-- 1 -->",
    ],
)
def test_what_an_agent_says_of_its_work_changes_nothing_of_the_plan(said: str) -> None:
    before, after = read_tasks(PAGE), read_tasks(with_done(PAGE, "1.1", "abc1234", said))
    assert [(item.id, item.text, item.files, item.acceptance, item.depends_on) for item in after.items] == [
        (item.id, item.text, item.files, item.acceptance, item.depends_on) for item in before.items
    ]
    done = after.tasks[0].page
    assert (done.box, done.shas, bool(done.summary)) == ("x", ("abc1234",), True)
    assert after.problems == before.problems


@pytest.mark.req("D40")
def test_a_byte_order_mark_hides_no_task_and_stays() -> None:
    page = "\ufeff- [ ] Task 1: a <!-- deps: none -->\r\n  - Acceptance: b"
    assert [item.id for item in read_tasks(page).items] == ["1"]
    assert with_done(page, "1", "123456789012", "so") == (
        "\ufeff- [x] Task 1: a <!-- deps: none --> <!-- 123456789012 -->\r\n  - Acceptance: b\r\n  - so\r\n"
    )


@pytest.mark.req("D40")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_box_that_is_opened_again_names_no_commit_behind_it(end: str) -> None:
    page = PAGE.replace("\n", end)
    assert with_box(with_done(page, "1.1", "abc123456789", "so"), "1.1", " ").replace(f"  - so{end}", "") == page


def test_a_task_that_is_gone_or_doubled_is_not_guessed() -> None:
    with pytest.raises(TaskNotFound):
        with_box(PAGE, "7.7", "x")
    with pytest.raises(TaskNotFound):
        with_box(PAGE + "- [ ] Task 1.1: again\n", "1.1", "x")


def test_fixes_stand_in_a_section_of_their_own_once() -> None:
    once = with_section(PAGE, "## Fix Phase (cycle 1)", ["- [ ] Task F1.1: mend it"])
    assert once.startswith(PAGE)
    assert once.endswith("\n## Fix Phase (cycle 1)\n\n- [ ] Task F1.1: mend it\n")
    assert with_section(once, "## Fix Phase (cycle 1)", ["- [ ] Task F1.1: mend it"]) == once
    assert read_tasks(once).tasks[-1].item.id == "F1.1"


@given(
    st.lists(st.sampled_from(["\r\n", "\n"]), min_size=1, max_size=1),
    st.sampled_from(["", "\ttabbed", "ünïcödé ✓", "- bullet", "```\n- [ ] Task 1.1: quoted\n```"]),
    st.booleans(),
)
def test_a_tick_and_its_reverse_leave_every_byte(ends: list[str], other: str, newline: bool) -> None:
    page = PAGE + other + ("\n" if newline else "")
    page = page.replace("\n", ends[0])
    ticked = with_box(page, "1.2", "x")
    assert sum(a != b for a, b in zip(page, ticked, strict=True)) == 1
    assert with_box(ticked, "1.2", " ") == page
