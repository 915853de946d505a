"""The vocabulary fits all four workflows: short journals of the three beside `tdd` fold as they should."""

from datetime import timedelta

import msgspec

from flyball.core.claims import Claim, Finding
from flyball.core.effects import (
    Ask,
    Edit,
    Effect,
    Field,
    Integrate,
    Measure,
    Prepare,
    Question,
    Restore,
    RunAgent,
    Save,
    Wait,
)
from flyball.core.events import (
    Begun,
    DocumentSeen,
    Ended,
    Event,
    Fact,
    Held,
    ItemChanged,
    ItemsSet,
    LearningRecorded,
    LimitHit,
    Moved,
    PersonSpoke,
    TaskOpened,
    TaskStopped,
    TurnSetAside,
)
from flyball.core.evolve import evolve
from flyball.core.measurement import Measurement
from flyball.core.outcomes import (
    Answered,
    Conflicted,
    Edited,
    Integrated,
    Interrupted,
    Measured,
    Outcome,
    Prepared,
    Restored,
    Saved,
    Stale,
    TurnEnded,
    Waited,
)
from flyball.core.state import State
from flyball.core.task import Commit, EffectId, Item, Task, TaskId
from flyball.testing.simulator import START, a_task

DECODER: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(Fact)


class Paper:
    """A journal written by hand; every fact goes through the codec."""

    def __init__(self, workflow: str, stage: str) -> None:
        task = a_task(items=())
        self.now = START
        self.seq = 0
        self.state: State | None = None
        opened = Task(TaskId(f"002-{workflow}"), workflow, task.request, task.settings, START)
        self.fact(TaskOpened(opened, stage))
        self.done(Prepare(EffectId("prepare")), Prepared(Commit("base"), "tree-0", f"flyball/002-{workflow}"))

    @property
    def now_known(self) -> State:
        assert self.state is not None
        return self.state

    def fact(self, *facts: Fact) -> None:
        for fact in facts:
            self.seq += 1
            self.now += timedelta(seconds=1)
            stored = DECODER.decode(msgspec.json.encode(fact))
            assert stored == fact
            self.state = evolve(self.state, Event(self.seq, self.now, 1, stored))

    def begin(self, *effects: Effect) -> None:
        for effect in effects:
            self.fact(Begun(effect))

    def end(self, effect: str, outcome: Outcome, attempt: int = 1) -> None:
        self.fact(Ended(EffectId(effect), outcome, attempt))

    def done(self, effect: Effect, outcome: Outcome) -> None:
        self.begin(effect)
        self.end(effect.id, outcome)


def turn(number: int, role: str, stage: str, *, item: str = "", copy: str = "") -> RunAgent:
    return RunAgent(EffectId(f"turn/{number}"), role, stage, "claude", "", "prompt", 1, number, item=item, copy=copy)


def test_a_plan_workflow_asks_runs_a_parallel_batch_meets_a_conflict_and_rolls_back() -> None:
    paper = Paper("plan", "PLAN")
    paper.done(turn(1, "planner", "PLAN"), TurnEnded("ok", claim=Claim(status="needs_clarification", plan="…")))
    paper.fact(TurnSetAside(1, "planned"))
    paper.done(Ask(EffectId("ask/1"), Question("agent-1-1", "Which database?", default="sqlite")), Answered("postgres"))
    assert paper.now_known.questions[EffectId("ask/1")].answer == "postgres"
    paper.fact(
        ItemsSet((Item("1.1", "model"), Item("1.2", "view", depends_on=("1.1",)), Item("1.3", "docs")), "planner")
    )
    paper.fact(Moved("EXECUTE", "PLAN", "approved"))
    paper.fact(ItemChanged("1.1", "in-progress"), ItemChanged("1.3", "in-progress"))
    paper.begin(
        turn(2, "implementer", "EXECUTE", item="1.1", copy="1.1"),
        turn(3, "implementer", "EXECUTE", item="1.3", copy="1.3"),
    )
    assert set(paper.now_known.open) == {"turn/2", "turn/3"}, "two turns are under way at once"
    paper.end("turn/3", TurnEnded("ok"))
    paper.end("turn/2", TurnEnded("ok"))
    paper.done(Save(EffectId("save/2"), "1.1", "…", Commit("base"), copy="1.1"), Saved(Commit("c2"), "t2", "1.1"))
    paper.done(Integrate(EffectId("integrate/2"), Commit("c2"), copy="1.1"), Integrated(Commit("c2"), "b"))
    paper.done(
        Integrate(EffectId("integrate/3"), Commit("c3"), copy="1.3"), Conflicted(("README.md",), "both changed it")
    )
    assert isinstance(paper.now_known.outcomes[EffectId("integrate/3")], Conflicted)
    paper.done(
        Measure(EffectId("measure/batch-1"), "gates", Commit("c2"), Commit("base"), Commit("base")),
        Measured(Measurement("c2", "t2")),
    )
    paper.done(
        turn(4, "reviewer", "REVIEW", copy="review"), TurnEnded("ok", claim=Claim(verdict="warn", approved=("1.1",)))
    )
    paper.fact(ItemChanged("1.1", "completed"), ItemChanged("1.3", "not-started"))
    paper.fact(LearningRecorded(1, "anti-pattern", "two subtasks edited README.md"))
    paper.done(
        Save(EffectId("save/batch-1"), "batch-1", "checkpoint: batch-1 - 1.1", Commit("base"), accepted=True),
        Saved(Commit("k1"), "t2", "batch-1", accepted=True),
    )
    assert paper.now_known.head == "k1"
    paper.done(
        Restore(EffectId("restore/1"), Commit("base"), "REGRESSING"),
        Restored(Commit("base"), "tree-0", undone=Commit("k2")),
    )
    assert {i.id: i.status for i in paper.now_known.items} == {
        "1.1": "completed",
        "1.2": "not-started",
        "1.3": "not-started",
    }


def test_a_backlog_workflow_edits_the_users_file_once_validates_in_parallel_and_waits_for_a_limit() -> None:
    paper = Paper("backlog", "SELECT")
    paper.fact(
        DocumentSeen(".work/agent/issues/high.md", "aa"), ItemsSet((Item("BUG-001@a1b2c3", "crash"),), "document")
    )
    edit = Edit(
        EffectId("edit/1"), ".work/agent/issues/high.md", "aa", (Field(12, "status: proposed", "status: in-progress"),)
    )
    paper.done(edit, Edited("bb"))
    paper.fact(Moved("IMPLEMENT", "SELECT", "BUG-001@a1b2c3"))
    paper.done(
        turn(1, "implementer", "IMPLEMENT", item="BUG-001@a1b2c3"),
        TurnEnded("usage_limit", reset_at=START + timedelta(hours=2)),
    )
    paper.fact(LimitHit("claude", "usage_limit", START + timedelta(hours=2)), TurnSetAside(1, "limited"))
    paper.fact(Held("provider", "claude", START + timedelta(hours=2)))
    paper.done(Wait(EffectId("wait/1"), START + timedelta(hours=2), "claude"), Waited())
    paper.done(turn(2, "implementer", "IMPLEMENT", item="BUG-001@a1b2c3"), TurnEnded("ok"))
    paper.fact(Moved("VALIDATE", "IMPLEMENT", "gates passed"))
    kinds = ("code-reviewer", "security-auditor", "performance-reviewer", "spec-auditor")
    paper.begin(*(turn(n, role, "VALIDATE", copy=role) for n, role in enumerate(kinds, 3)))
    assert len(paper.now_known.open) == 4
    paper.end(
        "turn/4", TurnEnded("ok", claim=Claim(verdict="fail", findings=(Finding("critical", "injection", "a.py", 3),)))
    )
    for number in (3, 5, 6):
        paper.end(f"turn/{number}", TurnEnded("ok", claim=Claim(verdict="pass")))
    verdicts = [o.claim.verdict for o in paper.now_known.outcomes.values() if isinstance(o, TurnEnded)]
    assert sorted(v for v in verdicts if v) == ["fail", "pass", "pass", "pass"]
    paper.done(Edit(EffectId("edit/2"), ".work/agent/issues/high.md", "bb", ()), Stale("cc"))
    assert isinstance(paper.now_known.outcomes[EffectId("edit/2")], Stale), "somebody else wrote the file meanwhile"
    paper.fact(TaskStopped("blocked", "critical security finding in a.py"))
    assert paper.now_known.decision == "BLOCKED"
    paper.fact(PersonSpoke("reset"))
    assert paper.now_known.decision == "CONTINUE"


def test_a_track_workflow_survives_an_interrupted_evaluator_and_counts_its_fix_cycle() -> None:
    paper = Paper("track", "PLAN")
    paper.fact(Moved("EVALUATE_PLAN", "PLAN", "plan written"), Moved("EXECUTE", "EVALUATE_PLAN", "passes"))
    paper.begin(
        turn(1, "executor", "EXECUTE", item="1.1", copy="a"), turn(2, "executor", "EXECUTE", item="1.2", copy="b")
    )
    paper.end("turn/1", TurnEnded("ok"))
    paper.end("turn/2", Interrupted("the controller ended"))
    paper.done(turn(3, "executor", "EXECUTE", item="1.2", copy="b"), TurnEnded("ok"))
    paper.fact(Moved("EVALUATE_EXECUTION", "EXECUTE", "all tasks executed"))
    paper.begin(
        turn(4, "ui-ux", "EVALUATE_EXECUTION", copy="ui"),
        Measure(EffectId("measure/structural"), "gates", Commit("c"), Commit("base"), Commit("base")),
    )
    paper.end("measure/structural", Measured(Measurement("c", "t")))
    paper.end("turn/4", TurnEnded("crashed", "exit 1"))
    paper.fact(Moved("FIX", "EVALUATE_EXECUTION", "ui-ux crashed", rejected=True))
    assert [v.stage for v in paper.now_known.visits].count("FIX") == 1
    paper.done(turn(5, "fixer", "FIX"), TurnEnded("ok"))
    paper.fact(Moved("BUSINESS_SYNC", "FIX", "passes"), Moved("COMPLETE", "BUSINESS_SYNC", "documents in step"))
    paper.done(
        Integrate(EffectId("integrate/final"), Commit("c"), final=True), Integrated(Commit("c"), "flyball/002-track")
    )
    paper.fact(TaskStopped("done", "all evaluators and structural checks pass"))
    assert paper.now_known.decision == "DONE"
    assert paper.now_known.open == {}
