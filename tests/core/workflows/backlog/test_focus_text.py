"""`focus.md`: one section is flyball's, the rest is not."""

import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.workflows.backlog.focus import focused_issue, with_decision
from flyball.core.workflows.backlog.values import Evaluation

SAID = Evaluation("CONTINUE", "3 actionable issues\nremain.", "actionable", next_issue="BUG-002@a1b2c3")
AT = "2026-03-01T12:00:00Z"
SECTION = """\
## Loop Decision

Decision: CONTINUE
Reason: 3 actionable issues remain.
Time: 2026-03-01T12:00:00Z
Next: BUG-002@a1b2c3
"""


@pytest.mark.req("E21")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"# Agent Focus\n\n{SECTION}"),
        ("# Agent Focus\n\n## Current\n- Issue: X\n", f"# Agent Focus\n\n## Current\n- Issue: X\n\n{SECTION}"),
        ("# Agent Focus", f"# Agent Focus\n\n{SECTION}"),
        ("## Loop Decision\nold\n", SECTION),
        ("a\n## Loop Decision\nold\n### deeper\nx\n\n\n## Next\n- b\n", f"a\n{SECTION}\n## Next\n- b\n"),
        ("## loop decision ##\nold\n# Other\n", f"{SECTION}\n# Other\n"),
        ("```\n## Loop Decision\n```\n", f"```\n## Loop Decision\n```\n\n{SECTION}"),
        ("## Loop Decision\n```\n# no heading\n```\n## Next\n", f"{SECTION}\n## Next\n"),
        ("\ufeff## Loop Decision\nold", f"\ufeff{SECTION}"),
        ("### Loop Decision\nnot it\n", f"### Loop Decision\nnot it\n\n{SECTION}"),
    ],
)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_only_the_section_is_replaced_or_added(before, after, eol):
    wanted = after.replace("\n", eol) if "\n" in before else after
    assert with_decision(before.replace("\n", eol), SAID, AT) == wanted


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("#`~ \n\r\tabé\udc80\ufeff-"), max_size=60),
    st.text(alphabet=st.sampled_from("abé\udc80- \r\n"), max_size=60),
)
@pytest.mark.req("E21")
def test_every_other_byte_is_kept_and_the_same_decision_twice_is_the_same_text(before, after):
    if "`" in before or "~" in before:
        before = before.replace("`", "").replace("~", "")
    text = f"{before}\n## Loop Decision\nold\n## Next\n{after}"
    new = with_decision(text, SAID, AT)
    assert new.startswith(f"{before}\n## Loop Decision")
    assert new.endswith(f"## Next\n{after}")
    assert with_decision(new, SAID, AT) == new


def test_nothing_next_is_said_too():
    done = Evaluation("DONE", "All issues completed, no regressions found, quality gates met.", "done")
    assert "Next: none\n" in with_decision("", done, AT)


@pytest.mark.req("E6")
@pytest.mark.parametrize(
    "text",
    [
        "# Agent Focus\n\n## Previous\n- Issue: OLD-001@a1b2c3\n\n## Current\n- Issue: BUG-001@a1b2c3\n- Title: x\n\n## Next\n- Issue: N-001@a1b2c3\n",
        "# Current Focus\n\n## Active Issue\n\n**ID:** BUG-001@a1b2c3\n**Title:** x\n",
        "## Current\n- **Issue**: `BUG-001@a1b2c3`\n",
    ],
)
def test_the_issue_in_hand_is_read_from_either_shape(text):
    assert focused_issue(text) == "BUG-001@a1b2c3"
    assert focused_issue(text.replace("\n", "\r\n")) == "BUG-001@a1b2c3"


def test_a_focus_without_an_issue_names_none():
    assert focused_issue("# Agent Focus\n\n## Current\nnothing\n## Next\n- Issue: N-001@a1b2c3\n") == ""
