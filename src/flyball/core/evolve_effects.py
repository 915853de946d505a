"""What effects add to what is known: that they were begun, and how each kind of outcome is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core import evolve_backlog
from flyball.core.casting import WRITING
from flyball.core.effects import Ask, Effect, Measure, PutBack, ReadBacklog, RunAgent, Save, Wait
from flyball.core.events import (
    Begun,
    Ended,
)
from flyball.core.evolve_people import answer
from flyball.core.outcomes import (
    ABSENT,
    LIMITED,
    Answered,
    BacklogRead,
    Edited,
    Interrupted,
    Measured,
    Mended,
    Prepared,
    PullRequested,
    Restored,
    Saved,
    Stale,
    TurnEnded,
    Usage,
)
from flyball.core.state import Asked, Checkpoint, Draft, Open, Window
from flyball.core.task import Author, Commit, Player

RECENT_CHECKPOINTS = 64


class JournalOutOfOrder(Exception):
    """Facts do not follow each other as they must; the journal is damaged or was written by two hands."""


def begun(draft: Draft, fact: Begun) -> None:
    effect, attempt = fact.effect, fact.attempt
    key = effect.id
    known = draft.open.get(key)
    draft.open[key] = Open(effect, attempt, known.begun_at if known else draft.now)
    draft.attempts[key] = attempt
    begin = _BEGINNINGS.get(type(effect))
    if begin:
        begin(draft, effect, attempt == 1)


def ended(draft: Draft, fact: Ended) -> None:
    key, outcome = fact.id, fact.outcome
    opened = draft.open.pop(key, None)
    if opened is None or opened.attempt != fact.attempt:
        raise JournalOutOfOrder(f"{key} attempt {fact.attempt} ended but was not under way")
    draft.outcomes[key] = outcome
    apply = _OUTCOMES.get(type(outcome))
    if apply:
        apply(draft, opened.effect, outcome)


def _turn_begun(draft: Draft, effect: RunAgent, _first: bool) -> None:
    draft.turns = max(draft.turns, effect.turn)
    draft.pass_effect = draft.pass_effect or effect
    draft.passing[effect.id] = effect
    draft.tree_before = draft.tree
    draft.held = None


def _wait_begun(draft: Draft, _effect: Wait, first: bool) -> None:
    draft.waits += first


def _question_begun(draft: Draft, effect: Ask, first: bool) -> None:
    draft.asks += first
    draft.questions = {**draft.questions, effect.id: Asked(effect.question)}


def _reading_begun(draft: Draft, _effect: ReadBacklog, first: bool) -> None:
    draft.work = replace(draft.work, reads=draft.work.reads + first)


def _prepared(draft: Draft, _effect: Effect, outcome: Prepared) -> None:
    draft.removed = False
    if draft.prepared is not None:
        # Made once more: the base, the branch and all that was accepted on it are what they were.
        draft.prepared = replace(draft.prepared, notes=outcome.notes, left=outcome.left)
        return
    start = Checkpoint("start", outcome.base, outcome.tree, draft.now, accepted=True, stage=draft.stage)
    draft.prepared = outcome
    draft.head = outcome.base
    draft.tree = outcome.tree
    draft.tests_accepted = outcome.base
    draft.checkpoints = (start,)
    draft.best = start


def _turn_ended(draft: Draft, effect: Effect, outcome: TurnEnded) -> None:
    assert isinstance(effect, RunAgent)
    if effect.authors and outcome.kind == "crashed" and _was_picked(draft, effect):
        draft.unusable = (*draft.unusable, Player(effect.agent, effect.model))
    draft.window = _called(draft)
    _paid(draft, outcome.usage)
    draft.untold += not outcome.usage.tokens and outcome.kind not in LIMITED | ABSENT
    if outcome.session and not effect.copy:
        draft.sessions = {**draft.sessions, effect.agent: outcome.session}
        draft.session_usage = {**draft.session_usage, effect.agent: outcome.session_usage}


def _was_picked(draft: Draft, effect: RunAgent) -> bool:
    """Whether a reviewer's model is one that flyball took from an agent's several: this login may not have it."""
    choice = draft.task.settings.choice(effect.role)
    set_for = {choice.agent: choice.model} if choice.fixed else {}
    own = {spec.name: spec.model for spec in draft.task.agents} | set_for
    return bool(effect.model) and own.get(effect.agent, effect.model) != effect.model


def _wrote(draft: Draft, outcome: Saved) -> None:
    """A turn that left another tree behind wrote it, however it ended."""
    effect = draft.pass_effect
    if effect is None or effect.role not in WRITING or outcome.accepted or outcome.tree == draft.tree_before:
        return
    turn = draft.outcomes.get(effect.id)
    model = turn.model if isinstance(turn, TurnEnded) else effect.model
    author = Author(effect.role, effect.agent, model, effect.model)
    draft.authors = tuple(dict.fromkeys((*draft.authors, author)))


def _paid(draft: Draft, usage: Usage) -> None:
    """Add what a turn cost; of the dearest turn the money and the tokens may be those of different turns."""
    dearest = draft.dearest_turn
    most = usage if usage.tokens > dearest.tokens else dearest
    draft.usage = draft.usage.plus(usage)
    draft.known_usd = round(draft.known_usd + (usage.usd or 0.0), 6)
    draft.unpriced += usage.usd is None
    draft.dearest_turn = replace(most, usd=max(dearest.usd or 0.0, usage.usd or 0.0))


def _called(draft: Draft) -> Window:
    return Window(draft.now, 1) if draft.window is None else Window(draft.window.started_at, draft.window.calls + 1)


def _broken_off(draft: Draft, effect: Effect, _outcome: Interrupted) -> None:
    """A turn that was interrupted has called its provider all the same, and nobody knows what that cost."""
    if isinstance(effect, RunAgent):
        draft.window = _called(draft)
        _paid(draft, Usage(estimated=True))


def _measured(draft: Draft, effect: Effect, outcome: Measured) -> None:
    if isinstance(effect, Measure) and effect.kind == "baseline":
        draft.reopened = False
        draft.baseline = draft.entry = outcome.measurement
        draft.tests_ref = outcome.measurement.tests_ref
        draft.outcomes = {}


def _saved(draft: Draft, effect: Effect, outcome: Saved) -> None:
    _wrote(draft, outcome)
    draft.reports += isinstance(effect, Save) and bool(effect.closing)
    checkpoint = Checkpoint(
        outcome.label, outcome.commit, outcome.tree, draft.now, outcome.accepted, draft.stage, draft.iteration + 1
    )
    _keep(draft, checkpoint)
    if outcome.accepted:
        draft.head = outcome.commit
        draft.best = checkpoint


def _keep(draft: Draft, checkpoint: Checkpoint) -> None:
    draft.checkpoints = (*draft.checkpoints[1 - RECENT_CHECKPOINTS :], checkpoint)
    draft.tree = checkpoint.tree


def _mended(draft: Draft, effect: Effect, outcome: Mended) -> None:
    """The tree as it was measured, without what the tricks did to it."""
    assert isinstance(effect, PutBack)
    draft.mend = None
    draft.mends += 1
    draft.put_back = outcome.paths
    _keep(
        draft,
        Checkpoint(
            outcome.label, outcome.commit, outcome.tree, draft.now, False, draft.stage, draft.iteration, effect.doubtful
        ),
    )


def _pull_requested(draft: Draft, _effect: Effect, outcome: PullRequested) -> None:
    draft.pull_request = outcome.url


def _restored(draft: Draft, _effect: Effect, outcome: Restored) -> None:
    draft.restore_to = Commit("")
    draft.restores += 1
    draft.restored = True
    if draft.mend is not None:
        draft.put_back, draft.mend = draft.mend.put_back, None
    draft.tree = outcome.tree


def _answered(draft: Draft, effect: Effect, outcome: Answered) -> None:
    answer(draft, effect.id, outcome.text, outcome.by)


_BEGINNINGS: dict[type, Callable[[Draft, Any, bool], None]] = {
    RunAgent: _turn_begun,
    Wait: _wait_begun,
    Ask: _question_begun,
    ReadBacklog: _reading_begun,
}

_OUTCOMES: dict[type, Callable[[Draft, Effect, Any], None]] = {
    Prepared: _prepared,
    TurnEnded: _turn_ended,
    Measured: _measured,
    Saved: _saved,
    Restored: _restored,
    Mended: _mended,
    PullRequested: _pull_requested,
    Answered: _answered,
    BacklogRead: evolve_backlog.read,
    Edited: evolve_backlog.edited,
    Stale: evolve_backlog.edited,
    Interrupted: _broken_off,
}
