"""One iteration weighed: what is seen of it, what a spent ladder does to the breaker, what the next context is told, what is kept."""

from typing import Any

import msgspec
import pytest
from tests.support.builders import a_state
from tests.support.simulator import START, a_task, ok

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, ClaimedBlocker, DesignDecision, ProtectedChange
from flyball.core.failures.signature import Signature, signature
from flyball.core.health.history import History
from flyball.core.health.observation import observe
from flyball.core.loop.gates import Weighed
from flyball.core.loop.judge import judge, learnings
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Judged, LearningRecorded
from flyball.core.model.measurement import Coverage, GateResult, GateVerdict, Measurement, Trick
from flyball.core.model.outcomes import TurnEnded, Usage
from flyball.core.model.task import Commit, EffectId

TIMEOUT = GateResult("test", "pytest", passed=False, broken="timed out after 9 s")
SIGNED = Signature("coarse", "fine", "TypeError in parse_row")
RED = Weighed(GateVerdict(False, "c", ("fails: t::a", "fails: t::b")), False, 1.0, 0.5, ("t::a", "t::b"))
HELD = Weighed(GateVerdict(True, "c", ()), True, 2.0, 1.0, ())


def passing(turn: int) -> RunAgent:
    return RunAgent(EffectId(f"turn/{turn}"), "implementer", "GREEN", "scripted", "", "", turn, turn)


def judged(
    weighed: Weighed = RED, turn: TurnEnded | None = None, measured: Measurement | None = None, **known: Any
) -> Judged:
    state = a_state(a_task(), START, "GREEN", **{"tree": "t4", "tree_before": "t3", **known})
    return judge(
        state, state.main, lambda *_: weighed, passing(4), turn or ok(), measured or Measurement("turn-4", "t4")
    )


@pytest.mark.req("M3")
def test_what_the_monitor_sees_is_what_was_measured() -> None:
    found = judged(
        turn=msgspec.structs.replace(ok(), usage=Usage(300, 60, 0.02)),
        measured=Measurement("turn-4", "t4", signature=SIGNED),
        context=2,
        iteration=6,
        restored=True,
    )
    seen = found.observation
    assert (seen.iteration, seen.context, seen.batch, seen.passed) == (7, 2, ("GREEN",), ())
    assert (seen.failing, seen.pass_rate, seen.gate_held, seen.restored) == (("t::a", "t::b"), 0.5, False, True)
    assert (seen.coarse, seen.fine, seen.summary) == ("coarse", "fine", "TypeError in parse_row")
    assert (seen.tokens, seen.usd, seen.gate_broken) == (360, 0.02, None)
    assert (found.iteration, found.turn, found.stage) == (7, 4, "GREEN")
    assert judged(HELD).observation.passed == ("GREEN",)
    assert judged(item="PROJ-1").observation.batch == ("PROJ-1",)


@pytest.mark.req("M14", "M18")
@pytest.mark.parametrize(
    ("known", "tree", "unchanged"),
    [
        ({}, "t4", False),
        ({"tree": "t3"}, "t3", True),
        ({"last": Measurement("turn-3", "t4")}, "t4", True),
        ({"last": Measurement("turn-3", "t3")}, "t4", False),
        ({"last": Measurement("turn-3", "t4"), "restored": True}, "t4", False),
    ],
    ids=["an edit", "no edit", "an edit that changes nothing measured", "another tree", "what was restored"],
)
def test_an_iteration_without_an_edit_that_could_be_measured_is_seen_as_unchanged(
    known: dict[str, Any], tree: str, *, unchanged: bool
) -> None:
    seen = judged(measured=Measurement("turn-4", tree), **known).observation
    assert (seen.changed_files, seen.edit) == (((), None) if unchanged else (None, "t3..t4"))


@pytest.mark.req("C21", "M20")
def test_the_same_error_is_told_by_the_runners_output_or_else_by_what_is_missing() -> None:
    signed = Measurement("turn-4", "t4", signature=SIGNED)
    missing = signature("fails: t::a\nfails: t::b").fine
    nothing_fails = msgspec.structs.replace(RED, failing=())
    broken = Measurement("turn-4", "t4", (TIMEOUT,), signature=SIGNED)
    assert judged(measured=signed).breaker.error == "fine"
    assert judged(nothing_fails, measured=broken).breaker.error == "fine"
    assert judged(nothing_fails, measured=signed).breaker.error == missing
    assert judged().breaker.error == missing
    assert judged(HELD, measured=signed).breaker.error == ""
    assert judged(measured=broken).observation.gate_broken == "test: timed out after 9 s"


@pytest.mark.req("M10")
@pytest.mark.parametrize(
    ("claim", "blockers"),
    [
        (Claim(blockers=(ClaimedBlocker("external", "no key"),)), []),
        (Claim(status="blocked"), [("external", "the agent says it is blocked")]),
        (Claim(status="blocked", summary="no key"), [("external", "no key")]),
        (Claim(status="blocked", summary="s", blockers=(ClaimedBlocker("dependency", "d"),)), [("dependency", "d")]),
    ],
    ids=["not said to be blocked", "no reason", "its summary", "its blockers"],
)
def test_a_turn_that_says_it_is_blocked_is_and_by_what(claim: Claim, blockers: list[tuple[str, str]]) -> None:
    assert [(b.type, b.description) for b in judged(turn=ok(claim)).observation.blocked] == blockers


@pytest.mark.req("C22", "M18")
def test_a_ladder_that_is_spent_opens_the_breaker_with_the_monitors_reason_and_keeps_its_counts() -> None:
    blocked = judged(turn=ok(Claim(status="blocked", summary="no key")))
    assert (blocked.breaker.state, blocked.breaker.no_progress) == ("OPEN", 1)
    assert blocked.breaker.reason == blocked.verdict.evidence == "GREEN: external: no key"
    assert (blocked.rung, blocked.fresh_context, blocked.lesson) == ("", False, ())


@pytest.mark.req("C21", "O50")
def test_a_remedy_closes_the_breaker_and_starts_a_fresh_context_with_the_lesson() -> None:
    first = judged(measured=Measurement("turn-4", "t4", signature=SIGNED))
    state = a_state(
        a_task(), START, "GREEN", iteration=1, tree="t5", tree_before="t4",
        breaker=first.breaker, history=observe(History(), first.observation),
    )  # fmt: skip
    turn = msgspec.structs.replace(ok(), final_message="\n  I renamed it.\nAnd more.")
    remedied = judge(state, state.main, lambda *_: RED, passing(5), turn, Measurement("turn-5", "t5", signature=SIGNED))
    assert (remedied.rung, remedied.fresh_context, remedied.breaker.state) == ("fresh-context", True, "CLOSED")
    assert remedied.lesson == (
        "Tried in GREEN, iteration 2: I renamed it.",
        "It failed: fails: t::a.",
        f"Why it was ended: {remedied.verdict.evidence}. Take another approach.",
    )


def test_a_conversation_that_is_full_is_not_gone_on_with() -> None:
    assert judged(turn=TurnEnded("context_full")).fresh_context
    assert not judged().fresh_context


@pytest.mark.req("C51")
def test_a_rejection_is_no_strike_and_needs_no_cure() -> None:
    rejected = msgspec.structs.replace(RED, rejected=True, findings=(Finding("major", "it leaks"),))
    found = judged(rejected)
    assert (found.breaker.state, found.breaker.no_progress, found.rung) == ("CLOSED", 0, "")


@pytest.mark.req("C42")
def test_consent_is_asked_for_once_unless_the_file_has_changed_since() -> None:
    wanted = ok(Claim(protected_changes=tuple(ProtectedChange(p, "wrong") for p in ("a.py", "b.py", "c.py", "c.py"))))
    known: dict[str, Any] = {"refused": ("a.py",), "consented": {"b.py": Commit("turn-3")}}
    assert judged(turn=wanted, **known).consent_wanted == ("c.py: wrong",)
    changed = Measurement(
        "turn-4", "t4", tricks=(Trick("test-weakened", "b.py", "d"), Trick("test-weakened", "a.py", "d"))
    )
    assert judged(turn=wanted, measured=changed, **known).consent_wanted == ("b.py: wrong", "c.py: wrong")


@pytest.mark.req("C2")
def test_decisions_rejections_and_rollbacks_are_kept_for_later_turns_in_one_sequence() -> None:
    decided = Claim(decisions=(DesignDecision("Plain files", "c", "files", ("a database",)), DesignDecision("Two")))
    state = a_state(a_task(), START, "GREEN", learned=3)

    def kept(verdict: Judged) -> list[tuple[int, str, str]]:
        measured = Measurement("turn-4", "t4", changed=tuple(f"{n}.py" for n in range(12)))
        told = learnings(state, state.main, passing(4), ok(decided), verdict, measured)
        facts = [f for f in told if isinstance(f, LearningRecorded)]
        assert {(f.turn, len(f.files)) for f in facts} == {(4, 8)}
        return [(f.number, f.kind, f.title) for f in facts]

    decisions = [(4, "decision", "Plain files"), (5, "decision", "Two")]
    plain = judged()
    assert kept(plain) == decisions
    assert kept(msgspec.structs.replace(plain, rejected=True)) == [
        *decisions,
        (6, "anti-pattern", "the review rejected the work"),
    ]
    rolled_back = msgspec.structs.replace(plain, restore_to=Commit("turn-1"))
    assert kept(rolled_back) == [*decisions, (6, "anti-pattern", plain.verdict.evidence)]


def test_of_many_problems_of_a_report_a_few_are_told_and_each_is_cut() -> None:
    many = Claim(problems=tuple(f"{n}{'x' * 400}" for n in range(9)))
    told = judged(turn=ok(many)).report_problems
    assert (len(told), {len(t) for t in told}) == (6, {300})


@pytest.mark.req("C31")
@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"coverage": 95}, ("coverage: reported 95, measured 80.0",)),
        ({"coverage": "95%"}, ("coverage: reported 95%, measured 80.0",)),
        ({"coverage": "80.4 %"}, ()),
        ({"line_coverage": 79.5, "changed_coverage": 50}, ()),
        ({"changed_coverage": 100}, ("changed_coverage: reported 100, measured 50.0",)),
        ({"coverage": "full"}, ("coverage: reported full, measured 80.0",)),
        ({"coverage": "nan"}, ("coverage: reported nan, measured 80.0",)),
    ],
)
def test_coverage_an_agent_reports_is_held_against_what_was_measured(
    metrics: dict[str, Any], expected: tuple[str, ...]
) -> None:
    measured = Measurement("turn-4", "t4", coverage=Coverage(100, 80, 10, 5))
    claim = Claim(metrics=metrics)
    assert judged(turn=ok(claim), measured=measured).disagreements == expected
    assert judged(turn=ok(claim)).disagreements == (), "nothing is held against a number nobody measured"


@pytest.mark.req("C70")
@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"patterns_applied": "extract function, inline variable"}, ("extract function", "inline variable")),
        ({"patterns_applied": "x" * 500}, ("x" * 120,)),
        ({"patterns_applied": 3}, ()),
        ({}, ()),
    ],
)
def test_patterns_an_agent_says_it_applied_are_kept_as_its_words(
    metrics: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert judged(turn=ok(Claim(metrics=metrics))).patterns_applied == expected
