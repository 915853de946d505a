"""The guards before a turn, in their order (a person's pause or abort comes before all): provider limit, hourly calls, budget, the day's
budget, crashes, breaker.

A guard that holds is a fact with its reason and, for a wait, its end. Waiting costs no turn and survives a restart, because the
end is in the journal and only what is left of it is waited.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from flyball.core.health.breaker import cool_down
from flyball.core.loop import casting, questions
from flyball.core.loop.answers import HOURLY_LIMIT, first_word
from flyball.core.loop.step import NOTHING, Step, halt, perform, record
from flyball.core.model.effects import CountDay, RunAgent, Wait
from flyball.core.model.events import BreakerChanged, Held, TaskStopped, WindowOpened
from flyball.core.model.outcomes import NOTHING_USED, DayCounted, Usage
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Limits
from flyball.core.text.quantities import plural

HOUR = timedelta(hours=1)
RECOUNT = timedelta(minutes=5)
LONGEST_BACKOFF = timedelta(minutes=10)
MOST_DOUBLINGS = 16
QUICK_RETRIES = 2


def before_turn(state: State, lane: Lane, role: str, *, reviewing: bool = False) -> Step | None:
    """What holds a lane before a turn of `role`, or None when it may be spawned."""
    if any(isinstance(effect, Wait) and effect.lane == lane.name for effect in state.open.values()):
        return NOTHING
    return (
        _provider(state, lane, role, reviewing=reviewing)
        or _hourly(state, lane)
        or _budget(state, lane)
        or _day(state, lane)
        or _crashes(state, lane)
        or _breaker(state, lane)
    )


def backoff(first_s: float, doublings: int) -> timedelta:
    """A wait that doubles each time, up to a bound."""
    return min(timedelta(seconds=first_s * 2 ** min(doublings, MOST_DOUBLINGS)), LONGEST_BACKOFF)


def _provider(state: State, lane: Lane, role: str, *, reviewing: bool) -> Step | None:
    asked = questions.find(state, lane, questions.OUT_OF_REACH)
    if asked is not None:
        return questions.put(state, lane, asked[1].question)
    if casting.player_for(state, lane, role, reviewing=reviewing) is not None:
        return None
    agents = casting.agents_for(state, lane, role, reviewing=reviewing)
    accounts = dict.fromkeys(casting.account(state, a) for a in agents if a not in state.absent)
    hits = [state.limits[a] for a in accounts if a in state.limits]
    if not hits:
        reason = f"no agent is available for {role}: {', '.join(agents)} not installed or not logged in"
        return halt(TaskStopped("no_agent", f"{reason}: {state.absent_why}" if state.absent_why else reason))
    if lane.overloads and all(hit.backoff and casting.is_beyond_patience(state, hit.since) for hit in hits):
        return questions.put(state, lane, questions.out_of_reach(lane, hits))
    first = min(hits, key=lambda h: h.until)
    return _wait(lane, Held("provider", f"{first.agent}: {first.kind.replace('_', ' ')}: {first.detail}", first.until))


def _wait(lane: Lane, held: Held) -> Step:
    held = replace(held, lane=lane.name)
    if lane.held != held:
        return record(held)
    assert held.until is not None
    key = lane.effect_id(f"wait/{lane.waits + 1}")
    return perform(Wait(key, until=held.until, reason=held.reason, lane=lane.name))


def _hourly(state: State, lane: Lane) -> Step | None:
    window = state.window
    if window is None:
        return None
    ends_at = window.started_at + HOUR
    if state.now >= ends_at:
        return record(WindowOpened())
    limit = state.task.settings.limits.calls_per_hour
    if window.calls + _running(state) < limit:
        return None
    held = Held("hourly", f"{window.calls} of {limit} calls this hour", ends_at)
    if not state.task.settings.attended:
        return _wait(lane, held)
    # The limit is the task's: one lane asks, and all of them follow the answer.
    asked = questions.find_in_task(state, HOURLY_LIMIT)
    if asked is not None and first_word(asked[1].answer) == "wait":
        return _wait(lane, held)
    asking = state.lanes[asked[1].lane] if asked is not None else lane
    return questions.put(state, asking, questions.hourly_limit(held.reason, ends_at))


def _running(state: State) -> int:
    """Turns under way in any lane: their calls and their cost are still to come."""
    return sum(isinstance(effect, RunAgent) for effect in state.open.values())


def _budget(state: State, lane: Lane) -> Step | None:
    _, said = limit_reached(state)
    return halt(TaskStopped("limit", questions.led_by_trick(state, lane, said))) if said else None


def limit_reached(state: State) -> tuple[str, str]:
    """The setting whose limit allows no further turn, and what is to be said of it; empty where none does."""
    limits = state.task.settings.limits
    dearest = state.dearest_turn
    ahead = 1 + _running(state)
    usd, tokens = dearest.usd or 0.0, dearest.tokens
    hours = state.elapsed.total_seconds() / 3600
    told = (
        ("max_iterations", _count_reached(state.iterations, limits.max_iterations, "iteration")),
        ("max_turns", _count_reached(state.turns, limits.max_turns, "turn")),
        ("max_hours", _count_reached(round(hours, 2), limits.max_hours, "time", " hours")),
        ("budget_usd", _budget_exceeded(state.known_usd + state.unpriced * usd, usd * ahead, limits.budget_usd, "USD")),
        ("budget_tokens", _budget_exceeded(state.usage.tokens, tokens * ahead, limits.budget_tokens, "tokens")),
        ("budget_tokens", _without_price(state)),
        ("max_turns", _without_tokens(state)),
    )
    return next(((name, said) for name, said in told if said), ("", ""))


def _count_reached(used: float, limit: float | None, what: str, unit: str = "") -> str:
    if limit is None or used < limit:
        return ""
    return f"{what} limit reached ({used:g} of {limit:g}{unit})"


def _budget_exceeded(used: float, next_turn: float, limit: float | None, unit: str) -> str:
    if limit is None or (used + next_turn <= limit and used < limit):
        return ""
    return f"budget reached ({used:g} of {limit:g} {unit}; the next turn may take {next_turn:g})"


def _day(state: State, lane: Lane) -> Step | None:
    """The day's budget is that of all tasks: what they used is counted before a turn, and the rest of the day is waited for."""
    limits = state.task.settings.limits
    if not limits.has_day_budget:
        return None
    if lane.day is None:
        return perform(CountDay(lane.effect_id(f"day/{lane.days + 1}"), lane=lane.name))
    own, day = _running(state), lane.day
    reason = day_reached(limits, day, state.dearest_turn, ahead=1 + max(own, day.under_way))
    if not reason:
        return None
    until = day.ends_at
    if day.at is not None and not day_reached(limits, day, state.dearest_turn, ahead=1 + own):
        # Only turns of other tasks stand in the way, and they may turn out cheaper than the dearest.
        until = min(until, day.at + RECOUNT)
    return _wait(lane, Held("budget", reason, until))


def day_reached(limits: Limits, day: DayCounted, dearest: Usage = NOTHING_USED, ahead: int = 1) -> str:
    """What is to be said where a day's budget allows no further turn; empty where it does.

    The next turn is estimated by this day's alone: one that once took more than a day's budget would never be begun again.
    """
    used = day.known_usd + day.unpriced * max(day.dearest.usd or 0.0, dearest.usd or 0.0)
    usd, tokens = (day.dearest.usd or 0.0) * ahead, day.dearest.tokens * ahead
    message = _budget_exceeded(used, usd, limits.budget_usd_per_day, "USD") or _budget_exceeded(
        day.usage.tokens, tokens, limits.budget_tokens_per_day, "tokens"
    )
    return f"the day's {message}" if message else ""


def _without_price(state: State) -> str:
    """Whether a budget of money cannot be kept: turns cost, nobody knows what, and no turn before says what one may cost.

    Where one does, each turn without a price counts as the dearest. A budget of tokens bounds them as well.
    """
    limits = state.task.settings.limits
    usd, tokens = limits.budget_usd or limits.budget_usd_per_day, limits.budget_tokens or limits.budget_tokens_per_day
    ended = state.unpriced and (state.usage.tokens or state.turns_without_tokens)
    if usd is None or tokens is not None or not ended or state.dearest_turn.usd:
        return ""
    turns = plural(state.unpriced, "turn has", "turns have")
    return f"{turns} no known price, so the budget of {usd:g} USD cannot be kept: pass --budget-tokens"


def _without_tokens(state: State) -> str:
    """Whether a budget of tokens cannot be kept: the agents tell none."""
    limits = state.task.settings.limits
    budget = limits.budget_tokens or limits.budget_tokens_per_day
    bounded = limits.max_turns is not None or limits.max_hours is not None
    if budget is None or bounded or not state.turns_without_tokens or state.usage.tokens:
        return ""
    told = f"{plural(state.turns_without_tokens, 'turn')} reported no tokens"
    return f"{told}, so the budget of {budget} tokens cannot be kept: pass --max-turns or --max-hours"


def _crashes(state: State, lane: Lane) -> Step | None:
    limits = state.task.settings.limits
    if lane.crashes >= limits.crash_limit:
        return questions.put(state, lane, questions.crashes(state, lane))
    if lane.crashes <= QUICK_RETRIES or not limits.crash_backoff_s:
        return None
    until = (lane.crashed_at or state.now) + backoff(limits.crash_backoff_s, lane.crashes - QUICK_RETRIES - 1)
    if state.now >= until:
        return None
    return _wait(lane, Held("crash", f"the agent crashed {lane.crashes} times in a row", until))


def _breaker(state: State, lane: Lane) -> Step | None:
    breaker = lane.loop.breaker
    if breaker.state != "OPEN":
        return None
    cooldown = state.task.settings.breaker.cooldown_s
    if cooldown is None:
        return questions.put(state, lane, questions.breaker_open(state, lane))
    until = (lane.loop.judged_at or state.now) + timedelta(seconds=cooldown)
    if state.now >= until:
        return record(BreakerChanged(cool_down(breaker), "cool-down over", lane=lane.name))
    return _wait(lane, Held("breaker", breaker.reason, until))
