"""What evaluators find: defects, the passes that found them, and which of them a track has to answer for.

A defect counts if it touches a changed line or was not there before the track; older ones are listed apart.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

PassStatus = Literal["pass", "fail", "n/a", "skipped"]
NEEDS_A_MODEL = "needs a model"
"""Why a pass was skipped that is only judged, where nobody is to judge."""
NOT_VERIFIED = "not verified: "
"""How a note begins that names a tool which could not run."""
TrackVerdict = Literal["PASS", "FAIL"]
SHOWN = 200
"""Defects of one pass that are listed; the rest is counted."""


class TrackDefect(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong, where, and what to do about it; `text` is the line as it stands."""

    rule: str
    message: str
    file: str = ""
    line: int = 0
    end_line: int = 0
    action: str = ""
    text: str = ""
    new: bool = False

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class PassResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one pass ended; `reason` says why one was not run or failed without a finding."""

    name: str
    status: PassStatus
    findings: tuple[TrackDefect, ...] = ()
    older: tuple[TrackDefect, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class EvaluatorResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one evaluator ended; `reason` says what ended it where that was not a pass."""

    name: str
    chosen_by: tuple[str, ...]
    verdict: TrackVerdict
    passes: tuple[PassResult, ...] = ()
    reason: str = ""


class Changes(msgspec.Struct, frozen=True):
    """What a track changed: lines of the files as they are now, and the old names of files that moved."""

    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    moved: dict[str, str] = {}

    def touches(self, file: str, first: int, last: int) -> bool:
        return any(start <= last and first <= end for start, end in self.spans.get(file, ()))


def part(
    found: Sequence[TrackDefect], before: Sequence[TrackDefect], changes: Changes
) -> tuple[tuple[TrackDefect, ...], tuple[TrackDefect, ...]]:
    """Those that count, and the older ones."""
    known = Counter(_fingerprint(each, {}) for each in before)
    counting: list[TrackDefect] = []
    older: list[TrackDefect] = []
    for each in sorted(dict.fromkeys(found), key=lambda one: (one.file, one.line, one.rule)):
        touched = each.line > 0 and changes.touches(each.file, each.line, max(each.line, each.end_line))
        mark = _fingerprint(each, changes.moved)
        if each.new or touched or not known[mark]:
            counting.append(each)
        else:
            known[mark] -= 1
            older.append(each)
    return tuple(counting), tuple(older)


def _fingerprint(defect: TrackDefect, moved: Mapping[str, str]) -> tuple[str, str, str, str]:
    message = re.sub(r"\d+", "0", defect.message)
    return (moved.get(defect.file, defect.file), defect.rule, message, defect.text.strip())


def judged_by(
    name: str,
    found: Sequence[TrackDefect],
    before: Sequence[TrackDefect],
    changes: Changes,
    *,
    notes: Sequence[str] = (),
) -> PassResult:
    counting, older = part(found, before, changes)
    more = len(counting) - SHOWN
    extra = (f"{more} more findings are not listed",) if more > 0 else ()
    return PassResult(name, "fail" if counting else "pass", counting[:SHOWN], older[:SHOWN], notes=(*notes, *extra))


def not_verified(result: PassResult, reasons: Sequence[str]) -> PassResult:
    """A pass of which a tool could not run: nobody has to answer for that, and it is no pass."""
    status: PassStatus = "n/a" if result.status == "pass" else result.status
    notes = (*result.notes, *(f"{NOT_VERIFIED}{each}" for each in reasons))
    reason = "" if result.findings else f"{NOT_VERIFIED}{'; '.join(reasons)}"
    return msgspec.structs.replace(result, status=status, reason=reason, notes=notes)


def together(name: str, results: Iterable[PassResult]) -> PassResult:
    """One result of the measured and the judged part of a pass, or of two tools of it."""
    parts = tuple(results)
    statuses = {each.status for each in parts}
    unverified = any(note.startswith(NOT_VERIFIED) for each in parts for note in each.notes)
    order: tuple[PassStatus, ...] = ("fail", "skipped", *(("n/a",) if unverified else ()), "pass", "n/a")
    status: PassStatus = next((s for s in order if s in statuses), "skipped")
    reasons = [each.reason for each in parts if each.reason and each.status == status]
    return PassResult(
        name,
        status,
        tuple(one for each in parts for one in each.findings),
        tuple(one for each in parts for one in each.older),
        "; ".join(dict.fromkeys(reasons)),
        tuple(dict.fromkeys(note for each in parts for note in each.notes)),
        tuple(one for each in parts for one in each.evidence),
    )


def evaluator_result(
    name: str, chosen_by: tuple[str, ...], passes: Sequence[PassResult], *, measured_only: bool
) -> EvaluatorResult:
    """An evaluator passes if one of its passes ran and none failed; a pass that was to run and did not is no pass."""
    statuses = [each.status for each in passes]
    # A pass was not asked for where only measurements are wanted and it needs a judge.
    skipped = [each for each in passes if each.status == "skipped"]
    left = [each.name for each in skipped if not (measured_only and each.reason == NEEDS_A_MODEL)]
    reason = ""
    if not {"pass", "fail"} & set(statuses):
        reason = "none of its passes ran: " + "; ".join(f"{each.name}: {each.reason or each.status}" for each in passes)
    elif left:
        reason = f"not all of its passes ran: {', '.join(left)}"
    failed = bool(reason) or "fail" in statuses
    return EvaluatorResult(name, chosen_by, "FAIL" if failed else "PASS", tuple(passes), reason)


def broken_evaluator(name: str, chosen_by: tuple[str, ...], reason: str) -> EvaluatorResult:
    return EvaluatorResult(name, chosen_by, "FAIL", reason=reason)
