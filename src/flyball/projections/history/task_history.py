"""The story of a task: what the state forgets because no decision needs it, folded in constant time per fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, ClassVar

from msgspec.structs import replace

from flyball.core.health.breaker import CLOSED
from flyball.core.loop.workflow import BOTH_GATES
from flyball.core.model import events as ev, outcomes as out
from flyball.core.model.batch_events import BatchSettled, SubtaskIntegrated
from flyball.core.model.effects import Ask, Effect, Measure, PutBack, RunAgent, Save
from flyball.core.model.measurement import Trick
from flyball.core.model.task import MAIN, EffectId
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.backlog.effects import BacklogRead
from flyball.core.workflows.backlog.facts import Evaluated, ItemSettled
from flyball.core.workflows.plan.facts import FinalReviewed
from flyball.core.workflows.tdd.facts import SessionImported
from flyball.core.workflows.tdd.prp_session import PHASES, describe_session
from flyball.core.workflows.track.facts import TrackEvaluated
from flyball.projections.history import records as rec
from flyball.projections.history.learnings import LearningLedger
from flyball.projections.history.ledgers import BreakerLedger, ErrorLedger
from flyball.projections.history.recording import judgement, turn_begun, turn_ended, verification
from flyball.projections.history.timeline import Timeline
from flyball.projections.wording import plain, short

MOST_NOTES = 100
LEFT_NAMED = 20


class TaskHistory:
    """Give it every event of one task in order; read its lists at any time."""

    def __init__(self, events: Iterable[ev.Event] = ()) -> None:
        self.stage = ""
        self.sessions = 0
        self.plan_revisions = 0
        self.false_claims = 0
        self.last_activity: datetime | None = None
        self.resumed_at: datetime | None = None
        self.turns: list[rec.TurnRecord] = []
        self.judgements: list[rec.Judgement] = []
        self.judged: ev.Judged | None = None
        self.last_progress: dict[str, ev.Judged] = {}
        self.rows: list[rec.Row] = []
        self.checkpoints: list[rec.CheckpointRecord] = []
        self._memory = LearningLedger()
        self.verified: list[rec.Verification] = []
        self.measured: rec.Verification | None = None
        self.checked: rec.Verification | None = None
        self.tricks: dict[Trick, rec.TrickSeen] = {}
        self.questions: dict[EffectId, rec.Put] = {}
        self.words: list[rec.WordRecord] = []
        self.holds: list[rec.Hold] = []
        self.limit_hits: list[tuple[datetime, ev.LimitHit]] = []
        self.limited_at: dict[str, datetime] = {}
        self.moves: list[rec.Move] = []
        self.rollbacks: list[rec.Rollback] = []
        self.consents: list[rec.Consent] = []
        self.stops: list[tuple[datetime, ev.TaskStopped]] = []
        self.notes: dict[str, None] = {}
        self.breaker = BreakerLedger()
        self.errors = ErrorLedger()
        self.timeline = Timeline()
        self.pieces: dict[str, list[tuple[str, str, datetime]]] = {}
        self._integrated_at: dict[str, tuple[str, datetime]] = {}
        self._open: dict[EffectId, Effect] = {}
        self._turn_at: dict[EffectId, int] = {}
        self._kept_at: dict[str, int] = {}
        self._held_against: dict[str, tuple[Trick, ...]] = {}
        for event in events:
            self.add(event)

    def add(self, event: ev.Event) -> None:
        """Take in the next fact."""
        self._memory.add(event, self.stage)
        apply = self._facts.get(type(event.fact))
        if apply is not None:
            apply(self, event.at, event.fact)
        self.timeline.add(event)
        if shows(event):
            self.last_activity = event.at

    @property
    def learnings(self) -> list[rec.Learning]:
        return self._memory.shown()

    @property
    def given(self) -> tuple[rec.LearningGiven, ...]:
        """The learnings that stood in prompts of the task."""
        return self._memory.told()

    def turn(self, number: int) -> rec.TurnRecord | None:
        """The last attempt at a turn."""
        where = self._turn_at.get(EffectId(f"turn/{number}"))
        return None if where is None else self.turns[where]

    def _opened(self, _at: datetime, fact: ev.TaskOpened) -> None:
        self.stage = fact.stage

    def _imported(self, _at: datetime, fact: SessionImported) -> None:
        before = PHASES[: PHASES.index(fact.session.phase)]
        unseen = f"; not verified here: {', '.join(before)}" if before else ""
        self._note((f"Begun at {fact.session.phase}, from {describe_session(fact.session)}{unseen}",))

    def _session(self, at: datetime, _fact: ev.SessionStarted) -> None:
        self.sessions += 1
        self.resumed_at = at if self.sessions > 1 else None

    def _begun(self, at: datetime, fact: ev.Begun) -> None:
        effect = fact.effect
        self._open[effect.id] = effect
        if isinstance(effect, RunAgent):
            self._turn_at[effect.id] = len(self.turns)
            self.turns.append(turn_begun(at, effect, effect.attempt))
        elif isinstance(effect, Ask):
            question = effect.question
            put = rec.Put(effect.id, question.name, plain(question.text, 1000), at)
            self.questions.setdefault(effect.id, put)

    def _ended(self, at: datetime, fact: ev.Ended) -> None:
        effect = self._open.pop(fact.id, None)
        where = self._turn_at.get(fact.id)
        if where is not None:
            self.turns[where] = turn_ended(self.turns[where], at, fact.outcome)
            self._warned(self.turns[where].role, fact.outcome)
        apply = self._outcomes.get(type(fact.outcome))
        if effect is not None and apply is not None:
            apply(self, at, effect, fact.outcome)

    def _warned(self, role: str, outcome: out.Outcome) -> None:
        """An approval with a warning is one, and its words are kept for people."""
        claim = outcome.claim if isinstance(outcome, out.TurnEnded) else None
        if claim is not None and claim.verdict == "warn":
            said = "; ".join([claim.summary, *(f.message for f in claim.findings)]).strip("; ")
            self._note((f"{role} approves with a warning: {said or 'it gave no reason'}",))

    def _prepared(self, at: datetime, _effect: Effect, outcome: out.Prepared) -> None:
        left = first_few([plain(name) for name in outcome.left], LEFT_NAMED)
        said = (
            f"Set-up created or changed these files. They are not part of the work and not on the branch: {left}"
            if left
            else ""
        )
        self._note((*outcome.notes, said) if said else outcome.notes)
        if not self.checkpoints:
            self._keep(rec.CheckpointRecord("start", outcome.base, at, accepted=True, stage=self.stage, turn=0))

    def _pull_requested(self, _at: datetime, _effect: Effect, outcome: out.PullRequested) -> None:
        self._note((f"The pull request is {outcome.url}" if outcome.url else outcome.detail,))

    def _saved(self, at: datetime, effect: Effect, outcome: out.Saved) -> None:
        self._note(outcome.notes)
        number = self.turns[-1].number if self.turns else 0
        self._keep(
            rec.CheckpointRecord(
                plain(outcome.label, 80), outcome.commit, at, outcome.accepted, self.stage, number, lane=effect.lane
            )
        )

    def _keep(self, kept: rec.CheckpointRecord) -> None:
        self._kept_at[kept.commit] = len(self.checkpoints)
        self.checkpoints.append(kept)

    def _measured(self, at: datetime, effect: Effect, outcome: out.Measured) -> None:
        baseline = isinstance(effect, Measure) and effect.kind == "baseline"
        self.measured = verification(at, "baseline" if baseline else self.stage, outcome.measurement)
        self._note(outcome.measurement.notes)
        if outcome.measurement.checks:
            self.checked = self.measured
        if baseline:
            self.verified.append(self.measured)
        for trick in outcome.measurement.tricks:
            known = self.tricks.get(trick)
            first = rec.TrickSeen(
                trick.kind, plain(trick.path), plain(trick.detail), trick.harmless, at, self.measured.stage, times=0
            )
            self.tricks[trick] = replace(known or first, times=(known or first).times + 1)
        if outcome.measurement.caught:
            self._doubt(outcome.measurement.candidate, outcome.measurement.caught)

    def _doubt(self, commit: str, tricks: tuple[Trick, ...]) -> None:
        """Mark a checkpoint with the first trick that is held against it; without any it is as good as others."""
        self._held_against[commit] = tricks
        where = self._kept_at.get(commit)
        if where is not None:
            told = "".join(f"{trick.kind}: {trick.path}: {trick.detail}" for trick in tricks[:1])
            self.checkpoints[where] = replace(self.checkpoints[where], tricked=plain(told))

    def _mended(self, at: datetime, effect: Effect, outcome: out.Mended) -> None:
        assert isinstance(effect, PutBack)
        number = self.turns[-1].number if self.turns else 0
        where = self._kept_at.get(effect.candidate)
        tricked = self.checkpoints[where].tricked if effect.doubtful and where is not None else ""
        self._keep(
            rec.CheckpointRecord(
                plain(outcome.label, 80), outcome.commit, at, False, self.stage, number, tricked, effect.lane
            )
        )
        paths = first_few([plain(path) for path in outcome.paths], 20)
        self._note((f"put back as accepted after turn {number}: {paths}", *outcome.notes))

    def _restored(self, at: datetime, _effect: Effect, outcome: out.Restored) -> None:
        self._note(outcome.notes)
        self.rollbacks.append(rec.Rollback(at, self.stage, outcome.commit, outcome.undone))
        self._row((), (), (), f"rolled back to {short(outcome.commit)}")

    def _delivered(self, _at: datetime, _effect: Effect, outcome: out.Delivered) -> None:
        self._note(outcome.notes)

    def _answered(self, at: datetime, effect: Effect, outcome: out.Answered) -> None:
        self._answer(at, effect.id, outcome.text, outcome.by)

    def _failed(self, at: datetime, effect: Effect, outcome: out.Failed) -> None:
        self.errors.enter(at, self.stage, 0, f"{effect.id}: {outcome.detail}")

    def _answer(self, at: datetime, key: EffectId, text: str, by: str) -> None:
        put = self.questions.get(key)
        if put is not None and put.answer is None:
            self.questions[key] = replace(put, answer=plain(text, 1000), answered_at=at, by=by)

    def _judged(self, at: datetime, fact: ev.Judged) -> None:
        self.judged = fact
        self.judgements.append(judgement(len(self.judgements) + 1, at, fact, self.measured))
        if fact.can_exit and self.measured is not None:
            self.measured = replace(self.measured, stage=fact.stage, condition=fact.gate_1.condition)
            self.verified.append(self.measured)
        if fact.progress:
            self.last_progress[fact.stage] = fact
        self.false_claims += fact.false_claim
        self.errors.judged(at, fact)
        self.breaker.enter(at, fact.breaker, fact.breaker.reason or fact.verdict.evidence, progress=fact.progress)
        seen = fact.observation
        self._row(seen.batch, seen.passed, tuple(seen.failed), _row_note(fact))

    def _row(self, attempted: tuple[str, ...], passed: tuple[str, ...], failed: tuple[str, ...], notes: str) -> None:
        last = self.rows[-1] if self.rows else None
        self.rows.append(
            rec.Row(
                len(self.judgements),
                attempted,
                passed,
                failed,
                plain(notes, 160),
                (last.passed_so_far if last else 0) + len(passed),
                (last.failed_so_far if last else 0) + len(failed),
            )
        )

    def _set_aside(self, at: datetime, fact: ev.TurnSetAside) -> None:
        where = self._turn_at.get(EffectId(f"turn/{fact.turn}"))
        if where is not None:
            self.turns[where] = replace(self.turns[where], set_aside=fact.why)
        if fact.why == "crashed":
            self.errors.enter(at, self.stage, 0, fact.detail or "the agent crashed")

    def _moved(self, at: datetime, fact: ev.Moved) -> None:
        if fact.lane != MAIN:
            return  # the stages of a task are those of its own lane
        self.moves.append(rec.Move(at, fact.previous, fact.stage, plain(fact.reason), fact.forced, fact.rejected))
        self.stage = fact.stage
        self.breaker.enter(at, CLOSED, f"moved to {fact.stage}")

    def _held(self, at: datetime, fact: ev.Held) -> None:
        self.holds.append(rec.Hold(at, fact.guard, plain(fact.reason), fact.until))

    def _limit_hit(self, at: datetime, fact: ev.LimitHit) -> None:
        self.limit_hits.append((at, fact))
        self.limited_at[fact.agent] = at

    def _breaker_changed(self, at: datetime, fact: ev.BreakerChanged) -> None:
        self.breaker.enter(at, fact.breaker, fact.reason)

    def _items_set(self, _at: datetime, fact: ev.ItemsSet) -> None:
        self.plan_revisions += bool(fact.items)

    def _item_settled(self, _at: datetime, fact: ItemSettled) -> None:
        self._note(f"{fact.id}: {note}" for note in fact.notes)

    def _final_review(self, _at: datetime, fact: FinalReviewed) -> None:
        """What the review of the whole goal found stands in the report, whether or not it approved."""
        self._note(f"Final review: {f.severity}: {f.message} {f.file}".rstrip() for f in fact.findings)
        self._note(f"Final review: {each.id} was done again: {each.reason}" for each in fact.reopened)
        if fact.approved and not fact.findings:
            self._note(("Final review: approved, nothing was found.",))

    def _integrated(self, at: datetime, fact: SubtaskIntegrated) -> None:
        if fact.result == "integrated":
            self._integrated_at[fact.item] = (fact.commit, at)

    def _settled(self, _at: datetime, fact: BatchSettled) -> None:
        """Every piece of a batch is a commit of its own; the last of them is the batch's checkpoint."""
        made = [(item, *self._integrated_at.pop(item)) for item in fact.accepted if item in self._integrated_at]
        if made:
            self.pieces[fact.label] = made
        self._integrated_at.clear()

    def _track_evaluated(self, _at: datetime, fact: TrackEvaluated) -> None:
        said = fact.evaluation
        self._note((f"Evaluation {fact.number}: {said.verdict}, {plural(len(said.fix_actions), 'point')} to mend",))

    def _undeclared(self, _at: datetime, fact: ev.UndeclaredEditsFound) -> None:
        beside = (*fact.also_changed, *fact.deleted, *fact.protected)
        if beside:
            self._note((f"{fact.item} also changed files it had not named: {first_few(beside, LEFT_NAMED)}",))

    def _evaluated(self, _at: datetime, fact: Evaluated) -> None:
        self._note((*fact.warnings, *fact.deviations))

    def _document_seen(self, _at: datetime, fact: ev.DocumentSeen) -> None:
        self._note(fact.notes)

    def _consented(self, at: datetime, fact: ev.Consented) -> None:
        self.consents.append(rec.Consent(at, fact.paths, plain(fact.by), fact.allowed))
        known = self._held_against.get(fact.commit, ())
        if fact.allowed and known:
            self._doubt(fact.commit, tuple(trick for trick in known if trick.path not in fact.paths))

    def _spoke(self, at: datetime, fact: ev.PersonSpoke) -> None:
        self.words.append(rec.WordRecord(at, fact.word, plain(fact.text, 1000), fact.question))
        if fact.word == "answer":
            self._answer(at, EffectId(fact.question), fact.text, "person")
        elif fact.word in {"reset", "modify", "rollback"}:
            self.breaker.enter(at, CLOSED, f"a person said {fact.word}")
            for key in [k for k, effect in self._open.items() if isinstance(effect, Ask)]:
                self._open.pop(key)
                self._answer(at, key, fact.word, "person")

    def _closed(self, at: datetime, fact: ev.QuestionClosed) -> None:
        self._answer(at, fact.id, fact.answer, "person")

    def _stopped(self, at: datetime, fact: ev.TaskStopped) -> None:
        self.stops.append((at, fact))

    def _note(self, notes: Iterable[str]) -> None:
        for note in notes:
            if len(self.notes) < MOST_NOTES:
                self.notes.setdefault(plain(note, 500), None)

    _facts: ClassVar[dict[type, Callable[[TaskHistory, datetime, Any], None]]] = {
        ev.TaskOpened: _opened,
        SessionImported: _imported,
        ev.SessionStarted: _session,
        ev.Begun: _begun,
        ev.Ended: _ended,
        ev.Judged: _judged,
        ev.TurnSetAside: _set_aside,
        ev.Moved: _moved,
        ev.Held: _held,
        ev.LimitHit: _limit_hit,
        ev.BreakerChanged: _breaker_changed,
        ev.ItemsSet: _items_set,
        ItemSettled: _item_settled,
        Evaluated: _evaluated,
        FinalReviewed: _final_review,
        SubtaskIntegrated: _integrated,
        BatchSettled: _settled,
        TrackEvaluated: _track_evaluated,
        ev.UndeclaredEditsFound: _undeclared,
        ev.DocumentSeen: _document_seen,
        ev.Consented: _consented,
        ev.PersonSpoke: _spoke,
        ev.QuestionClosed: _closed,
        ev.TaskStopped: _stopped,
    }
    _outcomes: ClassVar[dict[type, Callable[[TaskHistory, datetime, Effect, Any], None]]] = {
        out.Prepared: _prepared,
        out.Saved: _saved,
        out.Measured: _measured,
        out.Restored: _restored,
        out.Mended: _mended,
        out.Delivered: _delivered,
        out.PullRequested: _pull_requested,
        out.Answered: _answered,
        out.Failed: _failed,
    }


def shows(event: ev.Event) -> bool:
    """Whether an event can change what is rendered; most halves of effects change nothing to look at."""
    fact = event.fact
    if isinstance(fact, ev.Begun):
        return isinstance(fact.effect, RunAgent | Ask) or (isinstance(fact.effect, Save) and bool(fact.effect.closing))
    if isinstance(fact, ev.Ended):
        unaccepted = isinstance(fact.outcome, out.Saved) and not fact.outcome.accepted
        return not unaccepted and not isinstance(fact.outcome, out.Edited | out.Stale | BacklogRead | out.Recalled)
    return bool(fact.notes) if isinstance(fact, ev.DocumentSeen) else not isinstance(fact, ev.WorkspaceRemoved)


def _row_note(fact: ev.Judged) -> str:
    if fact.can_exit:
        return BOTH_GATES
    note = f"{fact.verdict.health}: {fact.verdict.evidence}"
    return f"{note}; then {fact.rung}" if fact.rung else note
