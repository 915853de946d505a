"""What a working role finds: the tree and what was undone, what was measured of it, and what happened before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flyball.core.loop.failures import with_work_failing
from flyball.core.model.events import Judged
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.model.naming import LOOP
from flyball.core.model.state import Checkpoint, Lane, State, Undone
from flyball.core.model.task import MAIN, Commit
from flyball.core.text.fences import data
from flyball.core.text.quantities import first_few, plural, titled_list
from flyball.core.text.scrubbing import clean, one_line

OUTPUT_SHOWN = 1_500
GROUPS_SHOWN = 12
MESSAGE_SHOWN = 200
FIRST_TURNS, LAST_TURNS = 2, 7
TURN_SHOWN = 115
"""With the line for those between, a history has at most ten lines and 1,200 characters."""
_FOREIGN_PATH = re.compile(r"(?<![\w.:/~-])[~/](?:[^\s/:'\"`()<>]+/)+(?=[^\s/:'\"`()<>]+/[^\s/:'\"`()<>]+)")
REFUSED = "Such a change was refused: do the work without it, with new tests in a new file."
WAY_OUT = "make it again and name the file with the reason in `protected_changes`: a person, or a reviewer with another model, may allow it; `--may-change GLOB` allows it from the start."


def start_of(state: State, lane: Lane) -> Commit:
    assert state.prepared is not None
    return lane.base if lane.item and lane.base else state.round_base or state.prepared.base


def named_commits(state: State, lane: Lane) -> dict[str, Commit]:
    """The commits that a working agent's git finds as `flyball/NAME`."""
    if state.prepared is None:
        return {}
    undone = lane.loop.undone
    names = {
        "start": start_of(state, lane),
        "tree": _standing(state, lane),
        "accepted": lane.tests_accepted,
        "last-good": lane.best.commit if lane.best is not None else lane.head,
        "undone": undone.commit if undone is not None else Commit(""),
    }
    return {name: commit for name, commit in names.items() if commit}


def tree_section(state: State, lane: Lane) -> str:
    """Which tree the turn begins with, what was undone or put back in it, and how to see the changes."""
    if state.prepared is None:
        return ""
    now, start, later = _standing(state, lane), start_of(state, lane), _not_accepted(state, lane)
    what = "what was accepted so far" if now != start else "the state from which this work began"
    if later:
        what += f", with the work of {_turns(_labels(later))}, which is not accepted yet"
    lines = [f"It is commit {now[:12]} (`flyball/tree`): {what}."]
    lines += ["`git diff flyball/start` shows everything changed so far, new files too."] if now != start else []
    lines += _undone_turns(lane.loop.undone) if lane.loop.undone is not None else []
    if lane.put_back:
        kept = "" if lane.loop.restored else " All other changes of that turn were kept."
        lines.append(
            f"These protected files were put back as they were accepted: {first_few(lane.put_back, 20)}.{kept}"
        )
        tricks = lane.loop.last.tricks if lane.loop.last is not None else ()
        lines += [f"- {t.path}: {t.detail}" for t in tricks if t.harmless]
        refused = all(path in lane.refused for path in lane.put_back)
        lines.append(REFUSED if refused else f"If the request needs such a change, {WAY_OUT}")
    if lane.last_interrupted:
        lines.append(
            "The turn before was cut off; its edits are in the tree as it left them. Look before you build on them."
        )
    return "## The tree\n" + "\n".join(lines)


def _standing(state: State, lane: Lane) -> Commit:
    own, undone = _own(state, lane), lane.loop.undone
    return own[-1].commit if own else undone.to if undone is not None else lane.head


def _own(state: State, lane: Lane) -> list[Checkpoint]:
    """The checkpoints of the lane since it was opened; one of its name may have been there before."""
    opened_at = lane.visits[0].started_at
    return [each for each in state.checkpoints if each.lane == lane.name and not each.undone and each.at >= opened_at]


def _not_accepted(state: State, lane: Lane) -> list[Checkpoint]:
    own = _own(state, lane)
    return own[max((n for n, each in enumerate(own, 1) if each.accepted), default=0) :]


def _labels(checkpoints: list[Checkpoint]) -> list[str]:
    return [each.label.partition("-")[2] for each in checkpoints if each.label.startswith(("turn-", "interrupted-"))]


def _turns(numbers: list[str]) -> str:
    return f"{'turn' if len(numbers) == 1 else 'turns'} {', '.join(numbers)}" if numbers else "an earlier turn"


def _undone_turns(undone: Undone) -> list[str]:
    """That work was undone, and where it can be seen: both commits are in the checkout (C25)."""
    work = f"The work of {_turns(list(undone.turns))} was undone" if undone.turns else "Later work was undone"
    return [
        f"{work}: {undone.reason.rstrip('.')}. Nothing of it is left in the tree. Take another way.",
        f"`git diff flyball/tree flyball/undone -- . ':!{LOOP}'` shows what was undone.",
    ]


def measured_section(state: State, lane: Lane) -> str:
    """What is known of the tree the turn begins with, and what the last turn's verdict was."""
    undone, found = lane.loop.undone, lane.loop.standing
    judged = undone.judged if undone is not None else lane.loop.judged
    lines: list[str] = []
    if found is not None and (lane.name == MAIN or found is not lane.loop.entry or found.candidate == lane.head):
        lines += [*map(_gate, found.gates), *_failing(found)]
    tricks = lane.loop.last.caught if lane.loop.last is not None and undone is None else ()
    elsewhere = {f"{t.path}: {t.detail}" for t in tricks}
    lines += _verdict(state, lane, judged, found, elsewhere) if judged is not None else []
    if tricks:
        lines.append("Set aside, because it would make the gate say more than is true:")
        lines += [f"- {t.kind}: {t.path}: {t.detail}" for t in tricks]
    title = "Measured before the turn that was cut off" if lane.last_interrupted else "Measured on this tree"
    return f"## {title}\n" + "\n".join(lines) if lines else ""


def _gate(gate: GateResult) -> str:
    """One gate in one line; that it passed is said of none that ends with an error."""
    if gate.broken:
        return f"{gate.name}: could not run: {gate.broken}"
    counts = gate.counts.summary if gate.counts is not None else ""
    if not gate.passed:
        return f"{gate.name}: failed. {counts or f'exit {gate.exit_code}'}"
    return f"{gate.name}: {counts or 'passed'}"


def _failing(found: Measurement) -> Iterator[str]:
    """One line for each failing test, alike ones together; where nothing is known of why they fail, how the output of the gate ends."""
    known = {failure.test: failure for failure in found.failures}
    groups: dict[str, list[str]] = {}
    for test in found.failing:
        failure = known.get(test)
        place = f" ({failure.file}:{failure.line})" if failure is not None and failure.file else ""
        groups.setdefault(f"{_as_seen(failure.message)[:MESSAGE_SHOWN]}{place}" if failure else test, []).append(test)
    for why, (first, *others) in list(groups.items())[:GROUPS_SHOWN]:
        more = f" and {len(others)} more" if others else ""
        yield f"- {first}{more}: {why}" if why != first else f"- {first}"
    shown = sum(map(len, list(groups.values())[:GROUPS_SHOWN]))
    if found.counts.failing > shown > 0:
        yield f"- and {found.counts.failing - shown} more"
    gate = found.failed_gate
    if gate is not None and not found.failures:
        yield f"The output of {gate.name} ends:\n{data(_as_seen(gate.output)[-OUTPUT_SHOWN:])}"


def _as_seen(text: str) -> str:
    """A text without the folders that lead to files outside the project: the agent sees other ones."""
    return _FOREIGN_PATH.sub("…/", text)


def _verdict(state: State, lane: Lane, judged: Judged, found: Measurement | None, elsewhere: set[str]) -> list[str]:
    """What was made of the last turn; what stands `elsewhere` in the prompt, and the texts of criteria, are not repeated."""
    lines, undone = [], lane.loop.undone is not None
    tests = {f"fails: {test}" for test in found.failing} if found is not None else set()
    wanted = [each for each in judged.gate_1.missing if each not in tests | elsewhere]
    missing = [each for each in wanted if not (tests and each.startswith("and "))]
    for item in state.items:
        missing = [each.removesuffix(f": {item.text}") for each in missing]
    if judged.false_claim and not undone:
        lines.append("You signalled that the stage is finished. It was measured, and it is not.")
    elif judged.gate_1.held:
        left = found.counts.known_failing if found is not None else 0
        remaining = f" ({plural(left, 'known failure remains', 'known failures remain')})" if left else ""
        lines.append(
            f"The measurements of this stage hold{remaining}. If all criteria are met, set `exit_signal` to true."
        )
    lines += ["Still missing:", *(f"- {each}" for each in missing)] if missing else []
    if undone:
        return lines
    lines += [f"Your report was not taken as you wrote it: {problem}" for problem in judged.report_problems]
    lines += [f"Your report says otherwise than the measurement: {each}" for each in judged.disagreements]
    lines += [f"Not confirmed: {each}." for each in judged.unconfirmed]
    lines += ["You named as left to do:", *(f"- {each}" for each in judged.left)] if judged.left else []
    if lane.loop.breaker.state == "HALF_OPEN":
        lines.append(f"Nothing moved: {lane.loop.breaker.reason}. If it goes on like this, the loop stops here.")
    return lines


def history(state: State, lane: Lane) -> str:
    """What the turns of this work came to, the first and the last of them, each in a line."""
    own = [each for each in state.checkpoints if each.lane == lane.name]
    lines = [_turn(state, lane, own[:number], each) for number, each in enumerate(own) if _labels([each])]
    if lane.loop.lesson and not lane.loop.iteration:
        lines.append(clean(one_line(f"An earlier attempt: {' '.join(lane.loop.lesson[1:])}"), TURN_SHOWN))
    between = len(lines) - FIRST_TURNS - LAST_TURNS
    if between > 0:
        lines[FIRST_TURNS:-LAST_TURNS] = [f"… {plural(between, 'turn')} …"]
    small = (
        "Work on the first open point only and leave the rest for later turns."
        if "smaller-scope" in lane.loop.rungs
        else ""
    )
    return "\n\n".join(part for part in (titled_list("What happened before", lines), small) if part)


def _turn(state: State, lane: Lane, earlier_ones: list[Checkpoint], turn: Checkpoint) -> str:
    judged, now = turn.judged, _failures(state, lane, turn.measured)
    # What was undone before this turn is not what it began with.
    before = (each for each in reversed(earlier_ones) if turn.undone or not each.undone)
    then = next((_failures(state, lane, each.measured) for each in before), "")
    parts = [first_few(turn.files, 3) if turn.files else "changed nothing" if turn.files is not None else ""]
    parts += (
        [f"{then} → {now} tests fail" if then and then != now else plural(int(now), "test fails", "tests fail")]
        if now
        else []
    )
    if judged is None:
        parts.append("cut off" if turn.label.startswith("interrupted-") else "not measured")
    elif judged.false_claim:
        parts.append("said that the stage was finished")
    elif judged.gate_1.held:
        parts.append("the measurements hold")
    parts += ["undone"] if turn.undone else []
    parts += [f"ended: {judged.verdict.evidence}"] if judged is not None and judged.rung else []
    return clean(one_line(f"{_labels([turn])[0]} {turn.stage}: {'; '.join(filter(None, parts))}"), TURN_SHOWN)


def _failures(state: State, lane: Lane, found: Measurement | None) -> str:
    if found is None or not found.counts.total:
        return ""
    return str(with_work_failing(state, lane, found).counts.failing)
