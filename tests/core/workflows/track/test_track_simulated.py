"""A track from its plan to its completion, in a scripted world."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.simulator import Obliging, Simulator, a_task, ok
from tests.support.track_in_memory import PAGE, TrackInMemory, failing, passing

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Moved, PersonSpoke, SessionStarted, SettingsChanged
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Limits, Source, Task
from flyball.core.workflows.track.effects import (
    BeginEvaluation,
    CompleteTrack,
    KeepErrors,
    LogDecision,
    MarkDone,
    SetMetadata,
    TrackMeasured,
    WriteEvaluation,
    WritePlan,
)
from flyball.core.workflows.track.facts import TaskTicked, TrackEvaluated, TrackPlanned
from flyball.core.workflows.track.plan_text import with_box

FOLDER = "conductor/tracks/form_20261117"


class Team(Obliging):
    """Plans when asked, works, and reviews as scripted."""

    plan = PAGE

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        if turn.role == "track-planner":
            return ok(Claim(status="complete", plan=self.plan, source="report-file"))
        ended = super().work(turn, state)
        return replace(ended, claim=replace(ended.claim, summary=f"did {turn.item or turn.stage}"))


def a_track(**limits: int) -> Task:
    task = replace(a_task(), workflow="track", items=(), source=Source(FOLDER, ""))
    return replace(task, settings=replace(task.settings, limits=Limits(**limits)))


def played(track: TrackInMemory, *reviews: Claim, task: Task | None = None) -> tuple[Simulator, Team]:
    world = Team(*reviews)
    world.track = track
    return Simulator(world, task or a_track(), "PLAN"), world


class Writing(Team):
    """Every turn changes one document, and it is not the one that was named."""

    def look(self, measure: Measure, state: State) -> Measurement:
        return replace(super().look(measure, state), changed=("conductor/tech-stack.md",))


def stages(simulator: Simulator) -> list[str]:
    return [f.stage for f in simulator.of(Moved) if isinstance(f, Moved) and f.lane == "main"]


def edits(track: TrackInMemory, kind: type) -> list[Any]:
    return [edit for edit in track.edits if isinstance(edit, kind)]


@pytest.mark.req("D40")
def test_a_plan_of_the_users_is_worked_to_without_a_planner() -> None:
    track = TrackInMemory()
    simulator, _ = played(track)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert "track-planner" not in {turn.role for turn in simulator.turns}
    assert edits(track, WritePlan) == []
    assert stages(simulator)[0] == "EVALUATE_PLAN"
    assert stages(simulator)[-1] == "COMPLETE"


@pytest.mark.req("D40")
def test_boxes_get_the_commit_of_the_work_and_its_summary_after_it_is_on_the_branch() -> None:
    track = TrackInMemory()
    simulator, world = played(track)
    state = simulator.run()
    assert "- [x] Task 1.1: build the form <!-- " in track.plan
    assert "  - did 1.1\n" in track.plan
    done = edits(track, MarkDone)
    assert [edit.task for edit in done] == ["1.1", "1.2"]
    assert all(any(commit.startswith(edit.sha) for commit in world.saved) for edit in done)
    assert state.decision == "DONE"


@pytest.mark.req("D32", "D40", "D41")
def test_a_failed_evaluation_is_mended_in_a_fix_phase_and_evaluated_again() -> None:
    track = TrackInMemory(PAGE, failing("silent except"), failing("still silent"))
    simulator, _ = played(track)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert stages(simulator)[-5:] == ["FIX", "EVALUATE_EXECUTION", "FIX", "EVALUATE_EXECUTION", "COMPLETE"]
    assert "## Fix Phase (cycle 1)\n\n- [x] Task F1.1: form.py:3: silent except <!-- " in track.plan
    assert "## Fix Phase (cycle 2)" in track.plan
    fixer = next(turn for turn in simulator.turns if turn.role == "track-fixer")
    assert "form.py:3: silent except" in fixer.prompt
    assert "no new features" in fixer.prompt
    assert [entry["category"] for edit in edits(track, KeepErrors) for entry in edit.entries] == ["code-quality"] * 2
    verdicts = [f.evaluation.verdict for f in simulator.of(TrackEvaluated) if isinstance(f, TrackEvaluated)]
    assert verdicts == ["FAIL", "FAIL", "PASS"]
    assert len(edits(track, WriteEvaluation)) == len(edits(track, BeginEvaluation)) == 3, "fix cycles are counted there"


@pytest.mark.req("D41")
def test_what_is_known_of_an_error_reaches_the_fixer() -> None:
    track = TrackInMemory(PAGE, failing("silent except"))
    known = {"pattern": "silent .*except", "problem": "swallowed errors", "solution": "log and raise"}
    seen = track.read
    track.read = lambda: replace(seen(), known_errors=(known,))  # type: ignore[method-assign]
    simulator, _ = played(track)
    simulator.run()
    fixer = next(turn for turn in simulator.turns if turn.role == "track-fixer")
    assert "swallowed errors: log and raise" in fixer.prompt


@pytest.mark.req("D40")
@pytest.mark.parametrize(("limit", "cycles"), [(None, 3), (1, 1), (0, 0)])
def test_fix_cycles_end_at_the_metadatas_limit_and_a_person_is_asked(limit: int | None, cycles: int) -> None:
    track = TrackInMemory(PAGE, *[failing(f"defect {n}") for n in range(9)])
    track.max_fix_cycles = limit
    simulator, _ = played(track)
    state = simulator.run()
    assert (state.decision, state.stopped and state.stopped.kind) == ("BLOCKED", "blocked")
    assert sum(turn.role == "track-fixer" for turn in simulator.turns) == cycles
    assert state.stopped is not None
    assert "1 finding still to mend" in state.stopped.reason
    simulator.append(SessionStarted(2, "simulated", "0"), PersonSpoke("modify", "leave the rest"))
    track.measured = []
    assert simulator.run().decision == "DONE"


@pytest.mark.req("D40")
def test_documents_of_the_business_follow_only_where_the_change_asks_for_it() -> None:
    quiet, loud = TrackInMemory(), TrackInMemory(sync=True)
    first, _ = played(quiet)
    first.run()
    assert "BUSINESS_SYNC" not in stages(first)
    world = Writing()
    world.track = loud
    second = Simulator(world, a_track(), "PLAN")
    assert second.run().decision == "DONE"
    assert stages(second)[-2:] == ["BUSINESS_SYNC", "COMPLETE"]
    writer = next(turn for turn in second.turns if turn.role == "business-writer")
    assert "product.md" in writer.prompt
    assert "pricing in form.py" in writer.prompt
    (row,) = edits(loud, LogDecision)
    really = ("conductor/tech-stack.md",)
    assert (row.documents, row.decision) == (really, "did BUSINESS_SYNC"), (
        "the document that changed, not the one wanted"
    )
    written = [
        edit.values["loop_state"]["checkpoints"] for edit in edits(loud, SetMetadata) if "loop_state" in edit.values
    ]
    assert [each["BUSINESS_SYNC"]["output_files"] for each in written if "BUSINESS_SYNC" in each] == [list(really)]
    assert edits(loud, CompleteTrack)


@pytest.mark.req("D40")
def test_a_plan_that_is_rejected_is_revised_at_most_three_times() -> None:
    refused = Claim(verdict="fail", findings=(Finding("major", "it does too much"),), source="report-file")
    track = TrackInMemory("")
    simulator, _ = played(track, *[refused] * 9)
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.stopped is not None
    assert state.stopped.reason == "The plan was sent back 3 times: it does too much"
    planners = [turn for turn in simulator.turns if turn.role == "track-planner"]
    assert len(planners) == 3
    assert "it does too much" in planners[1].prompt


@pytest.mark.req("D40")
def test_a_plan_with_a_cycle_goes_back_before_anybody_else_reads_it() -> None:
    track = TrackInMemory("")
    simulator, world = played(track)
    world.plan = PAGE.replace("build the form", "build the form <!-- deps: 1.2 -->")
    state = simulator.run()
    assert state.decision == "BLOCKED"
    planners = [turn for turn in simulator.turns if turn.role == "track-planner"]
    assert "these tasks wait for each other: 1.1 → 1.2 → 1.1" in planners[1].prompt
    assert "plan-evaluator" not in {turn.role for turn in simulator.turns}


@pytest.mark.req("D40")
def test_a_box_that_a_person_ticked_is_verified_and_taken() -> None:
    track = TrackInMemory()
    simulator, world = played(track)
    while not any(stage == "EXECUTE" for stage in stages(simulator)):
        simulator.step()
    track.plan = with_box(track.plan, "1.2", "x")
    simulator.append(SessionStarted(2, "simulated", "0"))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert [f.verified for f in simulator.of(TaskTicked) if isinstance(f, TaskTicked)] == [True]
    assert {turn.item for turn in simulator.turns if turn.role == "executor"} == {"1.1"}
    del world


@pytest.mark.req("D40")
def test_a_persons_edit_of_the_plan_is_a_new_version_and_is_never_overwritten() -> None:
    track = TrackInMemory()
    simulator, _ = played(track)
    while not any(stage == "EXECUTE" for stage in stages(simulator)):
        simulator.step()
    track.plan = PAGE + "- [ ] Task 1.3: print it\n  - Acceptance: it prints\n  - Files: `print.py`\n"
    simulator.append(SessionStarted(2, "simulated", "0"))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert [(f.by, f.version) for f in simulator.of(TrackPlanned) if isinstance(f, TrackPlanned)] == [
        ("document", 1),
        ("person", 2),
    ]
    assert edits(track, WritePlan) == []
    assert "- [x] Task 1.3: print it" in track.plan


@pytest.mark.req("D25", "D30")
def test_an_evaluator_that_broke_fails_the_track_with_its_reason() -> None:
    broken = TrackMeasured(broken={"code-quality": "it crashed (exit 1): boom"})
    track = TrackInMemory(PAGE, broken)
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    first = next(f for f in simulator.of(TrackEvaluated) if isinstance(f, TrackEvaluated))
    assert first.evaluation.verdict == "FAIL"
    assert "it crashed (exit 1): boom" in first.evaluation.fix_actions[0].text


@pytest.mark.req("D31")
def test_documents_that_change_under_the_edit_are_read_again_and_not_overwritten() -> None:
    track = TrackInMemory()
    track.stale = 2
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    assert passing().passes, "the world measured something"


@pytest.mark.req("D40")
def test_a_track_ends_at_fifty_iterations() -> None:
    track = TrackInMemory(PAGE, *[failing(f"defect {n}") for n in range(99)])
    track.max_fix_cycles = 99
    simulator, _ = played(track)
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.kind == "limit"
    assert "50 of 50" in state.stopped.reason
    limits = replace(state.task.settings.limits, max_iterations=60)
    simulator.append(SessionStarted(2, "simulated", "0"), SettingsChanged(limits))
    track.measured = []
    assert simulator.run().decision == "DONE", "a person's own limit takes its place"
