"""What workflows do before their own work: a workspace, gates that can run, and consent to what is protected."""

from __future__ import annotations

from flyball.core import kernel, questions
from flyball.core.effects import Measure, Prepare, Restore, Save
from flyball.core.events import Consented, TaskStopped, TurnSetAside
from flyball.core.measurement import GateResult, Measurement
from flyball.core.next import Next, perform, record
from flyball.core.outcomes import Saved
from flyball.core.quantities import plural
from flyball.core.questions import CHECKED_BY, tool_failure
from flyball.core.reporting import SEEN_BY, counted_by
from flyball.core.state import State
from flyball.core.task import EffectId

ANEW = "flyball trust, then the same flyball run with --new"
"""A task keeps the settings it began with, so `resume` knows nothing of a flyball.toml that was corrected."""


def opened(state: State, *, checks: bool = False) -> Next | None:
    """A workspace and a baseline whose gates can run and, where QA `checks` the work, its tools too."""
    if state.prepared is None or state.removed:
        return perform(Prepare(EffectId(f"prepare/{state.removals}" if state.removed else "prepare")))
    if state.reopened:
        found = _as_delivered(state)
        if found is not None:
            return found
    if state.baseline is None:
        return _baseline(state, checks=checks)
    if state.baseline.broken:
        return _broken_baseline(state.baseline)
    if state.baseline.unusable:
        return _unusable(state.baseline.unusable)
    return _regressed(state, state.baseline) if state.regressed else None


def _as_delivered(state: State) -> Next | None:
    """A reopened task goes on from what it delivered; what somebody did in its checkout since is kept as a checkpoint."""
    label = f"reopened-{state.rounds}"
    name = EffectId(f"save/{label}")
    if not isinstance(state.outcomes.get(name), Saved):
        return perform(Save(name, label=label, message=f"{label}: {state.task.id}", parent=state.head))
    delivered = next((c.tree for c in reversed(state.checkpoints) if c.commit == state.head), state.tree)
    if state.task.settings.in_place or state.tree == delivered:
        return None
    restore = Restore(EffectId(f"restore/{state.restores + 1}"), to=state.head, reason="reopened by a person")
    return perform(restore)


def _regressed(state: State, baseline: Measurement) -> Next:
    failing = baseline.counts.known_failing
    told = f"{plural(failing, 'test')} {'fails' if failing == 1 else 'fail'} on what was delivered, {state.known_failing} before the task"
    broken = tuple(line for gate in baseline.gates if not gate.passed for line in gate.output.splitlines()[-12:])
    return record(TaskStopped("blocked", f"{told} began; repair the set-up or roll back, then go on", broken))


def _baseline(state: State, *, checks: bool) -> Next:
    assert state.prepared is not None
    base = state.round_base or state.prepared.base
    name = EffectId(f"measure/baseline-{state.rounds + 1}" if state.rounds else "measure/baseline")
    return perform(
        Measure(
            name, kind="baseline", candidate=base, base=base, accepted=base, items=state.items,
            checks=checks,
        )
    )  # fmt: skip


def _broken_baseline(baseline: Measurement) -> Next:
    broken = next(g for g in baseline.gates if g.broken)
    evidence = (f"command: {broken.command}", *broken.output.splitlines()[-12:])
    what = "setup" if broken.name == "setup" else f"the gate {broken.name}"
    reason = f"{what} cannot run: {broken.broken}; correct it in flyball.toml and type: {ANEW}"
    return record(TaskStopped("blocked", reason, evidence))


def _unusable(tool: GateResult) -> Next:
    reason = f'{tool_failure(tool)}; install it in `setup` or correct its command, or switch the check off: qa.{CHECKED_BY[tool.name]} = "off"; then type: {ANEW}'
    return record(TaskStopped("blocked", reason, (f"command: {tool.command}", *tool.output.splitlines()[-12:])))


def told_apart(state: State) -> Next | None:
    """New tests must be seen to fail: by their number, or by a gate that passes without them and runs new test files."""
    if state.baseline is None or state.iterations or state.midway:
        return None
    if state.baseline.unseen:
        return record(TaskStopped("blocked", f"{state.baseline.unseen}; {SEEN_BY}", _commands(state.baseline)))
    gate = state.baseline.untold
    if gate is None:
        return None
    evidence = (f"command: {gate.command}", *gate.output.splitlines()[-12:])
    return record(TaskStopped("blocked", f"{state.baseline.untold_reason}; {counted_by(gate.command)}", evidence))


def _commands(baseline: Measurement) -> tuple[str, ...]:
    return tuple(f"command: {gate.command}" for gate in baseline.gates)


def consent(state: State, reviewer: str, called: str) -> Next:
    """A protected path may change with a person's or, where none is there, the reviewer's consent."""
    if state.task.settings.attended and not state.pass_turn:
        return questions.put(state, questions.protected_change(state))
    if not state.pass_turn:
        assert state.last is not None
        return kernel.spawn(state, role=reviewer, purpose="consent", copy=reviewer, commit=state.last.candidate)
    turn = kernel.ended_turn(state)
    if isinstance(turn, Next):
        return turn
    paths = tuple(c.partition(":")[0] for c in state.consent_wanted)
    allowed = turn.kind == "ok" and turn.claim.verdict == "pass"
    assert state.pass_effect is not None
    said = Consented(paths, called, allowed=allowed, commit=state.pass_effect.commit)
    return record(said, TurnSetAside(state.pass_turn, "consent"))
