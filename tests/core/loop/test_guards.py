"""What holds the loop before a turn, guard by guard, on states made by hand."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from tests.support.builders import a_state, with_changes
from tests.support.simulator import START, a_task

from flyball.core.health.breaker import Breaker
from flyball.core.loop import casting, guards
from flyball.core.loop.kernel import spawn, turn_that_counts
from flyball.core.loop.step import ComesFirst, Step
from flyball.core.model.effects import Ask, CountDay, Effect, Recall, RunAgent, Wait
from flyball.core.model.events import BreakerChanged, Held, LimitHit, TurnSetAside, WindowOpened
from flyball.core.model.outcomes import DayCounted, Recalled, TurnEnded, TurnKind, Usage
from flyball.core.model.state import Asked, State, Window
from flyball.core.model.task import (
    AgentChoice,
    AgentSpec,
    Author,
    BreakerSettings,
    EffectId,
    Gate,
    Limits,
    Settings,
    Task,
)
from flyball.core.workflows.tdd.prompts import brief

HOUR = timedelta(hours=1)
FULL = Window(START, 100)
LATER = START + timedelta(minutes=20)


def task(*, limits: Limits = Limits(), attended: bool = False, cooldown_s: float | None = None) -> Task:  # noqa: B008 - frozen
    chosen = Settings(
        gates=(Gate("test", "t"),),
        roles={"default": AgentChoice("first", "big", ("second",))},
        limits=limits,
        attended=attended,
        breaker=BreakerSettings(cooldown_s=cooldown_s),
    )
    model = a_task(settings=chosen)
    return Task(
        model.id, "tdd", model.request, chosen, START, items=model.items,
        agents=(AgentSpec("first", model="big"), AgentSpec("second", model="small")),
    )  # fmt: skip


def state(of: Task | None = None, **known: object) -> State:
    return a_state(of or task(), START, "GREEN", **known)


def spawned(known: State, *, role: str = "implementer", **more: Any) -> RunAgent:
    known.main.recall = None
    (asked,) = spawn(known, known.main, brief, role=role, **more).effects
    assert isinstance(asked, Recall), "what is known is recalled before a turn begins"
    known.main.recall, known.main.recalled = asked, Recalled()
    (turn,) = spawn(known, known.main, brief, role=role, **more).effects
    assert isinstance(turn, RunAgent)
    return turn


def playing(known: State, role: str, *, reviewing: bool = False) -> str | None:
    player = casting.player_for(known, known.main, role, reviewing=reviewing)
    return player.agent if player else None


def under_way(count: int) -> dict[EffectId, Effect]:
    """Turns that run already."""
    ids = [EffectId(f"turn/{n}") for n in range(1, count + 1)]
    return {key: RunAgent(key, "implementer", "GREEN", "first", "", "", 1, n) for n, key in enumerate(ids, 1)}


def held(known: State) -> Step:
    found = guards.before_turn(known, known.main, "implementer")
    assert found is not None
    return found


@pytest.mark.req("C1")
def test_the_guards_hold_in_their_order() -> None:
    """Everything is wrong at once; each guard is lifted in turn, and the next one shows."""
    limits = Limits(max_turns=5, budget_tokens_per_day=9)
    both = {a: LimitHit(a, "usage_limit", LATER) for a in ("first", "second")}
    spent = DayCounted(LATER).plus(Usage(9, usd=0.0))
    known = state(task(limits=limits), limits=both, window=FULL, turns=5, day=spent, crashes=5, breaker=Breaker("OPEN"))
    names = []
    lifting: list[dict[str, object]] = [
        {"limits": {}},
        {"window": None},
        {"turns": 0},
        {"day": DayCounted(LATER)},
        {"crashes": 0},
        {"breaker": Breaker()},
    ]
    for lifted in lifting:
        names.append(_name(held(known)))
        known = with_changes(known, **lifted)
    assert names == ["provider", "hourly", "limit", "budget", "crashes", "breaker"]
    assert guards.before_turn(known, known.main, "implementer") is None


def _name(found: Step) -> str:
    fact = found.facts[0] if found.facts else None
    if isinstance(fact, Held):
        return fact.guard
    if found.halt is not None:
        return found.halt.kind
    effect = found.effects[0]
    assert isinstance(effect, Ask)
    return effect.question.name


@pytest.mark.req("C1")
def test_a_guard_is_a_fact_first_and_then_one_durable_wait_and_an_open_wait_costs_nothing() -> None:
    known = state(limits={a: LimitHit(a, "usage_limit", LATER, "full") for a in ("first", "second")})
    first = held(known)
    assert first.facts == (Held("provider", "first: usage limit: full", LATER),)
    known = with_changes(known, held=first.facts[0])
    wait = held(known).effects[0]
    assert wait == Wait(EffectId("wait/1"), until=LATER, reason="first: usage limit: full")
    assert held(with_changes(known, open={wait.id: wait})) == Step()


@pytest.mark.req("C10")
@pytest.mark.parametrize(
    ("calls", "age", "expected"),
    [(99, 0, "go"), (100, 0, "wait"), (100, 59, "wait"), (100, 60, "new window"), (7, 60, "new window")],
)
def test_the_hourly_window_counts_and_really_resets(calls: int, age: int, expected: str) -> None:
    known = state(window=Window(START - timedelta(minutes=age), calls))
    found = guards.before_turn(known, known.main, "implementer")
    if expected == "go":
        assert found is None
        return
    assert found is not None
    fact = found.facts[0]
    if expected == "wait":
        assert isinstance(fact, Held)
        assert fact.until == START - timedelta(minutes=age) + HOUR
    else:
        assert fact == WindowOpened()


@pytest.mark.req("C10")
def test_turns_under_way_have_reserved_their_calls() -> None:
    turn = RunAgent(EffectId("turn/1"), "implementer", "GREEN", "first", "", "", 1, 1)
    known = state(window=Window(START, 99), open={turn.id: turn})
    assert _name(held(known)) == "hourly"


@pytest.mark.req("C10")
@pytest.mark.parametrize(
    ("answer", "expected"), [("wait", Held), ("Wait ", Held), ("continue", WindowOpened), ("abort", "abort")]
)
def test_somebody_there_chooses_to_wait_to_continue_or_to_abort(answer: str, expected: object) -> None:
    known = state(task(attended=True), window=FULL)
    ask = held(known).effects[0]
    assert isinstance(ask, Ask)
    assert [o.key for o in ask.question.options] == ["wait", "continue", "abort"]
    assert ask.question.deadline_at == START + HOUR
    found = held(with_changes(known, questions={ask.id: Asked(ask.question, answer=answer)}))
    last = found.facts[-1]
    assert getattr(last, "word", "") == expected if expected == "abort" else isinstance(last, expected)  # type: ignore[arg-type]


def _after_turn(kind: TurnKind, *, reset_minutes: int | None, overloads: int = 0) -> LimitHit:
    turn = RunAgent(EffectId("turn/1"), "implementer", "GREEN", "first", "", "", 1, 1, copy="c")
    reset_at = None if reset_minutes is None else START + timedelta(minutes=reset_minutes)
    ended = TurnEnded(kind, "full", reset_at=reset_at)
    known = state(overloads=overloads)
    with pytest.raises(ComesFirst) as raised:
        turn_that_counts(known, known.main, turn, ended)
    hit, aside = raised.value.step.facts
    assert isinstance(hit, LimitHit)
    assert isinstance(aside, TurnSetAside)
    assert aside.why == "limited"
    return hit


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("kind", "reset_minutes", "overloads", "seconds"),
    [
        ("usage_limit", 25, 0, 25 * 60),
        ("rate_limited", 2, 0, 120),
        ("usage_limit", None, 0, 3600),
        ("overloaded", None, 0, 5),
        ("overloaded", None, 3, 40),
        ("rate_limited", None, 1, 10),
        ("overloaded", None, 5000, 600),
        ("usage_limit", -5, 0, 5),
        ("usage_limit", -5, 2, 20),
        ("usage_limit", 25, 3, 25 * 60),
        ("usage_limit", 2, 7, 320),
    ],
)
def test_a_limit_lasts_as_long_as_it_says_or_an_hour_and_overload_backs_off(
    kind: TurnKind, reset_minutes: int | None, overloads: int, seconds: int
) -> None:
    hit = _after_turn(kind, reset_minutes=reset_minutes, overloads=overloads)
    assert hit.until - START == timedelta(seconds=seconds)


@pytest.mark.req("C12")
def test_the_next_agent_goes_on_with_a_model_of_its_own_while_the_first_is_limited() -> None:
    limited = state(limits={"first": LimitHit("first", "usage_limit", LATER)}, sessions={"first": "abc"})
    turn = spawned(limited)
    assert (turn.agent, turn.model, turn.session) == ("second", "small", "")
    back = spawned(with_changes(limited, now=LATER))
    assert (back.agent, back.model, back.session) == ("first", "big", "abc")


@pytest.mark.req("C12")
def test_with_every_agent_absent_or_limited_the_first_limit_to_end_is_waited_for() -> None:
    hits = {"first": LimitHit("first", "usage_limit", LATER), "second": LimitHit("second", "overloaded", LATER + HOUR)}
    fact = held(state(limits=hits)).facts[0]
    assert isinstance(fact, Held)
    assert fact.until == LATER
    alone = held(state(limits=hits, absent=("first",))).facts[0]
    assert isinstance(alone, Held)
    assert alone.until == LATER + HOUR
    gone = held(state(absent=("first", "second"))).halt
    assert gone is not None
    assert gone.kind == "no_agent"


def test_nobody_who_is_there_is_said_with_the_reason_the_last_one_gave() -> None:
    gone = held(state(absent=("first", "second"), absent_why="Please run /login")).halt
    assert gone is not None
    assert gone.reason.endswith("first, second not installed or not logged in: Please run /login")


@pytest.mark.req("O50")
def test_the_rung_of_another_agent_lets_the_next_one_work_and_leaves_the_reviewer_as_it_was() -> None:
    settings = msgspec.structs.replace(task().settings, roles={"default": AgentChoice("a", fallback=("b", "c"))})
    stalled = state(a_task(settings=settings), rungs=("fresh-context", "other-agent"))
    written = with_changes(stalled, authors=(Author("implementer", "b"),))
    assert [playing(written, "implementer"), playing(written, "qa", reviewing=True)] == ["b", "a"]
    limited = with_changes(stalled, limits={"b": LimitHit("b", "usage_limit", LATER)})
    assert playing(limited, "implementer") == "c"
    alone = with_changes(stalled, absent=("b", "c"))
    assert playing(alone, "implementer") == "a"


@pytest.mark.parametrize(("crashes", "seconds"), [(1, 0), (2, 0), (3, 30), (4, 60)])
def test_a_crashed_agent_is_tried_twice_at_once_and_then_with_growing_pauses(crashes: int, seconds: int) -> None:
    known = state(crashes=crashes, crashed_at=START)
    if not seconds:
        assert guards.before_turn(known, known.main, "implementer") is None
        return
    until = START + timedelta(seconds=seconds)
    fact = held(known).facts[0]
    assert isinstance(fact, Held)
    assert (fact.guard, fact.until) == ("crash", until)
    assert guards.before_turn(with_changes(known, now=until), known.main, "implementer") is None


@pytest.mark.req("C1")
def test_turns_that_run_together_have_room_in_the_budget_for_each_of_them() -> None:
    known = state(task(limits=Limits(budget_usd=1)), known_usd=0.4, dearest_turn=Usage(usd=0.2))
    assert guards.before_turn(with_changes(known, open=under_way(2)), known.main, "implementer") is None
    assert _name(held(with_changes(known, open=under_way(3)))) == "limit"


DAY = DayCounted(LATER)


@pytest.mark.req("C1")
@pytest.mark.parametrize("attended", [True, False])
def test_the_day_is_counted_before_a_turn_and_its_rest_is_waited_for_where_its_budget_is_spent(attended: bool) -> None:
    known = state(task(limits=Limits(budget_usd_per_day=1), attended=attended))
    (count,) = held(known).effects
    assert (type(count), count.id) == (CountDay, "day/1")
    known.main.day = DAY.plus(Usage(usd=0.4))
    assert guards.before_turn(known, known.main, "implementer") is None
    assert _name(held(with_changes(known, open=under_way(1)))) == "budget", "a turn under way has its share"
    known.main.day = DAY.plus(Usage(usd=0.4), Usage(usd=0.6))
    (fact,) = held(known).facts
    assert fact == Held("budget", "the day's budget reached (1 of 1 USD; the next turn may take 0.6)", LATER)
    known.main.held = fact
    (wait,) = held(known).effects
    assert isinstance(wait, Wait)
    assert wait.until == LATER


@pytest.mark.req("C1")
def test_turns_under_way_in_other_tasks_have_their_share_of_the_day_and_it_is_counted_again_soon() -> None:
    known = state(task(limits=Limits(budget_usd_per_day=1)))
    counted = msgspec.structs.replace(DAY.plus(Usage(usd=0.3)), at=START)
    known.main.day = msgspec.structs.replace(counted, under_way=1)
    assert guards.before_turn(known, known.main, "implementer") is None
    known.main.day = msgspec.structs.replace(counted, under_way=2)
    told = "the day's budget reached (0.3 of 1 USD; the next turn may take 0.9)"
    assert held(known).facts == (Held("budget", told, START + guards.RECOUNT),)
    known.main.day = msgspec.structs.replace(counted.plus(Usage(usd=0.5)), under_way=2)
    (fact,) = held(known).facts
    assert isinstance(fact, Held)
    assert fact.until == LATER, "without them there would be no room either"


@pytest.mark.req("C13")
@pytest.mark.parametrize(
    ("day", "dearest", "words"),
    [
        (DAY, Usage(usd=9.0), ""),
        (DAY.plus(Usage(), Usage(usd=0.3)), Usage(usd=0.0), ""),
        (DAY.plus(Usage(), Usage(), Usage(usd=0.3)), Usage(usd=0.0), "0.9 of 1 USD; the next turn may take 0.3"),
        (DAY.plus(Usage()), Usage(usd=1.0), "1 of 1 USD; the next turn may take 0"),
        (DAY.plus(Usage(60, 20, 0.0), Usage(5, 5, 0.0)), Usage(), "90 of 100 tokens; the next turn may take 80"),
    ],
    ids=["dearer than a day once", "as the dearest", "no room", "as the task's dearest", "tokens"],
)
def test_a_turn_without_a_price_counts_in_a_day_as_the_dearest(day: DayCounted, dearest: Usage, words: str) -> None:
    limits = Limits(budget_usd_per_day=1, budget_tokens_per_day=100)
    assert guards.day_reached(limits, day, dearest) == (f"the day's budget reached ({words})" if words else "")


@pytest.mark.req("C11")
def test_what_is_out_of_reach_for_too_long_is_put_to_a_person_unless_another_agent_names_its_reset() -> None:
    now = START + 5 * HOUR
    lost = {a: LimitHit(a, "overloaded", now + HOUR, "gone", backoff=True, since=START) for a in ("first", "second")}
    known = with_changes(state(limits=lost, overloads=9), now=now)
    asked = held(known).effects[0]
    assert isinstance(asked, Ask)
    assert (asked.question.name, asked.question.again) == ("out-of-reach", True)
    assert "since 2" in asked.question.text
    assert "(9 tries): gone" in asked.question.text
    named = {**lost, "second": LimitHit("second", "usage_limit", now + HOUR)}
    fresh = {**lost, "second": msgspec.structs.replace(lost["second"], since=now - HOUR)}
    for waited_for in (
        with_changes(known, limits=named),
        with_changes(known, limits=fresh),
        with_changes(known, overloads=0),
    ):
        assert isinstance(held(waited_for).facts[0], Held)


@pytest.mark.req("C1")
@pytest.mark.parametrize(
    ("limits", "known"),
    [
        (Limits(max_iterations=3), {"iterations": 3}),
        (Limits(max_turns=3), {"turns": 3}),
        (Limits(max_hours=1), {"elapsed": HOUR}),
        (Limits(budget_tokens=100), {"usage": Usage(60, 20), "dearest_turn": Usage(20, 10)}),
        (Limits(budget_usd=1), {"known_usd": 1.0}),
    ],
    ids=["iterations", "turns", "hours", "tokens", "money"],
)
def test_each_budget_stops_the_loop_as_a_limit(limits: Limits, known: dict[str, object]) -> None:
    stop = held(state(task(limits=limits), **known)).halt
    assert stop is not None
    assert stop.kind == "limit"


@pytest.mark.req("C22")
def test_an_open_breaker_asks_with_four_choices_and_without_an_answer_the_question_stays_open() -> None:
    known = state(breaker=Breaker("OPEN", 2, reason="no progress in 2 iterations"))
    ask = held(known).effects[0]
    assert isinstance(ask, Ask)
    assert [o.key for o in ask.question.options] == ["reset", "skip", "abort", "modify"]
    stop = held(with_changes(known, questions={ask.id: Asked(ask.question)})).halt
    assert stop is not None
    assert (stop.kind, stop.question) == ("blocked", ask.id)


@pytest.mark.req("C23")
def test_with_a_cool_down_an_open_breaker_waits_and_then_tries_once_more() -> None:
    known = state(task(cooldown_s=60), breaker=Breaker("OPEN", 2, reason="stuck"), judged_at=START)
    fact = held(known).facts[0]
    assert isinstance(fact, Held)
    assert fact.until == START + timedelta(seconds=60)
    cooled = held(with_changes(known, now=START + timedelta(seconds=60))).facts[0]
    assert isinstance(cooled, BreakerChanged)
    assert (cooled.breaker.state, cooled.breaker.no_progress) == ("HALF_OPEN", 2)


@pytest.mark.req("C2", "C70")
def test_a_turn_is_numbered_after_those_that_were_in_the_iteration_to_come() -> None:
    turn = spawned(state(turns=4, iteration=2))
    assert (turn.id, turn.turn, turn.iteration) == ("turn/5", 5, 3)


@pytest.mark.req("C2")
def test_a_turn_in_a_copy_goes_on_with_nobodys_conversation() -> None:
    known = state(sessions={"first": "abc"}, session_usage={"first": Usage(300, 60)})
    own = spawned(known)
    copied = spawned(known, role="qa", copy="qa", commit="c0ffee")
    assert (own.session, own.session_usage, own.copy) == ("abc", Usage(300, 60), "")
    assert (copied.session, copied.session_usage, copied.copy, copied.commit) == ("", Usage(), "qa", "c0ffee")


UNPRICED = {"usage": Usage(900, 100), "unpriced": 1}


@pytest.mark.req("C13")
@pytest.mark.parametrize(
    ("limits", "known", "name", "words"),
    [
        (
            Limits(budget_usd=1),
            UNPRICED,
            "budget_tokens",
            "1 turn has no known price, so the budget of 1 USD cannot be kept",
        ),
        (Limits(budget_usd=1), {"unpriced": 1, "turns_without_tokens": 1}, "budget_tokens", "no known price"),
        (Limits(budget_usd=1, budget_tokens=9000), UNPRICED, "", ""),
        (Limits(budget_usd=1, budget_tokens=999), UNPRICED, "budget_tokens", "1000 of 999 tokens"),
        (
            Limits(budget_usd=1),
            {**UNPRICED, "unpriced": 2, "known_usd": 0.3, "dearest_turn": Usage(9, 9, 0.3)},
            "budget_usd",
            "0.9 of 1 USD; the next turn may take 0.3",
        ),
        (Limits(budget_usd=1), {"unpriced": 1}, "", ""),
        (Limits(budget_tokens=9), {"turns_without_tokens": 1}, "max_turns", "1 turn reported no tokens"),
        (Limits(budget_tokens=9, max_turns=5), {"turns_without_tokens": 1}, "", ""),
        (Limits(), UNPRICED, "", ""),
        (Limits(budget_usd_per_day=1), UNPRICED, "budget_tokens", "the budget of 1 USD cannot be kept"),
        (Limits(budget_usd_per_day=1, budget_tokens_per_day=9), UNPRICED, "", ""),
        (Limits(budget_tokens_per_day=9), {"turns_without_tokens": 1}, "max_turns", "the budget of 9 tokens"),
    ],
    ids=[
        "no price",
        "nothing told",
        "tokens bound it",
        "tokens are spent",
        "as the dearest",
        "interrupted",
        "no tokens",
        "turns bound it",
        "no budget",
        "no price in a day",
        "tokens bound the day",
        "no tokens in a day",
    ],
)
def test_a_turn_without_a_price_is_never_free(limits: Limits, known: dict[str, object], name: str, words: str) -> None:
    found, said = guards.limit_reached(state(task(limits=limits), **known))
    assert found == name
    assert words in said


@pytest.mark.req("C13")
def test_money_of_a_sum_is_known_only_if_that_of_each_part_is() -> None:
    assert Usage(1, 1, 0.5).plus(Usage(1, 1, 0.25)).usd == 0.75
    assert Usage(1, 1, 0.5).plus(Usage(1, 1)).usd is None
    assert Usage(3, 3, 0.5).minus(Usage(1, 1)).usd == 0.5
    assert Usage(3, 3).minus(Usage(1, 1, 0.5)) == Usage(2, 2)
