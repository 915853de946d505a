"""Tests that fail before any work: part of the work or known failures, decided once, before the first turn."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.loop import gates, questions
from flyball.core.loop.answers import Follow, first_word
from flyball.core.loop.step import Step, halt, record
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import Fact, FailuresDecided, TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId, Item
from flyball.core.text.failing_tests import EVERY, asks_for_failing_tests, is_every, named_tests
from flyball.core.text.quantities import first_few, plural

SHOWN = 5


def decide_failures(state: State, baseline: Measurement) -> Step | None:
    """The decision as a fact, or what a person must say first; nothing where it was made, or nothing fails."""
    if state.midway or not baseline.known:
        return None
    if state.failures is None:
        decided = _by_rule(state, baseline)
        if decided is None and state.task.settings.attended:
            return questions.put(state, state.main, _question(baseline), _follow(baseline))
        return record(decided or FailuresDecided((), "nobody", baseline.counts.known_failing))
    if state.work or state.failures.by == "person":
        return None
    silent = baseline.passes_nothing
    if silent is None or state.turns:
        return None
    message = f"no test of the gate {silent.name} passes on the untouched tree, so it could not tell good work from bad"
    remedy = "let `setup` install what is missing, or say that the failing tests are the work: --failing work"
    return halt(TaskStopped("blocked", f"{message}; {remedy}", silent.evidence))


def required_work(state: State, lane: Lane) -> tuple[str, ...]:
    """The tests that must pass in what a lane does now: all the work, or for one item of several those that it names."""
    if not lane.item and state.batches.current is None:
        return state.work
    own = tuple(item for item in state.items if item.id == lane.item)
    known = state.baseline.known if state.baseline else ()
    return tuple(test for test in named_work(own, known) if is_every(state.work) or test in state.work)


def with_work_failing(state: State, lane: Lane, found: Measurement) -> Measurement:
    """What was measured, with tests that are part of the lane's work among the failing ones: on the untouched tree they are among the known."""
    work = required_work(state, lane)
    failing = found.counts.known_failing if is_every(work) else sum(test in work for test in found.known)
    counts = found.counts
    counts = replace(counts, failing=counts.failing + failing, known_failing=counts.known_failing - failing)
    return replace(found, counts=counts)


def named_work(items: tuple[Item, ...], tests: tuple[str, ...]) -> tuple[str, ...]:
    return named_tests("\n".join(_text(item) for item in items), tests)


def shows_red(state: State) -> bool:
    """Whether every criterion asks for tests that fail already, so that no new test has to show what is to be done."""
    known = state.baseline.known if state.baseline else ()
    return bool(state.work and state.items) and all(
        asks_for_failing_tests(_text(item)) or named_tests(_text(item), known) for item in state.items
    )


def unfinished_work(measured: Measurement) -> str:
    """Why work is not done, in one line; empty where it is."""
    missing = gates.doubts(measured) + gates.not_all_passing(measured)
    return f"tests that are part of the work still fail: {first_few(missing, SHOWN)}" if missing else ""


def _by_rule(state: State, baseline: Measurement) -> FailuresDecided | None:
    said, failing = state.task.settings.failing, baseline.counts.known_failing
    if said != "ask":
        return FailuresDecided((EVERY,) if said == "work" else (), "setting", failing)
    text = "\n".join((state.task.request, state.task.document, *map(_text, state.items if state.items_own else ())))
    work = (EVERY,) if asks_for_failing_tests(text) else named_tests(text, baseline.known)
    return FailuresDecided(work, "request", failing) if work else None


def _text(item: Item) -> str:
    return "\n".join((item.text, *item.acceptance))


def _question(baseline: Measurement) -> Question:
    failing = plural(baseline.counts.known_failing, "test fails", "tests fail")
    nothing = " and none passes" if baseline.passes_nothing else ""
    options = (
        Option("work", "they are part of the work: it is not done while one of them fails"),
        Option("known", "they are known failures: no other test may fail, and the report lists them"),
        Option("abort", "end the task"),
    )
    text = f"{failing} before any work{nothing}. Are they part of the work?"
    key = f"failing-{baseline.failing_ref}" if baseline.failing_ref else ""
    return Question("failing-tests", text, options, detail="\n".join(baseline.known[:60]), kept=key)


def _follow(baseline: Measurement) -> Follow:
    def follow(_lane: Lane, _key: EffectId, answer: str) -> tuple[Fact, ...]:
        work = first_word(answer) in {"work", "yes", "y"}
        return (FailuresDecided((EVERY,) if work else (), "person", baseline.counts.known_failing),)

    return follow
