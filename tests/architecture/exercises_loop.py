"""A whole loop, decided and folded, and every screen of it: nothing of this may touch the world."""

from msgspec.structs import replace
from tests.support.builders import short_tdd_run
from tests.support.simulator import APPROVED, DONE, EveryFile, Simulator, World, a_task, ok, suite

from flyball.core.claims.values import Claim
from flyball.core.decide import decide
from flyball.core.fold.evolve import evolve
from flyball.core.loop.feedback import wishes
from flyball.core.loop.undeclared import undeclared_edits
from flyball.core.memory.recalling import recall
from flyball.core.model.effects import Recall, RunAgent
from flyball.core.model.events import Event, PersonSpoke
from flyball.core.model.learnings import Learnings
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.core.workflows.backlog.proposals import from_feedback
from flyball.core.workflows.backlog.values import Backlog
from flyball.projections.files.loop_files import phase_status, render
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.changes import of_item, of_turn
from flyball.projections.pages.diffs import files_of
from flyball.projections.pages.guidance import Comment, comments_in, guidance, said_shown
from flyball.projections.pages.home import home_page
from flyball.projections.pages.notices import Notices, still_matters
from flyball.projections.pages.report_page import report_page
from flyball.projections.pages.summary import Known, Place
from flyball.projections.pages.task_page import task_page
from flyball.projections.views.banner import banner
from flyball.projections.views.lines import json_line, line
from flyball.projections.views.situation import Seen
from flyball.projections.views.status import status
from flyball.projections.wording import split_command


def exercise_the_loop() -> None:
    world = World(lambda _turn, _state: TurnEnded("ok", claim=Claim()), lambda m, _state: suite(m.candidate, "tree-0"))
    assert Simulator(world).run().decision == "BLOCKED"


def exercise_batches() -> None:
    plan = Claim(plan="- [ ] **1** a — Files: `a` | Acceptance: x\n- [ ] **2** b — Files: `b` | Acceptance: x")
    said = {"planner": plan, "plan-reviewer": APPROVED, "reviewer": APPROVED}

    def turn(asked: RunAgent, _state: State) -> TurnEnded:
        world.trees[asked.lane] = f"tree-{asked.turn}"
        return ok(said.get(asked.role, DONE))

    world = World(turn, lambda m, _state: suite(m.candidate, world.saved.get(m.candidate, "tree-0")))
    task = replace(a_task(items=()), workflow="plan")
    assert Simulator(world, task, "GATHER").run().decision == "DONE"


def exercise_feedback() -> None:
    state = short_tdd_run().state
    heard = evolve(state, Event(state.seq + 1, state.now, state.epoch, PersonSpoke("reopen", "- one\n- two")))
    assert decide(heard).facts
    assert from_feedback(wishes("- one\n- two"), Backlog(), state.now)


def exercise_the_screens() -> None:
    story = short_tdd_run()
    chronicle = TaskHistory(story.events)
    assert render(story.state, chronicle)
    assert status(story.state, chronicle).decision
    assert banner(story.state, chronicle)
    for event in story.events:
        assert json_line(event)
        line(event, story.state)
        phase_status(story.state, event)


def exercise_the_pages() -> None:
    story = short_tdd_run()
    known = Known(Place("r", "r"), story.state, TaskHistory(story.events), (), Seen(False), story.at)
    page = task_page(known)
    assert page.failing
    assert page.course
    assert home_page([page.summary], story.at).finished
    assert report_page(known).facts
    assert comments_in(guidance([Comment("a.py", 1, "no")]))
    (patched,) = files_of("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n")
    assert patched.hunks[0].pairs
    assert of_turn(known.history, 1)
    assert of_item(known.history, "none") is None
    assert split_command("It is not there. See: flyball doctor")[1]
    assert said_shown(PersonSpoke("pause"), controlled=True).effect
    notice = Notices("r").of(story.events[-1], story.state)
    assert notice
    assert still_matters(notice, story.state, story.at)


def exercise_undeclared_edits() -> None:
    assert undeclared_edits(("a.py",), [("M", "b.py")], item="1", others={"2": ("b.py",)}).shared


def exercise_memory() -> None:
    tasks: dict[str, Learnings] = {"001-parse-rows": short_tdd_run().state.learnings}
    recall(Recall(EffectId("recall/1"), words="rows", reviewing=True), "001-parse-rows", tasks, EveryFile())
