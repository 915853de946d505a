"""Markdown plans of six tools, read into items."""

from collections.abc import Mapping

import pytest

from flyball.core.workflows.plan.sources.boxes import scan
from flyball.core.workflows.plan.sources.keys import keep_names
from flyball.core.workflows.plan.sources.markdown import read_markdown
from flyball.core.workflows.plan.sources.profiles import format_by_content, format_by_path, is_plan
from flyball.core.workflows.plan.sources.values import JUDGED_BY_REVIEW, Format, ImportedPlan, Key, PlanEntry

pytestmark = pytest.mark.req("O23")

SPEC_KIT = b"""# Tasks: Photo albums

## Phase 1: Setup

- [X] T001 Create the package in src/albums/
- [ ] **T002** [P] Configure linting in pyproject.toml
- [ ] T003 [P] Write the readme in README.md

## Phase 2: User Story 1 - Make an album (P1)

**Independent Test**: an album can be made and listed

### Tests
- [ ] T010 [P] [US1] Contract test in tests/test_contract.py
- [ ] T011 [US1] [P] Unit test in tests/test_album.py

### Implementation
- [ ] T012 [US1] Model in src/albums/model.py (depends on T010\xe2\x80\x93T011)
- [ ] T020a [P] [US1] Page in src/albums/page.py

**Checkpoint**: story one works alone

## Phase 3: User Story 2

- [ ] T030 [US2] List albums in src/albums/listing.py

## Phase 4: Polish

- [ ] T040 [P] Guide in docs/guide.md

## Notes

- [P] tasks = different files, no dependencies
- [ ] Everything reviewed
"""


def items(plan: ImportedPlan) -> Mapping[str, PlanEntry]:
    return {entry.item.id: entry for entry in plan.entries}


def after(plan: ImportedPlan) -> dict[str, tuple[str, ...]]:
    return {item.id: item.depends_on for item in plan.items}


def test_spec_kit_tasks_have_ids_files_phases_and_what_their_phase_is_accepted_by() -> None:
    plan = read_markdown(SPEC_KIT, "spec-kit")
    found = items(plan)
    assert plan.title == "Photo albums"
    assert found["T001"].item.status == "completed"
    assert found["T002"].item.text == "Configure linting in pyproject.toml"
    assert found["T012"].item.files == ("src/albums/model.py",)
    assert found["T012"].item.group == "Phase 2: User Story 1 - Make an album (P1)"
    assert found["T012"].item.acceptance == ("an album can be made and listed", "story one works alone")
    assert found["T030"].item.acceptance == (JUDGED_BY_REVIEW,)
    assert [found[id].item.parallel for id in ("T001", "T011", "T020a")] == [False, True, True]


def test_spec_kit_phases_are_barriers_and_only_disjoint_parallel_tasks_run_side_by_side() -> None:
    assert after(read_markdown(SPEC_KIT, "spec-kit")) == {
        "T001": (),
        "T002": ("T001",),
        "T003": ("T001",),
        "T010": ("T002", "T003"),
        "T011": ("T002", "T003"),
        "T012": ("T010", "T011", "T002", "T003"),
        "T020a": ("T010", "T011", "T012"),
        "T030": ("T020a",),
        "T040": ("T030",),
    }


def test_user_stories_run_beside_each_other_only_if_the_user_asks() -> None:
    order = after(read_markdown(SPEC_KIT, "spec-kit", parallel_stories=True))
    assert order["T030"] == ("T002", "T003")
    assert order["T040"] == ("T020a", "T030")


def test_parallel_tasks_that_name_the_same_file_or_none_follow_each_other() -> None:
    raw = b"## Phase 1: A\n- [ ] T001 [P] in a.py\n- [ ] T002 [P] in a.py\n- [ ] T003 [P] no file\n- [ ] T004 [P] in b.py\n"
    assert after(read_markdown(raw, "spec-kit")) == {
        "T001": (), "T002": ("T001",), "T003": ("T002",), "T004": ("T003",),
    }  # fmt: skip


def test_boxes_without_an_id_where_most_have_one_are_a_checklist_that_is_never_run() -> None:
    plan = read_markdown(SPEC_KIT, "spec-kit")
    (checklist,) = [entry for entry in plan.entries if entry.role == "checklist"]
    assert checklist.item.text == "Everything reviewed"
    assert checklist.item not in plan.items


def test_other_id_schemes_and_dependencies_in_words_are_read() -> None:
    raw = b"- [ ] [SETUP-005] P2 Base in a.py\n- [ ] [SETUP-006] Next in b.py, depends on SETUP-005\n"
    plan = read_markdown(raw, "spec-kit")
    assert after(plan) == {"SETUP-005": (), "SETUP-006": ("SETUP-005",)}


def test_duplicate_ids_are_named_as_a_defect_and_a_dependency_on_one_is_on_both() -> None:
    raw = b"- [ ] T064 one in a.py\n- [ ] T064 two in b.py\n- [ ] T065 three (depends on T064)\n"
    plan = read_markdown(raw, "spec-kit")
    assert [item.id for item in plan.items] == ["T064", "T064~2", "T065"]
    assert plan.items[2].depends_on == ("T064", "T064~2")
    (defect,) = plan.defects
    assert (defect.line, defect.fatal) == (2, False)
    assert "T064, T064~2" in defect.message


@pytest.mark.parametrize("wording", ["depends on T099", "(depends on T001-T099)", "Depends on: T099"])
def test_a_dependency_that_is_not_there_is_named_with_its_line(wording: str) -> None:
    raw = f"- [ ] T001 one\n- [ ] T002 two {wording}\n".encode()
    (defect,) = read_markdown(raw, "spec-kit").defects
    assert (defect.line, defect.fatal) == (2, True)
    assert "T002 depends on T099" in defect.message


def test_a_number_in_a_sentence_is_not_a_missing_dependency() -> None:
    assert not read_markdown(b"- [ ] 1.1 It depends on 2 services\n", "openspec").defects


def test_a_circle_of_dependencies_is_named() -> None:
    raw = b"- [ ] T001 one (depends on T002)\n- [ ] T002 two (depends on T001)\n"
    (defect,) = read_markdown(raw, "spec-kit").defects
    assert defect.fatal
    assert "circle" in defect.message


def test_a_dependency_on_a_later_entry_turns_the_order_round_instead_of_making_a_circle() -> None:
    raw = b"- [ ] T001 one (depends on T003)\n- [ ] T002 two\n- [ ] T003 three\n"
    plan = read_markdown(raw, "spec-kit")
    assert not plan.defects
    assert after(plan) == {"T001": ("T003",), "T002": ("T001",), "T003": ()}


OPENSPEC = b"""## 1. Server
- [x] 1.1 Add the route in `server/routes.ts`
- [ ] 1.2 Validate input; a bad id gives 404
    - [ ] 1.2.1 for users
## 2. Page
* [~] 2.1 Show it
"""


def test_openspec_tasks_go_by_numbers_and_document_order_and_a_parent_is_not_run() -> None:
    plan = read_markdown(OPENSPEC, "openspec")
    assert after(plan) == {"1.1": (), "1.2.1": ("1.1",), "2.1": ("1.2.1",)}
    assert items(plan)["1.2"].role == "parent"
    assert items(plan)["1.2.1"].parent == "1.2"
    assert items(plan)["2.1"].item.status == "not-started"
    assert items(plan)["1.1"].item.files == ("server/routes.ts",)


KIRO = """# Implementation Plan

- [ ] 1. Set up storage
  - [x] 1.1 Create the table
    - Write the migration in `db/001.sql`
    - _Requirements: 1.1, 2.1–2.2_
  - [-] 1.2 (P) Add the repository
    - _Depends: 1.1_
  - [ ]* 1.3 Write property tests
- [ ] 2. Show it in `web/page.tsx`
""".encode()


def test_kiro_runs_leaves_with_their_details_and_the_criteria_they_refer_to() -> None:
    criteria = {"1.1": "a row is stored", "2.1": "it is listed", "2.2": "it is sorted"}
    plan = read_markdown(KIRO, "kiro", criteria)
    found = items(plan)
    assert found["1"].role == "parent"
    assert found["1.1"].item.acceptance == (
        "Write the migration in `db/001.sql`", "a row is stored", "it is listed", "it is sorted",
    )  # fmt: skip
    assert found["1.1"].item.files == ("db/001.sql",)
    assert found["1.2"].item.depends_on == ("1.1",)
    assert found["1.2"].item.parallel is True
    assert found["1.3"].item.optional
    assert found["2"].item.depends_on == ("1.1", "1.2")
    assert found["1.1"].item.group == "Set up storage"


RALPHEX = b"""# Plan: Login

## Validation Commands
- `make test`

### Task 1: Add the form
- [x] form in web/form.ts
- [ ] tests

### Task 2a: Wire it
- [ ] call the service
- [ ] boxes look like `[ ]` or `[x]`

## Notes
- [ ] not work
"""


def test_ralphex_tasks_are_headings_done_when_all_boxes_below_are() -> None:
    plan = read_markdown(RALPHEX, "ralphex")
    assert after(plan) == {"1": (), "2a": ("1",)}
    first, second = plan.entries
    assert first.item.text == "Add the form"
    assert first.item.status == "not-started"
    assert first.item.acceptance == ("form in web/form.ts", "tests", "`make test` passes")
    assert [mark.mark for mark in first.marks] == ["x", " "]
    assert len(second.marks) == 1


def test_ralphex_validation_commands_may_stand_in_a_fence() -> None:
    raw = b"## Validation Commands\n```bash\n# all of it\nmake test\n```\n### Iteration 1: A\n- [ ] a\n"
    assert read_markdown(raw, "ralphex").items[0].acceptance == ("a", "`make test` passes")


FIX_PLAN = b"""# Fix plan
## High Priority
- [ ] Repair the parser
- [2026-01-29] a date, not a box
## Low Priority
- [ ] 2 more things
## Nice to Have
- [ ] Colours
## Completed
- [ ] was done elsewhere
## Notes
- [ ] remember
"""


def test_fix_plan_sections_are_an_order_and_some_hold_no_work() -> None:
    plan = read_markdown(FIX_PLAN, "fix_plan")
    assert [(item.text, item.optional) for item in plan.items] == [
        ("Repair the parser", False),
        ("2 more things", False),
        ("Colours", True),
    ]
    assert after(plan) == {"1": (), "2": ("1",), "3": ("2",)}


def test_plain_boxes_get_numbers_and_take_nested_points_as_acceptance() -> None:
    raw = b"- [ ] Add a flag\n  - Acceptance: `--all` lists everything\n- [x] Add SHA256\n- [ ] Add a flag\n"
    plan = read_markdown(raw, "plain")
    assert [item.id for item in plan.items] == ["1", "2", "3"]
    assert plan.items[0].acceptance == ("`--all` lists everything",)
    assert [entry.key for entry in plan.entries] == [
        Key("", "Add a flag"),
        Key("", "Add SHA256"),
        Key("", "Add a flag", 2),
    ]


def test_the_grammar_of_plan_md_is_read_with_its_fields() -> None:
    raw = (
        "- [ ] **1.1** Lay the ground — Files: `src/a.py`, `src/b.py` | Acceptance: it imports | `scaffold: true`\n"
        "- [ ] **1.2** Build — Files: `src/c.py` | Acceptance: it runs | `depends_on: 1.1`\n"
    ).encode()
    first, second = read_markdown(raw, "plain").items
    assert (first.text, first.files, first.acceptance, first.kind) == (
        "Lay the ground", ("src/a.py", "src/b.py"), ("it imports",), "scaffold",
    )  # fmt: skip
    assert (second.id, second.depends_on) == ("1.2", ("1.1",))


def test_in_the_grammar_of_plan_md_only_depends_on_makes_an_order_and_fields_may_stand_below() -> None:
    raw = (
        b"- [ ] **1.1** Lay the ground\n  - Files: `a.py`\n  - Acceptance: it imports\n  - scaffold: true\n"
        b"- [ ] **1.2** Build\n  - Files: `b.py`\n  - depends_on: 1.1\n"
        b"- [ ] **1.3** Describe\n  - Files: `c.md`\n"
    )
    plan = read_markdown(raw, "plain")
    assert after(plan) == {"1.1": (), "1.2": ("1.1",), "1.3": ()}
    assert plan.items[0].acceptance == ("it imports",)
    assert [item.kind for item in plan.items] == ["scaffold", "", ""]


@pytest.mark.parametrize(
    "field",
    ["scaffold: true", "Scaffold: true", "**Scaffold:** True", "`SCAFFOLD: yes`", "scaffold: true, all build on it"],
)
@pytest.mark.parametrize("form", ["- [ ] **1.1** Lay | {}\n", "- [ ] **1.1** Lay\n  - {}\n"])
def test_a_scaffold_is_named_in_any_case_beside_an_entry_or_below_it(field: str, form: str) -> None:
    (item,) = read_markdown(form.format(field).encode(), "plain").items
    assert (item.text, item.kind) == ("Lay", "scaffold")
    (other,) = read_markdown(form.format(field.partition(" ")[0] + " false").encode(), "plain").items
    assert other.kind == ""


def test_fields_and_references_are_known_in_any_case() -> None:
    raw = "- [ ] **1.1** Build — files: `a.py`\n- [ ] **1.2** Test\n  - it runs\n  - depends: 1.1\n".encode()
    first, second = read_markdown(raw, "plain").items
    assert (first.text, first.files) == ("Build", ("a.py",))
    assert (second.depends_on, second.acceptance) == (("1.1",), ("it runs",))
    kiro = KIRO.replace(b"_Requirements: 1.1", b"_requirements: 1.1")
    criteria = {"1.1": "a row is stored", "2.1": "it is listed", "2.2": "it is sorted"}
    assert read_markdown(kiro, "kiro", criteria).items == read_markdown(KIRO, "kiro", criteria).items
    spec = SPEC_KIT.replace(b"**Independent Test**", b"**Independent test**")
    assert read_markdown(spec, "spec-kit").items == read_markdown(SPEC_KIT, "spec-kit").items


def again(before: bytes, now: bytes, format: Format) -> ImportedPlan:
    known = {entry.key: entry.item.id for entry in read_markdown(before, format).entries}
    return keep_names(read_markdown(now, format), known)


def test_an_entry_keeps_its_number_when_others_come_before_it() -> None:
    plan = again(b"- [ ] a\n- [ ] b\n", b"- [ ] new\n- [ ] b\n- [ ] a\n", "plain")
    assert [(item.id, item.text) for item in plan.items] == [("3", "new"), ("2", "b"), ("1", "a")]
    assert after(plan) == {"3": (), "2": ("3",), "1": ("2",)}


def test_the_number_of_an_entry_that_vanished_is_not_given_again() -> None:
    plan = again(b"- [ ] a\n- [ ] b\n", b"- [ ] c\n- [ ] b\n", "plain")
    assert [(item.id, item.text) for item in plan.items] == [("3", "c"), ("2", "b")]


def test_a_reworded_entry_with_an_id_keeps_its_name_and_one_whose_id_came_twice_keeps_it_by_its_text() -> None:
    assert [i.id for i in again(b"- [ ] T001 a\n", b"- [ ] T001 other\n", "spec-kit").items] == ["T001"]
    twice = again(b"- [ ] T001 a\n", b"- [ ] T001 other\n- [ ] T001 a\n", "spec-kit")
    assert [(i.id, i.text) for i in twice.items] == [("T001~2", "other"), ("T001", "a")]


def test_a_tick_with_a_sign_of_its_own_is_the_same_entry() -> None:
    (one,) = read_markdown("- [x] T001 a ✅ DONE <!-- abc1234 -->\n".encode(), "spec-kit").entries
    assert one.key == Key("T001", "a")


def test_an_optional_entry_that_a_required_one_depends_on_is_required() -> None:
    raw = b"- [ ]* 1.1 base\n- [ ]* 1.2 extra\n- [ ] 1.3 top\n  - _Depends: 1.1_\n"
    assert [(item.id, item.optional) for item in read_markdown(raw, "kiro").items] == [
        ("1.1", False), ("1.2", True), ("1.3", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Write `src/app.py` and tests/test_app.py.", ("src/app.py", "tests/test_app.py")),
        ("Create src/components/ with index.ts", ("src/components/", "index.ts")),
        ("Route app/[id]/page.tsx", ("app/[id]/page.tsx",)),
        ("Use Node.js, e.g. v1.2.3 and/or TCP/IP", ()),
        ("Call /api/users/ at https://example.org/a.html", ()),
        ("Edit ./Makefile.am and `.env`", ("Makefile.am", ".env")),
    ],
)
def test_files_are_paths_with_an_extension_or_a_slash_at_the_end(text: str, files: tuple[str, ...]) -> None:
    (item,) = read_markdown(f"- [ ] {text}\n".encode(), "plain").items
    assert set(item.files) == set(files)


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("specs/001-albums/tasks.md", "spec-kit"),
        ("openspec/changes/add-login/tasks.md", "openspec"),
        (".kiro/specs/login/tasks.md", "kiro"),
        (".ralph/fix_plan.md", "fix_plan"),
        ("@fix_plan.md", "fix_plan"),
        (".taskmaster/tasks/tasks.json", "task-master"),
        ("prd.json", "ralph"),
        ("docs/notes.md", None),
    ],
)
def test_a_path_tells_the_tool(path: str, format: Format | None) -> None:
    assert format_by_path(path) == format


@pytest.mark.parametrize(
    ("raw", "format"),
    [(SPEC_KIT, "spec-kit"), (OPENSPEC, "openspec"), (KIRO, "kiro"), (RALPHEX, "ralphex"), (FIX_PLAN, "fix_plan"), (b"- [ ] a\n", "plain")],
)  # fmt: skip
def test_content_tells_the_tool_where_the_path_does_not(raw: bytes, format: Format) -> None:
    assert format_by_content(scan(raw)) == format
    assert is_plan("notes.md", scan(raw), has_criteria=False)


def test_a_document_with_criteria_or_mostly_prose_is_not_a_plan() -> None:
    prose = b"# Login\n\nWhy.\n\nHow.\n\n## Acceptance Criteria\n- [ ] it works\n"
    assert not is_plan("login.md", scan(prose), has_criteria=True)
    assert not is_plan("login.md", scan(prose), has_criteria=False)
    assert is_plan("tasks.md", scan(prose), has_criteria=True)
    assert not is_plan("tasks.md", scan(b"nothing\n"), has_criteria=False)


@pytest.mark.parametrize(
    ("raw", "format", "done"),
    [
        (b"- [ ] a\n", "spec-kit", "X"),
        (b"- [ ] a\n", "openspec", "x"),
        (b"- [x] a\n- [ ] b\n", "spec-kit", "x"),
        (b"- [X] a\n- [X] b\n- [x] c\n", "plain", "X"),
    ],
)
def test_a_tick_is_written_as_the_file_has_most_of_them_else_as_its_tool_does(
    raw: bytes, format: Format, done: str
) -> None:
    assert read_markdown(raw, format).done == done


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- [ ] **1** a — Files: a.py | depends_on: 1\n", 1, "1 waits for 1: a circle"),
        ("- [ ] T001 a\n- [ ] T002 b in b.py (depends on T002)\n", 2, "T002 waits for T002: a circle"),
        ("- [ ] **1** a — Files: a.py | Acceptance: b\n- [ ] **2** b — Files: ../../etc/x | Acceptance: c\n", 2, "../../etc/x is outside"),
        ("- [ ] **1** a\n  - Files: `/etc/x`, b.py\n", 1, "/etc/x is outside"),
        ("- [ ] one\n- [ ]\n- [ ] two\n", 2, "the box has no text"),
        ("- [ ] T001 a\n- [ ] T002\n", 2, "the box has no text"),
    ],
)  # fmt: skip
def test_an_entry_that_nobody_could_work_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    format = format_by_content(scan(text.encode()))
    [defect] = [each for each in read_markdown(text.encode(), format).defects if each.fatal]
    assert defect.line == line
    assert defect.message.startswith(message)


def test_paths_that_lead_out_and_back_and_boxes_without_text_that_are_done_are_no_defects() -> None:
    text = b"- [ ] **1** a \xe2\x80\x94 Files: pkg/../a.py | Acceptance: b\n- [x]\n"
    assert not read_markdown(text, "plain").defects
