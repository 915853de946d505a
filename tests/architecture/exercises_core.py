"""Pure work for the audit hook to watch; each function is one exercise (see audit.py)."""

from flyball.core.backlog import Situation
from flyball.core.evaluator import evaluate
from flyball.core.issue_blocks import gathered, read_issues
from flyball.core.issue_edits import with_status
from flyball.core.signature import signature
from flyball.core.status_block import parse

FAILURE = """
============================= test session starts ==============================
FAILED tests/test_rows.py::test_parse - TypeError: unsupported operand
E   TypeError: unsupported operand at 0x7f12ab for 12.3s
========================= 1 failed, 2 passed in 0.12s ==========================
"""


def exercise_signature() -> None:
    assert signature(FAILURE) == signature(FAILURE.replace("0x7f12ab", "0x7fffff"))


def exercise_status_block() -> None:
    assert parse("---PRP_PHASE_STATUS---\nSTATUS: COMPLETE\n---END_PRP_PHASE_STATUS---\n") is not None


def exercise_evaluation() -> None:
    text = "---\nid: BUG-001@a1b2c3\ntitle: 'it''s'\nstatus: proposed\n---\n"
    backlog = gathered([read_issues(with_status(text, "BUG-001@a1b2c3", "in-progress"), "high.md")])
    assert evaluate(Situation(backlog=backlog)).next_issue == "BUG-001@a1b2c3"
