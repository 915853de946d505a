"""What effects add to what is known: that they were begun, and how each kind of outcome is taken."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.fold.lanes import JournalOutOfOrder, lane_of
from flyball.core.fold.people import answer
from flyball.core.loop.workflow import Workflow
from flyball.core.model import outcomes as oc
from flyball.core.model.effects import Ask, Effect, Measure, PutBack, Recall, Restore, RunAgent, Save, Wait
from flyball.core.model.events import Begun, Ended
from flyball.core.model.state import Asked, Checkpoint, Lane, Panel, State, Turn, Undone, Window
from flyball.core.model.task import Author, Commit, Player

RECENT_CHECKPOINTS = 64


def on_begun(state: State, fact: Begun, workflow: Workflow) -> None:
    effect = fact.effect if fact.effect.at is not None else replace(fact.effect, at=state.now)
    lane = lane_of(state, effect.lane)
    state.open[effect.id] = effect
    lane.attempts[effect.id] = effect.attempt
    for table in (workflow.begun, _BEGINNINGS):
        begin = table.get(type(effect))
        if begin:
            begin(state, lane, effect)


def on_ended(state: State, fact: Ended, workflow: Workflow) -> None:
    key, outcome = fact.id, fact.outcome
    effect = state.open.pop(key, None)
    if effect is None and f"/{key}".rpartition("/")[0].endswith("/ask"):
        return  # older journals hold the ends of questions that a new hour had withdrawn
    if effect is None or effect.attempt != fact.attempt:
        raise JournalOutOfOrder(f"{key} attempt {fact.attempt} ended but was not under way")
    lane = lane_of(state, effect.lane)
    _keep(lane, effect, outcome)
    lane.day = lane.day if isinstance(effect, Recall) else None
    for table in (workflow.ended, _OUTCOMES):
        apply = table.get(type(outcome))
        if apply:
            apply(state, lane, effect, outcome)


def _keep(lane: Lane, effect: Effect, outcome: oc.Outcome) -> None:
    """An outcome belongs to its turn, to the panel, or to the lane; what failed or was broken off can be done again."""
    if isinstance(outcome, oc.Failed):
        lane.failed = effect, outcome
    if isinstance(effect, RunAgent):
        ended = oc.Interrupted(outcome.detail) if isinstance(outcome, oc.Failed) else outcome
        assert isinstance(ended, oc.TurnEnded | oc.Interrupted)
        if lane.turn is not None and lane.turn.effect.id == effect.id:
            lane.turn.ended = ended
        elif lane.panel is not None and effect.id in lane.panel.turns:
            lane.panel.ended[effect.id] = ended
    elif isinstance(outcome, oc.Failed | oc.Interrupted | oc.Recalled | oc.DayCounted):
        return
    elif isinstance(effect, Save | Measure) and lane.turn is not None and effect.turn == lane.turn.effect.turn:
        if isinstance(outcome, oc.Saved):
            lane.turn.saved = outcome
        elif isinstance(outcome, oc.Measured):
            lane.turn.measured = outcome.measurement
    elif not (isinstance(effect, Measure) and effect.kind == "baseline"):
        lane.outcomes[effect.id] = outcome


def _on_turn_begun(state: State, lane: Lane, effect: RunAgent) -> None:
    state.turns = max(state.turns, effect.turn)
    if effect.copy:
        lane.panel = lane.panel or Panel()
        lane.panel.turns[effect.id] = effect
    else:
        lane.turn = Turn(effect)
    lane.tree_before = lane.tree
    lane.held = None


def _on_wait_begun(_state: State, lane: Lane, effect: Wait) -> None:
    lane.waits += effect.attempt == 1


def _on_question_begun(state: State, lane: Lane, effect: Ask) -> None:
    lane.asks += effect.attempt == 1
    state.questions = {
        # A lane has one question of a name; an older journal put it again after a resume that withdrew all lanes' questions.
        **{k: a for k, a in state.questions.items() if (a.lane, a.question.name) != (lane.name, effect.question.name)},
        effect.id: Asked(effect.question, lane.name),
    }


def _on_prepared(state: State, lane: Lane, _effect: Effect, outcome: oc.Prepared) -> None:
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


def _on_workspace_opened(_state: State, lane: Lane, _effect: Effect, outcome: oc.WorkspaceOpened) -> None:
    lane.tree = outcome.tree


def _on_turn_ended(state: State, lane: Lane, effect: Effect, outcome: oc.TurnEnded) -> None:
    assert isinstance(effect, RunAgent)
    if effect.authors and outcome.kind == "crashed" and _was_picked(state, effect):
        state.unusable = (*state.unusable, Player(effect.agent, effect.model))
    _add_call(state, outcome.usage)
    state.turns_without_tokens += not outcome.usage.tokens and outcome.kind not in oc.LIMITED | oc.ABSENT
    if outcome.session and not effect.copy:
        lane.sessions = {**lane.sessions, effect.agent: outcome.session}
        lane.session_usage = {**lane.session_usage, effect.agent: outcome.session_usage}


def _was_picked(state: State, effect: RunAgent) -> bool:
    """Whether a reviewer's model is one that flyball took from an agent's several: this login may not have it."""
    choice = state.task.settings.choice(effect.role)
    set_for = {choice.agent: choice.model} if choice.fixed else {}
    own = {spec.name: spec.model for spec in state.task.agents} | set_for
    return bool(effect.model) and own.get(effect.agent, effect.model) != effect.model


def _add_author(lane: Lane, outcome: oc.Saved) -> None:
    """A turn that left another tree behind wrote it, however it ended."""
    turn = lane.turn
    if turn is None or not turn.effect.product or outcome.accepted or outcome.tree == lane.tree_before:
        return
    effect = turn.effect
    model = turn.ended.model if isinstance(turn.ended, oc.TurnEnded) else effect.model
    author = Author(effect.role, effect.agent, model, effect.model)
    lane.authors = tuple(dict.fromkeys((*lane.authors, author)))


def _add_call(state: State, usage: oc.Usage) -> None:
    window = state.window or Window(state.now)
    state.window = replace(window, calls=window.calls + 1)
    state.usage = state.usage.plus(usage)
    state.known_usd = round(state.known_usd + (usage.usd or 0.0), 6)
    state.unpriced += usage.usd is None
    state.dearest_turn = state.dearest_turn.dearer(usage)


def _on_interrupted(state: State, _lane: Lane, effect: Effect, _outcome: oc.Interrupted) -> None:
    """A turn that was interrupted has called its provider all the same, and nobody knows what that cost."""
    if isinstance(effect, RunAgent):
        _add_call(state, oc.Usage(estimated=True))


def _on_measured(state: State, lane: Lane, effect: Effect, outcome: oc.Measured) -> None:
    if isinstance(effect, Measure) and effect.kind == "baseline":
        state.reopened = False
        state.baseline = lane.loop.entry = outcome.measurement
        state.checkpoints = tuple(
            replace(each, measured=outcome.measurement) if each.commit == effect.candidate else each
            for each in state.checkpoints
        )
        lane.tests_ref = outcome.measurement.tests_ref


def _on_saved(state: State, lane: Lane, effect: Effect, outcome: oc.Saved) -> None:
    _add_author(lane, outcome)
    state.reports += isinstance(effect, Save) and bool(effect.closing)
    place = (lane.stage, lane.loop.iteration + 1, False, lane.name)
    measured = lane.loop.last if outcome.accepted else None
    checkpoint = Checkpoint(
        outcome.label,
        outcome.commit,
        outcome.tree,
        state.now,
        outcome.accepted,
        *place,
        measured=measured,
        files=outcome.files,
    )
    _add_checkpoint(state, lane, checkpoint)
    if outcome.accepted:
        lane.head = outcome.commit
        lane.best = checkpoint


def _add_checkpoint(state: State, lane: Lane, checkpoint: Checkpoint) -> None:
    state.checkpoints = (*state.checkpoints[1 - RECENT_CHECKPOINTS :], checkpoint)
    lane.tree = checkpoint.tree


def _on_mended(state: State, lane: Lane, effect: Effect, outcome: oc.Mended) -> None:
    """The tree as it was measured, without what the tricks did to it."""
    assert isinstance(effect, PutBack)
    lane.mend = None
    lane.mends += 1
    lane.put_back = outcome.paths
    place = (lane.stage, lane.loop.iteration, effect.doubtful, lane.name)
    _add_checkpoint(state, lane, Checkpoint(outcome.label, outcome.commit, outcome.tree, state.now, False, *place))


def _on_recalled(_state: State, lane: Lane, effect: Effect, outcome: oc.Recalled) -> None:
    assert isinstance(effect, Recall)
    lane.recall, lane.recalled = effect, outcome
    lane.recalls += 1


def _on_day_counted(_state: State, lane: Lane, _effect: Effect, outcome: oc.DayCounted) -> None:
    lane.day = outcome
    lane.days += 1


def _on_pull_requested(state: State, _lane: Lane, _effect: Effect, outcome: oc.PullRequested) -> None:
    state.pull_request = outcome.url


def _on_restored(state: State, lane: Lane, effect: Effect, outcome: oc.Restored) -> None:
    assert isinstance(effect, Restore)
    _undo(state, lane, effect)
    lane.loop.restore_to = Commit("")
    lane.loop.restored = True
    lane.recall = None
    lane.restores += 1
    if lane.mend is not None:
        lane.put_back, lane.mend = lane.mend.put_back, None
    lane.tree = outcome.tree


def _undo(state: State, lane: Lane, effect: Restore) -> None:
    """The lane stands on an earlier tree again: what was measured of that one is what is known, and later work is undone."""
    own = [each for each in state.checkpoints if each.lane == lane.name]
    place = max((n for n, each in enumerate(own) if each.commit == effect.to), default=-1)
    later = [each for each in own[place + 1 :] if not each.undone]
    gone = {each.commit for each in later}
    state.checkpoints = tuple(
        replace(each, undone=each.commit in gone or (each.undone and each.commit != effect.to))
        for each in state.checkpoints
    )
    kept = own[place] if place >= 0 else None
    in_stage = kept is not None and kept.judged is not None and kept.stage == lane.stage
    if kept is not None and not in_stage:
        lane.loop.entry = kept.measured or lane.loop.entry
    if later:
        turns = tuple(each.label.removeprefix("turn-") for each in later if each.label.startswith("turn-"))
        known = (kept.measured, kept.judged) if kept is not None and in_stage else ()
        lane.loop.undone = Undone(turns, effect.reason, later[-1].commit, effect.to, *known)


def _on_answered(state: State, _lane: Lane, effect: Effect, outcome: oc.Answered) -> None:
    answer(state, effect.id, outcome.text, outcome.by)


_BEGINNINGS: dict[type, Callable[[State, Lane, Any], None]] = {
    RunAgent: _on_turn_begun,
    Wait: _on_wait_begun,
    Ask: _on_question_begun,
}

_OUTCOMES: dict[type, Callable[[State, Lane, Effect, Any], None]] = {
    oc.Prepared: _on_prepared,
    oc.WorkspaceOpened: _on_workspace_opened,
    oc.TurnEnded: _on_turn_ended,
    oc.Measured: _on_measured,
    oc.Saved: _on_saved,
    oc.Restored: _on_restored,
    oc.Mended: _on_mended,
    oc.PullRequested: _on_pull_requested,
    oc.Recalled: _on_recalled,
    oc.DayCounted: _on_day_counted,
    oc.Answered: _on_answered,
    oc.Interrupted: _on_interrupted,
}
