"""What effects add to what is known: that they were begun, and how each kind of outcome is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.fold.lanes import JournalOutOfOrder, lane_of
from flyball.core.fold.people import answer
from flyball.core.loop.workflow import Workflow
from flyball.core.model.effects import Ask, Effect, Measure, PutBack, Recall, RunAgent, Save, Wait
from flyball.core.model.events import Begun, Ended
from flyball.core.model.outcomes import (
    ABSENT,
    LIMITED,
    Answered,
    Failed,
    Interrupted,
    Measured,
    Mended,
    Outcome,
    Prepared,
    PullRequested,
    Recalled,
    Restored,
    Saved,
    TurnEnded,
    Usage,
    WorkspaceOpened,
)
from flyball.core.model.state import Asked, Checkpoint, Lane, Panel, State, Turn, Window
from flyball.core.model.task import Author, Commit, Player

RECENT_CHECKPOINTS = 64


def begun(state: State, fact: Begun, workflow: Workflow) -> None:
    effect = fact.effect if fact.effect.at is not None else replace(fact.effect, at=state.now)
    lane = lane_of(state, effect.lane)
    state.open[effect.id] = effect
    lane.attempts[effect.id] = effect.attempt
    for table in (workflow.begun, _BEGINNINGS):
        begin = table.get(type(effect))
        if begin:
            begin(state, lane, effect)


def ended(state: State, fact: Ended, workflow: Workflow) -> None:
    key, outcome = fact.id, fact.outcome
    effect = state.open.pop(key, None)
    if effect is None or effect.attempt != fact.attempt:
        raise JournalOutOfOrder(f"{key} attempt {fact.attempt} ended but was not under way")
    lane = lane_of(state, effect.lane)
    _keep(lane, effect, outcome)
    for table in (workflow.ended, _OUTCOMES):
        apply = table.get(type(outcome))
        if apply:
            apply(state, lane, effect, outcome)


def _keep(lane: Lane, effect: Effect, outcome: Outcome) -> None:
    """An outcome belongs to its turn, to the panel, or to the lane; what failed or was broken off can be done again."""
    if isinstance(outcome, Failed):
        lane.failed = effect.id, outcome
    if isinstance(effect, RunAgent):
        _keep_turn(lane, effect, Interrupted(outcome.detail) if isinstance(outcome, Failed) else outcome)
    elif isinstance(outcome, Failed | Interrupted | Recalled):
        return
    elif isinstance(effect, Save | Measure) and lane.turn is not None and effect.turn == lane.turn.effect.turn:
        if isinstance(outcome, Saved):
            lane.turn.saved = outcome
        elif isinstance(outcome, Measured):
            lane.turn.measured = outcome.measurement
    elif not (isinstance(effect, Measure) and effect.kind == "baseline"):
        lane.outcomes[effect.id] = outcome


def _keep_turn(lane: Lane, effect: RunAgent, outcome: Outcome) -> None:
    assert isinstance(outcome, TurnEnded | Interrupted)
    if lane.turn is not None and lane.turn.effect.id == effect.id:
        lane.turn.ended = outcome
    elif lane.panel is not None and effect.id in lane.panel.turns:
        lane.panel.ended[effect.id] = outcome


def _turn_begun(state: State, lane: Lane, effect: RunAgent) -> None:
    state.turns = max(state.turns, effect.turn)
    if effect.copy:
        lane.panel = lane.panel or Panel()
        lane.panel.turns[effect.id] = effect
    else:
        lane.turn = Turn(effect)
    lane.tree_before = lane.tree
    lane.held = None


def _wait_begun(_state: State, lane: Lane, effect: Wait) -> None:
    lane.waits += effect.attempt == 1


def _question_begun(state: State, lane: Lane, effect: Ask) -> None:
    lane.asks += effect.attempt == 1
    state.questions = {**state.questions, effect.id: Asked(effect.question, lane.name)}


def _prepared(state: State, lane: Lane, _effect: Effect, outcome: Prepared) -> None:
    state.removed = False
    if state.prepared is not None:
        # Made once more: the base, the branch and all that was accepted on it are what they were.
        state.prepared = replace(state.prepared, notes=outcome.notes, left=outcome.left)
        return
    start = Checkpoint("start", outcome.base, outcome.tree, state.now, accepted=True, stage=lane.stage)
    state.prepared = outcome
    state.checkpoints = (start,)
    lane.base = lane.head = lane.tests_accepted = outcome.base
    lane.tree = outcome.tree
    lane.best = start


def _workspace_opened(_state: State, lane: Lane, _effect: Effect, outcome: WorkspaceOpened) -> None:
    lane.tree = outcome.tree


def _turn_ended(state: State, lane: Lane, effect: Effect, outcome: TurnEnded) -> None:
    assert isinstance(effect, RunAgent)
    if effect.authors and outcome.kind == "crashed" and _was_picked(state, effect):
        state.unusable = (*state.unusable, Player(effect.agent, effect.model))
    state.window = _called(state)
    _paid(state, outcome.usage)
    state.turns_without_tokens += not outcome.usage.tokens and outcome.kind not in LIMITED | ABSENT
    if outcome.session and not effect.copy:
        lane.sessions = {**lane.sessions, effect.agent: outcome.session}
        lane.session_usage = {**lane.session_usage, effect.agent: outcome.session_usage}


def _was_picked(state: State, effect: RunAgent) -> bool:
    """Whether a reviewer's model is one that flyball took from an agent's several: this login may not have it."""
    choice = state.task.settings.choice(effect.role)
    set_for = {choice.agent: choice.model} if choice.fixed else {}
    own = {spec.name: spec.model for spec in state.task.agents} | set_for
    return bool(effect.model) and own.get(effect.agent, effect.model) != effect.model


def _wrote(lane: Lane, outcome: Saved) -> None:
    """A turn that left another tree behind wrote it, however it ended."""
    turn = lane.turn
    if turn is None or not turn.effect.product or outcome.accepted or outcome.tree == lane.tree_before:
        return
    effect = turn.effect
    model = turn.ended.model if isinstance(turn.ended, TurnEnded) else effect.model
    author = Author(effect.role, effect.agent, model, effect.model)
    lane.authors = tuple(dict.fromkeys((*lane.authors, author)))


def _paid(state: State, usage: Usage) -> None:
    """Add what a turn cost; of the dearest turn the money and the tokens may be those of different turns."""
    dearest = state.dearest_turn
    most = usage if usage.tokens > dearest.tokens else dearest
    state.usage = state.usage.plus(usage)
    state.known_usd = round(state.known_usd + (usage.usd or 0.0), 6)
    state.unpriced += usage.usd is None
    state.dearest_turn = replace(most, usd=max(dearest.usd or 0.0, usage.usd or 0.0))


def _called(state: State) -> Window:
    return Window(state.now, 1) if state.window is None else Window(state.window.started_at, state.window.calls + 1)


def _broken_off(state: State, _lane: Lane, effect: Effect, _outcome: Interrupted) -> None:
    """A turn that was interrupted has called its provider all the same, and nobody knows what that cost."""
    if isinstance(effect, RunAgent):
        state.window = _called(state)
        _paid(state, Usage(estimated=True))


def _measured(state: State, lane: Lane, effect: Effect, outcome: Measured) -> None:
    if isinstance(effect, Measure) and effect.kind == "baseline":
        state.reopened = False
        state.baseline = lane.loop.entry = outcome.measurement
        lane.tests_ref = outcome.measurement.tests_ref


def _saved(state: State, lane: Lane, effect: Effect, outcome: Saved) -> None:
    _wrote(lane, outcome)
    state.reports += isinstance(effect, Save) and bool(effect.closing)
    checkpoint = Checkpoint(
        outcome.label,
        outcome.commit,
        outcome.tree,
        state.now,
        outcome.accepted,
        lane.stage,
        lane.loop.iteration + 1,
        lane=lane.name,
    )
    _add_checkpoint(state, lane, checkpoint)
    if outcome.accepted:
        lane.head = outcome.commit
        lane.best = checkpoint


def _add_checkpoint(state: State, lane: Lane, checkpoint: Checkpoint) -> None:
    state.checkpoints = (*state.checkpoints[1 - RECENT_CHECKPOINTS :], checkpoint)
    lane.tree = checkpoint.tree


def _mended(state: State, lane: Lane, effect: Effect, outcome: Mended) -> None:
    """The tree as it was measured, without what the tricks did to it."""
    assert isinstance(effect, PutBack)
    lane.mend = None
    lane.mends += 1
    lane.put_back = outcome.paths
    place = (lane.stage, lane.loop.iteration, effect.doubtful, lane.name)
    _add_checkpoint(state, lane, Checkpoint(outcome.label, outcome.commit, outcome.tree, state.now, False, *place))


def _recalled(_state: State, lane: Lane, effect: Effect, outcome: Recalled) -> None:
    assert isinstance(effect, Recall)
    lane.recall, lane.recalled = effect, outcome
    lane.recalls += 1


def _pull_requested(state: State, _lane: Lane, _effect: Effect, outcome: PullRequested) -> None:
    state.pull_request = outcome.url


def _restored(_state: State, lane: Lane, _effect: Effect, outcome: Restored) -> None:
    lane.loop.restore_to = Commit("")
    lane.loop.restored = True
    lane.recall = None
    lane.restores += 1
    if lane.mend is not None:
        lane.put_back, lane.mend = lane.mend.put_back, None
    lane.tree = outcome.tree


def _answered(state: State, _lane: Lane, effect: Effect, outcome: Answered) -> None:
    answer(state, effect.id, outcome.text, outcome.by)


_BEGINNINGS: dict[type, Callable[[State, Lane, Any], None]] = {
    RunAgent: _turn_begun,
    Wait: _wait_begun,
    Ask: _question_begun,
}

_OUTCOMES: dict[type, Callable[[State, Lane, Effect, Any], None]] = {
    Prepared: _prepared,
    WorkspaceOpened: _workspace_opened,
    TurnEnded: _turn_ended,
    Measured: _measured,
    Saved: _saved,
    Restored: _restored,
    Mended: _mended,
    PullRequested: _pull_requested,
    Recalled: _recalled,
    Answered: _answered,
    Interrupted: _broken_off,
}
