"""A task whose agent writes markup, terminal escapes and bidi controls into whatever it can write into."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace
from tests.support.builders import Story, measurement, tdd_task

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import (
    Claim,
    ClaimedBlocker,
    ClaimedRevision,
    DesignDecision,
    OpenQuestion,
    ProposedIssue,
    ProtectedChange,
    Rejection,
)
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Verdict
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import (
    Held,
    Judged,
    LearningRecorded,
    LearningRevised,
    PersonSpoke,
    TaskStopped,
)
from flyball.core.model.measurement import Check, GateResult, GateVerdict, Measurement, NewTest, Trick
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.task import Item

HOSTILE = (
    "<script>window.owned=1</script><img src=x onerror=window.owned=1>\"'&amp;</textarea></title><!--/live:head--> "
    "{{7*7}} \x1b]0;owned\x07\x1b[31mred\u202etxt\u2066 \x00 javascript:window.owned=1 " + "w" * 300
)
STEERING = ("\x1b", "\x07", "\x00", "\u202e", "\u2066")
CLAIMED = (
    Claim,
    ClaimedBlocker,
    ClaimedRevision,
    DesignDecision,
    Finding,
    OpenQuestion,
    ProposedIssue,
    ProtectedChange,
    Rejection,
)
WRITTEN: dict[type, tuple[str, ...]] = {
    TurnEnded: ("detail", "session", "final_message", "model"),
    Measurement: ("failing", "missing", "newly_skipped", "old_tests_broken", "flaky"),
    GateResult: ("command", "broken", "output"),
    Trick: ("path", "detail"),
    NewTest: ("id", "file", "detail"),
    Check: ("detail",),
    GateVerdict: ("missing",),
    Observation: ("summary",),
    Verdict: ("evidence",),
    Judged: ("lesson", "disagreements", "patterns_applied", "report_problems", "consent_wanted"),
    LearningRecorded: ("title", "context", "choice", "alternatives", "consequences", "invalidated_if", "files"),
    LearningRevised: ("because",),
    Held: ("reason",),
    Item: ("text", "acceptance", "files", "group"),
    Question: ("text", "detail"),
    Option: ("meaning",),
    TaskStopped: ("reason", "evidence"),
    PersonSpoke: ("text",),
}
"""What of each value comes from an agent or its tree; of a claim it is every text."""


def poison(value: Any) -> Any:
    """The same with hostile text wherever an agent decides what stands there."""
    if isinstance(value, tuple | list):
        return type(value)(poison(each) for each in value)
    if not isinstance(value, msgspec.Struct):
        return value
    fields = msgspec.structs.fields(value)
    changes = {field.name: poison(getattr(value, field.name)) for field in fields}
    texts = {field.name: field.type for field in fields if field.type in {str, tuple[str, ...]}}
    for name in texts if type(value) in CLAIMED else WRITTEN.get(type(value), ()):
        changes[name] = HOSTILE if texts[name] is str else (HOSTILE, f"{HOSTILE} again")
    return replace(value, **changes)


def hostile_story(*, stopped: bool = False) -> Story:
    """An iteration with everything in it, learnings, words, a question, and perhaps an end."""
    claim = Claim(
        status="needs_clarification",
        exit_signal=True,
        verdict="fail",
        findings=(Finding("major", "x", "a.py", 1),),
        blockers=(ClaimedBlocker("external", "x"),),
        questions=(OpenQuestion("x", ("a",)),),
        protected_changes=(ProtectedChange("x"),),
        decisions=(DesignDecision("x"),),
        supersedes=(ClaimedRevision("x"),),
        issues=(ProposedIssue("x"),),
        rejected=(Rejection("x"),),
        metrics={HOSTILE: HOSTILE},
        source="report-file",
    )
    items = (Item("AC-1", "x"), Item("AC-2", "x", depends_on=("AC-1",)))
    story = Story(poison(replace(tdd_task(request=HOSTILE), items=items))).start()
    measured = replace(
        measurement("turn0001", failing=("x",)),
        gates=(GateResult("test", "x", passed=False, exit_code=1),),
        new_tests=(NewTest("x", "x", "failing", "error"),),
        tricks=(Trick("test-deleted", "x", "x"),),
        checks=(Check("lint", "fail", blocking=True),),
    )
    seen = len(story.events)
    story.iterate(measured, claim=claim, signal=True, findings=claim.findings, missing=("x",), error="x", rejected=True)
    story.add(LearningRecorded(1, "decision", "x"), LearningRecorded(2, "anti-pattern", "x"))
    story.add(PersonSpoke("modify", "x"), LearningRevised("1", "x", "reviewer"), Held("provider", "x"))
    options = (Option("yes", "x"), Option("no", "x"), Option("TEXT", ""))
    story.ask(Question("agent-1", "x", options, "yes", detail="x"))
    if stopped:
        story.add(TaskStopped("error", "x"))
    story.events[seen:] = [poison(event) for event in story.events[seen:]]
    return story
