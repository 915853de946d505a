"""What becomes of a learning: every state follows from facts, and a person's word is final."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.core.memory.folding import learnings_of
from tests.support.simulator import START

from flyball.core.memory.settling import reference, settle
from flyball.core.memory.standing import KINDS
from flyball.core.model.batch_events import LaneOpened
from flyball.core.model.effects import Restore, RunAgent, Save
from flyball.core.model.events import (
    Begun,
    Ended,
    Event,
    Fact,
    ItemChanged,
    LearningRecorded,
    LearningRevised,
    Moved,
    PersonSpoke,
    TaskReopened,
)
from flyball.core.model.learnings import Learnings
from flyball.core.model.outcomes import Prepared, Restored, Saved
from flyball.core.model.task import MAIN, Commit, EffectId

DECISION = LearningRecorded(1, "decision", "Rows", choice="use the csv module", source="report", turn=1)


class Journal:
    """Facts in order, a minute apart."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.add(Ended(EffectId("prepare"), Prepared(Commit("base"), "t0", "b")))

    def add(self, *facts: Fact) -> "Journal":
        for fact in facts:
            number = len(self.events) + 1
            self.events.append(Event(number, START + timedelta(minutes=number), 1, fact))
        return self

    def turn(self, number: int, lane: str = MAIN) -> "Journal":
        save = Save(EffectId(f"save/{number}"), label="t", message="m", parent=Commit("base"), turn=number, lane=lane)
        return self.add(Begun(save), Ended(save.id, Saved(Commit(f"turn-{number}"), f"t{number}", f"turn-{number}")))

    def accept(self, label: str, tree: str) -> "Journal":
        save = Save(EffectId(f"accept/{label}"), label=label, message="m", parent=Commit("base"), accepted=True)
        return self.add(Begun(save), Ended(save.id, Saved(Commit(f"c-{label}"), tree, label, accepted=True)))

    def restore(self, commit: str, lane: str = MAIN) -> "Journal":
        effect = Restore(EffectId("restore/1"), to=Commit(commit), reason="r", lane=lane)
        return self.add(Begun(effect), Ended(effect.id, Restored(Commit(commit), "t")))

    def states(self) -> list[str]:
        return [each.standing for each in learnings_of(self.events).known.values()]


def test_a_decision_is_proposed_until_its_work_is_accepted_o40() -> None:
    journal = Journal().turn(1).add(DECISION)
    assert journal.states() == ["proposed"]
    assert journal.accept("GREEN", "t1").states() == ["kept"]
    (known,) = learnings_of(journal.events).known.values()
    assert known.because == "accepted with GREEN"


def test_a_rejection_makes_it_a_proposal_again_until_the_work_is_accepted_anew_o40() -> None:
    journal = Journal().turn(1).add(DECISION).accept("GREEN", "t1")
    journal.add(Moved("GREEN", "QA", "it leaks", rejected=True))
    assert journal.states() == ["proposed"]
    assert journal.turn(2).accept("GREEN-2", "t2").states() == ["kept"]


def test_what_an_earlier_round_delivered_is_not_doubted_by_a_rejection_of_the_next_o40() -> None:
    journal = Journal().turn(1).add(DECISION).accept("GREEN", "t1").add(TaskReopened("more"))
    journal.turn(2).add(replace(DECISION, number=2, title="Other", turn=2)).accept("GREEN-2", "t2")
    assert journal.add(Moved("GREEN", "QA", "no", rejected=True)).states() == ["kept", "proposed"]


def test_going_back_leaves_later_decisions_undone_and_earlier_ones_standing_o45() -> None:
    journal = Journal().turn(1).add(DECISION).accept("RED", "t1")
    journal.turn(2).add(replace(DECISION, number=2, title="Other", turn=2)).accept("GREEN", "t2")
    journal.add(LearningRecorded(3, "anti-pattern", "it fell", source="rollback", turn=2))
    assert journal.accept("rollback-9", "t1").restore("c-RED").states() == ["kept", "undone", "proposed"]
    assert journal.turn(3).accept("GREEN-2", "t3").states() == ["kept", "undone", "kept"]


@pytest.mark.req("C16")
@pytest.mark.parametrize("source", ["review", "rollback"])
def test_an_alarm_teaches_nothing_until_later_work_is_accepted(source) -> None:
    journal = Journal().turn(1).add(LearningRecorded(1, "anti-pattern", "it fell", source=source, turn=1))
    assert journal.states() == ["proposed"]
    assert journal.turn(2).accept("GREEN", "t2").states() == ["kept"]


def test_going_back_to_work_nobody_had_accepted_makes_its_decision_a_proposal_o45() -> None:
    journal = Journal().turn(1).add(DECISION).turn(2).accept("GREEN", "t2").restore("turn-1")
    assert journal.states() == ["proposed"]


def test_going_back_accepts_nothing_that_was_only_proposed_o45() -> None:
    journal = Journal().turn(1).accept("RED", "t1").turn(2).add(replace(DECISION, turn=2)).turn(3).accept("GREEN", "t3")
    journal.restore("turn-2").accept("rollback-9", "t1")
    assert journal.states() == ["proposed"]


def test_a_decision_of_a_lane_is_kept_when_its_item_is_complete_and_not_before_o40() -> None:
    own = replace(DECISION, lane="lane-1", item="1.1")
    journal = Journal().add(LaneOpened("lane-1", "EXECUTE", Commit("base"), "1.1")).turn(1, "lane-1").add(own)
    assert journal.accept("batch-1", "t5").states() == ["proposed"], "another item's work was accepted"
    assert journal.accept("batch-2", "t6").add(ItemChanged("1.1", "completed")).states() == ["kept"]
    assert journal.add(ItemChanged("1.1", "in-progress")).states() == ["proposed"], "a final review unticked it"
    journal.add(ItemChanged("1.1", "completed"), ItemChanged("1.1", "not-started"))
    assert journal.states() == ["undone"], "its batch was taken back"


def test_going_back_on_the_branch_undoes_what_lanes_brought_in_after_it_o45() -> None:
    journal = Journal()
    for number in (1, 2):
        item = f"1.{number}"
        own = replace(DECISION, number=number, title=item, lane=f"lane-{number}", item=item, turn=number)
        journal.turn(number, own.lane).add(own).accept(f"batch-{number}", f"b{number}")
        journal.add(ItemChanged(item, "completed"))
    assert journal.restore("c-batch-1").states() == ["kept", "undone"]


def test_an_item_begun_anew_leaves_its_first_attempts_decisions_undone_o40() -> None:
    own = replace(DECISION, lane="lane-1", item="1.1")
    journal = Journal().turn(1, "lane-1").add(own, LaneOpened("lane-2", "EXECUTE", Commit("tip"), "1.1"))
    assert journal.states() == ["undone"]
    assert journal.add(ItemChanged("1.1", "completed")).states() == ["undone"]
    carried = LaneOpened("lane-2", "EXECUTE", Commit("tip"), "1.1", start=Commit("carried"))
    assert Journal().turn(1, "lane-1").add(own, carried).states() == ["proposed"], "it starts from the earlier work"


@pytest.mark.parametrize("source", ["answer", "default", "adopted"])
def test_what_a_person_said_needs_no_acceptance_and_no_rollback_undoes_it_o40(source: str) -> None:
    told = replace(DECISION, source=source, turn=3)
    assert Journal().add(told).restore("base").states() == ["kept"]


def test_a_person_drops_and_keeps_by_number_whatever_happened_o41() -> None:
    journal = Journal().turn(1).add(DECISION).accept("GREEN", "t1").add(PersonSpoke("drop", "1 because rows moved"))
    (known,) = learnings_of(journal.events).known.values()
    assert (known.standing, known.because) == ("dropped", "a person dropped it: rows moved")
    assert journal.accept("GREEN-2", "t2").states() == ["dropped"]
    assert journal.add(PersonSpoke("keep", "1")).restore("base").states() == ["kept"]
    assert journal.add(PersonSpoke("drop", "nonsense"), PersonSpoke("drop", "7")).states() == ["kept"]


def test_the_facts_that_are_named_are_all_that_is_needed_o41() -> None:
    journal = Journal().turn(1).add(DECISION).accept("GREEN", "t1").restore("base")
    turn = RunAgent(EffectId("turn/9"), "implementer", "GREEN", "a", "", "p", 1, 9)
    noisy = [*journal.events, Event(99, START, 1, Begun(turn))]
    kinds = [str(type(e.fact).__struct_config__.tag) for e in noisy]
    chosen = [e for e, kind in zip(noisy, kinds, strict=True) if kind in KINDS and not _of_a_turn(e)]
    assert learnings_of(chosen) == learnings_of(noisy)


def _of_a_turn(event: Event) -> bool:
    return isinstance(event.fact, Begun) and isinstance(event.fact.effect, RunAgent)


# Several tasks.


def kept(*facts: LearningRecorded, after: tuple[Fact, ...] = (), day: int = 0) -> Learnings:
    journal = Journal().turn(1).add(*facts).accept("GREEN", "t1").add(*after)
    events = [replace(event, at=event.at + timedelta(days=day)) for event in journal.events]
    return learnings_of(events)


def test_a_kept_decision_supersedes_what_it_names_in_any_task_o40() -> None:
    newer = replace(DECISION, title="Rows again", supersedes=("001-a/1",))
    tasks = {"001-a": kept(DECISION), "002-b": kept(newer, day=1)}
    settled = settle(tasks)
    assert (settled["001-a/1"].standing, settled["001-a/1"].by) == ("superseded", "002-b/1")
    assert settled["002-b/1"].standing == "kept"
    undone = {**tasks, "002-b": learnings_of(Journal().turn(1).add(newer).restore("base").events)}
    assert settle(undone)["001-a/1"].standing == "kept", "what was undone supersedes nothing"
    earlier = {"001-a": kept(DECISION, day=2), "002-b": kept(newer)}
    assert settle(earlier)["001-a/1"].standing == "kept", "nothing is superseded by what is older"


def test_in_a_chain_the_first_stays_superseded_o40() -> None:
    chain = [replace(DECISION, number=n, title=f"v{n}", supersedes=(str(n - 1),) if n > 1 else ()) for n in (1, 2, 3)]
    settled = settle({"001-a": kept(*chain)})
    assert [e.standing for e in settled.values()] == ["superseded", "superseded", "kept"]


def test_a_reviewers_word_reaches_learnings_of_other_tasks_and_no_persons_o42() -> None:
    said = LearningRevised("001-a/1", "rows are JSON now", "qa")
    settled = settle({"001-a": kept(DECISION), "002-b": kept(replace(DECISION, title="x"), after=(said,), day=1)})
    assert settled["001-a/1"].standing == "stale"
    assert settled["001-a/1"].because == "qa of 002-b: rows are JSON now"
    person = kept(DECISION, after=(PersonSpoke("keep", "1"),))
    assert settle({"001-a": person, "002-b": kept(after=(said,), day=1)})["001-a/1"].standing == "kept"


def test_a_reviewer_who_favours_a_decision_supersedes_only_once_that_is_kept_o42() -> None:
    said = LearningRevised("001-a/1", "faster", "qa", favours="1")
    new = replace(DECISION, title="x")
    proposed = learnings_of(replace(e, at=e.at + timedelta(days=1)) for e in Journal().turn(1).add(new, said).events)
    assert settle({"001-a": kept(DECISION), "002-b": proposed})["001-a/1"].standing == "kept"
    assert settle({"001-a": kept(DECISION), "002-b": kept(new, after=(said,), day=1)})["001-a/1"].by == "002-b/1"


def test_what_depends_on_something_that_is_gone_is_to_be_checked_o41() -> None:
    first = replace(DECISION, title="Base")
    by_number = replace(DECISION, number=2, title="b", depends_on=("001",))
    by_title = replace(DECISION, number=3, title="c", depends_on=("base",))
    settled = settle({"001-a": kept(first, by_number, by_title, after=(PersonSpoke("drop", "1"),))})
    assert [e.check for e in settled.values()] == ["", "001-a/1 is dropped", "001-a/1 is dropped"]
    assert [e.standing for e in settled.values()] == ["dropped", "kept", "kept"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("3", "001-a/3"),
        ("003", "001-a/3"),
        ("#3", "001-a/3"),
        ("003-use-csv.md", "001-a/3"),
        ("002-b/12", "002-b/12"),
        ("`002-b/learnings/012-x.md`", "002-b/12"),
        ("0", ""),
        ("the third", ""),
    ],
)
def test_a_learning_is_named_by_task_and_number_o41(text: str, meant: str) -> None:
    assert reference("001-a", text) == meant
