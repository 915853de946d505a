"""What a review comes to whose findings were measured: void ones block nothing, and a further look is limited to what is new."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.workflows.backlog.test_backlog_simulated import BUG, Working, a_backlog
from tests.core.workflows.plan.world import Team, rejecting, simulated as simulated_plan
from tests.core.workflows.quick.test_quick import Quick, moves, simulated

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, EarlierFinding, FindingAnswer
from flyball.core.model.batch_events import BatchReviewed
from flyball.core.model.effects import Measure, Recall, RunAgent
from flyball.core.model.events import Ended, Judged, PersonSpoke, TurnSetAside
from flyball.core.model.measurement import Measurement, NewTest, Noticed
from flyball.core.model.outcomes import ChangedFile, ChangedLines, Recalled, TurnEnded
from flyball.core.model.state import State
from flyball.core.workflows.backlog.facts import ItemSettled
from flyball.projections.history.task_history import TaskHistory
from flyball.testing.simulator import Simulator

pytestmark = pytest.mark.req("C16")
REAL = Finding("major", "an empty basket crashes", "basket.py", 3, quote="return prices[0]")
VOID = Finding("critical", "it runs what users type", "basket.py", 4, quote="eval(text)", stands="nowhere")
BESIDE = Finding("major", "the loop could be shorter", "basket.py", 90, stands="unchanged")


def report(verdict: str, *findings: Finding, **more: Any) -> Claim:
    return Claim(verdict=verdict, exit_signal=True, findings=findings, source="report-file", **more)  # type: ignore[arg-type]


def judged(simulator: Simulator) -> list[Judged]:
    return [fact for fact in simulator.of(Judged) if isinstance(fact, Judged) and fact.stage == "REVIEW"]


def set_aside(simulator: Simulator) -> list[str]:
    return [fact.why for fact in simulator.of(TurnSetAside) if isinstance(fact, TurnSetAside)]


def test_a_rejection_that_rests_on_void_findings_is_asked_about_once_and_is_none() -> None:
    simulator = simulated(Quick(report("fail", VOID)))
    assert simulator.run().decision == "DONE"
    assert [turn.role for turn in simulator.turns] == ["implementer", "reviewer", "reviewer"]
    assert set_aside(simulator) == ["void"]
    assert moves(simulator) == ["REVIEW", "SHIP"]


def test_where_it_is_repeated_nothing_is_approved_or_rejected_and_a_person_is_asked() -> None:
    simulator = simulated(Quick(report("fail", VOID), report("fail", VOID)))
    stopped = simulator.run()
    assert stopped.decision == "BLOCKED"
    assert stopped.stopped is not None
    assert "nothing is approved or rejected" in stopped.stopped.reason
    assert "it runs what users type (void: its quotation stands neither" in " ".join(stopped.stopped.evidence)
    assert (moves(simulator), judged(simulator), stopped.main.rejections) == (["REVIEW"], [], 0)
    simulator.append(PersonSpoke("reset"))
    assert simulator.run().decision == "DONE", "whoever is asked may have it reviewed anew"
    assert [turn.role for turn in simulator.turns] == ["implementer", *["reviewer"] * 3]


@pytest.mark.parametrize(
    ("verdict", "honest"),
    [
        ("fail", REAL),
        ("fail", Finding("major", "nobody wrote the changelog")),
        ("fail", Finding("critical", "there is no test of the limit", "tests/test_basket.py", 0)),
        ("pass", REAL),
    ],
    ids=["a quotation that stands", "something missing", "a missing test", "an approval with a blocking finding"],
)
def test_what_stands_beside_a_void_finding_rejects_the_work_and_the_void_one_does_not(
    verdict: str, honest: Finding
) -> None:
    simulator = simulated(Quick(report(verdict, VOID, honest)))
    assert simulator.run().decision == "DONE"
    assert set_aside(simulator) == []
    first, _ = judged(simulator)
    assert (first.rejected, [found.message for found in first.findings]) == (True, [honest.message])
    fixer = simulator.turns[2]
    assert honest.message in fixer.prompt
    assert VOID.message not in fixer.prompt


def test_an_approval_with_a_grave_void_finding_is_asked_about_once_before_it_counts() -> None:
    simulator = simulated(Quick(report("warn", VOID), report("warn", VOID)))
    assert simulator.run().decision == "DONE"
    assert (set_aside(simulator), moves(simulator)) == (["void"], ["REVIEW", "SHIP"])


def test_void_findings_are_kept_and_shown_with_the_reason() -> None:
    simulator = simulated(Quick(report("fail", VOID, REAL)))
    simulator.run()
    ended = [e.fact.outcome for e in simulator.events if isinstance(e.fact, Ended) and isinstance(e.fact.outcome, TurnEnded)]  # fmt: skip
    assert VOID in ended[1].claim.findings
    history = TaskHistory(simulator.events)
    told = "reviewer found critical: it runs what users type (basket.py:4): void: its quotation stands neither"
    assert any(note.startswith(told) for note in history.notes)


def second_look(*later: Claim) -> Simulator:
    """The reviewer rejects the work once; these are its later reports."""
    simulator = simulated(Quick(report("fail", REAL), *later))
    simulator.run()
    return simulator


def test_a_further_look_is_shown_where_the_work_began_and_what_was_seen_last() -> None:
    simulator = second_look()
    first, second = (turn for turn in simulator.turns if turn.role == "reviewer")
    assert first.shown == {"start": "base"}
    assert second.shown == {"start": "base", "seen": first.commit}
    assert second.commit != first.commit


def test_at_a_further_look_what_is_new_outside_the_fix_blocks_nothing_but_what_is_critical() -> None:
    passed = second_look(report("warn", BESIDE))
    assert [(each.rejected, each.can_exit) for each in judged(passed)] == [(True, False), (False, True)]
    grave = second_look(report("fail", replace(BESIDE, severity="critical")))
    assert [each.rejected for each in judged(grave)] == [True, True, False]
    alone = second_look(report("fail", BESIDE), report("fail", BESIDE))
    assert (set_aside(alone), [each.rejected for each in judged(alone)]) == (["void"], [True])
    assert alone.known.decision == "BLOCKED", "it is no approval either"


@pytest.mark.parametrize(
    "said",
    [
        lambda known: report("fail", earlier=(EarlierFinding(known, False, "still there"),)),
        lambda known: report("pass", earlier=(EarlierFinding(known, False, "still there"),)),
        lambda _known: report("fail", replace(REAL, message="it still crashes", line=3, stands="unchanged")),
        lambda known: report("fail", Finding("major", "not mended", "other.py", 1, id=known, stands="unchanged")),
    ],
    ids=["it is not gone", "it is not gone, and approved", "found again at its line", "found again by its id"],
)
def test_an_earlier_finding_that_is_not_gone_blocks_wherever_it_is(said: Callable[[str], Claim]) -> None:
    known = judged(second_look())[0].findings[0].id
    assert known
    simulator = second_look(said(known))
    second = judged(simulator)[1]
    assert (second.rejected, [found.id for found in second.findings]) == (True, [known])
    gone = second_look(report("pass", earlier=(EarlierFinding(known, True),)))
    assert [each.rejected for each in judged(gone)] == [True, False]


def test_a_look_without_a_verdict_is_none_and_limits_nothing() -> None:
    simulator = simulated(Quick(Claim(source="report-file"), report("fail", REAL)))
    simulator.run()
    reviews = [turn for turn in simulator.turns if turn.role == "reviewer"]
    assert ["seen" in turn.shown for turn in reviews] == [False, False, True]


def test_a_batch_is_neither_accepted_nor_sent_back_for_void_findings() -> None:
    world, said = Team(), [report("fail", VOID), report("fail", VOID)]

    def say(turn: RunAgent, _state: State) -> Claim | None:
        return said.pop() if turn.role == "reviewer" and said else None

    world.say = say
    simulator = simulated_plan(world)
    stopped = simulator.run()
    assert (stopped.decision, simulator.of(BatchReviewed)) == ("BLOCKED", [])
    simulator.append(PersonSpoke("reset"))
    assert simulator.run().decision == "DONE"


def test_an_issue_is_not_rejected_for_void_findings_of_a_validator() -> None:
    said = [report("fail", VOID)]

    def validate(turn: RunAgent, _state: State) -> Claim:
        return said.pop() if turn.role == "security-auditor" and said else report("pass")

    simulator = a_backlog(Working(BUG, validate=validate))
    assert simulator.run().decision == "DONE"
    assert set_aside(simulator) == ["void"]
    assert [settled.status for settled in simulator.of(ItemSettled) if isinstance(settled, ItemSettled)] == [
        "completed"
    ]


def test_the_next_batch_is_looked_at_against_what_the_last_review_saw() -> None:
    world, said = Team(), [rejecting(**{"2_1": "an empty order is not read"})]

    def say(turn: RunAgent, state: State) -> Claim | None:
        return said.pop() if turn.role == "reviewer" and "2.1" in state.lanes and said else None

    world.say = say
    simulator = simulated_plan(world)
    assert simulator.run().decision == "DONE"
    looks = [turn for turn in simulator.turns if turn.role == "reviewer"]
    batches = looks[:-1]
    assert len(batches) > 2, [turn.stage for turn in looks]
    assert [turn.shown.get("seen", "") for turn in batches] == ["", *(turn.commit for turn in batches[:-1])]
    assert looks[-1].stage == "FINAL_REVIEW"
    assert looks[-1].shown == {"start": "base"}, "the whole goal was never looked at before"
    plan = next(turn for turn in simulator.turns if turn.role == "plan-reviewer")
    assert plan.shown == {}, "there is no work to look at yet"


class Answering(Quick):
    """The author answers the finding of the first review."""

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        ended = super().work(turn, state)
        if turn.role != "implementer" or turn.turn == 1:
            return ended
        answers = (FindingAnswer(state.main.loop.findings[0].id, False, "calc.py:3 refuses it already"),)
        return replace(ended, claim=replace(ended.claim, answers=answers))

    def look(self, measure: Measure, state: State) -> Measurement:
        tests = (NewTest("test_mul.py::test_ac_1", "test_mul.py", "passing", criteria=("AC-1",)),)
        return replace(super().look(measure, state), noticed=Noticed("new-test", tests=tests))

    def recall(self, effect: Recall, state: State) -> Recalled:
        file = ChangedFile(effect.commit or "none", 3, 1)
        changed = ChangedLines((file,) * 40, 52, 130, 7)
        return replace(super().recall(effect, state), changes=dict.fromkeys(effect.shown, changed))


@pytest.mark.req("C2")
def test_a_reviewer_is_told_what_it_judges_what_was_measured_and_what_became_of_its_findings() -> None:
    simulator = simulated(Answering(report("fail", REAL)))
    assert simulator.run().decision == "DONE"
    author, (first, second) = simulator.turns[2], [turn for turn in simulator.turns if turn.role == "reviewer"]
    for turn in (first, second):
        assert "`git diff flyball/start -- . ':!.loop'` shows it: 52 files changed, +130 −7." in turn.prompt
        assert f"\n- {turn.commit} +3 −1\n" in turn.prompt
        assert turn.prompt.count("+3 −1") == 40
        assert "\n- and 12 more\n" in turn.prompt
        assert (
            "## Measured on this tree\n- test: passed. 5 passed\n- known failures from before the task: none"
            in turn.prompt
        )
        assert "## New tests, with the criteria they name\n- test_mul.py::test_ac_1: AC-1" in turn.prompt
        assert "Only what this change introduced blocks" in turn.prompt
    assert "flyball/seen" not in first.prompt
    assert '"earlier"' not in first.prompt
    assert "`git diff flyball/seen -- . ':!.loop'` shows it" in second.prompt
    told = "F2.1 major: an empty basket crashes; basket.py:3; quoted: return prices[0]"
    assert f"- {told}\n" in author.prompt
    assert '"answers": [' in author.prompt
    assert f"- {told}; answered: not done, calc.py:3 refuses it already\n" in second.prompt
    assert '"earlier": [' in second.prompt


@pytest.mark.req("C2")
def test_a_reviewer_who_is_asked_again_is_told_which_findings_do_not_count() -> None:
    simulator = simulated(Quick(report("fail", VOID)))
    simulator.run()
    again = simulator.turns[2].prompt
    assert "## Your last report rests on findings that do not count." in again
    assert ": void: its quotation stands neither in the tree nor in the change\n" in again
    assert "eval(text)" not in again, "a false quotation would stand in the prompt, and count the next time"


@pytest.mark.parametrize(
    ("claim", "wanted"),
    [
        (Claim(exit_signal=True, source="report-file"), "report a `verdict`"),
        (Claim(verdict="pass", source="report-file"), "an approval needs `exit_signal` true"),
    ],
    ids=["no verdict", "no signal"],
)
def test_a_reviewer_whose_report_lacks_a_field_claims_nothing_false_and_is_asked_for_it(
    claim: Claim, wanted: str
) -> None:
    simulator = simulated(Quick(claim))
    assert simulator.run().decision == "DONE"
    first, _ = judged(simulator)
    assert not first.false_claim
    assert wanted in simulator.turns[2].prompt
