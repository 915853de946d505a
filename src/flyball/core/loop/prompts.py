"""What all prompts share, and their `VERSION`, which changes when a sentence of any does; roles stand with their workflow.

A prompt is built from the task, the stage, what was measured, open findings, learnings and guidance, and nothing else. `{nonce}` is
filled in when the turn starts, so that a report cannot be prepared before it.
"""

from __future__ import annotations

import re

from flyball.core.loop.guidance import guidance_lines
from flyball.core.memory.recalling import line
from flyball.core.memory.settling import settle
from flyball.core.model.events import Judged
from flyball.core.model.measurement import REMARKS_MEANING, Measurement
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import Lane, State, Undone
from flyball.core.model.task import MAIN, open_items
from flyball.core.text import quantities
from flyball.core.text.failing_tests import is_every
from flyball.core.text.scrubbing import clean

VERSION = 9
DOCUMENT_SHOWN = 12_000
OUTPUT_SHOWN = 3_000
NONCE = "{nonce}"
listed = quantities.titled_list
FAILURES_SHOWN = 20
LEARNINGS_SHOWN = 6
PROPOSED_SHOWN = 8
LEARNING_LENGTH = 198
REMARK_LENGTH = 400
_PLACEHOLDER = re.compile(r"\{(junit|coverage)\}")
_REPORT_FILE = r"${TMPDIR:-/tmp}/\1.xml"

_PURPOSES = {
    "confirm": (
        "The measurements of your stage hold. Change nothing. If you agree that the stage is finished, answer with the report\n"
        "below and `exit_signal` true (a reviewer repeats its `verdict`); if not, say what is missing in `summary`."
    ),
    "consent": (
        "An implementer asks to change protected files (listed below). Look at the change\n"
        "and decide whether the change is right and weakens no test. Report `verdict` `pass` to allow it, `fail` to refuse."
    ),
}

_REVISING = "If one of them no longer holds, say so in your report: `invalidates` [{id, because}]."
_CONTRADICTING = (
    "Decide each: where the new decision is right, report `supersedes` [{id of the earlier, by: id of the new, because}];\n"
    "where it is not, reject the work."
)

_REPORT = """## Report
When you are finished, write a JSON object to the file named in $FLYBALL_REPORT_FILE, or end your answer with it in a block fenced as
```flyball-report. Set `exit_signal` to true only if this stage is finished; it will be measured.
{"nonce": "{nonce}", "status": "complete|in_progress|blocked|needs_clarification", "exit_signal": false, "summary": "one line",
 "blockers": [{"type": "dependency|external|fundamental", "description": ""}], "questions": [{"text": "", "options": [], "default": ""}],
 "protected_changes": [{"path": "", "reason": ""}], "decisions": [{"title": "", "context": "", "choice": "", "alternatives": [""]}],
 "verdict": "", "findings": [], "issues": [], "plan": ""}
All fields but `nonce` are optional."""


def compose(
    state: State, lane: Lane, role: str, purpose: str, *, text: str, context: tuple[str, ...], measured: str
) -> str:
    """The prompt a role gets now: what it is asked (`text`), what about, how to check it, and what was found out so far."""
    parts = [
        f"# {lane.stage}: {role} for task {state.task.id}, iteration {lane.loop.iteration + 1}",
        _PURPOSES.get(purpose) or text or f"You are the {role} of this task.",
        *context,
        _failures(state),
        _commands(state),
        _may_change(state),
        _consent(lane) if purpose == "consent" else "",
        measured,
        *_change_under_review(state, lane),
        listed("Open findings", tuple(f"{f.severity}: {f.message} {f.file}".rstrip() for f in lane.loop.findings)),
        _lesson(lane),
        listed("Guidance from a person", guidance_lines(state, lane)),
        _learnings(state, lane),
        _REPORT,
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def request(state: State) -> str:
    """What a person asked for, with the document it came from."""
    text = f"## Request\n{state.task.request.strip()}"
    if state.task.document:
        document = state.task.document.strip()
        shown = document[:DOCUMENT_SHOWN]
        cut = "\n[cut here; the whole document is in the repository]" if len(document) > DOCUMENT_SHOWN else ""
        where = f" ({state.task.source.path})" if state.task.source else ""
        text += f"\n\n## Source document{where}\n{shown}{cut}"
    return text


def criteria(state: State) -> str:
    return listed("Acceptance criteria", tuple(f"{i.id}: {i.text}" for i in open_items(state.items)))


def _commands(state: State) -> str:
    """The commands that flyball measures with, as a shell takes them: an agent need not guess how tests are run here."""
    settings = state.task.settings
    gates = [(gate.name, gate.command) for gate in settings.gates]
    lint = [("lint", settings.lint)] if settings.lint else []
    told = (f"{name}: `{_PLACEHOLDER.sub(_REPORT_FILE, command)}`" for name, command in (*gates, *lint))
    return listed("Commands that check the work, run in the root of the repository", tuple(told))


def _may_change(state: State) -> str:
    return listed("Protected files that may change in this task", state.task.settings.may_change)


def _failures(state: State) -> str:
    """The tests that failed before any work: what must pass, and what nobody is asked to repair."""
    decided, baseline = state.failures, state.baseline
    if decided is None or baseline is None:
        return ""
    work = tuple(test for test in baseline.known if is_every(decided.work) or test in decided.work)
    known = tuple(test for test in baseline.known if test not in work)
    wanted = "Tests that failed before the task began and are part of the work: it is not done while one of them fails"
    left = (
        "Known failures: these tests failed before the task began and are not part of the work; no other test may fail"
    )
    parts = (listed(wanted, _few(work)), listed(left, _few(known)))
    return "\n\n".join(part for part in parts if part)


def _few(tests: tuple[str, ...]) -> tuple[str, ...]:
    more = len(tests) - FAILURES_SHOWN
    return (*tests[:FAILURES_SHOWN], *((f"… and {more} more",) if more > 0 else ()))


def _consent(lane: Lane) -> str:
    wanted = listed("Protected files the implementer wants to change", lane.loop.consent_wanted)
    return f"{wanted}\n\nThis copy is the implementer's tree; the accepted versions are those of commit {lane.tests_accepted}."


def _change_under_review(state: State, lane: Lane) -> tuple[str, ...]:
    """To who reviews: how to see the change, which files it touches, and what in it is worth a look."""
    measured = _measurement_under_review(state, lane)
    if lane.recall is None or not lane.recall.reviewing or state.prepared is None or measured is None:
        return ()
    base, accepted = state.prepared.base, lane.tests_accepted
    lines = [f"`git diff {base}` shows everything that this task changed."]
    if accepted and accepted != base:
        lines.append(f"`git diff {accepted}` shows what changed since the last accepted state.")
    lines.append(f"Changed files: {quantities.first_few(measured.changed, 16)}.")
    change = "## The change under review\n" + "\n".join(lines) if measured.changed else ""
    return change, remarks_section(measured)


def _measurement_under_review(state: State, lane: Lane) -> Measurement | None:
    """What was measured of the tree that is reviewed: integrated work, or the lane's own."""
    if lane.name == MAIN and state.batches.proven is not None:
        return state.batches.proven
    found = (o.measurement for o in reversed(lane.outcomes.values()) if isinstance(o, Measured))
    return next(found, lane.loop.last or lane.loop.entry)


def remarks_section(measured: Measurement) -> str:
    """The remarks on a tree, for who reviews it."""
    lines = [f"{remark.place}: {remark.text}" for remark in measured.remarks]
    lines += [f"… and {measured.remarks_left} more"] if measured.remarks_left else []
    return listed(f"Remarks\n{REMARKS_MEANING}", tuple(clean(line, REMARK_LENGTH) for line in lines))


REFUSED = "Such a change was refused: do the work without it, with new tests in a new file."
WAY_OUT = "make it again and name the file with the reason in `protected_changes`: a person, or a reviewer with another model, may allow it; `--may-change GLOB` allows it from the start."


def measured_section(lane: Lane) -> str:
    """What the last iteration was found to lack, for the role that goes on."""
    undone = lane.loop.undone
    lines = _undone_turns(undone) if undone is not None else []
    judged = undone.judged if undone is not None else lane.loop.judged
    lines += _verdict(lane, judged) if judged is not None else []
    tricks = lane.loop.last.tricks if lane.loop.last is not None else ()
    if any(not trick.harmless for trick in tricks):
        lines.append("Set aside, because it would make the gate say more than is true:")
        lines += [f"- {t.kind}: {t.path}: {t.detail}" for t in tricks if not t.harmless]
    if lane.put_back:
        kept = "" if lane.loop.restored else " All other changes of that turn were kept."
        back = quantities.first_few(lane.put_back, 20)
        lines.append(f"These protected files were put back as they were accepted: {back}.{kept}")
        lines += [f"- {t.path}: {t.detail}" for t in tricks if t.harmless]
        refused = all(path in lane.refused for path in lane.put_back)
        lines.append(REFUSED if refused else f"If the request needs such a change, {WAY_OUT}")
    lines += _output(lane.loop.standing)
    if lane.last_interrupted:
        lines.append(
            f"The previous turn was interrupted; its partial edits are in the tree (checkpoint {lane.last_interrupted})."
        )
    return "## What was measured\n" + "\n".join(lines) if lines else ""


def _undone_turns(undone: Undone) -> list[str]:
    """That work was undone, and where it can be seen: both commits are in the checkout (C25)."""
    turns = f"{'turn' if len(undone.turns) == 1 else 'turns'} {', '.join(undone.turns)}"
    work = f"The work of {turns} was undone" if undone.turns else "Later work was undone"
    return [
        f"{work}: {undone.reason.rstrip('.')}. The tree is an earlier one again.",
        f"`git diff {undone.to[:12]} {undone.commit[:12]} -- . ':!{LOOP}'` shows what was undone.",
    ]


def _verdict(lane: Lane, judged: Judged) -> list[str]:
    undone = lane.loop.undone is not None
    if judged.false_claim and not undone:
        first = "You signalled that the stage is finished. It was measured, and it is not:"
    elif judged.gate_1.held:
        left = lane.loop.standing.counts.known_failing if lane.loop.standing is not None else 0
        remaining = f" ({quantities.plural(left, 'known failure remains', 'known failures remain')})" if left else ""
        first = f"The measurements of this stage hold{remaining}. If you agree that it is finished, set `exit_signal` to true."
    else:
        first = f"{'The tree as it is now' if undone else 'The last iteration'} was measured. Still missing:"
    lines = [first, *(f"- {m}" for m in judged.gate_1.missing)]
    if undone:
        return lines
    lines += [f"- your report was not taken as you wrote it: {p}" for p in judged.report_problems]
    lines += [f"- your report says otherwise than the measurement: {d}" for d in judged.disagreements]
    if lane.loop.breaker.state == "HALF_OPEN":
        lines.append(f"Nothing moved: {lane.loop.breaker.reason}. If it goes on like this, the loop stops here.")
    return lines


def _output(measured: Measurement | None) -> list[str]:
    failed = measured.failed_gate if measured is not None else None
    if failed is None:
        return []
    return [f"End of the output of `{failed.command}`:", "```", failed.output[-OUTPUT_SHOWN:].strip("\n"), "```"]


def _lesson(lane: Lane) -> str:
    text = listed("An earlier attempt was ended; its lesson", lane.loop.lesson)
    if "smaller-scope" in lane.loop.rungs:
        text += "\n\nWork on the first open point only and leave the rest for later turns."
    return text


def _learnings(state: State, lane: Lane) -> str:
    """The learnings that were recalled for the turn and, to who reviews, what is not accepted yet.

    Where no recall was possible, the last ones of the task that stand are shown.
    """
    if lane.recalled is None or lane.recalled.problem:
        own = settle({state.task.id: state.learnings}).values()
        lines = tuple(line(each)[:LEARNING_LENGTH] for each in own if each.usable)[-LEARNINGS_SHOWN:]
    else:
        lines = tuple(each.line for each in lane.recalled.learnings)
    parts = [listed("Learnings from this repository (the tree is the truth; `avoid` did not work)", lines)]
    if lane.recall is not None and lane.recall.reviewing:
        parts += [_REVISING if lines else "", _proposed_decisions(state), _contradictions(lane)]
    return "\n\n".join(part for part in parts if part)


def _proposed_decisions(state: State) -> str:
    """The decisions of the work that is reviewed."""
    facts = [each.fact for each in state.learnings.known.values() if each.standing == "proposed"]
    lines = (clean(f"{fact.number} {fact.title}: {fact.choice}", LEARNING_LENGTH) for fact in facts[-PROPOSED_SHOWN:])
    return listed("Decisions of this work, not accepted yet", tuple(lines))


def _contradictions(lane: Lane) -> str:
    found = lane.recalled.contradictions if lane.recalled is not None else ()
    text = listed(
        "Decisions that may contradict an earlier one", tuple(f"{each.told} ({each.subject})" for each in found)
    )
    return f"{text}\n{_CONTRADICTING}" if text else ""
