"""What validators say, in markdown and as report objects."""

import pytest

from flyball.core.claims.reviews import Validation
from flyball.core.claims.validation_summary import NoSummary, kind_of, read_validations

FOUR = """\
I looked at everything.

## Code Review Summary
**Result:** warn
**Findings:** Critical: 0, Important: 1, Minor: 2
**Issues Created:** REFACTOR-015@a1b2c3 (medium)

## Security Audit Summary

- **Result**: FAIL
- **Findings:** 1 critical, 0 high
  - Critical: SQL injection in `src/db.py:12`
- **Issues Created:**
  - SEC-004@aabbcc (critical, CVSS 9.8) - SQL injection, see SHA-256
  - SEC-005 (medium, CVSS 4.1) - no limit; mail security@example.org

### Performance Review Summary
Result: pass
Findings: none

## Spec Audit Summary
**Result:** ✅ PASS
**Issues Created:** none
"""


@pytest.mark.req("E5", "E11")
@pytest.mark.parametrize(
    "said",
    [
        "| Critical | High |\n|---|---|\n| 2 | 0 |",
        "### Critical\n\n- SQL injection in db.py",
        "### Critical findings\nNo input is checked.",
        "**Findings:** Critical: 0\n\n- **CRITICAL**: SQL injection in db.py",
        "- db.py: injection (severity: critical)",
        "1. [Critical] injection",
        "**Findings:** Criticals: 2",
        "Critical: \u0662",
        "Result - fail",
    ],
)
def test_a_review_that_calls_something_critical_never_passes(said):
    read = read_validations(f"## Code Review Summary\n**Result:** pass\n{said}\n", "v.md")
    assert isinstance(read, NoSummary) or [each.result for each in read] == ["fail"]


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    "said",
    [
        "### Critical\n\nNone.",
        "### Critical\n### Minor\n- a name",
        "| Critical | High |\n|---|---|\n| 0 | 0 |",
        "| Severity | Count |\n|---|---|\n| Critical | 0 |",
        "- **Critical**: none",
        "We looked at the critical path.",
    ],
)
def test_a_review_that_has_nothing_critical_passes_as_it_says(said):
    (read,) = read_validations(f"## Code Review Summary\n**Result:** pass\n{said}\n", "v.md")  # type: ignore[misc]
    assert read.result == "pass"


@pytest.mark.req("E5")
def test_a_result_with_a_question_mark_is_none():
    assert isinstance(read_validations("## Code Review Summary\n**Result:** pass?\n", "v.md"), NoSummary)


@pytest.mark.req("E5")
def test_markdown_summaries_of_every_kind_are_read():
    code, security, performance, spec = read_validations(FOUR, "v.md")  # type: ignore[misc]
    assert code == Validation(
        "code review", "warn", {"critical": 0, "major": 1, "minor": 2}, ("REFACTOR-015@a1b2c3",), file="v.md"
    )
    assert security.result == "fail"
    assert security.findings == {"critical": 1, "major": 0}
    assert security.created == ("SEC-004@aabbcc", "SEC-005")
    assert (security.critical_security, security.critical_in) == (True, "src/db.py")
    assert (performance.kind, performance.result, performance.created) == ("performance review", "pass", ())
    assert (spec.kind, spec.result) == ("spec audit", "pass")


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    ("word", "passed"), [("pass", True), ("warn", True), ("fail", False), ("CHANGES REQUESTED", False)]
)
def test_warn_counts_as_passed(word, passed):
    (read,) = read_validations(f"## Code Review Summary\n**Result:** {word}\n", "v.md")  # type: ignore[misc]
    assert read.passed is passed


def test_a_pass_with_critical_findings_is_a_failure():
    (read,) = read_validations("## Lint Summary\n**Result:** pass\n**Findings:** Critical: 2\n", "v.md")  # type: ignore[misc]
    assert (read.kind, read.result, read.critical_security) == ("lint", "fail", False)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("nothing here", 0, "no `## … Summary`"),
        ("## Code Review Summary\n\nfine\n", 1, "no `**Result:**`"),
        ("\n## Code Review Summary\n**Result:** pass | warn | fail\n", 3, "Result is 'pass | warn | fail'; expected"),
        ("```\n## Code Review Summary\n**Result:** pass\n```\n", 0, "no `## … Summary`"),
        ('{"verdict": ', 0, "not valid JSON"),
        ('{"summary": "fine"}', 0, "no verdict; expected pass, warn or fail"),
        ("[]", 0, "an empty list"),
        ("[1]", 0, "not an object"),
        ('{"kind": "x", "result": "maybe", "findings": {}}', 0, "no summary"),
    ],
)
def test_what_is_no_summary_is_told_with_its_line(text, line, message):
    read = read_validations(text, "v")
    assert isinstance(read, NoSummary)
    assert read.line == line
    assert message in read.message


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    ("text", "file", "expected"),
    [
        (
            '{"verdict": "pass", "nonce": "x"}',
            "validation-code-review.json",
            Validation("code review", "pass", file="validation-code-review.json"),
        ),
        (
            '{"verdict": "pass", "findings": [{"severity": "Critical", "message": "m", "file": "a.py"}]}',
            "security_audit.json",
            Validation("security audit", "fail", {"critical": 1}, (), True, "a.py", "security_audit.json"),
        ),
        (
            '{"kind": "Spec Audit", "verdict": "warn", "findings": [{"severity": "major", "message": "m"}]}',
            "r.json",
            Validation("spec audit", "warn", {"major": 1}, file="r.json"),
        ),
        (
            '{"verdict": "pass", "findings": [{"severity": "major", "message": "m"}], "issues": [{"title": "New"}]}',
            "r.json",
            Validation("r", "fail", {"major": 1}, ("New",), file="r.json"),
        ),
        (
            '{"result": "pass", "issues_created": ["BUG-001@a1b2c3"]}',
            "r.json",
            Validation("r", "pass", {}, ("BUG-001@a1b2c3",), file="r.json"),
        ),
        (
            '{"kind": "security audit", "result": "warn", "findings": {"critical": 1}}',
            "r.json",
            Validation("security audit", "fail", {"critical": 1}, (), True, "", "r.json"),
        ),
    ],
)
def test_a_report_object_is_a_validation_too(text, file, expected):
    assert read_validations(text, file) == (expected,)


def test_the_kind_of_a_review_is_read_from_the_name_of_its_file():
    assert kind_of(".work/agent/validation-performance-review.json") == "performance review"
    assert kind_of("report.json") == "report"


REVIEW = "## Code Review Summary\n**Result:** pass\n"


@pytest.mark.req("E11")
@pytest.mark.parametrize(
    "more",
    [
        "**Result:** fail\n",
        "**Result:** pass\n",
        "- Result: FAIL\n",
        "### Result: fail\n",
        "> **Verdict:** fail\n",
        "| Result | fail |\n",
        "**Overall result:** fail\n",
    ],
)
def test_a_summary_that_gives_its_result_twice_is_no_summary(more):
    read = read_validations(f"{REVIEW}**Findings:** none\n\n{more}", "v.md")
    assert isinstance(read, NoSummary)
    assert (read.line, "gives its result 2 times (lines 2, 5)" in read.message) == (5, True)


@pytest.mark.req("E11")
@pytest.mark.parametrize(
    "said",
    [
        "**Findings:** Critical (2)",
        "**Findings:** Critical [2], Minor [0]",
        "**Findings:** Critical - 2",
        "**Findings:** Critical 2, Minor 0",
        "**Findings:** Critical issues: 2",
        "**Findings:** 2x critical",
        "**Findings:** **Critical** | 2",
        "**Findings:** 2 **critical** findings",
        "**Findings:** none\n\n### Critical (2)\n- a\n- b",
        "### Critical findings: 2",
    ],
)
def test_critical_findings_fail_a_review_however_they_are_counted(said):
    (read,) = read_validations(f"{REVIEW}{said}\n", "v.md")  # type: ignore[misc]
    assert (read.result, read.findings["critical"]) == ("fail", 2)


@pytest.mark.req("E11")
@pytest.mark.parametrize("said", ["Critical (two)", "some critical ones", "\n- Critical: SQL injection in src/db.py"])
def test_critical_findings_without_a_number_are_not_taken_for_none(said):
    read = read_validations(f"{REVIEW}**Findings:** {said}\n", "v.md")
    assert isinstance(read, NoSummary)
    assert "gives no number; write `Critical: 0`" in read.message


@pytest.mark.parametrize(
    "said",
    ["none", "no critical ones, 2 minor", "Critical: none", "Critical (0), Minor (2)", "0 critical", "Critical 0"],
)
def test_a_review_that_found_nothing_critical_passes(said):
    (read,) = read_validations(f"{REVIEW}**Findings:** {said}\n", "v.md")  # type: ignore[misc]
    assert read.passed


@pytest.mark.req("E11")
@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "code review", "result": "fail", "result": "pass"}',
        '{"kind": "code review", "verdict": "pass", "result": "fail"}',
        '{"kind": "code review", "verdict": "fail", "result": "pass"}',
    ],
)
def test_a_report_that_gives_its_result_twice_is_no_summary(text):
    assert isinstance(read_validations(text, "r.json"), NoSummary)


@pytest.mark.req("E11")
def test_counts_of_findings_are_known_by_their_meaning():
    (read,) = read_validations('{"kind": "x", "result": "pass", "findings": {"Critical": 1}}', "r.json")  # type: ignore[misc]
    assert not read.passed
