"""Pure work for the audit hook to watch; each function is one exercise (see audit.py)."""

from datetime import UTC, datetime

from flyball.core.advice.batch import of_batch
from flyball.core.advice.batch_text import batch_of
from flyball.core.advice.loop_page import read_page
from flyball.core.claims.status_block import parse
from flyball.core.evaluation.business import business_sync
from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.evaluation.checkpoints import at_end, at_start
from flyball.core.evaluation.choosing import choose
from flyball.core.evaluation.findings import broken_evaluator
from flyball.core.evaluation.judging import TrackMatter, judged_passes, read_answer
from flyball.core.evaluation.plan_page import read_plan
from flyball.core.evaluation.structural import check_plan, check_scope, check_skipped
from flyball.core.evaluation.verdict import aggregate
from flyball.core.failures.signature import signature
from flyball.core.health.history import History
from flyball.core.health.monitor import follow
from flyball.core.text.json_edits import with_values
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.issues.edits import with_status
from flyball.core.workflows.backlog.issues.reading import gather_backlog, read_issues
from flyball.core.workflows.backlog.values import Situation
from flyball.core.workflows.plan.sources.backlog_md import read_backlog_md
from flyball.core.workflows.plan.sources.markdown import read_markdown
from flyball.core.workflows.plan.sources.marking import finishing, with_marks
from flyball.core.workflows.plan.sources.ralph import read_ralph
from flyball.core.workflows.plan.sources.task_master import read_task_master
from flyball.core.workflows.plan.sources.trackers import read_beads, read_github
from flyball.core.workflows.tdd.prp_session import describe_session, read
from flyball.projections.files.evaluation_report import evaluation_report

FAILURE = """
============================= test session starts ==============================
FAILED tests/test_rows.py::test_parse - TypeError: unsupported operand
E   TypeError: unsupported operand at 0x7f12ab for 12.3s
========================= 1 failed, 2 passed in 0.12s ==========================
"""


def exercise_a_plan_of_another_tool() -> None:
    plan = read_markdown(b"- [ ] T001 Write src/a.py\n", "spec-kit")
    assert with_marks(b"- [ ] T001 Write src/a.py\n", "spec-kit", "", finishing(plan, ["T001"])).startswith(b"- [X]")
    tasks = b'{"master": {"tasks": [{"id": 1, "title": "a", "status": "pending"}]}}'
    assert b"done" in with_marks(tasks, "task-master", "master", finishing(read_task_master(tasks), ["1"]))
    assert read_ralph(b'{"userStories": [{"id": "US-1", "title": "a", "passes": false}]}').items
    assert read_backlog_md({"a.md": b"---\nid: task-1\nstatus: To Do\n---\n"}).items
    assert read_beads(b"[]") != read_github(b"[]")


def exercise_signature() -> None:
    assert signature(FAILURE) == signature(FAILURE.replace("0x7f12ab", "0x7fffff"))


def exercise_status_block() -> None:
    assert parse("---PRP_PHASE_STATUS---\nSTATUS: COMPLETE\n---END_PRP_PHASE_STATUS---\n") is not None


def exercise_evaluation() -> None:
    text = "---\nid: BUG-001@a1b2c3\ntitle: 'it''s'\nstatus: proposed\n---\n"
    backlog = gather_backlog([read_issues(with_status(text, "BUG-001@a1b2c3", "in-progress"), "high.md")])
    assert evaluate(Situation(backlog=backlog)).next_issue == "BUG-001@a1b2c3"


def exercise_the_monitor() -> None:
    result = batch_of(b"Batch: 1.1\nReview: CHANGES_REQUESTED\nFailed: 1.1 boom\n")
    assert follow(History(), of_batch(result, 1))[1].remedy == "continue"
    assert read_page("| Iter | Attempted | Passed | Failed | Notes |\n|-|-|-|-|-|\n| 1 | a | a | | x |\n")


def exercise_a_session_of_another_loop() -> None:
    state = {
        "session_id": "s",
        "prp_file": "p.md",
        "started_at": "2026-01-01T00:00:00Z",
        "current_phase": "QA",
        "status": "paused",
    }
    assert describe_session(read(state, None, datetime(2026, 2, 1, tzinfo=UTC)))


def exercise_an_evaluation_of_a_track() -> None:
    chosen = choose({"type": "api"}, "the screens of the pricing pipeline")
    seat = judged_passes(chosen, BUILT_IN, TrackMatter("t", "abc", "spec"))[0]
    assert isinstance(read_answer(seat, "nothing", lambda _file: None), str)
    plan = read_plan("- [x] one <!-- abc1234 -->\n  - done\n- [ ] two\n")
    checks = (check_plan(plan, "p", bool), check_skipped(plan, "p"), check_scope(plan, "p", ["a.py"], ()))
    results = [broken_evaluator(each.name, each.chosen_by, "it crashed") for each in chosen]
    evaluation = aggregate("t", results, checks, business_sync({"a.py": ["price = 1"]}, ""))
    assert "FAIL" in evaluation_report(evaluation, datetime(2026, 1, 1, tzinfo=UTC))
    assert with_values(with_values("{}", at_start("now")), at_end(evaluation, {}, "now"))
