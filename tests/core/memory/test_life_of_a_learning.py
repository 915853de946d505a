"""The whole life of a learning over two tasks, simulated: recorded, kept, recalled, repeated, contradicted, undone."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from tests.core.memory.folding import learnings_of
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, ClaimedRevision, DesignDecision
from flyball.core.fold.evolve import fold
from flyball.core.memory.recalling import recall
from flyball.core.memory.settling import settle
from flyball.core.model.effects import Measure, Recall, RunAgent
from flyball.core.model.events import Begun, Ended, LearningRecorded, LearningRevised
from flyball.core.model.learnings import Learnings
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Recalled, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import Item, Task, TaskId
from flyball.core.workflows.quick import workflow as quick

CSV = DesignDecision("Rows of the export", choice="use the csv module of the library", alternatives=("split by hand",))
REJECTED = Claim(verdict="fail", exit_signal=True, findings=(Finding("major", "quotes are lost", "export.py"),))


class Office(World):
    """A quick task: the implementer changes `export.py` and claims what it is told to, the reviewer says what it is told to."""

    def __init__(self, *claims: Claim, reviews: tuple[Claim, ...] = ()) -> None:
        super().__init__(self.work, self.look)
        self.claims, self.reviews = list(claims), list(reviews)

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        if turn.copy:
            return ok(self.reviews.pop(0) if self.reviews else APPROVED)
        self.tree = f"tree-{turn.turn}"
        return ok(self.claims.pop(0) if self.claims else DONE)

    def look(self, measure: Measure, _state: State) -> Measurement:
        changed = () if measure.kind == "baseline" else ("export.py",)
        return replace(suite(measure.candidate, self.saved.get(measure.candidate, self.tree)), changed=changed)


def task(number: int, request: str) -> Task:
    return replace(a_task(), id=TaskId(f"00{number}-{request.split(maxsplit=1)[0]}"), workflow="quick", request=request,
                   items=(Item("AC-1", request),))  # fmt: skip


def play(world: World, number: int = 1, request: str = "export rows as text", **others: Simulator) -> Simulator:
    world.others = {each.known.task.id: learnings_of(each.events) for each in others.values()}
    simulator = Simulator(world, task(number, request), quick.WORKFLOW.stages[0])
    simulator.run()
    return simulator


def deciding(*decisions: DesignDecision, **more: Any) -> Claim:
    return msgspec.structs.replace(DONE, decisions=decisions, **more)


def prompts(simulator: Simulator, *, reviewer: bool = False) -> list[str]:
    return [turn.prompt for turn in simulator.turns if bool(turn.copy) == reviewer]


def states(*simulators: Simulator) -> dict[str, str]:
    tasks: dict[str, Learnings] = {each.known.task.id: learnings_of(each.events) for each in simulators}
    return {key: entry.standing for key, entry in settle(tasks).items()}


@pytest.mark.req("O40", "O41")
def test_a_decision_of_one_task_reaches_implementer_and_reviewer_of_the_next() -> None:
    first = play(Office(deciding(CSV)))
    (fact,) = first.of(LearningRecorded)
    assert isinstance(fact, LearningRecorded)
    assert (fact.files, fact.source, fact.turn, fact.commit != "") == (("export.py",), "report", 1, True)
    assert states(first) == {"001-export/1": "kept"}
    second = play(Office(), 2, "import rows of the export", first=first)
    shown = "- 001-export/1 Rows of the export: use the csv module of the library | files: export.py"
    assert all(shown in prompt for prompt in (*prompts(second), *prompts(second, reviewer=True)))
    assert [turn.recalled for turn in second.turns] == [("001-export/1",)] * 2
    unrelated = play(Office(), 3, "translate the login form", first=first)
    assert shown not in prompts(unrelated)[0]


@pytest.mark.req("O41")
def test_what_was_recalled_stands_in_the_journal_with_its_scores_and_the_prompt_is_rebuilt_from_it() -> None:
    first = play(Office(deciding(CSV)))
    second = play(Office(), 2, "import rows of the export", first=first)
    outcomes = [f.outcome for f in second.of(Ended) if isinstance(f, Ended) and isinstance(f.outcome, Recalled)]
    (given,) = outcomes[0].learnings
    assert (given.id, given.why) == ("001-export/1", given.why)
    assert given.score >= 2.0
    begun = next(n for n, e in enumerate(second.events) if isinstance(e.fact, Begun) and e.fact.effect.id == "turn/1")
    state = fold(second.events[:begun])
    assert state is not None
    assert quick.WORKFLOW.brief(state, state.main, "implementer", "") == second.turns[0].prompt


@pytest.mark.req("O40", "O42")
def test_the_review_sees_the_decisions_of_the_work_and_the_next_implementer_does_not_before_they_are_kept() -> None:
    simulator = play(Office(deciding(CSV), reviews=(REJECTED,)))
    told = "## Decisions of this work, not accepted yet"
    kept = "- 001-export/1 Rows of the export"
    assert [told in prompt for prompt in prompts(simulator, reviewer=True)] == [False, False], "accepted with its stage"
    assert kept in prompts(simulator, reviewer=True)[0]
    assert kept not in prompts(simulator)[1], "the review rejected the work"
    assert kept in prompts(simulator, reviewer=True)[1]
    assert states(simulator) == {"001-export/1": "kept", "001-export/2": "kept"}
    avoided = "avoid: the review rejected the work: major: quotes are lost"
    assert avoided not in prompts(simulator)[1], "nothing that was accepted shows it yet"
    assert "major: quotes are lost" in prompts(simulator)[1]
    assert avoided in prompts(simulator, reviewer=True)[1]


@pytest.mark.req("O41")
def test_a_learning_that_stood_in_the_prompt_is_not_recorded_again_however_it_is_spelt() -> None:
    first = play(Office(deciding(CSV)))
    echo = DesignDecision("rows of the EXPORT", choice="Use the csv module of the library.")
    other = DesignDecision("Encoding", choice="write UTF-8 with a signature")
    second = play(Office(deciding(echo, other, other)), 2, "import rows of the export", first=first)
    assert [f.title for f in second.of(LearningRecorded) if isinstance(f, LearningRecorded)] == ["Encoding"]


class Naming(Office):
    """An office whose task is about `export.py` from the start."""

    def look(self, measure: Measure, state: State) -> Measurement:
        return replace(super().look(measure, state), changed=("export.py",))


TEXTS = st.text("abc .,-X", min_size=1, max_size=60).filter(lambda text: any(c.isalpha() for c in text))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
@pytest.mark.req("O41")
def test_recalled_text_is_never_recorded_again(said: list[tuple[str, str]]) -> None:
    decisions = tuple(DesignDecision(title, choice=choice) for title, choice in said)
    first = play(Office(deciding(*decisions)))
    second = play(Naming(deciding(*decisions)), 2, "import rows of the export", first=first)
    known = settle({"001-export": learnings_of(first.events)})
    shown = {key: (known[key].fact.title, known[key].fact.choice) for key in second.turns[0].recalled}
    again = {(f.title, f.choice) for f in second.of(LearningRecorded) if isinstance(f, LearningRecorded)}
    assert shown, "they are about the same file or share words"
    assert not set(shown.values()) & again


@pytest.mark.req("O42")
def test_a_contradiction_is_put_to_the_reviewer_who_supersedes_the_earlier_one() -> None:
    first = play(Office(deciding(CSV)))
    new = DesignDecision("Rows of the export", choice="write JSON lines instead")
    second_world = Office(msgspec.structs.replace(Claim(), decisions=(new,)), deciding(), reviews=())
    asked = play(second_world, 2, "import rows of the export", first=first)
    assert states(first, asked)["001-export/1"] == "kept", "nobody has said anything of it"
    tasks = {"001-export": learnings_of(first.events), "002-import": proposed(new)}
    request = Recall(_id(), words="rows export", reviewing=True)
    (found,) = recall(request, "002-import", tasks, first.world.files).contradictions
    assert (found.new, found.old) == ("002-import/1", "001-export/1")


def proposed(decision: DesignDecision) -> Learnings:
    """What a task has learnt whose work is not accepted yet."""
    world = Office(msgspec.structs.replace(Claim(), decisions=(decision,)))
    simulator = Simulator(world, task(2, "import rows"), quick.WORKFLOW.stages[0])
    while not simulator.of(LearningRecorded):
        simulator.step()
    return learnings_of(simulator.events)


def _id() -> Any:
    return "recall/1"


@pytest.mark.req("O42")
def test_a_reviewers_word_is_a_fact_with_an_author_and_only_about_what_it_was_shown() -> None:
    first = play(Office(deciding(CSV)))
    said = msgspec.structs.replace(
        APPROVED,
        invalidates=(ClaimedRevision("001-export/1", "rows are JSON now"), ClaimedRevision("009-other/1", "no")),
    )
    second = play(Office(reviews=(said,)), 2, "import rows of the export", first=first)
    (fact,) = second.of(LearningRevised)
    assert isinstance(fact, LearningRevised)
    assert (fact.learning, fact.by, fact.because, fact.turn) == ("001-export/1", "reviewer", "rows are JSON now", 2)
    assert states(first, second)["001-export/1"] == "stale"
    third = play(Office(), 3, "import rows of the export", first=first, second=second)
    assert "001-export/1" not in prompts(third)[0]
    author = msgspec.structs.replace(DONE, invalidates=said.invalidates)
    assert play(Office(author), 4, "import rows of the export", first=first).of(LearningRevised) == []


class Forgetful(Office):
    def recall(self, effect: Recall, state: State) -> Recalled:
        return Recalled(problem=f"{effect.id} of {state.task.id}: the disk is gone")


@pytest.mark.req("O41")
def test_where_nothing_can_be_recalled_the_last_own_learnings_that_stand_are_given() -> None:
    simulator = play(Forgetful(deciding(CSV), reviews=(REJECTED,)))
    assert simulator.known.decision == "DONE"
    assert "001-export/1 Rows" in prompts(simulator, reviewer=True)[0]
    assert "001-export/1 Rows" not in prompts(simulator)[1], "not what a review rejected"
    assert "avoid: the review rejected the work" in prompts(simulator, reviewer=True)[1]


class Slow(Office):
    """An office in which the first three turns leave fewer and fewer tests red."""

    def look(self, measure: Measure, state: State) -> Measurement:
        failing = tuple(f"t::{n}" for n in range(4 - state.turns if state.turns else 0))
        measured = super().look(measure, state)
        return replace(suite(measured.candidate, measured.tree, failing=failing), changed=measured.changed)


@pytest.mark.req("O41")
def test_the_same_question_is_not_asked_twice_within_a_stage() -> None:
    simulator = play(Slow())
    asked = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Recall)]
    assert len(simulator.turns) == 5
    assert len(asked) == 3, "before the first turn, once its files are known, and for the reviewer"
    assert [effect.files for effect in asked] == [(), ("export.py",), ("export.py",)]
