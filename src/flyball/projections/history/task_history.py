"""The story of a task: what the state forgets because no decision needs it, folded in constant time per fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, ClassVar

from msgspec.structs import replace

from flyball.core.loop.workflow import BATCH_HELD, BOTH_GATES
from flyball.core.model import events as ev, outcomes as out
from flyball.core.model.batch_events import BatchSettled, LaneClosed, LaneOpened, SubtaskIntegrated
from flyball.core.model.effects import Ask, Effect, Measure, PutBack, RunAgent
from flyball.core.model.measurement import Trick
from flyball.core.model.task import MAIN, EffectId
from flyball.core.text.quantities import first_few
from flyball.core.workflows.registry import WORKFLOWS
from flyball.projections.history import recording as make, records as rec
from flyball.projections.history.learnings import LearningLedger
from flyball.projections.history.ledgers import BreakerLedger, CheckpointLedger, ErrorLedger
from flyball.projections.history.questions import QuestionLedger
from flyball.projections.history.timeline import Timeline
from flyball.projections.wording import plain, short

MOST_NOTES = 100


class TaskHistory:
    """Give it every event of one task in order; read its lists at any time."""

    _reopened_at: datetime | None = None

    def __init__(self, events: Iterable[ev.Event] = ()) -> None:
        self.stage = self._workflow = ""
        self._stages: dict[str, str] = {}
        self.plan_revisions = 0
        self.last_activity: datetime | None = None
        self.resumed_at: datetime | None = None
        self.turns: list[rec.TurnRecord] = []
        self.judgements: list[rec.Judgement] = []
        self.judgement_in: dict[str, rec.Judgement] = {}
        self.judged: ev.Judged | None = None
        self.last_progress: dict[str, dict[str, ev.Judged]] = {}
        self.rows: list[rec.Row] = []
        self.verified: list[rec.Verification] = []
        self.last_measured: rec.Verification | None = None
        self._measured_in: dict[str, rec.Verification] = {}
        self.checked: rec.Verification | None = None
        self.tricks: dict[Trick, rec.TrickSeen] = {}
        self.remarks = rec.RemarksSeen()
        self.words: list[rec.WordRecord] = []
        self.holds: list[rec.Hold] = []
        self.limited_at: dict[str, datetime] = {}
        self.moves: list[rec.Move] = []
        self.rollbacks: list[rec.Rollback] = []
        self.consents: list[rec.Consent] = []
        self.stops: list[tuple[datetime, ev.TaskStopped]] = []
        self.notes: dict[str, None] = {}
        self.breaker = BreakerLedger()
        self.errors = ErrorLedger()
        self.timeline = Timeline()
        self._checkpoints = CheckpointLedger()
        self.checkpoints = self._checkpoints.records
        self._learnings = LearningLedger()
        self.pieces: dict[str, list[tuple[str, str, datetime]]] = {}
        self._integrated_at: dict[str, tuple[str, datetime]] = {}
        self._open: dict[EffectId, Effect] = {}
        self._questions = QuestionLedger(self._open)
        self.questions = self._questions.records
        self._turn_at: dict[EffectId, int] = {}
        self._looks: dict[tuple[str, str, str], list[int]] = {}
        self._last_turn: dict[str, int] = {}
        for event in events:
            self.add(event)

    def add(self, event: ev.Event) -> None:
        self._learnings.add(event, self.stage)
        apply = self._facts.get(type(event.fact))
        if apply is not None:
            apply(self, event.at, event.fact)
        workflow = WORKFLOWS.get(self._workflow)
        self._note(make.notes_of(event.fact, workflow.notes if workflow else {}))
        self.timeline.add(event)
        if make.shows(event):
            self.last_activity = event.at

    @property
    def learnings(self) -> list[rec.Learning]:
        return self._learnings.records()

    @property
    def given(self) -> tuple[rec.LearningGiven, ...]:
        return self._learnings.in_prompts()

    @property
    def measured(self) -> rec.Verification | None:
        """What was measured last of the task as a whole; a subtask's tree counts once it is integrated."""
        return self._measured_in.get(MAIN)

    def measured_in(self, lane: str) -> rec.Verification | None:
        return self._measured_in.get(lane)

    def turn(self, number: int) -> rec.TurnRecord | None:
        where = self._turn_at.get(EffectId(f"turn/{number}"))
        return None if where is None else self.turns[where]

    def _stage_of(self, lane: str) -> str:
        return self._stages.get(lane, self.stage)

    def _on_opened(self, _at: datetime, fact: ev.TaskOpened) -> None:
        self.stage = fact.stage
        self._workflow = fact.task.workflow

    def _on_session_started(self, at: datetime, _fact: ev.SessionStarted) -> None:
        self.resumed_at = at if self.timeline.sittings else None

    def _on_begun(self, at: datetime, fact: ev.Begun) -> None:
        effect = fact.effect
        self._open[effect.id] = effect
        if isinstance(effect, RunAgent):
            self._turn_at[effect.id] = len(self.turns)
            self._last_turn[effect.lane] = effect.turn
            self.turns.append(make.turn_begun(at, effect))
        elif isinstance(effect, Ask):
            self._questions.put(at, effect)

    def _on_ended(self, at: datetime, fact: ev.Ended) -> None:
        effect = self._open.pop(fact.id, None)
        where = self._turn_at.get(fact.id)
        if where is not None:
            turn = self.turns[where]
            looks = self._looks.setdefault((turn.stage, turn.role, turn.item), [])
            before = (self.turns[look] for look in reversed(looks))
            earlier = tuple(found for look in before if not look.set_aside for found in look.findings)
            self.turns[where] = make.turn_ended(turn, at, fact.outcome, earlier)
            if self.turns[where].findings:
                looks.append(where)
            self._note(make.review_notes(self.turns[where].role, fact.outcome))
        apply = self._outcomes.get(type(fact.outcome))
        if effect is not None and apply is not None:
            apply(self, at, effect, fact.outcome)

    def _on_prepared(self, at: datetime, _effect: Effect, outcome: out.Prepared) -> None:
        self._note(make.preparation_notes(outcome))
        if not self.checkpoints:
            self._checkpoints.keep(rec.CheckpointRecord("start", outcome.base, at, True, self.stage, 0))

    def _on_saved(self, at: datetime, effect: Effect, outcome: out.Saved) -> None:
        self._note(outcome.notes)
        self._keep(at, effect, outcome, accepted=outcome.accepted)

    def _keep(
        self, at: datetime, effect: Effect, kept: out.Saved | out.Mended, *, accepted: bool = False, tricked: str = ""
    ) -> None:
        turn = self._last_turn.get(effect.lane, 0)
        label = plain(kept.label, 80)
        self._checkpoints.keep(
            rec.CheckpointRecord(
                label,
                kept.commit,
                at,
                accepted,
                self._stage_of(effect.lane),
                turn,
                tricked,
                effect.lane,
            )
        )

    def can_restore(self, kept: rec.CheckpointRecord) -> bool:
        """Whether a person may go back to a checkpoint: not to a trick, a subtask's tree or work that was delivered before a reopening."""
        delivered = self._reopened_at is not None and kept.at < self._reopened_at
        return kept.lane == MAIN and not kept.tricked and not delivered

    def _on_measured(self, at: datetime, effect: Effect, outcome: out.Measured) -> None:
        measurement = outcome.measurement
        baseline = isinstance(effect, Measure) and effect.kind == "baseline"
        stage = "baseline" if baseline else self._stage_of(effect.lane)
        measured = make.verification(at, stage, measurement, effect.lane)
        self.last_measured = self._measured_in[effect.lane] = measured
        self._note(measurement.notes)
        # A stage that makes only its own checks does not say what all of them would.
        if measurement.checks and len(measurement.checks) >= (len(self.checked.checks) if self.checked else 0):
            self.checked = measured
        if baseline:
            self.verified.append(measured)
        else:
            self.remarks = make.remarks_seen(measurement)
        for trick in measurement.tricks:
            known = self.tricks.get(trick) or make.trick_seen(at, measured.stage, trick)
            self.tricks[trick] = replace(known, times=known.times + 1)
        if measurement.caught:
            self._checkpoints.doubt(measurement.candidate, measurement.caught)

    def _on_mended(self, at: datetime, effect: Effect, outcome: out.Mended) -> None:
        assert isinstance(effect, PutBack)
        known = self._checkpoints.find(effect.candidate) if effect.doubtful else None
        self._keep(at, effect, outcome, tricked=known.tricked if known else "")
        paths = first_few([plain(path) for path in outcome.paths], 20)
        self._note((f"restored after turn {self.checkpoints[-1].turn}: {paths}", *outcome.notes))

    def _on_restored(self, at: datetime, effect: Effect, outcome: out.Restored) -> None:
        self._note(outcome.notes)
        self._checkpoints.standing[effect.lane] = outcome.commit
        self.rollbacks.append(
            rec.Rollback(at, self._stage_of(effect.lane), outcome.commit, outcome.undone, effect.lane)
        )
        if effect.lane == MAIN:
            self.rows.append(make.row(self.rows, (), (), (), f"rolled back to {short(outcome.commit)}"))

    def _on_failed(self, at: datetime, effect: Effect, outcome: out.Failed) -> None:
        self.errors.enter(at, self._stage_of(effect.lane), 0, f"{effect.id}: {outcome.detail}", lane=effect.lane)

    def _on_judged(self, at: datetime, fact: ev.Judged) -> None:
        self.judged = fact
        measured = self._measured_in.get(fact.lane)
        self.judgement_in[fact.lane] = make.judgement(at, fact, measured)
        self.judgements.append(self.judgement_in[fact.lane])
        if fact.can_exit and measured is not None:
            verified = replace(measured, stage=fact.stage, condition=fact.gate_1.condition, lane=fact.lane)
            self.verified.append(verified)
            self._measured_in[fact.lane] = verified
            self.last_measured = verified if self.last_measured is measured else self.last_measured
        if fact.progress:
            self.last_progress.setdefault(fact.lane, {})[fact.stage] = fact
        self.errors.on_judged(at, fact)
        why = fact.breaker.reason or fact.verdict.evidence
        self.breaker.enter(at, fact.breaker, why, lane=fact.lane, progress=fact.progress)
        if fact.lane != MAIN:
            return  # the rows are batches, of which a lane is a part
        rung = f"; then {fact.rung}" if fact.rung else ""
        held = BATCH_HELD if fact.batch else BOTH_GATES
        note = held if fact.can_exit else f"{fact.verdict.health}: {fact.verdict.evidence}{rung}"
        seen = fact.observation
        self.rows.append(make.row(self.rows, seen.batch, seen.passed, tuple(seen.failed), note))

    def _on_set_aside(self, at: datetime, fact: ev.TurnSetAside) -> None:
        where = self._turn_at.get(EffectId(f"turn/{fact.turn}"))
        if where is not None:
            self.turns[where] = replace(self.turns[where], set_aside=fact.why)
        if fact.why == "crashed":
            self.errors.enter(at, self._stage_of(fact.lane), 0, fact.detail or "the agent crashed", lane=fact.lane)

    def _on_moved(self, at: datetime, fact: ev.Moved) -> None:
        self._questions.withdraw_of(fact.lane)
        self.breaker.close(at, f"moved to {fact.stage}", (fact.lane,))
        if fact.lane != MAIN:
            self._stages[fact.lane] = fact.stage
            return  # the stages of a task are those of its own lane
        self.moves.append(rec.Move(at, fact.previous, fact.stage, plain(fact.reason), fact.forced, fact.rejected))
        self.stage = fact.stage

    def _on_lane_closed(self, at: datetime, fact: LaneClosed) -> None:
        self._questions.withdraw_of(fact.lane)
        self.breaker.close(at, f"{fact.lane} ended", (fact.lane,))
        self.errors.forget(fact.lane)
        self.last_progress.pop(fact.lane, None)
        self._measured_in.pop(fact.lane, None)
        self.judgement_in.pop(fact.lane, None)
        self._stages.pop(fact.lane, None)

    def _on_lane_opened(self, _at: datetime, fact: LaneOpened) -> None:
        self._stages[fact.lane] = fact.stage
        self._checkpoints.standing[fact.lane] = fact.start or fact.base

    def _on_reopened(self, at: datetime, _fact: ev.TaskReopened) -> None:
        self._reopened_at = at

    def _on_limit_hit(self, at: datetime, fact: ev.LimitHit) -> None:
        self.limited_at[fact.agent] = at

    def _on_items_set(self, _at: datetime, fact: ev.ItemsSet) -> None:
        self.plan_revisions += bool(fact.items)

    def _on_integrated(self, at: datetime, fact: SubtaskIntegrated) -> None:
        if fact.result != "integrated":
            return
        self._integrated_at[fact.item] = (fact.commit, at)
        proven = self._measured_in.get(fact.item)
        if not fact.measured and proven is not None:
            # The lane measured this very tree, so nothing is measured again.
            self._measured_in[MAIN] = proven

    def _on_batch_settled(self, _at: datetime, fact: BatchSettled) -> None:
        """Every piece of a batch is a commit of its own; the last of them is the batch's checkpoint."""
        made = [(item, *self._integrated_at.pop(item)) for item in fact.accepted if item in self._integrated_at]
        if made:
            self.pieces[fact.label] = made
        self._integrated_at.clear()

    def _on_consented(self, at: datetime, fact: ev.Consented) -> None:
        self.consents.append(rec.Consent(at, fact.paths, plain(fact.by), fact.allowed))
        if fact.allowed:
            self._checkpoints.allow(fact.commit, fact.paths)

    def _on_spoke(self, at: datetime, fact: ev.PersonSpoke) -> None:
        self.words.append(rec.WordRecord(at, fact.word, plain(fact.text, 1000), fact.question))
        if fact.word == "answer":
            self._questions.answer(at, EffectId(fact.question), fact.text)
        elif fact.word == "resume":
            self._questions.withdraw_put_again()
        elif fact.word in {"reset", "modify", "rollback", "skip"}:
            meant = self._questions.answer_by_word(at, fact)
            if fact.word != "skip":
                self.breaker.close(at, f"a person said {fact.word}", meant)

    def _note(self, notes: Iterable[str]) -> None:
        for note in notes:
            if len(self.notes) < MOST_NOTES:
                self.notes.setdefault(plain(note, 500), None)

    _facts: ClassVar[dict[type, Callable[[TaskHistory, datetime, Any], object]]] = {
        ev.TaskOpened: _on_opened,
        ev.SessionStarted: _on_session_started,
        ev.Begun: _on_begun,
        ev.Ended: _on_ended,
        ev.Judged: _on_judged,
        ev.TurnSetAside: _on_set_aside,
        ev.Moved: _on_moved,
        LaneOpened: _on_lane_opened,
        ev.TaskReopened: _on_reopened,
        LaneClosed: _on_lane_closed,
        ev.Held: lambda self, at, f: self.holds.append(rec.Hold(at, f.guard, plain(f.reason), f.until, f.lane)),
        ev.LimitHit: _on_limit_hit,
        ev.BreakerChanged: lambda self, at, f: self.breaker.enter(at, f.breaker, f.reason, lane=f.lane),
        ev.ItemsSet: _on_items_set,
        SubtaskIntegrated: _on_integrated,
        BatchSettled: _on_batch_settled,
        ev.WindowOpened: lambda self, _at, _f: self._questions.withdraw_hourly(),
        ev.Consented: _on_consented,
        ev.PersonSpoke: _on_spoke,
        ev.QuestionClosed: lambda self, at, f: self._questions.answer(at, f.id, f.answer),
        ev.TaskStopped: lambda self, at, f: self.stops.append((at, f)),
    }
    _outcomes: ClassVar[dict[type, Callable[[TaskHistory, datetime, Effect, Any], None]]] = {
        out.Prepared: _on_prepared,
        out.Saved: _on_saved,
        out.Measured: _on_measured,
        out.Restored: _on_restored,
        out.Mended: _on_mended,
        out.Delivered: lambda self, _at, _e, o: self._note(o.notes),
        out.PullRequested: lambda self, _at, _e, o: self._note(
            (f"The pull request is {o.url}" if o.url else o.detail,)
        ),
        out.Answered: lambda self, at, e, o: self._questions.answer(at, e.id, o.text, o.by),
        out.Failed: _on_failed,
    }
