import pytest
from hypothesis import given, strategies as st

from flyball.core.text.criteria import Criterion, criteria, goal, names_criterion, title

pytestmark = pytest.mark.req("C6")

PRP = """\
# PRP: User login

## Goal
People sign in
with **one** click.

### Success Criteria

- [ ] Login works
- [x] Logout works
- plain bullet
  - [ ] Nested asks too
1. [ ] numbered box
2) [X] other numbering

```
- [ ] inside a fence
```

    - [ ] indented code

<!--
- [ ] inside a comment
-->

## Tasks
- [ ] no criterion
"""


def asked(markdown):
    return [(c.id, c.text) for c in criteria(markdown)]


def test_checkboxes_under_the_heading_are_criteria_with_their_lines():
    found = criteria(PRP)
    assert found == (
        Criterion("AC-1", "Login works", 9),
        Criterion("AC-2", "Logout works", 10, done=True),
        Criterion("AC-3", "Nested asks too", 12),
        Criterion("AC-4", "numbered box", 13),
        Criterion("AC-5", "other numbering", 14, done=True),
    )
    lines = PRP.split("\n")
    assert all(c.text in lines[c.line - 1] for c in found)


def test_windows_line_ends_and_front_matter_keep_the_line_numbers():
    text = f"---\nname: x\n---\n{PRP}".replace("\n", "\r\n")
    assert [c.line for c in criteria(text)] == [12, 13, 15, 16, 17]
    assert [c.line for c in criteria(PRP.replace("\n", "\r"))] == [9, 10, 12, 13, 14]


@pytest.mark.parametrize(
    "heading",
    [
        "# Success Criteria",
        "###### acceptance criteria",
        "### Acceptance Criteria:",
        "### **Acceptance Criteria**",
        "## 3.1 Success Criteria ##",
        "### ✅ Success Criteria",
        "Success Criteria\n---",
    ],
)
def test_the_heading_may_have_any_level_and_ornament(heading):
    assert asked(f"{heading}\n\n- [ ] works\n") == [("AC-1", "works")]


@pytest.mark.parametrize(
    "markdown",
    [
        "",
        "- [ ] no heading",
        "### Not Success Criteria at all\n- [ ] x",
        "```\n### Success Criteria\n- [ ] x\n```",
        "### Success Criteria\n- [x](link)\n- []\n- [ ]\n- [ ]   \n- text [ ] later\n[ ] no item",
        "### Success Criteria\n## Other\n- [ ] x",
    ],
)
def test_without_checkboxes_under_such_a_heading_there_are_no_criteria(markdown):
    assert criteria(markdown) == ()


def test_lower_headings_belong_to_the_section_and_both_sections_count():
    text = "## Acceptance Criteria\n### Must\n- [ ] a\n### Should\n* [ ] b\n## Else\n- [ ] c\n# Success Criteria\n+ [ ] d\n"
    assert asked(text) == [("AC-1", "a"), ("AC-2", "b"), ("AC-3", "d")]


def test_a_criterion_over_several_lines_is_one_text():
    assert asked("### Success Criteria\n- [ ] first\n  second `code`\n\n  more detail\n- [~] begun\n") == [
        ("AC-1", "first second `code`"),
        ("AC-2", "begun"),
    ]


def test_the_same_criterion_twice_is_asked_once_and_done_only_if_both_are_ticked():
    assert criteria("### Success Criteria\n- [x] Works\n- [ ] b\n### Acceptance Criteria\n- [ ] works\n") == (
        Criterion("AC-1", "Works", 2),
        Criterion("AC-2", "b", 3),
    )


def test_a_criterion_that_has_an_id_keeps_it_and_the_others_take_what_is_free():
    text = "### Acceptance Criteria\n- [ ] plain\n- [ ] AC-1: first\n- [ ] **AC03** - third\n- [ ] AC-1: again\n- [ ] AC-1\n"
    assert asked(text) == [
        ("AC-2", "plain"),
        ("AC-1", "first"),
        ("AC-3", "third"),
        ("AC-4", "AC-1: again"),
        ("AC-5", "AC-1"),
    ]


def test_control_characters_reach_no_criterion():
    assert asked("### Success Criteria\n- [ ] a\x1b[2Jb\u202e c\n") == [("AC-1", "ab c")]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (PRP, "User login"),
        ("# Plan\n**Iteration:** 1\n\n## Goal\n\nMake it fast.\n", "Make it fast."),
        ('---\nname: "Base PRP"\n---\n# PRP\n', "Base PRP"),
        ("---\ntitle: T\n---\n\n# Real `title`\n", "Real title"),
        ("Setext\n======\n", "Setext"),
        ("## Only lower\ntext", "Only lower"),
        ("\n\nadd *a* button\nand more", "add a button"),
        ("# Plan\n", "Plan"),
        ("```\n# code\n```\n# After\n", "After"),
        ("# snake_case stays\n", "snake_case stays"),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_the_title_is_the_first_heading_that_says_something(markdown, expected):
    assert title(markdown) == expected
    assert title(markdown.replace("\n", "\r\n")) == expected


def test_the_goal_is_the_first_paragraph_under_its_heading():
    assert goal(PRP) == "People sign in with one click."
    assert goal("# Plan\n## Goal\n## Next\ntext") == ""


ONE, TWELVE = Criterion("AC-1", "a", 1), Criterion("AC-12", "b", 2)


@pytest.mark.parametrize(
    "text",
    [
        "AC-1",
        "ac_1",
        "tests/test_login.py::test_ac_1_login_works",
        "test_ac1_login",
        "test_login_ac1",
        "testAC1Login",
        "testAc1Login",
        "AC1Login",
        '"""AC-1: login works."""',
        "# covers AC-3, AC-1.",
        "it('AC 1 logs in')",
        "test_ac_01",
    ],
)
def test_a_test_names_its_criterion_in_its_name_or_source(text):
    assert names_criterion(text, ONE)
    assert not names_criterion(text, TWELVE)


@pytest.mark.parametrize(
    "text",
    [
        "AC-12",
        "ac_12",
        "test_ac12",
        "mac1",
        "MAC-1",
        "AC-1.2",
        "AC-10",
        "xac_1",
        "4bd2-ac1f-9",
        "AC",
        "1",
        "",
        "AC-21",
        "back_1",
    ],
)
def test_another_number_or_word_does_not_name_it(text):
    assert not names_criterion(text, ONE)


@pytest.mark.parametrize(
    "markdown",
    [
        "### Success Criteria\n" + "- [ ] x\n" * 1000,
        "> " * 5000 + "x",
        "[" * 50_000,
        "### Success Criteria\n" + "".join(" " * (2 * n) + "- [ ] n\n" for n in range(200)),
        "---\n" * 5_000,
        "# " + "*" * 50_000,
        "### Success Criteria\n- [ ] AC" + " " * 50_000 + "x",
        "<" * 50_000,
    ],
    ids=lambda markdown: markdown[:24].strip(),
)
def test_hostile_documents_are_read_in_bounded_time(markdown):
    criteria(markdown)
    title(markdown)


@given(
    st.text(st.characters())
    | st.lists(
        st.sampled_from(["# ", "### Success Criteria", "- [ ] a", "- [x]", "\n", "---", "AC-0: b", "    ", "```", "> "])
    ).map("\n".join)
)
def test_no_document_makes_the_reader_raise_and_ids_are_unique(markdown):
    for text in (markdown, f"### Success Criteria\n- [ ] {markdown}\n- [ ] x"):
        found = criteria(text)
        assert len({c.id for c in found}) == len(found)
        title(text)
        goal(text)
        assert all(names_criterion(c.id, c) for c in found)
