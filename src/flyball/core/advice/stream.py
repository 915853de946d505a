"""Advice for a loop that is not flyball's: an observation of one iteration in, a verdict out (M33)."""

import re
from typing import Annotated, Any

import msgspec

from flyball.core.failures.signature import signature
from flyball.core.health.history import History
from flyball.core.health.monitor import follow
from flyball.core.health.observation import Kind, Observation
from flyball.core.health.verdict import Blocker, Confidence, Health, Remedy, Thresholds

Whole = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class GateOutput(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    name: str
    passed: bool = False
    output: str = ""
    failing: tuple[str, ...] = ()


class StreamObservation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of `flyball monitor --stream`; what a loop does not know it leaves out.

    A new context counts as begun from a restored tree unless `restored` says no; a `metric` makes it a loop that optimises
    unless `kind` says otherwise; a `claim` counts only where it says that the loop is blocked, or in progress while no gate names a test.
    """

    iteration: Whole
    context: Whole = 1
    tree: str | None = None
    edit: str | None = None
    changed_files: tuple[str, ...] | None = None
    diff_lines: Whole | None = None
    gates: tuple[GateOutput, ...] = ()
    metric: float | None = None
    metric_noise: float = 0.0
    lower_is_better: bool = False
    kind: Kind | None = None
    claim: str | bool | dict[str, Any] | None = None
    restored: bool | None = None
    budget_gone: bool = False
    tokens: Whole = 0
    usd: float = 0.0


class Advice(msgspec.Struct, frozen=True):
    """What a loop is told; `signature` names the failure, and two equal ones are the same failure."""

    health: Health
    remedy: Remedy = msgspec.field(name="cure")
    evidence: str
    confidence: Confidence
    signature: str | None


_BROKEN = re.compile(
    r"\btimed? ?out after [\d.]+ ?s|command not found|is not recognized as an internal or external command"
    r"|No module named (?:pytest|unittest|tox|nox)\b|\bno tests ran\b|\bcollected 0 items\b|^Ran 0 tests|No tests? found"
    r"|\[no test files\]$",
    re.IGNORECASE | re.MULTILINE,
)
_LOOKED_AT = 20_000
_DEFAULTS = Thresholds()


def advise(history: History, line: StreamObservation, thresholds: Thresholds = _DEFAULTS) -> tuple[History, Advice]:
    """The history with one more iteration, and what to do about it."""
    seen = of_stream(line, history)
    history, verdict = follow(history, seen, thresholds)
    return history, Advice(verdict.health, verdict.remedy, verdict.evidence, verdict.confidence, seen.fine)


def of_stream(line: StreamObservation, history: History) -> Observation:
    red = [gate for gate in line.gates if not gate.passed]
    failing = tuple(sorted({name for gate in red for name in gate.failing}))
    held = bool(line.gates) and not red
    named = signature("\n".join(gate.output for gate in red), failing) if red else None
    optimises = line.metric is not None or history.search.best is not None
    anew = bool(history.results) and history.results[-1].context != line.context
    return Observation(
        iteration=line.iteration,
        context=line.context,
        kind=line.kind or ("optimise" if optimises else "fix"),
        blocked=_blockers(line.claim),
        tree=line.tree,
        edit=line.edit,
        changed_files=() if line.diff_lines == 0 else line.changed_files,
        failing=failing if failing or held else None,
        metric=line.metric,
        metric_noise=line.metric_noise,
        lower_is_better=line.lower_is_better,
        coarse=named.coarse if named else None,
        fine=named.fine if named else None,
        summary=named.summary if named else "",
        gate_held=held,
        gate_broken=next((reason for gate in line.gates if (reason := broken_gate(gate))), None),
        restored=anew if line.restored is None else line.restored,
        in_progress=_status(line.claim) == "in_progress",
        uncounted=bool(red) and not failing,
        budget_gone=line.budget_gone,
        tokens=line.tokens,
        usd=line.usd,
    )


def broken_gate(gate: GateOutput) -> str | None:
    """Why the gate measured nothing (time-out, missing command, nothing collected), or None when it did."""
    if gate.passed or gate.failing:
        return None
    found = _BROKEN.search(gate.output[-_LOOKED_AT:])
    return f"{gate.name}: {found.group().strip()}" if found else None


def _blockers(claim: str | bool | dict[str, Any] | None) -> tuple[Blocker, ...]:
    """That it is blocked is the one thing a loop is believed: it asks for a person, and opens nothing."""
    if _status(claim) != "blocked":
        return ()
    reason = claim.get("summary") if isinstance(claim, dict) else ""
    return (
        Blocker("loop", "external", reason if isinstance(reason, str) and reason else "the agent says it is blocked"),
    )


def _status(claim: str | bool | dict[str, Any] | None) -> str:
    status = claim.get("status") if isinstance(claim, dict) else claim
    return "_".join(status.lower().split()) if isinstance(status, str) else ""
