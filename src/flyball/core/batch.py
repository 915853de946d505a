"""What the monitor is told from outside: batch results (M1) and stream observations (M33), as observations."""

import re

import msgspec

from flyball.core.observation import Blocker, History, Kind, Observation
from flyball.core.signature import signature


class Review(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reviewer's word on a batch."""

    verdict: str = ""
    approved: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    anti_patterns: tuple[str, ...] = ()


class Failure(msgspec.Struct, frozen=True):
    """A subtask that failed, with what it said."""

    id: str
    error: str = ""


class BatchResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One batch as reported to `flyball monitor`."""

    batch: tuple[str, ...] = ()
    review: Review | None = None
    passed: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    blocked: tuple[Blocker, ...] = ()


class GateOutput(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one gate said."""

    name: str
    passed: bool = False
    output: str = ""
    failing: tuple[str, ...] = ()


class StreamObservation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of `flyball monitor --stream`; a new context counts as begun from a restored tree unless it says no."""

    iteration: int
    context: int = 1
    tree: str | None = None
    edit: str | None = None
    changed_files: tuple[str, ...] | None = None
    gates: tuple[GateOutput, ...] = ()
    metric: float | None = None
    claim: str | None = None
    restored: bool | None = None
    tokens: int = 0
    usd: float = 0.0


_APPROVING = frozenset({"pass", "approve", "approved", "approves", "lgtm", "accept", "accepted", "ok"})
_BROKEN = re.compile(
    r"\btimed? ?out after [\d.]+ ?s|command not found|is not recognized as an internal or external command"
    r"|No module named (?:pytest|unittest|tox|nox)\b|\bno tests ran\b|\bcollected 0 items\b|^Ran 0 tests|No tests? found"
    r"|\[no test files\]$",
    re.IGNORECASE | re.MULTILINE,
)
_LOOKED_AT = 20_000


def of_batch(result: BatchResult, iteration: int, context: int = 1) -> Observation:
    """The batch with only what the review approved counted as passed (M2, M4)."""
    approved = _approved(result)
    failed = {failure.id: failure.error for failure in result.failed}
    for item in result.passed:
        if item not in approved:
            failed.setdefault(item, "not approved by the review")
    return Observation(
        iteration=iteration,
        context=context,
        kind="plan",
        batch=result.batch,
        passed=tuple(item for item in result.passed if item in approved and item not in failed),
        failed={item: signature(error, (item,)) for item, error in failed.items()},
        blocked=result.blocked,
        reviewed=result.review is not None and result.review != Review(),
    )


def _approved(result: BatchResult) -> set[str]:
    """A review that lists nothing approved approves what it does not reject, unless it turns all down."""
    review = result.review or Review()
    if review.approved:
        return set(review.approved) - set(review.rejected)
    if review.rejected or review.verdict.strip().lower() in _APPROVING:
        return set(result.passed) - set(review.rejected)
    return set()


def of_stream(line: StreamObservation, history: History) -> Observation:
    """A foreign loop's iteration, its gates' outputs read."""
    broken = next((reason for gate in line.gates if (reason := broken_gate(gate))), None)
    red = [gate for gate in line.gates if not gate.passed]
    failing = tuple(sorted({name for gate in red for name in gate.failing}))
    held = bool(line.gates) and not red
    named = signature("\n".join(gate.output for gate in red), failing) if red else None
    anew = bool(history.results) and history.results[-1].context != line.context
    kind: Kind = "optimise" if line.metric is not None else "fix"
    return Observation(
        iteration=line.iteration,
        context=line.context,
        kind=kind,
        tree=line.tree,
        edit=line.edit,
        changed_files=line.changed_files,
        failing=failing if failing or held else None,
        metric=line.metric,
        coarse=named.coarse if named else None,
        fine=named.fine if named else None,
        summary=named.summary if named else "",
        gate_held=held,
        gate_broken=broken,
        restored=anew if line.restored is None else line.restored,
        tokens=line.tokens,
        usd=line.usd,
    )


def broken_gate(gate: GateOutput) -> str | None:
    """Why the gate measured nothing (time-out, missing command, nothing collected), or None when it did."""
    if gate.passed or gate.failing:
        return None
    found = _BROKEN.search(gate.output[-_LOOKED_AT:])
    return f"{gate.name}: {found.group().strip()}" if found else None
