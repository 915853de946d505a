"""The plan of a track, and the checks every track gets."""

import pytest

from flyball.core.evaluation.business import business_sync
from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.judging import TrackMatter, judged_passes
from flyball.core.evaluation.plan_page import read_plan
from flyball.core.evaluation.structural import (
    SCOPE,
    BuildRun,
    check_build,
    check_business,
    check_plan,
    check_scope,
    check_skipped,
)
from flyball.core.evaluation.verdict import FixAction
from flyball.core.workflows.track.finishing import fix_line

PLAN = """# Plan

```yaml
dag:
  nodes:
    - id: "1.1"
      files: [src/dag.py, "web/app.ts"]
```

## Phase 1
- [x] Task 1.1: prices <!-- deps: none, parallel: pg-1 --> <!-- abc1234 -->
  - Type: code
  - Files: `src/prices.py`, tests/
  - Added the table of prices.
- [x] Task 1.2: screen <!-- commit: def5678 -->
  - The screen shows them.
- [~] Task 1.3: later deferred: the bank is not ready

## Discovered Work
- src/found.py needed a fix
"""


def known(sha: str) -> bool:
    return sha in ("abc1234", "def5678")


@pytest.mark.req("D10")
def test_tasks_are_read_with_their_commits_summaries_and_files():
    plan = read_plan(PLAN)
    assert [task.box for task in plan.tasks] == ["x", "x", "~"]
    assert [task.shas for task in plan.tasks] == [("abc1234",), ("def5678",), ()]
    assert plan.tasks[0].summary == ("Added the table of prices.",)
    assert plan.tasks[2].deferred == "the bank is not ready"
    assert plan.first_sha == "abc1234"
    assert {"src/dag.py", "web/app.ts", "src/prices.py", "tests/", "src/found.py"} <= set(plan.files)
    assert plan.discovered == ("src/found.py",)


@pytest.mark.req("D10", "D41")
def test_a_fix_phase_that_says_a_file_is_in_no_plan_does_not_plan_it():
    (unplanned,) = check_scope(read_plan(PLAN), "plan.md", ["src/odd.py"], ()).findings
    action = FixAction("structural", SCOPE, unplanned.message, unplanned.file)
    page = f"{PLAN}\n## Fix Phase (cycle 1)\n\n{fix_line('F1.1', action)}\n  - took src/odd.py back\n- [ ] Task F1.2: src/other.py\n"
    again = check_scope(read_plan(page), "plan.md", ["src/odd.py", "src/other.py"], ())
    assert [each.file for each in again.findings] == ["src/odd.py"]


@pytest.mark.req("D10")
def test_a_commit_may_be_all_digits_and_a_date_is_none():
    page = read_plan("- [x] Task 1: a <!-- 1234567 -->\n- [x] Task 2: b <!-- 20261117 -->\n")
    assert [task.shas for task in page.tasks] == [("1234567",), ()]


@pytest.mark.req("D10")
def test_how_to_defer_a_task_is_not_a_reason_to():
    (left,) = check_skipped(read_plan("- [ ] Task 1: a\n"), "plan.md").findings
    assert check_skipped(read_plan(f"- [ ] Task F1.1: {left.action}\n"), "plan.md").status == "fail"


@pytest.mark.req("D10")
def test_a_plan_in_order_passes():
    plan = read_plan(PLAN)
    assert check_plan(plan, "plan.md", known).status == "pass"
    assert check_skipped(plan, "plan.md").status == "pass"


@pytest.mark.req("D10")
@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        (" <!-- abc1234 -->", "", "no-commit", 11),
        ("abc1234", "fff9999", "unknown-commit", 11),
        ("  - The screen shows them.\n", "", "no-summary", 15),
    ],
)
def test_a_done_task_needs_a_commit_that_exists_and_a_summary(old, new, rule, line):
    check = check_plan(read_plan(PLAN.replace(old, new)), "plan.md", known)
    assert [(each.rule, each.line) for each in check.findings] == [(rule, line)]
    assert check.status == "fail"


@pytest.mark.req("D10")
@pytest.mark.parametrize("box", [" ", "~", "!"])
def test_nothing_is_left_unless_it_is_deferred_with_a_reason(box):
    left = PLAN.replace("[~] Task 1.3: later deferred: the bank is not ready", f"[{box}] Task 1.3: later deferred:")
    assert check_skipped(read_plan(left), "plan.md").status == "fail"
    below = left.replace("later deferred:", "later\n  - deferred: the bank is closed")
    assert check_skipped(read_plan(below), "plan.md").status == "pass"


@pytest.mark.req("D10")
def test_files_nobody_planned_fail_unless_they_stand_under_discovered_work():
    plan = read_plan(PLAN)
    planned = ["src/prices.py", "src/dag.py", "tests/test_prices.py", "src/found.py", "conductor/tracks/x/plan.md"]
    assert check_scope(plan, "plan.md", planned, ("conductor/",)).status == "pass"
    check = check_scope(plan, "plan.md", [*planned, "src/other.py"], ("conductor/",))
    assert check.status == "fail"
    assert [each.file for each in check.findings] == ["src/other.py"]
    assert check_scope(plan, "plan.md", ["conductor/tracks.md"], ("conductor/",)).status == "n/a"


@pytest.mark.req("D10")
def test_a_plan_that_is_not_there_and_one_without_tasks_fail():
    for check in (check_plan(None, "plan.md", known), check_skipped(None, "plan.md"), check_scope(None, "p", [], ())):
        assert check.status == "fail"
    assert check_plan(read_plan("# Plan\nprose\n"), "plan.md", known).status == "fail"


@pytest.mark.req("D10")
def test_the_build_decides_and_no_build_command_is_not_applicable():
    assert check_build(None).status == "n/a"
    assert check_build(BuildRun("make", True)).status == "pass"
    failed = check_build(BuildRun("make", False, "exit 2: no rule"))
    assert failed.status == "fail"
    assert "make: exit 2: no rule" in failed.findings[0].message


@pytest.mark.req("D10")
@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("src/shop.py", "PRICE_MONTHLY = 900", "pricing"),
        ("src/config.py", 'MODEL = "gemini-2.5-pro"', "model"),
        ("src/config.py", 'MODEL = "claude-sonnet-4-5"', "model"),
        ("src/config.ts", 'const model = "meta-llama/Llama-3.1-70B-Instruct"', "model"),
        ("deploy/config.yaml", "name: mistral-large-latest", "model"),
        ("src/a.go", 'ask("o3-mini")', "model"),
        ("src/ask.py", "import openai", "model"),
        ("src/ask.py", "from google import genai", "model"),
        ("src/ask.ts", 'import Anthropic from "@anthropic-ai/sdk"', "model"),
        ("src/ask.rs", "use async_openai::Client;", "model"),
        ("src/ask.go", '\t"github.com/sashabaranov/go-openai"', "model"),
        ("package.json", '"openai": "^5"', "model"),
        ("Cargo.toml", 'async-openai = "0.27"', "model"),
        ("src/plans.ts", "const tiers = 4", "package or tier"),
        ("src/pipeline/assets.py", "x = 1", "asset pipeline"),
        ("src/report.py", "revenue = 1", "persona"),
    ],
)
def test_changes_of_the_business_are_flagged_and_never_fail(path, line, name):
    sync = business_sync({path: [line]}, "")
    assert sync.required
    assert sync.documents
    assert any(reason.startswith(name) for reason in sync.reasons)
    assert check_business(sync.documents, sync.reasons).status == "pass"


@pytest.mark.req("D10")
def test_the_executors_yes_is_taken_and_plain_code_needs_no_sync():
    said = (
        "**Business Doc Sync Required**: Yes\n**Reason**: new offer\n**Affected Docs**: product.md, `tech-stack.md`\n"
    )
    assert business_sync({}, said).documents == ("product.md", "tech-stack.md")
    assert not business_sync({"src/a.py": ["frontier = restore()"], "tests/test_price.py": ["price = 1"]}, "").required
    assert not business_sync({}, "Business Doc Sync Required: No").required
    plain = [
        "class Car(Model):",
        "model = Car()",
        "def command2(o1, phi2):",
        "import json",
        "from together_app import x",
    ]
    assert not business_sync({"src/a.py": plain}, "").required


@pytest.mark.req("D10", "D20")
def test_a_huge_change_is_told_of_in_bounds():
    changed = {f"src/prices/p{number}.py": ["price = 1"] for number in range(2_000)}
    sync = business_sync(changed, "")
    assert (sync.required, len(sync.reasons)) == (True, 8)
    assert "tech-stack.md" in business_sync(changed | {"src/z.py": ["asset_pipeline = 1"]}, "").documents
    scope = check_scope(read_plan(PLAN), "plan.md", list(changed), ())
    assert (scope.status, len(scope.findings)) == ("fail", 200)
    assert scope.reason == "1800 more files are in no plan and not listed"
    matter = TrackMatter("t", "abc", "x" * 10**6, "y" * 10**6, "z" * 10**6, changed=tuple(changed))
    (seat,) = judged_passes((Chosen("business-logic", ()),), BUILT_IN, matter)
    assert len(seat.prompt) < 250_000
