"""Pure work for the audit hook to watch; each function is one exercise (see audit.py)."""

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
