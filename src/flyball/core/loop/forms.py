"""The report form of each kind of role: the fields that its reader looks at, each with an example that can be read as it stands."""

from collections.abc import Iterable
from typing import Literal

from flyball.core.claims.values import EXPECTED
from flyball.core.text.quantities import alternatives

Form = Literal[
    "work",
    "executing",
    "tests",
    "own-tests",
    "refactoring",
    "documents",
    "planning",
    "judgement",
    "plan-review",
    "evaluation",
    "issues",
    "batch",
]

EXAMPLES = {
    "status": '"in_progress"',
    "exit_signal": "false",
    "verdict": '"fail"',
    "summary": '"one line"',
    "criteria": '[{"id": "AC-1", "shown_by": "tests/test_a.py::test_ac_1"}]',
    "left": '["what remains to be done"]',
    "plan": '"markdown"',
    "approved": '["2.3"]',
    "rejected": '[{"id": "2.4", "reason": "…"}]',
    "findings": '[{"severity": "major", "file": "a.py", "line": 12, "quote": "…", "message": "…", "shows": "…", "criterion": "AC-1"}]',
    "earlier": '[{"id": "F2.1", "gone": true, "because": "…"}]',
    "answers": '[{"id": "F2.1", "done": true, "because": "…"}]',
    "issues": '[{"title": "…", "type": "…", "priority": "…", "problem": "…", "acceptance": ["…"]}]',
    "metrics": '{"patterns_applied": ["extract function"]}',
    "protected_changes": '[{"path": "…", "reason": "…"}]',
    "decisions": '[{"title": "…", "context": "…", "choice": "…", "alternatives": ["…"]}]',
    "business_doc_sync": '{"required": false, "reason": "…", "documents": ["…"]}',
    "blockers": '[{"type": "external", "description": "…"}]',
    "questions": '[{"text": "…", "options": ["…"], "default": "…"}]',
    "invalidates": '[{"id": "…", "because": "…"}]',
    "supersedes": '[{"id": "…", "by": "…", "because": "…"}]',
}
_WORDS = {"status": "status", "verdict": "verdict", "findings": "severity", "blockers": "type"}
"""Fields whose values, or one of them, come from a fixed set of words, and the name of the set."""

_WORK = ("status", "exit_signal", "summary", "criteria", "left")
_HINDRANCES = ("blockers", "questions")
FORMS: dict[Form, tuple[str, ...]] = {
    "work": (*_WORK, "protected_changes", "decisions", *_HINDRANCES),
    "executing": (*_WORK, "protected_changes", "decisions", "business_doc_sync", *_HINDRANCES),
    "tests": (*_WORK, *_HINDRANCES),
    "own-tests": (*_WORK, "plan", *_HINDRANCES),
    "refactoring": (
        "status",
        "exit_signal",
        "summary",
        "left",
        "metrics",
        "protected_changes",
        "decisions",
        *_HINDRANCES,
    ),
    "documents": ("status", "exit_signal", "summary", "left", *_HINDRANCES),
    "planning": ("status", "summary", "plan", "questions"),
    "judgement": ("verdict", "exit_signal", "summary", "findings"),
    "evaluation": ("verdict", "exit_signal", "summary", "findings"),
    "plan-review": ("verdict", "exit_signal", "summary", "findings"),
    "issues": ("verdict", "summary", "findings", "issues"),
    "batch": ("verdict", "summary", "approved", "rejected", "findings"),
}
PURPOSES = {
    "confirm": ("exit_signal", "summary", "criteria", "left"),
    "consent": ("verdict", "summary"),
}
"""What a turn with a purpose of its own reports, whatever its role; where a reviewer confirms, its verdict comes first."""


def report_form(fields: Iterable[str], stage: str, iteration: int) -> str:
    wanted = tuple(fields)
    example = ",\n ".join(['"nonce": "{nonce}"', *(f'"{field}": {EXAMPLES[field]}' for field in wanted)])
    words = "; ".join(
        f"`{_WORDS[field]}` is {alternatives(EXPECTED[_WORDS[field]])}" for field in wanted if field in _WORDS
    )
    signal = "Set `exit_signal` to true only if this stage is finished; flyball measures it.\n"
    return (
        f"## Report of {stage}, iteration {iteration}\n"
        "At the end write a JSON object to the file named in $FLYBALL_REPORT_FILE, or end your answer with it in a block fenced as\n"
        f"```flyball-report. Leave out fields that have nothing to say.{f' {words}.' if words else ''}\n"
        f"{signal if 'exit_signal' in wanted else ''}{{{example}}}"
    )
