"""A track's evaluation as the page `evaluation-report.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from flyball.core.evaluation import structural
from flyball.core.evaluation.catalogue import long_name
from flyball.core.evaluation.findings import EvaluatorResult, PassResult, TrackDefect
from flyball.core.evaluation.verdict import AGENT, TrackEvaluation
from flyball.core.text.scrubbing import one_line

PAGE = "evaluation-report.md"
SHOTS = "evaluation-screenshots"
SHOT = "screenshot: "
SHOWN = 100
_MARKS = {"PASS": "PASS ✅", "FAIL": "FAIL ❌"}
_YES = {"pass": "YES", "fail": "NO", "n/a": "n/a"}


def evaluation_report(evaluation: TrackEvaluation, at: datetime) -> str:
    """The whole page."""
    return "\n".join(_lines(evaluation, at)) + "\n"


def _lines(evaluation: TrackEvaluation, at: datetime) -> Iterator[str]:
    yield "## Execution Evaluation Report"
    yield ""
    yield f"**Track**: {evaluation.track}"
    yield f"**Evaluator**: {AGENT} (dispatcher)"
    yield f"**Date**: {at:%Y-%m-%d}"
    if evaluation.base:
        yield f"**Commits**: {evaluation.base[:12]}..{evaluation.head[:12]}"
    yield from (f"**Note**: {note}" for note in evaluation.notes)
    if evaluation.incomplete:
        yield "**Note**: only what needs no model was run; this report is incomplete"
    yield ""
    yield "### Evaluators Dispatched"
    yield ""
    yield "| Evaluator | Reason | Verdict |"
    yield "|-----------|--------|---------|"
    for each in evaluation.evaluators:
        yield f"| {long_name(each.name)} | {_cell('; '.join(each.chosen_by))} | {_MARKS[each.verdict]} |"
    yield ""
    yield from _structural(evaluation)
    for each in evaluation.evaluators:
        yield from _evaluator(each)
    yield f"### Final Verdict: {_MARKS[evaluation.verdict]}"
    yield ""
    yield "All evaluators must PASS for the track to pass."
    if evaluation.fix_actions:
        yield ""
        yield "### Fix Actions"
        yield ""
        for number, action in enumerate(evaluation.fix_actions, start=1):
            where = f"{action.evaluator}, {action.check}" if action.check else action.evaluator
            yield f"{number}. {_line(action.text)} ({where})"


def _structural(evaluation: TrackEvaluation) -> Iterator[str]:
    yield "### Structural Checks"
    yield ""
    for check in evaluation.structural:
        if check.name != structural.BUSINESS:
            why = f" ({_line(check.reason)})" if check.reason else ""
            yield f"- {check.name}: {_YES[check.status]}{why}"
            yield from (f"  - {each.place or '-'}: {_line(each.message)}" for each in check.findings[:SHOWN])
    sync = evaluation.business_sync
    if sync.required:
        yield f"- Business doc sync needed: YES ({', '.join(sync.documents) or 'documents not named'})"
        yield from (f"  - {_line(reason)}" for reason in sync.reasons[:SHOWN])
    else:
        yield "- Business doc sync needed: NO"
    yield ""


def _evaluator(result: EvaluatorResult) -> Iterator[str]:
    yield f"### {long_name(result.name)}"
    yield ""
    if result.reason:
        yield f"{_line(result.reason)}"
        yield ""
    if result.passes:
        yield "| Pass | Status | Issues |"
        yield "|------|--------|--------|"
        for each in result.passes:
            yield f"| {each.name} | {each.status} | {_issues(each)} |"
        yield ""
    for each in result.passes:
        yield from _findings(each)
    yield f"### Verdict: {result.verdict}"
    yield ""


def _issues(result: PassResult) -> str:
    return str(len(result.findings)) if result.findings else _cell(result.reason) or "0"


def _findings(result: PassResult) -> Iterator[str]:
    if result.findings or result.notes:
        yield f"**{result.name}**"
        yield ""
        yield from _listed(result.findings)
        yield from (_note(note) for note in result.notes[:SHOWN])
        yield ""
    if result.older:
        yield f"**{result.name}: older, not of this track**"
        yield ""
        yield from _listed(result.older)
        yield ""


def _note(note: str) -> str:
    if note.startswith(SHOT):
        name = note.removeprefix(SHOT)
        return f"- ![{name}]({SHOTS}/{name})"
    return f"- note: {_line(note)}"


def _listed(defects: Sequence[TrackDefect]) -> Iterator[str]:
    for each in defects[:SHOWN]:
        action = f"; {_line(each.action)}" if each.action else ""
        yield f"- {each.place or '-'}: {_line(each.message)} ({each.rule}){action}"
    if len(defects) > SHOWN:
        yield f"- and {len(defects) - SHOWN} more"


def _line(text: str) -> str:
    return one_line(text)


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")


def evaluation_data(evaluation: TrackEvaluation) -> dict[str, object]:
    """The evaluation as data for programs; names in their short form."""
    return {
        "track": evaluation.track,
        "verdict": evaluation.verdict,
        "incomplete": evaluation.incomplete,
        "next_step": evaluation.next_step,
        "base": evaluation.base,
        "head": evaluation.head,
        "evaluators": [_evaluator_data(each) for each in evaluation.evaluators],
        "structural": [
            {"name": each.name, "status": each.status, "reason": each.reason, "findings": _all(each.findings)}
            for each in evaluation.structural
        ],
        "fix_actions": [
            {
                "evaluator": each.evaluator,
                "pass": each.check,
                "action": each.action,
                "file": each.file,
                "line": each.line,
            }
            for each in evaluation.fix_actions
        ],
        "business_sync": {
            "required": evaluation.business_sync.required,
            "documents": list(evaluation.business_sync.documents),
            "reasons": list(evaluation.business_sync.reasons),
        },
        "notes": list(evaluation.notes),
    }


def _evaluator_data(result: EvaluatorResult) -> dict[str, object]:
    return {
        "name": result.name,
        "chosen_by": list(result.chosen_by),
        "verdict": result.verdict,
        "reason": result.reason,
        "passes": [
            {
                "name": each.name,
                "status": each.status,
                "reason": each.reason,
                "findings": _all(each.findings),
                "older": _all(each.older),
                "notes": list(each.notes),
            }
            for each in result.passes
        ],
    }


def _all(defects: Sequence[TrackDefect]) -> list[dict[str, object]]:
    return [
        {"rule": each.rule, "message": each.message, "file": each.file, "line": each.line, "action": each.action}
        for each in defects
    ]
