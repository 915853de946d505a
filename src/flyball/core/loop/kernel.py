"""The iteration every workflow shares, top to bottom: check, spawn, save, measure, evaluate.

`iterate` is the whole of it. A guard may hold the lane before its turn; `turn/N` is run, `save/N` keeps the tree it left,
`measure/N` measures that tree, and the verdict is recorded. A turn that was limited, crashed or interrupted is set aside: it is a
turn, but not an iteration. Reviewers take their turns in a `panel`, with the same `spawn` and the same verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from flyball.core.health.breaker import Strikes
from flyball.core.loop import casting, guards, questions
from flyball.core.loop.commit_messages import message as commit_message, subject
from flyball.core.loop.failures import required_work
from flyball.core.loop.gates import Weigh
from flyball.core.loop.guidance import authorised_changes
from flyball.core.loop.judge import judge, learnings
from flyball.core.loop.remembering import recall_first
from flyball.core.loop.reviewing import commits_shown
from flyball.core.loop.situation import named_commits, start_of
from flyball.core.loop.step import NOTHING, ComesFirst, Step, perform, record
from flyball.core.loop.workflow import BOTH_GATES, Brief
from flyball.core.model.effects import Measure, RunAgent, Save
from flyball.core.model.events import Fact, LimitHit, TurnSetAside
from flyball.core.model.measurement import Measurement, MeasurementKind
from flyball.core.model.outcomes import ABSENT, FAILED, LIMITED, Interrupted, Saved, TurnEnded, Usage
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, open_items

ASK_FOR_SIGNAL_AFTER = 2


class Stage(msgspec.Struct, frozen=True):
    """One row of a workflow's table; `area` begins the subject of its commit, `product` is whether its role writes product code,
    `strikes` are the breaker's thresholds where they are not those of all stages,
    `checks` is whether the criteria of a later review are measured after its rejection. With `since_round` a test is new if the tree
    that the round began from lacks it; otherwise all is seen since the task began.
    """

    name: str
    role: str
    kind: MeasurementKind
    weigh: Weigh
    brief: Brief
    area: str = ""
    product: bool = False
    strikes: Strikes | None = None
    checks: bool = False
    since_round: bool = False


def iterate(
    state: State, lane: Lane, stage: Stage, narrow: Callable[[Measure], Measure] = lambda wanted: wanted
) -> Step:
    """What comes next in an iteration of a stage that changes the tree; `narrow` says what the workflow has measured of it.

    `decide` comes here after every fact, until the verdict is recorded: each line below goes on where the one before has ended.
    """
    turn = lane.turn
    if turn is None:
        asking, purpose = ask_for_signal(state, lane), purpose_of(lane)
        return asking or spawn(state, lane, stage.brief, role=stage.role, purpose=purpose, product=stage.product)
    ended = ended_turn(state, lane)
    if turn.measured is None:
        assert turn.saved is not None
        number = turn.effect.turn
        wanted = measure(state, lane, stage, EffectId(f"measure/{number}"), turn.saved.commit)
        shown = tuple(dict.fromkeys(each.shown_by for each in ended.claim.criteria if each.shown_by))
        return perform(narrow(replace(wanted, turn=number, shown=shown)))
    return record(*verdict_on(state, lane, stage, turn.effect, ended, turn.measured))


def ask_for_signal(state: State, lane: Lane) -> Step | None:
    """The question to put where a gate keeps holding in silence."""
    silent, judged = lane.loop.unsignalled, lane.loop.judged
    # "Not finished yet" is an answer to the question.
    answered = silent == ASK_FOR_SIGNAL_AFTER + 1 and judged is not None and judged.observation.in_progress
    if silent >= ASK_FOR_SIGNAL_AFTER and not lane.loop.signal_asked and not answered:
        return questions.put(state, lane, questions.no_exit_signal(lane))
    return None


def purpose_of(lane: Lane) -> str:
    """What the stage's next turn is for, where it is not the stage's work."""
    return "confirm" if lane.loop.signal_asked else ""


def spawn(
    state: State,
    lane: Lane,
    brief: Brief,
    *,
    role: str,
    purpose: str = "",
    copy: str = "",
    commit: str = "",
    product: bool = False,
) -> Step:
    """One turn of a role, or what a guard has to say first; before it begins, the learnings that fit it are recalled.

    In a disposable copy of `commit`, where one is named, it reviews what others wrote; `product` is whether it writes the product's code.
    """
    held = guards.before_turn(state, lane, role, reviewing=bool(copy))
    if held is not None:
        return held
    candidate = Commit(commit or lane.head) if copy else Commit("")
    shown = commits_shown(state, lane, role, purpose, candidate) if copy else named_commits(state, lane)
    recall = recall_first(state, lane, reviewing=bool(copy), commit=candidate, shown=shown if copy else {})
    if recall is not None:
        return perform(recall)
    player = casting.player_for(state, lane, role, reviewing=bool(copy))
    assert player is not None
    number = state.turns + 1
    session = "" if copy else lane.sessions.get(player.agent, "")
    return perform(
        RunAgent(
            EffectId(f"turn/{number}"),
            lane=lane.name,
            role=role,
            stage=lane.stage,
            agent=player.agent,
            model=player.model,
            prompt=brief(state, lane, role, purpose),
            iteration=lane.loop.iteration + 1,
            turn=number,
            context=lane.context,
            session=session,
            session_usage=lane.session_usage.get(player.agent, Usage()) if session else Usage(),
            item=lane.item,
            copy=copy,
            commit=candidate,
            purpose=purpose,
            authors=casting.authors(state, lane) if copy else (),
            product=product,
            recalled=tuple(each.id for each in lane.recalled.learnings) if lane.recalled is not None else (),
            shown=shown,
        )
    )


def ended_turn(state: State, lane: Lane) -> TurnEnded:
    """The lane's turn once its tree is saved and it counts; otherwise what to do about it."""
    turn = lane.turn
    assert turn is not None
    if turn.ended is None:
        raise ComesFirst(NOTHING)
    if turn.saved is not None:
        return turn_that_counts(state, lane, turn.effect, turn.ended)
    number = turn.effect.turn
    interrupted = isinstance(turn.ended, Interrupted) or turn.ended.kind == "interrupted"
    label = f"interrupted-{number}" if interrupted else f"turn-{number}"
    message = f"{label}: {state.task.id}"
    key = EffectId(f"save/{number}")
    save = Save(key, lane=lane.name, label=label, message=message, parent=lane.head, turn=number)
    raise ComesFirst(perform(save))


def turn_that_counts(state: State, lane: Lane, effect: RunAgent, outcome: TurnEnded | Interrupted) -> TurnEnded:
    """A turn that ended, if it counts; one that was limited, absent, crashed or interrupted is set aside."""
    number, detail = effect.turn, outcome.detail
    if isinstance(outcome, Interrupted) or outcome.kind == "interrupted":
        raise ComesFirst(record(TurnSetAside(number, "interrupted", detail, lane=lane.name)))
    if outcome.kind in LIMITED:
        hit = _limit_hit(state, lane, effect.agent, outcome)
        raise ComesFirst(record(hit, TurnSetAside(number, "limited", detail, lane=lane.name)))
    if outcome.kind in ABSENT:
        raise ComesFirst(record(TurnSetAside(number, "absent", detail, agent=effect.agent, lane=lane.name)))
    if outcome.kind in FAILED:
        raise ComesFirst(record(TurnSetAside(number, "crashed", detail, lane=lane.name)))
    return outcome


def _limit_hit(state: State, lane: Lane, agent: str, turn: TurnEnded) -> LimitHit:
    """Until the stated reset; an hour for a usage limit without one; else, and where the reset is past, a growing wait.

    A reset that was stated before and did not hold is not believed to the second: the wait grows then, too.
    """
    limits = state.task.settings.limits
    if turn.reset_at is not None and turn.reset_at > state.now:
        again = guards.backoff(limits.overload_backoff_s, lane.overloads - 1) if lane.overloads else timedelta()
        return LimitHit(agent, turn.kind, max(turn.reset_at, state.now + again), turn.detail)
    if turn.reset_at is None and turn.kind == "usage_limit":
        return LimitHit(agent, turn.kind, state.now + timedelta(seconds=limits.usage_limit_wait_s), turn.detail)
    known = state.limits.get(casting.account(state, agent)) if lane.overloads else None
    since = known.since if known is not None and known.since is not None else state.now
    # A person is asked then; whoever resumes the task wants it tried, not waited for.
    doublings = 0 if casting.is_beyond_patience(state, since) else lane.overloads
    until = state.now + guards.backoff(limits.overload_backoff_s, doublings)
    return LimitHit(agent, turn.kind, until, turn.detail, backoff=True, since=since)


def measure(state: State, lane: Lane, stage: Stage, name: EffectId, candidate: Commit) -> Measure:
    assert state.prepared is not None
    return Measure(
        name,
        lane=lane.name,
        kind=stage.kind,
        candidate=candidate,
        base=state.round_base if stage.since_round and state.round_base else state.prepared.base,
        accepted=lane.tests_accepted or lane.head,
        iteration=lane.loop.iteration + 1,
        items=tuple(item for item in state.items if item.id == lane.item) or open_items(state.items),
        # Begun midway, tests that fail at the baseline are the work, and no known failures.
        baseline_ref=state.baseline.tests_ref if state.baseline and not state.midway else "",
        accepted_ref=lane.tests_ref,
        rejected=lane.rejected,
        checks=stage.checks,
        consented=lane.consented,
        asked=authorised_changes(state, lane),
        failed_exits=state.baseline.failed_exits if state.baseline else {},
        work=required_work(state, lane),
        midway=state.midway,
        since=start_of(state, lane),
    )


def verdict_on(
    state: State, lane: Lane, stage: Stage, effect: RunAgent, ended: TurnEnded, measured: Measurement
) -> tuple[Fact, ...]:
    judged = judge(state, lane, stage.weigh, effect, ended, measured, strikes=stage.strikes)
    return (judged, *learnings(state, lane, effect, ended, judged, measured))


def accept(state: State, lane: Lane, stage: Stage) -> Saved:
    """Keep what was measured as an accepted checkpoint on the lane's head."""
    assert lane.loop.last is not None
    assert lane.loop.judged is not None
    name = EffectId(f"accept/{lane.loop.judged.turn}")
    saved = lane.outcomes.get(name)
    if isinstance(saved, Saved):
        return saved
    stays = sum(v.stage == lane.stage for v in lane.visits)
    label = lane.stage if stays == 1 else f"{lane.stage}-{stays}"
    message = commit_message(subject(stage.area, state.task.request), label, state.items)
    tree = lane.loop.last.tree
    save = Save(name, lane=lane.name, label=label, message=message, parent=lane.head, accepted=True, tree=tree)
    raise ComesFirst(perform(save))


def why_left(lane: Lane) -> str:
    """What the stage is left for: gate and signal, or a person's word in place of the signal."""
    measured = lane.loop.last or lane.loop.entry
    text = measured.counts.summary if measured is not None and measured.counts.known_failing else ""
    if lane.loop.judged is not None and lane.loop.judged.can_exit:
        return f"{text}, and the agent says that it is done" if text else BOTH_GATES
    return f"{text or 'the measurements hold'}, and a person accepted it though the agent did not say that it is done"
