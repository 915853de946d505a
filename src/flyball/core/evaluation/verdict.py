"""One verdict on a track, what to do next, and the whole list of what to mend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.findings import EvaluatorResult, TrackDefect, TrackVerdict
from flyball.core.evaluation.structural import StructuralCheck

NextStep = Literal["BUSINESS_SYNC", "COMPLETE", "FIX"]
AGENT = "loop-execution-evaluator"
"""Who evaluates, as the metadata and the report name it."""


class FixAction(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to mend: who found it, where, and what to do."""

    evaluator: str
    check: str
    action: str
    file: str = ""
    line: int = 0

    @property
    def text(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.action}" if place else self.action


class TrackEvaluation(msgspec.Struct, frozen=True):
    """All that is known of a track after its evaluation. `incomplete`: passes that need a model were not run."""

    track: str
    evaluators: tuple[EvaluatorResult, ...]
    structural: tuple[StructuralCheck, ...]
    verdict: TrackVerdict
    incomplete: bool
    fix_actions: tuple[FixAction, ...]
    business_sync: BusinessSync
    base: str = ""
    head: str = ""
    notes: tuple[str, ...] = ()

    @property
    def next_step(self) -> NextStep:
        if self.verdict == "FAIL":
            return "FIX"
        return "BUSINESS_SYNC" if self.business_sync.required else "COMPLETE"


def aggregate(
    track: str,
    evaluators: Sequence[EvaluatorResult],
    structural: Sequence[StructuralCheck],
    sync: BusinessSync,
    *,
    measured_only: bool = False,
    base: str = "",
    head: str = "",
    notes: Sequence[str] = (),
) -> TrackEvaluation:
    """PASS only if every evaluator and every structural check passes, and there was an evaluator."""
    failed = any(each.verdict == "FAIL" for each in evaluators) or any(each.status == "fail" for each in structural)
    verdict: TrackVerdict = "FAIL" if failed or not evaluators else "PASS"
    actions = tuple(dict.fromkeys((*_structural_actions(structural), *_actions(evaluators))))
    return TrackEvaluation(
        track, tuple(evaluators), tuple(structural), verdict, measured_only, actions, sync, base, head, tuple(notes)
    )


def _structural_actions(checks: Sequence[StructuralCheck]) -> Iterator[FixAction]:
    for check in checks:
        if check.status == "fail":
            for each in check.findings:
                yield _action("structural", check.name, each)


def _actions(evaluators: Sequence[EvaluatorResult]) -> Iterator[FixAction]:
    for evaluator in evaluators:
        if evaluator.verdict == "FAIL" and evaluator.reason:
            yield FixAction(evaluator.name, "", f"{evaluator.name}: {evaluator.reason}")
        for each in evaluator.passes:
            if each.status == "fail" and each.reason:
                yield FixAction(evaluator.name, each.name, each.reason)
            if each.status == "fail":
                yield from (_action(evaluator.name, each.name, defect) for defect in each.findings)


def _action(evaluator: str, check: str, defect: TrackDefect) -> FixAction:
    said = f"{defect.message}; {defect.action}" if defect.action else defect.message
    return FixAction(evaluator, check, said, defect.file, defect.line)


def issues_of(result: EvaluatorResult) -> list[str]:
    """What an evaluator holds against a track, a sentence each, as the metadata keeps them."""
    return [action.text for action in _actions([result])]
