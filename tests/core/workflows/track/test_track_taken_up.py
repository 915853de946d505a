"""A track whose documents somebody worked on before or meanwhile: other tasks of flyball, other programs, people."""

import re

import pytest
from msgspec.structs import replace
from tests.core.workflows.track.test_track_simulated import Team, a_track, edits, played, stages
from tests.support.simulator import Simulator
from tests.support.track_in_memory import PAGE, TrackInMemory, failing

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.evaluation.plan_page import read_plan
from flyball.core.model.effects import Integrate
from flyball.core.model.events import Moved, PersonSpoke, SessionStarted
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.workflows.registry import WORKFLOWS
from flyball.core.workflows.track.effects import CompleteTrack, MarkDone, SetBox, WritePlan
from flyball.core.workflows.track.facts import TaskTicked, TrackPlanned
from flyball.core.workflows.track.plan_text import with_box

pytestmark = pytest.mark.req("D40")
NEXT = "- [ ] Task 1.3: print it <!-- deps: 1.2 -->\n  - Acceptance: it prints\n  - Files: `print.py`\n"


def resumed(*words: PersonSpoke) -> tuple[SessionStarted | PersonSpoke, ...]:
    return (SessionStarted(2, "simulated", "0"), *words)


def test_a_commit_behind_a_task_with_dependencies_is_no_dependency_and_no_edit() -> None:
    track = TrackInMemory(PAGE + NEXT)
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    assert [f.by for f in simulator.of(TrackPlanned) if isinstance(f, TrackPlanned)] == ["document"]
    assert edits(track, WritePlan) == []
    assert [turn.item for turn in simulator.turns if turn.role == "executor"] == ["1.1", "1.2", "1.3"]


def test_what_a_person_asks_for_after_the_end_is_done_and_stands_in_the_plan() -> None:
    track = TrackInMemory()
    simulator, _ = played(track)
    simulator.run()
    simulator.append(*resumed(PersonSpoke("reopen", "- print the date\n- print the total")))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert [turn.item for turn in simulator.turns if turn.role == "executor"][2:] == ["R1", "R2"]
    assert "## Feedback\n\n- [x] Task R1: print the date <!-- " in track.plan
    assert len(simulator.of(TrackPlanned)) == 1, "that is no edit of the plan by a person"
    assert len(edits(track, CompleteTrack)) == 2


@pytest.mark.req("D41")
def test_fix_cycles_have_numbers_that_no_phase_of_the_plan_has() -> None:
    before = PAGE + "\n## Fix Phase (cycle 2)\n\n- [x] Task F2.1: mended <!-- abc1234 -->\n  - so\n"
    track = TrackInMemory(before, failing("one"), failing("two"))
    track.max_fix_cycles = 1
    simulator, _ = played(track)
    assert simulator.run().decision == "BLOCKED"
    simulator.append(*resumed(PersonSpoke("modify", "go on")))
    track.measured = [failing("three")]
    assert simulator.run().decision == "DONE"
    phases = re.findall(r"Fix Phase \(cycle (\d)\)\n\n- \[x\] Task F(\d)\.1: (\S+) ?(\w*)", track.plan)
    assert [(n, f) for n, f, *_ in phases] == [("2", "2"), ("3", "3"), ("4", "4"), ("5", "5")]


def test_cycles_that_the_metadata_counted_before_are_cycles_and_a_persons_word_grants_as_many_again() -> None:
    track = TrackInMemory(PAGE, *[failing(f"defect {n}") for n in range(9)])
    track.fix_cycles = 2
    simulator, _ = played(track)
    assert simulator.run().decision == "BLOCKED"
    assert sum(turn.role == "track-fixer" for turn in simulator.turns) == 1, "the third of three"
    simulator.append(*resumed(PersonSpoke("reset")))
    assert simulator.run().decision == "BLOCKED"
    assert sum(turn.role == "track-fixer" for turn in simulator.turns) == 1 + 4, "the one asked about, and three more"


def test_findings_that_an_earlier_task_left_are_worked_on_and_send_no_plan_back() -> None:
    left = "\n## Fix Phase (cycle 1)\n\n- [ ] Task F1.1: form.py:3: silent except\n"
    track = TrackInMemory(PAGE + left)
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    assert edits(track, WritePlan) == []
    assert "F1.1" in {turn.item for turn in simulator.turns}
    assert "- [x] Task F1.1: form.py:3: silent except <!-- " in track.plan


def test_tasks_whose_ids_begin_with_an_f_are_tasks_like_others() -> None:
    track = TrackInMemory(PAGE.replace("1.1", "F1").replace("1.2", "F2"))
    simulator, _ = played(track)
    while "EXECUTE" not in stages(simulator):
        simulator.step()
    track.plan += "- [ ] Task F3: print it\n  - Acceptance: it prints\n  - Files: `print.py`\n"
    simulator.append(*resumed())
    assert simulator.run().decision == "DONE"
    assert "F3" in {turn.item for turn in simulator.turns}


def test_a_persons_tick_gets_a_commit_and_a_summary_so_that_the_evaluation_can_pass() -> None:
    track = TrackInMemory()
    simulator, _ = played(track)
    while "EXECUTE" not in stages(simulator):
        simulator.step()
    head = simulator.known.main.head
    track.plan = with_box(track.plan, "1.2", "x")
    simulator.append(*resumed())
    assert simulator.run().decision == "DONE"
    (ticked,) = (edit for edit in edits(track, MarkDone) if edit.task == "1.2")
    assert (ticked.sha, ticked.summary) == (head[:12], "ticked by a person; the measurements hold")


def test_a_box_that_was_ticked_before_the_track_was_taken_up_gets_the_commit_it_began_with() -> None:
    track = TrackInMemory(with_box(PAGE, "1.1", "x"))
    simulator, _ = played(track)
    state = simulator.run()
    assert state.prepared is not None
    first = edits(track, MarkDone)[0]
    assert (first.task, first.sha) == ("1.1", state.prepared.base[:12])
    assert [turn.item for turn in simulator.turns if turn.role == "executor"] == ["1.2"]


def test_a_box_that_a_planner_ticks_is_no_tick_of_a_person() -> None:
    track = TrackInMemory("")
    simulator, world = played(track)
    world.plan = with_box(PAGE, "1.1", "x")
    assert simulator.run().decision == "DONE"
    assert not simulator.of(TaskTicked)
    assert [turn.item for turn in simulator.turns if turn.role == "executor"] == ["1.1", "1.2"]


def test_a_plan_that_is_written_anew_keeps_what_stands_behind_done_tasks() -> None:
    done = PAGE.replace("[ ] Task 1.1: build the form", "[x] Task 1.1: build the form <!-- abc1234 -->")
    track = TrackInMemory(done.replace("`form.py`\n", "`form.py`\n  - two fields\n").replace("deps: 1.1", "deps: 9.9"))
    simulator, _ = played(track)
    assert simulator.run().decision == "DONE"
    assert "- [x] Task 1.1: build the form <!-- abc1234 -->\n" in track.plan
    assert "  - two fields\n" in track.plan


def test_a_task_that_waits_for_a_deferred_one_does_not_wait_for_ever() -> None:
    track = TrackInMemory(PAGE.replace("build the form", "build the form <!-- deferred: later -->"))
    simulator, _ = played(track)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert [turn.item for turn in simulator.turns if turn.role == "executor"] == ["1.2"]


def test_a_person_who_edits_again_and_again_is_heard_each_time() -> None:
    track = TrackInMemory()
    simulator, _ = played(track)
    for session, text in enumerate(("build a form", "build the large form"), 2):
        while stages(simulator).count("EXECUTE") < session - 1:
            simulator.step()
        track.plan = track.plan.replace("build the form", text).replace("build a form", text)
        simulator.append(SessionStarted(session, "simulated", "0"))
    state = simulator.run()
    assert state.decision == "DONE"
    assert [f.version for f in simulator.of(TrackPlanned) if isinstance(f, TrackPlanned)] == [1, 2, 3]
    assert "build the large form" in {item.text for item in state.items}
    assert replace(state.items[0], status="not-started").id == "1.1"


@pytest.mark.req("D41")
def test_what_a_person_does_to_a_fix_phase_stands_and_it_is_written_once() -> None:
    track = TrackInMemory(PAGE, failing("it leaks"))
    simulator, world = played(track)
    world.claim = replace(world.claim, exit_signal=False)
    while simulator.known.main.stage != "FIX" or not simulator.known.main.loop.iteration:
        simulator.step()
        world.claim = replace(world.claim, exit_signal=simulator.known.main.stage != "FIX")
    track.plan = track.plan.replace("- [ ] Task F1.1: form.py:3: it leaks\n", "A person took it out.\n")
    world.claim = replace(world.claim, exit_signal=True)
    assert simulator.run().decision == "DONE"
    assert track.plan.endswith("## Fix Phase (cycle 1)\n\nA person took it out.\n")


def test_a_task_that_a_rollback_undoes_loses_the_box_that_code_gave_it_and_is_done_again() -> None:
    track = TrackInMemory()
    simulator, _ = played(track)
    state = simulator.run()
    facts = WORKFLOWS["track"].undo(state, frozenset({"batch-2"}), "batch-1")
    simulator.append(PersonSpoke("reopen"), *facts, Moved("EXECUTE", "COMPLETE", "rolled back to batch-1 by a person"))
    before = len(simulator.turns)
    assert simulator.run().decision == "DONE"
    assert [(edit.task, edit.mark) for edit in edits(track, SetBox)] == [("1.2", " ")]
    assert [turn.item for turn in simulator.turns[before:] if turn.role == "executor"] == ["1.2"]
    assert track.plan.count("- [x] Task 1.") == 2


def test_the_metadatas_own_limit_of_revisions_is_kept_to() -> None:
    refused = Claim(verdict="fail", findings=(Finding("major", "it does too much"),), source="report-file")
    track = TrackInMemory("")
    track.max_plan_revisions = 1
    simulator, _ = played(track, *[refused] * 9)
    assert simulator.run().decision == "BLOCKED"
    assert sum(turn.role == "track-planner" for turn in simulator.turns) == 1


class Wide(Team):
    """Every piece of work changes a file that nobody named."""

    def integrate(self, effect: Integrate) -> Integrated | Conflicted | NothingToIntegrate:
        found = super().integrate(effect)
        return replace(found, changed=(("A", "wish.py"),)) if isinstance(found, Integrated) else found


@pytest.mark.req("D10")
def test_files_that_a_wish_changed_stand_in_the_plan_as_found_on_the_way() -> None:
    world = Wide()
    world.track = TrackInMemory()
    simulator = Simulator(world, a_track(), "PLAN")
    simulator.run()
    assert "Discovered" not in world.track.plan, "a task of the plan names its files"
    simulator.append(*resumed(PersonSpoke("reopen", "- print the date")))
    assert simulator.run().decision == "DONE"
    assert world.track.plan.endswith("## Discovered Work\n\n- `wish.py`, for R1\n")
    assert read_plan(world.track.plan).discovered == ("wish.py",)
