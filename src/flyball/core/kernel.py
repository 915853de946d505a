"""The iteration every workflow shares: check, spawn, monitor, evaluate.

A pass is one turn and what is made of it: `turn/N` is run, `save/N` keeps the tree it left, `measure/N` measures that tree, and the
verdict is recorded. A turn that was limited, crashed or interrupted is set aside: it is a turn, but no iteration.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import msgspec

from flyball.core import casting, guards, prompts, questions
from flyball.core.asked import asked
from flyball.core.commit_messages import stage_message
from flyball.core.effects import Measure, RunAgent, Save
from flyball.core.events import Fact, LimitHit, TaskStopped, TurnSetAside
from flyball.core.judge import judge, learnings
from flyball.core.measurement import Measurement
from flyball.core.next import NOTHING, Next, perform, record
from flyball.core.outcomes import ABSENT, FAILED, LIMITED, Interrupted, Measured, Saved, TurnEnded, Usage
from flyball.core.stages import Weigh, open_items
from flyball.core.state import State
from flyball.core.task import Commit, EffectId

ASK_FOR_SIGNAL_AFTER = 2


class Stage(msgspec.Struct, frozen=True):
    """One row of a workflow's table."""

    name: str
    role: str
    kind: Literal["red", "green", "refactor", "document", "qa", "gates"]
    weigh: Weigh


def spawn(state: State, *, role: str, purpose: str = "", copy: str = "", commit: str = "", beside: int = 0) -> Next:
    """One turn of a role, if no guard holds; in a disposable copy of `commit` where one is named.

    `beside` is how many turns are asked for together with it.
    """
    held = guards.before_turn(state, role, beside)
    if held is not None:
        return held
    player = casting.player_for(state, role)
    assert player is not None
    agent = player.agent
    number = state.turns + beside + 1
    session = "" if copy else state.sessions.get(agent, "")
    return perform(
        RunAgent(
            EffectId(f"turn/{number}"),
            role=role,
            stage=state.stage,
            agent=agent,
            model=player.model,
            prompt=prompts.build(state, role, purpose),
            iteration=state.iteration + 1,
            turn=number,
            context=state.context,
            session=session,
            session_usage=state.session_usage.get(agent, Usage()) if session else Usage(),
            item=state.work.selected,
            copy=copy,
            commit=Commit(commit),
            purpose=purpose,
            authors=casting.authors(state) if role in casting.REVIEWING else (),
        )
    )


def ended_turn(state: State) -> Next | TurnEnded:
    """The present pass's turn once its tree is saved and it counts; otherwise what to do about it."""
    assert state.pass_effect is not None
    number = state.pass_turn
    outcome = state.outcomes.get(EffectId(f"turn/{number}"))
    if outcome is None:
        return NOTHING
    assert isinstance(outcome, TurnEnded | Interrupted)
    if not state.pass_effect.copy and f"save/{number}" not in state.outcomes:
        return perform(_save(state, interrupted=_was_interrupted(outcome)))
    return counted(state, state.pass_effect, outcome)


def counted(state: State, effect: RunAgent, outcome: TurnEnded | Interrupted) -> Next | TurnEnded:
    """A turn that ended, if it counts; one that was limited, absent, crashed or interrupted is set aside."""
    number = effect.turn
    if isinstance(outcome, Interrupted) or outcome.kind == "interrupted":
        return record(TurnSetAside(number, "interrupted", outcome.detail))
    if outcome.kind in LIMITED:
        return record(_limit(state, effect.agent, outcome), TurnSetAside(number, "limited", outcome.detail))
    if outcome.kind in ABSENT:
        return record(TurnSetAside(number, "absent", outcome.detail, agent=effect.agent))
    if outcome.kind in FAILED:
        return record(TurnSetAside(number, "crashed", outcome.detail))
    return outcome


def _was_interrupted(outcome: TurnEnded | Interrupted) -> bool:
    return isinstance(outcome, Interrupted) or outcome.kind == "interrupted"


def _save(state: State, *, interrupted: bool) -> Save:
    number = state.pass_turn
    label = f"interrupted-{number}" if interrupted else f"turn-{number}"
    return Save(EffectId(f"save/{number}"), label=label, message=f"{label}: {state.task.id}", parent=state.head)


def _limit(state: State, agent: str, turn: TurnEnded) -> LimitHit:
    """Until the stated reset; an hour for a usage limit without one; else, and where the reset is past, a growing wait.

    A reset that was stated before and did not hold is not believed to the second: the wait grows then, too.
    """
    limits = state.task.settings.limits
    if turn.reset_at is not None and turn.reset_at > state.now:
        again = guards.backoff(limits.overload_backoff_s, state.overloads - 1) if state.overloads else timedelta()
        return LimitHit(agent, turn.kind, max(turn.reset_at, state.now + again), turn.detail)
    if turn.reset_at is None and turn.kind == "usage_limit":
        return LimitHit(agent, turn.kind, state.now + timedelta(seconds=limits.usage_limit_wait_s), turn.detail)
    known = state.limits.get(casting.account(state, agent)) if state.overloads else None
    since = known.since if known is not None and known.since is not None else state.now
    # A person is asked then; whoever resumes the task wants it tried, not waited for.
    doublings = 0 if guards.beyond_patience(state, since) else state.overloads
    until = state.now + guards.backoff(limits.overload_backoff_s, doublings)
    return LimitHit(agent, turn.kind, until, turn.detail, backoff=True, since=since)


def next_turn(state: State, stage: Stage, *, copy: str = "") -> Next:
    """The stage's next turn; one whose gate keeps holding in silence is asked for its signal first."""
    if state.unsignalled >= ASK_FOR_SIGNAL_AFTER and not state.signal_asked:
        return questions.put(state, questions.no_exit_signal(state))
    return spawn(state, role=stage.role, purpose="confirm" if state.signal_asked else "", copy=copy)


def work(state: State, stage: Stage) -> Next | Measurement:
    """One iteration of a stage that changes the tree; the workflow takes over when it is measured."""
    if not state.pass_turn:
        return next_turn(state, stage)
    turn = ended_turn(state)
    if isinstance(turn, Next):
        return turn
    measured = state.outcomes.get(EffectId(f"measure/{state.pass_turn}"))
    if measured is None:
        return perform(measure(state, stage, f"measure/{state.pass_turn}", _candidate(state)))
    if not isinstance(measured, Measured):
        return NOTHING
    return measured.measurement


def _candidate(state: State) -> Commit:
    saved = state.outcomes[EffectId(f"save/{state.pass_turn}")]
    assert isinstance(saved, Saved)
    return saved.commit


def measure(state: State, stage: Stage, name: str, candidate: Commit) -> Measure:
    assert state.prepared is not None
    return Measure(
        EffectId(name),
        kind=stage.kind,
        candidate=candidate,
        # What a test must be new against is what the round started from; all else is seen since the task began.
        base=state.round_base if stage.kind == "red" and state.round_base else state.prepared.base,
        accepted=state.tests_accepted or state.head,
        iteration=state.iteration + 1,
        items=open_items(state.items),
        # Begun midway, tests that fail at the baseline are the work, and no known failures.
        baseline_ref=state.baseline.tests_ref if state.baseline and not state.midway else "",
        accepted_ref=state.tests_ref,
        rejected=state.rejected,
        consented=tuple(state.consented),
        asked=asked(state),
        failed_exits=state.baseline.failed_exits if state.baseline else {},
        midway=state.midway,
    )


def evaluate(state: State, stage: Stage, measured: Measurement) -> tuple[Fact, ...]:
    """The facts one measured iteration gives rise to."""
    turn = state.last_turn
    assert turn is not None
    verdict = judge(state, stage.weigh, turn, measured)
    return (verdict, *learnings(state, turn, verdict))


def accept(state: State) -> Next | Saved:
    """Keep what was measured as an accepted checkpoint on the task's branch."""
    assert state.last is not None
    name = EffectId(f"accept/{state.iterations}")
    saved = state.outcomes.get(name)
    if isinstance(saved, Saved):
        return saved
    stays = sum(v.stage == state.stage for v in state.visits)
    label = state.stage if stays == 1 else f"{state.stage}-{stays}"
    message = stage_message(state.stage, label, state.task.request, state.items)
    return perform(Save(name, label=label, message=message, parent=state.head, accepted=True, tree=state.last.tree))


def stop(kind: Literal["done", "blocked", "error"], reason: str, *evidence: str) -> Next:
    return record(TaskStopped(kind, reason, evidence))
