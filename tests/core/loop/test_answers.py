"""What becomes of a person's answer, question by question."""

from typing import Any, Literal

import pytest
from tests.support.builders import a_state
from tests.support.simulator import START, a_task

from flyball.core.claims.findings import Finding
from flyball.core.loop.answers import Follow, take
from flyball.core.loop.questions import put, work_rejected
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import (
    Consented,
    Fact,
    ItemsSet,
    LearningRecorded,
    PersonSpoke,
    QuestionClosed,
    WindowOpened,
)
from flyball.core.model.measurement import Check, Measurement
from flyball.core.model.state import Asked
from flyball.core.model.task import MAIN, EffectId
from flyball.core.workflows.tdd.workflow import on_criteria_answer

KEY = EffectId("ask/1")


def after(
    name: str,
    answer: str,
    *options: str,
    by: Literal["person", "default"] = "person",
    follow: Follow | None = None,
    **known: Any,
) -> list[Fact]:
    """The facts that follow from an answer, without the one that closes the question."""
    question = Question(name, "What now?", tuple(Option(o, "") for o in options))
    state = a_state(a_task(), START, "GREEN", **known)
    closed, *facts = take(state, state.main, KEY, Asked(question, answer=answer, by=by), follow).facts
    assert closed == QuestionClosed(KEY, name, answer.strip(), by)
    return facts


@pytest.mark.req("C22")
@pytest.mark.parametrize("name", ["breaker", "crashes", "qa-rejected", "out-of-reach"])
@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        ("reset", PersonSpoke("reset", question=KEY, lane=MAIN)),
        ("skip", PersonSpoke("skip", question=KEY, lane=MAIN)),
        ("abort", PersonSpoke("abort", question=KEY)),
        (" Abort now", PersonSpoke("abort", question=KEY)),
        ("modify use a table", PersonSpoke("modify", "use a table", question=KEY, lane=MAIN)),
        ("use a table", PersonSpoke("modify", "use a table", question=KEY, lane=MAIN)),
        ("reset the counters", PersonSpoke("reset", question=KEY, lane=MAIN)),
    ],
)
def test_the_four_choices_are_taken_and_anything_else_is_guidance(name: str, answer: str, spoken: PersonSpoke) -> None:
    assert after(name, answer) == [spoken]


@pytest.mark.req("C10")
def test_continue_begins_a_new_window_that_is_known_to_be_forced() -> None:
    assert after("hourly-limit", "continue") == [WindowOpened(forced=True)]


@pytest.mark.req("C40")
def test_a_missing_signal_is_accepted_only_in_so_many_words() -> None:
    assert after("no-exit-signal", "accept") == [PersonSpoke("accept", question=KEY, lane=MAIN)]
    assert after("no-exit-signal", "confirm") == []


@pytest.mark.req("C6")
@pytest.mark.parametrize("answer", ["yes", "Y", "ok"])
def test_criteria_that_are_on_criteria_answer_stay(answer: str) -> None:
    assert after("criteria", answer, follow=on_criteria_answer) == []


@pytest.mark.req("C6")
def test_criteria_that_are_not_are_written_again_with_what_was_said() -> None:
    assert after("criteria", "the second is wrong", follow=on_criteria_answer) == [
        PersonSpoke("modify", "Acceptance criteria: the second is wrong"),
        ItemsSet((), "person"),
    ]


@pytest.mark.req("C42")
@pytest.mark.parametrize(("answer", "allowed"), [("allow", True), ("yes", True), ("deny", False), ("allowed?", False)])
def test_a_protected_change_is_taken_only_if_it_is_allowed_and_as_it_was_seen(answer: str, *, allowed: bool) -> None:
    known: dict[str, Any] = {"consent_wanted": ("a.py: wrong", "b.py: old"), "last": Measurement("turn-4", "t4")}
    (said,) = after("protected-change", answer, **known)
    assert isinstance(said, Consented)
    assert (said.paths, said.by, said.allowed, said.commit) == (("a.py", "b.py"), "a person", allowed, "turn-4")


@pytest.mark.req("C2")
@pytest.mark.parametrize(("by", "source"), [("person", "answered by a person"), ("default", "nobody answered")])
def test_an_agents_question_is_kept_with_its_answer_and_what_was_not_chosen_and_clears_no_counter(
    by: Literal["person", "default"], source: str
) -> None:
    (kept,) = after("agent-4-1", "floats", "floats", "integers", by=by, learned=3)
    assert isinstance(kept, LearningRecorded)
    assert (kept.number, kept.kind, kept.title, kept.choice) == (4, "decision", "What now?", "floats")
    assert kept.alternatives == ("integers",)
    assert kept.context.startswith(source)


def test_abort_is_an_answer_like_any_other_to_an_agents_question() -> None:
    (kept,) = after("agent-4-1", "abort", "abort", "retry")
    assert isinstance(kept, LearningRecorded)
    assert kept.choice == "abort"


@pytest.mark.req("C51")
def test_after_the_last_rejection_the_whole_qa_report_is_shown_and_each_check_once() -> None:
    checks = (Check("readme", "fail", True, "no word of it"), Check("naming", "pass", False))
    findings = (Finding("critical", "readme: no word of it", check="readme"), Finding("major", "it leaks"))
    known = a_state(a_task(), START, "QA", rejections=3, last=Measurement("c", "t", checks=checks), findings=findings)
    asked = work_rejected(known, known.main, "QA")
    assert asked.text == "QA rejected the work 3 times: readme: no word of it"
    assert asked.detail.splitlines() == ["fail: readme: no word of it", "pass: naming", "major: it leaks"]
    known = a_state(a_task(), START, "QA", questions={KEY: Asked(asked)})
    stopped = put(known, known.main, asked).halt
    assert stopped is not None
    assert stopped.evidence == tuple(asked.detail.splitlines())
