"""The result of each evaluator, one verdict on the track, what to do next, and the whole list of what to mend."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import (
    NOT_VERIFIED,
    EvaluatorResult,
    PassResult,
    TrackDefect,
    TrackVerdict,
    broken_evaluator,
    evaluator_result,
    together,
)
from flyball.core.evaluation.structural import StructuralCheck

NextStep = Literal["BUSINESS_SYNC", "COMPLETE", "FIX"]
AGENT = "loop-execution-evaluator"
"""Who evaluates, as the metadata and the report name it."""


class FixAction(msgspec.Struct, frozen=True, omit_defaults=True):
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
    def unverified(self) -> tuple[str, ...]:
        every = ((each, note) for evaluator in self.evaluators for each in evaluator.passes for note in each.notes)
        message = (
            f"{each.name}: {note.removeprefix(NOT_VERIFIED)}" for each, note in every if note.startswith(NOT_VERIFIED)
        )
        return tuple(dict.fromkeys(message))

    @property
    def next_step(self) -> NextStep:
        if self.verdict == "FAIL":
            return "FIX"
        return "BUSINESS_SYNC" if self.business_sync.required else "COMPLETE"


def weigh_evaluator(
    card: EvaluatorCard,
    chosen: Chosen,
    measured: Sequence[PassResult] | str,
    judged: Sequence[PassResult],
    *,
    measured_only: bool = False,
) -> EvaluatorResult:
    """Each pass of the card, in its order; a text in the place of what was measured says why the evaluator broke."""
    if isinstance(measured, str):
        return broken_evaluator(chosen.name, chosen.chosen_by, measured)
    passes = []
    for each in card.passes:
        own = [one for one in measured if one.name == each.name]
        other = [one for one in judged if one.name == each.name]
        passes.append(together(each.name, own if own and measured_only else [*own, *other]))
    return evaluator_result(chosen.name, chosen.chosen_by, passes, measured_only=measured_only)


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
    broken = [check for check in structural if check.status == "fail"]
    found = [_action("structural", check.name, each) for check in broken for each in check.findings]
    actions = tuple(dict.fromkeys((*found, *_actions(evaluators))))
    return TrackEvaluation(
        track, tuple(evaluators), tuple(structural), verdict, measured_only, actions, sync, base, head, tuple(notes)
    )


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
    return [action.text for action in _actions([result])]
