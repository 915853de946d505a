"""plan.md is read leniently and checked strictly."""

import pytest

from flyball.core.workflows.plan.grammar import parse, render

WHOLE = """# Plan

**Iteration:** 1
**Status:** DRAFT

## Tasks

- [x] **1.1** lay out — Files: `a.py`, `b/` | Acceptance: it imports; it builds | `scaffold: true`
- [ ] **1.2** read — Files: `c.py` | Acceptance: it reads | `depends_on: 1.1`

## Open Questions

- Which encoding?
"""


@pytest.mark.req("O20")
def test_the_form_that_is_written_is_read_back_as_it_was() -> None:
    read = parse(WHOLE)
    assert read.problems == ()
    first, second = read.items
    assert (first.id, first.text, first.status, first.kind) == ("1.1", "lay out", "completed", "scaffold")
    assert (first.files, first.acceptance) == (("a.py", "b/"), ("it imports", "it builds"))
    assert (second.depends_on, second.kind, second.status) == (("1.1",), "", "not-started")
    assert parse(render(read.items)).items == read.items


@pytest.mark.req("O20")
@pytest.mark.parametrize(
    "line",
    [
        "- [ ] **1.2** read - Files: c.py | Acceptance: it reads | depends_on: 1.1",
        "* [ ] 1.2 read -- Files: `c.py` | acceptance: it reads | `Depends on: 1.1`",
        "1. [ ] **1.2**: read | Files: [c.py] | Acceptance: it reads | depends-on: 1.1",
        "- [ ] **1.2** read\n  - Files: `c.py`\n  - **Acceptance:** it reads\n  - Depends: 1.1",
        "- [ ] **1.2** read — Files: `c.py`\r\n  Acceptance:\r\n  - it reads\r\n  depends_on: 1.1, none",
        "- [ ] `1.2` read – Files: `c.py` | Acceptance criteria: it reads | dependencies: 1.1 | scaffold: false",
    ],
)
def test_other_forms_of_a_subtask_mean_the_same(line: str) -> None:
    read = parse(f"- [ ] **1.1** first — Acceptance: x\n{line}\n")
    assert read.problems == ()
    item = read.items[1]
    assert (item.id, item.text, item.files, item.acceptance) == ("1.2", "read", ("c.py",), ("it reads",))
    assert (item.depends_on, item.kind) == (("1.1",), "")


@pytest.mark.req("O20")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Plan\n\nnothing here", "the plan has no subtask"),
        ("\n- [ ] read orders — Acceptance: x", "line 2: the subtask has no id: 'read orders'"),
        ("- [ ] **1** a — Acceptance: x\n- [ ] **1** b — Acceptance: x", "line 2: the id 1 stands on line 1 already"),
        ("- [ ] **1** a — Files: `x`", "line 1: 1 has no acceptance"),
        ("- [ ] **1** a — Acceptance: x | `depends_on: 9`", "line 1: 1 depends on 9, which is no subtask"),
        (
            "- [ ] **1** a — Acceptance: x | `depends_on: 2`\n- [ ] **2** b — Acceptance: x | `depends_on: 1`",
            "line 1: the dependencies go round: 1 → 2 → 1",
        ),
        ("- [ ] **1** a — Acceptance: x | `depends_on: 1`", "line 1: the dependencies go round: 1 → 1"),
    ],
)
def test_what_cannot_be_worked_to_is_named_with_its_line(text: str, problem: str) -> None:
    assert any(said.startswith(problem) for said in parse(text).problems), parse(text).problems


def test_boxes_in_fences_and_questions_are_no_subtasks() -> None:
    text = "```\n- [ ] **9** no\n```\n- [ ] **1** a — Acceptance: x\n\n## Open Questions\n\n- [ ] really?\n"
    assert [item.id for item in parse(text).items] == ["1"]


@pytest.mark.req("O20")
@pytest.mark.parametrize("path", ["../x.py", "/etc/x", "~/x", "a/../../x"])
def test_a_path_outside_the_repository_is_a_problem(path: str) -> None:
    [problem] = parse(f"- [ ] **1.1** a — Files: `{path}` | Acceptance: b").problems
    assert problem == f"line 1: 1.1 names {path}, which is outside the repository; expected a path below its root"


@pytest.mark.req("O20")
def test_a_back_quote_at_the_start_or_end_of_an_acceptance_is_kept():
    line = "- [ ] **1.1** `mul` — Files: `mul.py` | Acceptance: `mul(2, 3)` is 6; it prints `six` | `depends_on: 1.0` | `scaffold: true`"
    (item,) = parse(line).items
    assert item.text == "`mul`"
    assert item.acceptance == ("`mul(2, 3)` is 6", "it prints `six`")
    assert (item.files, item.depends_on, item.kind) == (("mul.py",), ("1.0",), "scaffold")


@pytest.mark.req("O37")
def test_what_the_rendered_plan_escapes_is_read_back_as_it_was():
    shown = r"- [ ] **1.1** read \[a\] — Acceptance: \`f(\*a)\` is a\|b; \_x\_ stays"
    (item,) = parse(shown).items
    assert (item.text, item.acceptance) == ("read [a]", ("`f(*a)` is a|b", "_x_ stays"))


def test_a_fence_of_tildes_within_one_of_back_quotes_does_not_end_it() -> None:
    plan = parse("```\n~~~\n- [ ] **1.1** an example\n~~~\n```\n- [ ] **1.2** do it — Files: `a.py` | Acceptance: x\n")
    assert [item.id for item in plan.items] == ["1.2"]
