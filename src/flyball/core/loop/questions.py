"""Putting a question to a person, and every question the kernel itself asks; `answers` acts on the answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from shlex import quote

from flyball.core.claims.values import Claim
from flyball.core.loop.answers import HOURLY_LIMIT, Follow, take
from flyball.core.loop.step import NOTHING, Step, halt, perform
from flyball.core.model.effects import Ask, Option, Question
from flyball.core.model.events import Judged, LimitHit, TaskStopped
from flyball.core.model.measurement import CHANGES_OF_TESTS, GateResult
from flyball.core.model.state import Asked, Lane, State
from flyball.core.model.task import MAIN, EffectId
from flyball.core.text.quantities import first_few, plural

FOUR_CHOICES = (
    Option("reset", "clear the counters and try again"),
    Option("skip", "leave this stage unverified and go to the next; every report says so"),
    Option("abort", "end the task"),
    Option("modify", "give new guidance, then try again: modify TEXT"),
)
ROLLBACK = "rollback"
TRICK_SHOWN = 300
PATHS_SHOWN = 5
BLOCKERS_SHOWN = 600
CONFIRMATIONS_BY_DEFAULT = 2
CANNOT_REPORT = 'A report says it by `"exit_signal": true`. If its program cannot report, put exit_signal = "exit-0" beside its command in [agents.NAME] of flyball.toml for the next task.'
OUT_OF_REACH = "out-of-reach"
TOOL_UNUSABLE = "tool-unusable"
CHECKED_BY = {"lint": "lint_clean", "complexity": "complexity"}
"""The criterion of QA that each tool is for."""


def choices(state: State, lane: Lane) -> tuple[Option, ...]:
    """What may be done about a loop that does not move; where a trick was caught, going back is among it."""
    if lane.loop.caught is None:
        return FOUR_CHOICES
    # The command goes back on the task's branch, where a subtask's tree is not.
    like = f", like: flyball rollback {state.task.id} --to last-good" if lane.name == MAIN else ""
    return (*FOUR_CHOICES, Option(ROLLBACK, f"restore the last good tree and try again{like}"))


def led_by_trick(state: State, lane: Lane, reason: str) -> str:
    """A reason the loop ends for, behind what was undone and stands against it, if something does, and before the way out."""
    caught = lane.loop.caught
    restored = [t for t in lane.loop.last.tricks if t.harmless] if lane.loop.last is not None else []
    tests = [t.path for t in (caught.tricks if caught else restored) if t.kind in CHANGES_OF_TESTS]
    if lane.refused and (caught is None or caught.tricks[0].path in lane.refused):
        tests = list(lane.refused)
        lead = f"The agent asked to change {first_few(lane.refused, 3)}, and that was refused."
    elif caught is not None:
        trick = next((t for t in caught.tricks if t.kind not in CHANGES_OF_TESTS), caught.tricks[0])
        undone = trick.kind in CHANGES_OF_TESTS
        what = "A change of a protected file was undone" if undone else "A trick was caught"
        told = f"{trick.path}: {trick.detail}"[:TRICK_SHOWN].rstrip(". ")
        lead = f"{what} in iteration {caught.iteration}: {told}."
    elif tests:
        lead = f"The change of {first_few(sorted(set(tests)), 3)} was undone: the file is protected."
    else:
        return reason
    return f"{lead} {reason[:1].upper()}{reason[1:].rstrip('.')}{way_out(state, tests)}"


def way_out(state: State, paths: Sequence[str]) -> str:
    """How a person allows changes of protected files, as it is typed."""
    options = " ".join(f"--may-change {quote(path)}" for path in sorted(set(paths))[:PATHS_SHOWN])
    return f". If the request needs this change: flyball resume {state.task.id} {options}" if options else ""


def find(state: State, lane: Lane, name: str) -> tuple[EffectId, Asked] | None:
    """The lane's question of that name that is not closed yet."""
    asked = ((k, a) for k, a in state.questions.items() if a.question.name == name and a.lane == lane.name)
    return next(asked, None)


def find_in_task(state: State, name: str) -> tuple[EffectId, Asked] | None:
    """The question of that name that is not closed yet, whichever lane has asked it."""
    return next(((k, a) for k, a in state.questions.items() if a.question.name == name), None)


def put(state: State, lane: Lane, question: Question, follow: Follow | None = None) -> Step:
    """Ask once; wait while it is open; the lane is BLOCKED when nobody can answer. `follow` acts on the answer."""
    asked = find(state, lane, question.name)
    if asked is None:
        return perform(Ask(lane.effect_id(f"ask/{lane.asks + 1}"), question=question, lane=lane.name))
    key, known = asked
    if known.answer is not None:
        return take(state, lane, key, known, follow)
    if key in state.open:
        return NOTHING
    evidence = tuple(line for line in known.question.detail.splitlines() if line)
    return halt(TaskStopped("blocked", known.question.text, evidence, key))


def confirm_criteria(state: State) -> Question:
    listed = "\n".join(f"{i.id}: {i.text}" for i in state.items)
    options = (
        Option("yes", "work to these criteria"),
        Option("TEXT", "say what is wrong; the planner writes them again"),
    )
    return Question("criteria", "Are these the acceptance criteria?", options, default="yes", detail=listed)


def no_exit_signal(lane: Lane) -> Question:
    options = (
        Option("confirm", "run one more turn that only asks the agent to confirm"),
        Option("accept", "accept the stage without the agent's signal; every report says so"),
        Option("abort", "end the task"),
    )
    text = f"{lane.stage}: the gates hold, but the agent has not said that it is done ({lane.loop.unsignalled} times)."
    problems = lane.loop.judged.report_problems if lane.loop.judged is not None else ()
    text += f" Its last report was not taken as written: {problems[0]}." if problems else ""
    if lane.loop.unsignalled == CONFIRMATIONS_BY_DEFAULT:
        return Question("no-exit-signal", text, options, default="confirm")
    # It was asked to confirm and did not: the first option is the one that is proposed.
    confirm, accept, abort = options
    return Question("no-exit-signal", f"{text} {CANNOT_REPORT}", (accept, confirm, abort))


def protected_change(lane: Lane) -> Question:
    options = (Option("allow", "accept the change"), Option("deny", "keep the accepted version"))
    text = "The agent asks to change protected files. Allow it? (`--may-change GLOB` allows it from the start)"
    return Question("protected-change", text, options, detail="\n".join(lane.loop.consent_wanted))


def tool_failure(tool: GateResult) -> str:
    return f"the {tool.name} command cannot be run: {tool.broken}"


def tool_unusable(tool: GateResult) -> Question:
    """Put again on resuming: what was missing may be there without a word from anybody."""
    options = (
        Option("reset", "the tool can run now: measure again"),
        Option("skip", "leave this stage unverified and go to the next; every report says so"),
        Option("abort", "end the task"),
    )
    return Question(TOOL_UNUSABLE, tool_failure(tool), options, detail="\n".join(tool.evidence), again=True)


def work_rejected(state: State, lane: Lane, by: str) -> Question:
    """What a person is asked after the last rejection, with the whole report of the reviewers."""
    checks = lane.loop.last.checks if lane.loop.last else ()
    lines = [f"{c.status}: {c.name}: {c.detail}".rstrip(": ") for c in checks]
    lines += [f"{f.severity}: {f.message}" for f in lane.loop.findings if not f.check]
    why = f": {lane.loop.findings[0].message}" if lane.loop.findings else ""
    text = led_by_trick(state, lane, f"{by} rejected the work {lane.rejections} times{why}")
    return Question(f"{by.lower()}-rejected", text, choices(state, lane), detail="\n".join(lines))


def void_review(lane: Lane, role: str, claim: Claim) -> Question:
    """What a person is asked about a reviewer whose reasons do not count; `reset` has the work reviewed anew."""
    text = f"{lane.stage}: the {role} rejected the work twice, and no finding it gave counts: nothing is approved or rejected."
    told = (f"{each.severity}: {each.place}: {each.message} ({each.aside})" for each in claim.findings)
    return Question("void-review", text, FOUR_CHOICES, detail="\n".join(told))


def hourly_limit(reason: str, ends_at: datetime) -> Question:
    """Its deadline is the end of the hour: nothing is left to choose then."""
    options = (
        Option("wait", f"wait until {ends_at:%H:%M} UTC"),
        Option("continue", "start a new hour now"),
        Option("abort", "end the task"),
    )
    text = f"The hourly limit is reached ({reason}). Wait, continue or abort?"
    return Question(HOURLY_LIMIT, text, options, default="wait", deadline_at=ends_at)


def breaker_open(state: State, lane: Lane) -> Question:
    judged = lane.loop.judged
    seen = (judged.verdict.evidence, *judged.gate_1.missing, *_comparisons(state, lane, judged)) if judged else ()
    text = led_by_trick(state, lane, why_stopped(lane))
    return Question("breaker", text, choices(state, lane), detail="\n".join(seen))


def why_stopped(lane: Lane) -> str:
    """What an open breaker is open for: whatever stands in the way, or a loop that repeats itself."""
    verdict = lane.loop.judged.verdict if lane.loop.judged is not None else None
    if verdict is None or verdict.health != "BLOCKED" or not verdict.blockers:
        return f"{lane.stage} makes no progress: {lane.loop.breaker.reason}"
    told = "; ".join(f"{each.description or each.id} ({each.type})" for each in verdict.blockers)
    return f"{lane.stage} is blocked: {told[:BLOCKERS_SHOWN]}"


def _comparisons(state: State, lane: Lane, judged: Judged) -> tuple[str, ...]:
    if judged.verdict.health != "FLIP-FLOPPING":
        return ()
    own = (c for c in state.checkpoints if c.lane == lane.name and c.stage == lane.stage and not c.accepted)
    turns = [c.label.removeprefix("turn-") for c in own if c.label.startswith("turn-")][-2:]
    return tuple(f"compare the two changes: flyball diff {state.task.id} --turn {turn}" for turn in turns)


def out_of_reach(lane: Lane, hits: Sequence[LimitHit]) -> Question:
    """Put again on resuming: the network may be back without a word from anybody."""
    since = min(hit.since for hit in hits if hit.since is not None)
    names = " and ".join(hit.agent for hit in hits)
    text = f"{names}: no turn has succeeded since {since:%Y-%m-%d %H:%M} UTC ({plural(lane.overloads, 'try', 'tries')}): {hits[-1].detail}"
    options = (Option("reset", "keep trying, for the same time again"), Option("abort", "end the task"))
    return Question(
        OUT_OF_REACH, text, options, detail="\n".join(f"{hit.agent}: {hit.detail}" for hit in hits), again=True
    )


def crashes(state: State, lane: Lane) -> Question:
    text = f"The agent crashed {plural(lane.crashes, 'time')} in a row in {lane.stage}: {lane.crash_detail}"
    return Question("crashes", led_by_trick(state, lane, text), choices(state, lane), detail=lane.crash_detail)
