"""What workflows do before their own work: a workspace, gates that can run, and consent to what is protected."""

from __future__ import annotations

from flyball.core.loop import casting, panel, questions
from flyball.core.loop.failures import decide_failures
from flyball.core.loop.step import Step, first, halt, perform, record
from flyball.core.loop.workflow import Brief
from flyball.core.model.effects import BASELINE, Measure, Prepare, Restore, Save
from flyball.core.model.events import Consented, TaskStopped, TurnSetAside
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Saved
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Player
from flyball.core.text.quantities import plural

ANEW = "flyball trust, then the same flyball run with --new"
"""A task keeps the settings it began with, so `resume` knows nothing of a flyball.toml that was corrected."""
ALONE = "flyball, for no model but the author's could look at them,"
"""Who refuses changes of protected files where nobody may allow them."""


def prepare(state: State, *, checks: bool = False) -> Step | None:
    """A workspace and a baseline whose gates can run and, where QA `checks` the work, its tools too."""
    if state.prepared is None or state.removed:
        key = EffectId(f"prepare/{state.removals}" if state.removed else "prepare")
        return perform(Prepare(key, again=state.prepared is not None))
    if state.reopened and (back := _as_delivered(state, state.main)) is not None:
        return back
    if state.baseline is None:
        base = state.round_base or state.prepared.base
        name = EffectId(f"{BASELINE}-{state.rounds + 1}" if state.rounds else BASELINE)
        return perform(
            Measure(name, kind="baseline", candidate=base, base=base, accepted=base, items=state.items, checks=checks)
        )
    return _unfit_baseline(state, state.baseline) or decide_failures(state, state.baseline)


def _as_delivered(state: State, lane: Lane) -> Step | None:
    """A reopened task goes on from what it delivered; what somebody did in its checkout since is kept as a checkpoint."""
    label = f"reopened-{state.rounds}"
    name = EffectId(f"save/{label}")
    if not isinstance(lane.outcomes.get(name), Saved):
        return perform(Save(name, label=label, message=f"{label}: {state.task.id}", parent=lane.head))
    delivered = next((c.tree for c in reversed(state.checkpoints) if c.commit == lane.head), lane.tree)
    if lane.tree == delivered:
        return None
    return perform(Restore(EffectId(f"restore/{lane.restores + 1}"), to=lane.head, reason="reopened by a person"))


def _unfit_baseline(state: State, baseline: Measurement) -> Step | None:
    """What a person has to mend before any work: a gate or a tool that cannot run, or tests that fail since the last delivery."""
    broken, tool = next((gate for gate in baseline.gates if gate.broken), None), baseline.unusable
    if broken is not None:
        what = "setup" if broken.name == "setup" else f"the gate {broken.name}"
        reason = (
            f"{what} cannot run: {broken.broken}; correct it in flyball.toml (flyball init writes one) and type: {ANEW}"
        )
        return halt(TaskStopped("blocked", reason, broken.evidence))
    if tool is not None:
        off = f'qa.{questions.CHECKED_BY[tool.name]} = "off"'
        mend = f"install it in `setup` or correct its command, or switch the check off: {off}; then type: {ANEW}"
        return halt(TaskStopped("blocked", f"{questions.tool_failure(tool)}; {mend}", tool.evidence))
    if not state.regressed:
        return None
    failing = baseline.counts.known_failing
    told = f"{plural(failing, 'test fails', 'tests fail')} on what was delivered, {state.known_failing} before the task"
    ends = tuple(line for gate in baseline.gates if not gate.passed for line in gate.evidence[1:])
    return halt(TaskStopped("blocked", f"{told} began; repair the set-up or roll back, then go on", ends))


def ask_first(state: State, lane: Lane, brief: Brief, reviewer: str, called: str) -> None:
    """What a person, or the reviewer in their place, must say before the lane goes on."""
    if lane.to_ask:
        first(questions.put(state, lane, lane.to_ask[0]))
    if lane.loop.consent_wanted:
        first(consent(state, lane, brief, reviewer, called))


def consent(state: State, lane: Lane, brief: Brief, reviewer: str, called: str) -> Step:
    """A protected path may change with a person's or, where none is there, the reviewer's consent; never with the author's own."""
    if state.task.settings.attended and lane.panel is None:
        return questions.put(state, lane, questions.protected_change(lane))
    assert lane.loop.last is not None
    paths = tuple(c.partition(":")[0] for c in lane.loop.consent_wanted)
    asked = casting.player_for(state, lane, reviewer, reviewing=True) if lane.panel is None else None
    if asked is not None and casting.independence(asked, casting.authors(state, lane), state.task.agents) == "same":
        return record(Consented(paths, ALONE, allowed=False, commit=Commit(lane.loop.last.candidate), lane=lane.name))
    answers = panel.convene(state, lane, brief, (reviewer,), commit=lane.loop.last.candidate, purpose="consent")
    effect, turn = answers[reviewer]
    ran = Player(effect.agent, turn.model or effect.model)
    allowed = turn.kind == "ok" and turn.claim.verdict == "pass" and _is_other(state, lane, ran)
    said = Consented(paths, called, allowed=allowed, commit=effect.commit, lane=lane.name)
    return record(said, TurnSetAside(effect.turn, "consent", lane=lane.name))


def _is_other(state: State, lane: Lane, player: Player) -> bool:
    """Whether a player is another model than the authors; of one program whose models nobody told that is not known."""
    written = casting.authors(state, lane)
    word = casting.independence(player, written, state.task.agents)
    account = casting.account(state, player.agent)
    apart = all(casting.account(state, author.agent) != account for author in written)
    return word == "other" or (word == "unknown" and apart)
