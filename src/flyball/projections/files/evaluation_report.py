"""A track's evaluation as the page `evaluation-report.md`."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from flyball.core.evaluation import structural
from flyball.core.evaluation.catalogue import long_name
from flyball.core.evaluation.findings import NOT_VERIFIED, EvaluatorResult, PassResult, TrackDefect
from flyball.core.evaluation.verdict import AGENT, TrackEvaluation
from flyball.core.text.scrubbing import one_line

PAGE = "evaluation-report.md"
SHOTS = "evaluation-screenshots"
SHOT = "screenshot: "
SHOWN = 100
_MARKS = {"PASS": "PASS ✅", "FAIL": "FAIL ❌"}
_YES = {"pass": "YES", "fail": "NO", "n/a": "n/a"}


def evaluation_report(evaluation: TrackEvaluation, at: datetime) -> str:
    parts = (_head(evaluation, at), _structural(evaluation), *map(_evaluator, evaluation.evaluators), _end(evaluation))
    return "\n".join(line for part in parts for line in part) + "\n"


def _head(evaluation: TrackEvaluation, at: datetime) -> Iterator[str]:
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


def _end(evaluation: TrackEvaluation) -> Iterator[str]:
    yield f"### Final Verdict: {_MARKS[evaluation.verdict]}"
    yield ""
    yield "All evaluators must PASS for the track to pass."
    if evaluation.unverified:
        yield ""
        yield "### Not Verified"
        yield ""
        yield from (f"- {one_line(each)}" for each in evaluation.unverified)
    if evaluation.fix_actions:
        yield ""
        yield "### Fix Actions"
        yield ""
        for number, action in enumerate(evaluation.fix_actions, start=1):
            where = f"{action.evaluator}, {action.check}" if action.check else action.evaluator
            yield f"{number}. {one_line(action.text)} ({where})"


def _structural(evaluation: TrackEvaluation) -> Iterator[str]:
    yield "### Structural Checks"
    yield ""
    for check in evaluation.structural:
        if check.name != structural.BUSINESS:
            why = f" ({one_line(check.reason)})" if check.reason else ""
            yield f"- {check.name}: {_YES[check.status]}{why}"
            yield from (f"  - {each.place or '-'}: {one_line(each.message)}" for each in check.findings[:SHOWN])
    sync = evaluation.business_sync
    if sync.required:
        yield f"- Business doc sync needed: YES ({', '.join(sync.documents) or 'documents not named'})"
        yield from (f"  - {one_line(reason)}" for reason in sync.reasons[:SHOWN])
    else:
        yield "- Business doc sync needed: NO"
    yield ""


def _evaluator(result: EvaluatorResult) -> Iterator[str]:
    yield f"### {long_name(result.name)}"
    yield ""
    if result.reason:
        yield one_line(result.reason)
        yield ""
    if result.passes:
        yield "| Pass | Status | Issues |"
        yield "|------|--------|--------|"
        for each in result.passes:
            issues = str(len(each.findings)) if each.findings else _cell(each.reason) or "0"
            yield f"| {each.name} | {each.status} | {issues} |"
        yield ""
    for each in result.passes:
        yield from _findings(each)
    yield f"### Verdict: {result.verdict}"
    yield ""


def _findings(result: PassResult) -> Iterator[str]:
    if result.findings or any(not each.startswith(NOT_VERIFIED) for each in result.notes):
        yield f"**{result.name}**"
        yield ""
        yield from _defects(result.findings)
        for note in (each for each in result.notes[:SHOWN] if not each.startswith(NOT_VERIFIED)):
            shot = note.removeprefix(SHOT)
            yield f"- ![{shot}]({SHOTS}/{shot})" if note.startswith(SHOT) else f"- note: {one_line(note)}"
        yield ""
    if result.older:
        yield f"**{result.name}: older, not of this track**"
        yield ""
        yield from _defects(result.older)
        yield ""


def _defects(defects: Sequence[TrackDefect]) -> Iterator[str]:
    for each in defects[:SHOWN]:
        action = f"; {one_line(each.action)}" if each.action else ""
        yield f"- {each.place or '-'}: {one_line(each.message)} ({each.rule}){action}"
    if len(defects) > SHOWN:
        yield f"- and {len(defects) - SHOWN} more"


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
        "evaluators": [
            _fields(each, "name", "chosen_by", "verdict", "reason")
            | {"passes": [_pass_data(result) for result in each.passes]}
            for each in evaluation.evaluators
        ],
        "structural": [
            _fields(each, "name", "status", "reason") | {"findings": _defect_data(each.findings)}
            for each in evaluation.structural
        ],
        "fix_actions": [
            {"evaluator": each.evaluator, "pass": each.check, **_fields(each, "action", "file", "line")}
            for each in evaluation.fix_actions
        ],
        "business_sync": evaluation.business_sync,
        "notes": evaluation.notes,
        "not_verified": evaluation.unverified,
    }


def _pass_data(result: PassResult) -> dict[str, object]:
    findings = {"findings": _defect_data(result.findings), "older": _defect_data(result.older)}
    return _fields(result, "name", "status", "reason") | findings | {"notes": result.notes}


def _defect_data(defects: Sequence[TrackDefect]) -> list[dict[str, object]]:
    return [_fields(each, "rule", "message", "file", "line", "action") for each in defects]


def _fields(value: object, *names: str) -> dict[str, object]:
    """The stored values leave out what is empty; programs get every field, always."""
    return {name: getattr(value, name) for name in names}
