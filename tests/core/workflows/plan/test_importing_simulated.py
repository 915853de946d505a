"""The `plan` workflow on a plan that another tool keeps in a real file: taken over, marked as work is accepted, followed as it changes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.workflows.plan.world import Team, a_plan_task, ids, simulated
from tests.support.simulator import Simulator

from flyball.core.claims.values import Claim, Rejection
from flyball.core.loop.batches.settling import undo
from flyball.core.model.batch_events import BatchBegun
from flyball.core.model.effects import Ask, Effect, Measure, RunAgent
from flyball.core.model.events import (
    DocumentSeen,
    Ended,
    ItemChanged,
    Judged,
    Moved,
    PersonSpoke,
    SessionStarted,
    TaskStopped,
)
from flyball.core.model.outcomes import Interrupted, Outcome
from flyball.core.model.state import State
from flyball.core.model.task import Item, Source
from flyball.core.workflows.plan.effects import EntriesMarked, MarkEntries, PlanRead, ReadPlan
from flyball.core.workflows.plan.facts import PlanReviewed
from flyball.core.workflows.plan.grammar import render
from flyball.core.workflows.plan.record import PlanRecord
from flyball.core.workflows.plan.sources.trackers import read_github
from flyball.core.workflows.plan.wording import LINES
from flyball.documents.plan_marks import PlanFiles
from flyball.documents.plan_source import read_plan_source

pytestmark = pytest.mark.req("O23")

TASKS = """# Tasks: Bills

## Phase 1: Setup
- [ ] T001 Lay out pkg/__init__.py
## Phase 2: Work
- [ ] T002 [P] Read orders in pkg/orders.py
- [ ] T003 [P] Read prices in pkg/prices.py
- [ ] T004 Print a bill in pkg/bill.py
"""
PLACE = "specs/001-bills/tasks.md"


class Filed(Team):
    """A team whose plan is a file; `before` happens before an effect of a kind, once for each call."""

    def __init__(self, root: Path, text: str = TASKS, format: str = "spec-kit", place: str = PLACE) -> None:
        super().__init__()
        self.root, self.format = root, format
        self.path = root / place
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text)
        self.plan_files: PlanFiles = PlanFiles(root)
        self.before: Callable[[Effect, State], None] = lambda _effect, _state: None
        self.says: Callable[[Ask], str | None] = lambda _ask: None
        self.answer = lambda effect, _state: self.says(effect)

    def perform(self, effect: Effect, state: State) -> Outcome:
        self.before(effect, state)
        if isinstance(effect, ReadPlan):
            return self.plan_files.read(effect)
        return self.plan_files.mark(effect) if isinstance(effect, MarkEntries) else super().perform(effect, state)

    @property
    def text(self) -> str:
        return self.path.read_text()

    def simulator(self, **settings: object) -> Simulator:
        document = read_plan_source(self.path, self.root, "spec-kit" if self.format == "spec-kit" else "plain")
        task = a_plan_task(None, **settings)
        return simulated(self, replace(task, source=document.source, document=document.text, items=document.items))


def edited(world: Filed, old: str, new: str) -> Callable[[Effect, State], None]:
    """A person edits the file while the first batch is worked on."""

    def edit(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and not effect.copy and old in world.text:
            world.path.write_text(world.text.replace(old, new))

    return edit


def notes(simulator: Simulator) -> list[str]:
    return [note for f in simulator.of(DocumentSeen) if isinstance(f, DocumentSeen) for note in f.notes]


@pytest.mark.req("O31")
def test_a_file_is_the_plan_and_each_accepted_subtask_is_ticked_in_it(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert ids(world.saved[state.main.head]) == ["T001", "T002", "T003", "T004"]
    assert [f.items for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun)] == [
        ("T001",),
        ("T002", "T003"),
        ("T004",),
    ]
    assert not [turn for turn in simulator.turns if turn.role == "planner"]
    assert world.text == TASKS.replace("[ ]", "[X]")


@pytest.mark.req("O31")
def test_a_box_is_ticked_only_after_review_and_gates_and_not_by_an_agent(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    seen: list[tuple[str, int]] = []
    world.before = lambda effect, _state: seen.append((type(effect).__name__, world.text.count("[X]")))
    world.simulator().run()
    first = next(n for n, (_name, ticks) in enumerate(seen) if ticks)
    before = [name for name, _ in seen[:first]]
    last = {name: len(before) - before[::-1].index(name) for name in ("Integrate", "RunAgent", "Save", "MarkEntries")}
    assert last["Integrate"] < last["RunAgent"] < last["Save"] < last["MarkEntries"] == first
    assert before.count("RunAgent") == 2, "the implementer's turn and the review's"


def test_no_lane_and_no_gate_takes_what_an_agent_did_to_the_file(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    measures: list[Measure] = []
    world.before = lambda effect, _state: measures.append(effect) if isinstance(effect, Measure) else None
    world.simulator().run()
    assert {measure.kept for measure in measures if measure.kind != "baseline"} == {(PLACE,)}


def test_boxes_that_were_ticked_before_are_not_worked_again(tmp_path: Path) -> None:
    world = Filed(tmp_path, TASKS.replace("[ ] T001", "[x] T001"))
    state = world.simulator().run()
    assert state.decision == "DONE"
    assert ids(world.saved[state.main.head]) == ["T002", "T003", "T004"]
    assert world.text == TASKS.replace("[ ]", "[x]")


def test_optional_entries_are_worked_only_if_asked_for(tmp_path: Path) -> None:
    text = TASKS.replace("- [ ] T004", "- [ ]* T004")
    world = Filed(tmp_path, text)
    state = world.simulator().run()
    assert state.decision == "DONE"
    assert "[ ]* T004" in world.text
    assert "[X]* T004" in _ran_with_optional(tmp_path / "other", text)


def _ran_with_optional(root: Path, text: str) -> str:
    world = Filed(root, text)
    assert world.simulator(optional_items=True).run().decision == "DONE"
    return world.text


@pytest.mark.req("O31")
def test_a_rejected_subtask_is_not_ticked_and_an_accepted_one_that_is_rejected_later_is_unticked(
    tmp_path: Path,
) -> None:
    world = Filed(tmp_path)
    states: list[str] = []

    def say(turn: RunAgent, _state: State) -> Claim | None:
        if turn.copy and turn.purpose == "final" and not states:
            states.append(world.text)
            return Claim(verdict="fail", rejected=(Rejection("T003", "prices are wrong"),), source="report-file")
        if turn.item == "T003" and not turn.copy and states:
            states.append(world.text)
        return None

    world.say = say
    state = world.simulator().run()
    assert state.decision == "DONE", state.stopped
    assert states[0] == TASKS.replace("[ ]", "[X]")
    assert states[1] == TASKS.replace("[ ]", "[X]").replace("[X] T003", "[ ] T003")
    assert world.text == TASKS.replace("[ ]", "[X]")


def appended(world: Filed) -> Callable[[Effect, State], None]:
    """A person adds an entry while the first batch is worked on."""

    def append(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and "T005" not in world.text:
            world.path.write_text(world.text + "- [ ] T005 Describe it in README.md\n")

    return append


def test_a_new_entry_becomes_a_new_item_and_is_worked_on(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.before = appended(world)
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert "[X] T005" in world.text
    assert "T005: new in specs/001-bills/tasks.md, and worked on" in notes(simulator)


@pytest.mark.parametrize(("answer", "mark"), [("yes", "X"), ("no", " ")])
def test_where_somebody_is_there_they_are_asked_about_a_new_entry(tmp_path: Path, answer: str, mark: str) -> None:
    world = Filed(tmp_path)
    asked: list[str] = []

    def say(ask: Ask) -> str:
        asked.append(ask.question.text)
        return answer

    world.before, world.says = appended(world), say
    state = world.simulator(attended=True).run()
    assert state.decision == "DONE", state.stopped
    assert asked == ["specs/001-bills/tasks.md has 1 new entry: T005. Work on them, too?"]
    assert f"[{mark}] T005" in world.text


@pytest.mark.parametrize(
    ("old", "new", "answer", "worked"),
    [
        ("- [ ] T004 Print a bill in pkg/bill.py\n", "", "drop", False),
        ("- [ ] T004 Print a bill in pkg/bill.py\n", "", "keep", True),
        ("Print a bill", "Print two bills", "new", True),
        ("Print a bill", "Print two bills", "old", True),
        ("Print a bill", "Print two bills", "drop", False),
    ],
)
def test_an_entry_that_vanished_or_reads_otherwise_is_parked_with_a_question(
    tmp_path: Path, old: str, new: str, answer: str, worked: bool
) -> None:
    world = Filed(tmp_path)
    world.before = edited(world, old, new)
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.stopped
    assert "T004" in state.stopped.reason
    assert ids(world.saved[state.main.head]) == ["T001", "T002", "T003"], "the others went on"
    key = next(iter(state.questions))
    state = answered(simulator, key, answer)
    assert state.decision == "DONE", state.stopped
    assert ("T004" in ids(world.saved[state.main.head])) is worked
    if "two bills" in world.text:
        texts = {item.id: item.text for item in state.items}
        expected = {"new": "Print two bills in pkg/bill.py", "old": "Print a bill in pkg/bill.py"}
        assert texts.get("T004") == expected.get(answer)


def answered(simulator: Simulator, key: str, answer: str) -> State:
    simulator.append(SessionStarted(1, "here", "0"), PersonSpoke("answer", answer, question=key))
    return simulator.run()


def test_an_order_that_changed_changes_nothing(tmp_path: Path) -> None:
    lines = TASKS.splitlines(keepends=True)
    turned = "".join((*lines[:5], lines[7], lines[6], lines[5]))
    world = Filed(tmp_path)

    def turn_round(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and world.text == TASKS:
            world.path.write_text(turned)

    world.before = turn_round
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert world.text == turned.replace("[ ]", "[X]")
    assert notes(simulator) == []


def test_a_persons_own_tick_is_taken_if_the_gates_hold_and_named_in_the_report(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.before = edited(world, "[ ] T004", "[x] T004")
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert "T004" not in ids(world.saved[state.main.head])
    assert notes(simulator) == [f"T004: ticked in {PLACE} by a person; taken: the gates hold"]
    assert "[x] T004" in world.text


def red_from_the_start(world: Filed) -> None:
    world.red = lambda parts: () if "T001" in parts else ("tests/test_all.py::test_old",)


def test_a_tick_is_reported_as_unverified_where_the_gates_do_not_hold_and_nobody_is_there(tmp_path: Path) -> None:
    world = Filed(tmp_path, TASKS.replace("[ ] T004", "[X] T004"))
    red_from_the_start(world)
    simulator = world.simulator()
    simulator.run()
    assert notes(simulator) == [
        f"T004: ticked in {PLACE} by a person; taken as done, unverified: the gates do not hold"
    ]


@pytest.mark.parametrize(("answer", "worked"), [("done", False), ("work", True)])
def test_somebody_who_is_there_is_asked_about_a_tick_while_the_gates_do_not_hold(
    tmp_path: Path, answer: str, worked: bool
) -> None:
    world = Filed(tmp_path, TASKS.replace("[ ] T004", "[X] T004"))
    red_from_the_start(world)
    asked: list[str] = []

    def say(ask: Ask) -> str:
        asked.append(ask.question.name)
        return answer

    world.says = say
    simulator = world.simulator(attended=True)
    state = simulator.run()
    assert "source-ticked" in asked
    assert ("T004" in ids(world.saved[state.main.head])) is worked
    assert any("unverified" in note for note in notes(simulator)) is not worked


def test_a_box_that_a_person_opened_again_is_worked_on_again(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    opened: list[int] = []

    def open_again(effect: Effect, state: State) -> None:
        if isinstance(effect, RunAgent) and effect.item == "T004" and not opened:
            opened.append(1)
            world.path.write_text(world.text.replace("[X] T002", "[ ] T002"))

    world.before = open_again
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert [f.items for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun)][-1] == ("T002",)
    assert world.text == TASKS.replace("[ ]", "[X]")


def test_a_file_that_changes_in_the_instant_of_the_mark_is_read_again_and_marked_then(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    changed: list[int] = []

    def change(effect: Effect, _state: State) -> None:
        if isinstance(effect, MarkEntries) and len(changed) < 2:
            changed.append(1)
            world.path.write_text(world.text + "\nA remark.\n")

    world.before = change
    state = world.simulator().run()
    assert state.decision == "DONE", state.stopped
    assert world.text == TASKS.replace("[ ]", "[X]") + "\nA remark.\n" * 2


def test_a_file_that_always_changes_is_given_up_with_a_question(tmp_path: Path) -> None:
    world = Filed(tmp_path)

    def change(effect: Effect, _state: State) -> None:
        if isinstance(effect, MarkEntries):
            world.path.write_text(world.text + "\n")

    world.before = change
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.stopped
    assert "could not be marked" in state.stopped.reason
    world.before = lambda _effect, _state: None
    state = answered(simulator, next(iter(state.questions)), "reset")
    assert state.decision == "DONE", state.stopped


def test_a_file_that_cannot_be_read_any_more_is_asked_about_with_its_line(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.before = edited(world, "pkg/bill.py", "pkg/bill.py (depends on T099)")
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.stopped
    assert "line 8: T004 depends on T099" in state.stopped.reason
    world.before = lambda _effect, _state: None
    world.path.write_text(world.text.replace(" (depends on T099)", ""))
    state = answered(simulator, next(iter(state.questions)), "reset")
    assert state.decision == "DONE", state.stopped


def test_a_mark_that_was_made_but_not_journalled_is_made_once(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    done: list[int] = []

    def twice(effect: Effect, _state: State) -> None:
        if isinstance(effect, MarkEntries) and not done:
            done.append(1)
            world.plan_files.mark(effect)

    world.before = twice
    state = world.simulator().run()
    assert state.decision == "DONE", state.stopped
    assert world.text == TASKS.replace("[ ]", "[X]")


class Issues(PlanFiles):
    """A tracker in memory: it tells its issues once, and remembers what was closed."""

    plan = read_github(
        b'[{"number": 7, "title": "One", "state": "OPEN"}, {"number": 8, "title": "Two", "state": "OPEN"}]'
    )

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.closed: list[tuple[str, str]] = []

    def read(self, request: ReadPlan) -> PlanRead:
        return PlanRead("1", None if request.seen else self.plan)

    def mark(self, request: MarkEntries) -> EntriesMarked:
        self.closed.extend((change.key.id, change.after) for change in request.changes)
        return EntriesMarked("2")


@pytest.mark.parametrize("switched_on", [False, True])
def test_github_issues_are_closed_only_at_the_end_and_only_if_that_was_switched_on(
    tmp_path: Path, switched_on: bool
) -> None:
    world = Filed(tmp_path)
    world.plan_files = issues = Issues(tmp_path)
    stages: list[str] = []
    world.before = lambda effect, state: stages.append(state.main.stage) if isinstance(effect, MarkEntries) else None
    task = replace(
        a_plan_task(close_issues=switched_on), source=Source("github", "1", "github"), items=issues.plan.items
    )
    state = simulated(world, task).run()
    assert state.decision == "DONE", state.stopped
    assert issues.closed == ([("#7", "CLOSED"), ("#8", "CLOSED")] if switched_on else [])
    assert stages == (["REPORT"] if switched_on else [])


def test_what_is_done_to_the_file_stands_in_the_items_too(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    simulator = world.simulator()
    simulator.run()
    done = [f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "completed"]
    assert done == ["T001", "T002", "T003", "T004"]


def test_the_file_is_read_again_before_each_batch(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    seen: list[str] = []
    world.before = lambda effect, _state: seen.append(type(effect).__name__)
    world.simulator().run()
    order = "".join({"ReadPlan": "r", "OpenLane": "o", "MarkEntries": "m"}.get(name, "") for name in seen)
    assert re.fullmatch("r+o(m?r+m?o+)*m?r+m?r*", order), order
    assert order.count("o") == 4


def test_a_parent_that_a_person_left_open_is_left_open(tmp_path: Path) -> None:
    text = "- [ ] all of it\n  - [x] one\n- [ ] two\n  - [ ] three\n"
    world = Filed(tmp_path, text, "plain", "tasks.md")
    state = world.simulator().run()
    assert state.decision == "DONE", state.stopped
    assert world.text == "- [ ] all of it\n  - [x] one\n- [x] two\n  - [x] three\n"


def rolled_back_to_start(simulator: Simulator) -> None:
    """A person's rollback as far as items go; the file is left to the next session, as where it could not be marked at once."""
    state = simulator.known
    labels = frozenset(batch.label for batch in state.batches.accepted)
    simulator.append(PersonSpoke("reopen"), *undo(state, labels, "start"), Moved("GATHER", state.main.stage, "back"))
    simulator.append(TaskStopped("paused", "rolled back"), SessionStarted(2, "here", "0"))


@pytest.mark.req("O45")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T004 Print a bill in pkg/bill.py\n", "T004 Print a bill in pkg/bill.py\n\nA remark.\n"),
        ("# Tasks: Bills\n", "# Tasks: Bills\n\n## A new title\n"),
        ("## Phase 2: Work\n", "## Phase 2: Work\n- [ ] T009 Also this in pkg/more.py\n"),
    ],
)
def test_marks_of_ours_that_a_rollback_left_in_a_file_somebody_edited_are_nobodys_ticks(
    tmp_path: Path, old: str, new: str
) -> None:
    world = Filed(tmp_path)
    simulator = world.simulator()
    assert simulator.run().decision == "DONE"
    rolled_back_to_start(simulator)
    world.path.write_text(world.text.replace(old, new))
    before: list[str] = []
    world.before = lambda effect, _state: before.append(world.text) if isinstance(effect, RunAgent) else None
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert "[X]" not in before[0], "our marks were taken back before anything was worked"
    assert not [note for note in notes(simulator) if "by a person" in note]
    begun = [item for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun) for item in f.items]
    assert [begun.count(id) for id in ("T001", "T002", "T003", "T004")] == [2, 2, 2, 2]
    assert "[ ]" not in world.text


def test_a_tick_a_person_made_after_opening_a_box_of_ours_is_theirs(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    ticked: list[str] = []

    def open_then_tick(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and effect.item == "T004" and not ticked:
            ticked.append("opened")
            world.path.write_text(world.text.replace("[X] T002", "[ ] T002"))
        elif isinstance(effect, RunAgent) and effect.item == "T002" and ticked == ["opened"]:
            ticked.append("ticked")
            world.path.write_text(world.text.replace("[ ] T002", "[X] T002"))
            raise KeyboardInterrupt

    world.before = open_then_tick
    simulator = world.simulator()
    with pytest.raises(KeyboardInterrupt):
        simulator.run()
    known = simulator.known.record
    assert isinstance(known, PlanRecord)
    assert "T002" not in {change.key.id for change in known.imported.written}


@pytest.mark.req("O50")
def test_a_plan_of_the_users_is_never_replaced_by_a_planner_though_nothing_else_helps(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    other = Item("T002", "something else", files=("pkg/other.py",), acceptance=("it is there",))
    world.plan = Claim(status="complete", plan=f"# Plan\n\n{render((other,))}\n", source="report-file")

    def say(turn: RunAgent, state: State) -> Claim | None:
        rejected = turn.copy and turn.stage == "REVIEW" and "T002" in state.lanes
        return Claim(verdict="fail", rejected=(Rejection("T002", "no"),), source="report-file") if rejected else None

    world.say = say
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert not [turn for turn in simulator.turns if turn.role == "planner"]
    rungs = [f.rung for f in simulator.of(Judged) if isinstance(f, Judged) and f.rung]
    assert rungs[-2:] == ["fresh-context", "smaller-scope"]
    assert [item.id for item in state.items] == ["T001", "T002", "T003", "T004"]
    assert "[ ] T002 [P] Read orders" in world.text


@pytest.mark.req("O50")
def test_a_lane_in_which_every_remedy_was_tried_asks_where_the_plan_is_the_users(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.red = lambda parts: ("tests/test_orders.py::test_read",) if "T002" in parts else ()
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert not [turn for turn in simulator.turns if turn.role == "planner"]
    assert [item.id for item in state.items] == ["T001", "T002", "T003", "T004"]


@pytest.mark.req("O22")
def test_a_person_changes_the_plan_they_are_shown_in_their_file_and_no_planner_is_asked(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    asked: list[Ask] = []

    def say(ask: Ask) -> str:
        asked.append(ask)
        if len(asked) == 1:
            new = world.text.replace("Print a bill", "Print two bills").replace("- [ ] T003", "- [ ] T007")
            world.path.write_text(new)
            return "two bills, please, and leave T003 out"
        return "yes"

    world.says = say
    simulator = world.simulator(approve_plan=True, attended=True)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert not [turn for turn in simulator.turns if turn.role == "planner"]
    assert [ask.question.name for ask in asked] == ["plan", "plan"]
    assert "edit that file, and answer: again" in asked[0].question.text
    assert "Print two bills" in asked[1].question.detail
    assert ids(world.saved[state.main.head]) == ["T001", "T002", "T004", "T007"]
    assert "[ ]" not in world.text


def test_a_plan_that_nobody_was_asked_about_is_said_to_be_taken_from_the_file(tmp_path: Path) -> None:
    simulator = Filed(tmp_path).simulator()
    simulator.run()
    assert [f.by for f in simulator.of(PlanReviewed) if isinstance(f, PlanReviewed)] == ["document"]
    lines = [LINES[PlanReviewed](f) for f in simulator.of(PlanReviewed)]
    assert lines == ["plan taken from the file"]


@pytest.mark.parametrize(
    ("old", "new"), [("# Tasks: Bills\n", "# Tasks: Bills\n- [ ] T000 Think first\n"), ("[X] T003", "[ ] T003")]
)
def test_what_is_open_in_the_file_after_the_final_review_is_worked_before_the_task_is_done(
    tmp_path: Path, old: str, new: str
) -> None:
    world = Filed(tmp_path)
    edits: list[str] = []

    def edit(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and effect.purpose == "final" and not edits:
            edits.append(new)
            world.path.write_text(world.text.replace(old, new))

    world.before = edit
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert edits
    assert {item.status for item in state.items} == {"completed"}
    assert "[ ]" not in world.text


def test_a_mark_that_was_made_but_not_journalled_is_ours_after_a_rollback(tmp_path: Path) -> None:
    world = Filed(tmp_path)

    def die(effect: Effect, _state: State) -> None:
        if isinstance(effect, MarkEntries):
            world.plan_files.mark(effect)
            raise KeyboardInterrupt

    world.before = die
    simulator = world.simulator()
    with pytest.raises(KeyboardInterrupt):
        simulator.run()
    assert "[X] T001" in world.text
    (open_effect,) = simulator.known.open.values()
    simulator.append(Ended(open_effect.id, Interrupted("killed"), open_effect.attempt))
    rolled_back_to_start(simulator)
    world.before = lambda _effect, _state: None
    world.path.write_text(world.text + "\nA remark.\n")
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert not [note for note in notes(simulator) if "by a person" in note]
    begun = [item for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun) for item in f.items]
    assert begun.count("T001") == 2


NUMBERED = "- [ ] **1** Read orders\n- [ ] **2** Read prices\n"
UNNUMBERED = "- [ ] print a bill\n- [ ] print two bills\n- [ ] print three bills\n"


def test_entries_without_numbers_that_are_added_do_not_make_numbered_ones_others(tmp_path: Path) -> None:
    world = Filed(tmp_path, NUMBERED, "plain", "tasks.md")

    def append(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and effect.purpose == "final" and "bill" not in world.text:
            world.path.write_text(world.text + UNNUMBERED)

    world.before = append
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    begun = [item for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun) for item in f.items]
    assert len(begun) == len(set(begun)) == len(state.items) == 5
    assert "[ ]" not in world.text


def test_marks_of_ours_are_ours_though_added_entries_changed_how_numbers_are_read(tmp_path: Path) -> None:
    world = Filed(tmp_path, NUMBERED, "plain", "tasks.md")
    simulator = world.simulator()
    assert simulator.run().decision == "DONE"
    rolled_back_to_start(simulator)
    world.path.write_text(world.text + UNNUMBERED)
    state = simulator.run()
    assert state.decision == "BLOCKED", "their words are read otherwise, so a person is asked"
    assert state.stopped
    assert "reworded" in state.stopped.reason
    assert world.text.startswith(NUMBERED), "and nothing says meanwhile that they are done"
