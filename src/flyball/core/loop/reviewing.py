"""What reviewers are shown and told, whatever the workflow: the change, what was measured of it, and their own earlier look."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from flyball.core.claims import looks
from flyball.core.claims.values import Claim
from flyball.core.loop.role import Role
from flyball.core.model.effects import RunAgent
from flyball.core.model.measurement import REMARKS_MEANING, GateResult, Measurement
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import ChangedLines, Measured, TurnEnded
from flyball.core.model.state import Lane, Look, State
from flyball.core.model.task import MAIN, Commit
from flyball.core.text.quantities import first_few, plural, titled_list
from flyball.core.text.scrubbing import clean

DRAFT = "draft"
"""The purpose of a reviewer's turn before there is any work to look at."""
JUDGING = frozenset({"judgement", "issues", "batch"})
"""The forms of those who judge finished work."""
LINE_LENGTH = 800
REMARK_LENGTH = 400
EARLIER = "Your earlier findings: say in `earlier` of each whether it is gone"
_PLAN_RULES = (
    "Grade a finding by what follows from it. `critical`: the plan misses what the request asks for, or contradicts it or an earlier decision. `major`: somebody would build the wrong "
    "thing or get stuck, because it cannot be checked or done as it is written. `minor`: real, and no reason to stop. `suggestion`: taste and wording. The first two block."
)
_RULES = (
    "Grade a finding by what follows from it. `critical`: who uses the work as meant loses data, is open to an attack or sees it crash, or a criterion plainly fails. `major`: it is "
    "wrong for an input or a state that you can name, a criterion is met only in part, or a new test cannot fail. `minor`: real, and no reason to stop. `suggestion`: taste. The first "
    "two block.\n"
    "Only what this change introduced blocks; what was there before is at most a `suggestion`. Give a blocking finding its `file` and `line`, that line as `quote`, copied from the "
    "tree or the difference, and what `shows` it: the input, steps or command. A finding whose quotation stands in neither is void and blocks nothing; of something that is missing "
    "there is no `quote`. Report every finding that qualifies, once; none is a good answer."
)


def commits_shown(state: State, lane: Lane, role: str, purpose: str, commit: Commit) -> dict[str, Commit]:
    """The commits that a reviewer of `commit` can name beside it."""
    if purpose == DRAFT or state.prepared is None:
        return {}
    if lane.name != MAIN:
        start = lane.base
    elif lane.item or state.batches.current is not None:
        start = lane.head
    else:
        start = state.round_base or state.prepared.base
    if purpose == "consent":
        return {"start": start, "accepted": lane.tests_accepted or start}
    look = earlier_look(lane, role)
    seen = Commit("") if look is None else look.commit if look.commit != commit else look.saw
    return {"start": start, **({"seen": seen} if seen else {})}


def earlier_look(lane: Lane, role: str) -> Look | None:
    look = lane.looks.get(f"{lane.stage}/{role}")
    return look if look is not None and look.item == lane.item else None


def number_findings(lane: Lane, effect: RunAgent, turn: TurnEnded) -> TurnEnded:
    """A reviewer's answer with its findings numbered, and those of its earlier look that are not gone."""
    look = earlier_look(lane, effect.role)
    return replace(turn, claim=looks.number(turn.claim, look.findings if look else (), effect.turn))


def looks_after(lane: Lane, effect: RunAgent, claim: Claim) -> dict[str, Look]:
    """The looks that are known once a reviewer has answered; an answer without a verdict was none."""
    judged = claim.verdict or claim.approved or claim.rejected or claim.findings
    if not judged or effect.purpose == "consent":
        return lane.looks
    before = earlier_look(lane, effect.role) or Look(Commit(""))
    saw = before.commit if before.commit != effect.commit else before.saw
    look = Look(effect.commit, lane.item, saw, looks.known_after(claim, before.findings))
    return {**lane.looks, f"{lane.stage}/{effect.role}": look}


def rules(card: Role) -> str:
    """What counts as a finding, and how much; the same for all who judge work."""
    return _PLAN_RULES if card.form == "plan-review" else _RULES if card.reviews and card.form in JUDGING else ""


def change_section(state: State, lane: Lane, card: Role) -> Iterator[str]:
    """To who reviews: how to see the work, which files it touches, and what in it is worth a look."""
    if not card.reviews or state.prepared is None or card.form not in JUDGING:
        return
    changes = lane.recalled.changes if lane.recalled is not None else {}
    seen = lane.recall is not None and "seen" in lane.recall.shown
    lines = _told_change("start", changes.get("start"), shown=not seen)
    if seen:
        lines.append(
            "You looked at an earlier tree of it. Judge what came since; outside of that nothing new blocks but `critical`."
        )
        lines += _told_change("seen", changes.get("seen"), shown=True)
    yield "## The work under review\n" + "\n".join(lines)
    found = _measurement_under_review(state, lane)
    if found is not None:
        yield remarks_section(found)


def _told_change(name: str, change: ChangedLines | None, *, shown: bool) -> list[str]:
    command = f"`git diff flyball/{name} -- . ':!{LOOP}'`"
    if change is None:
        return [f"{command} shows it."]
    lines = [f"{command} shows it: {plural(change.count, 'file')} changed, +{change.added} −{change.removed}."]
    files = change.files if shown else ()
    lines += [
        f"- {each.path} {'no text' if each.added is None else f'+{each.added} −{each.removed}'}" for each in files
    ]
    return [*lines, f"- and {change.count - len(files)} more"] if shown and change.count > len(files) else lines


def measurement_section(state: State, lane: Lane, card: Role) -> Iterator[str]:
    """To who reviews: every gate and check on exactly this tree, new tests with the criteria they name, and known failures."""
    found = _measurement_under_review(state, lane)
    if not card.reviews or found is None or card.form not in JUDGING:
        return
    lines = [f"{gate.name}: {_gate_result(gate)}" for gate in found.gates]
    lines += [f"{each.name}: {each.status}: {each.detail}".rstrip(": ") for each in found.checks]
    lines += [f"set aside: {each.kind}: {each.path}: {each.detail}" for each in found.tricks]
    lines += [] if found.known else ["known failures from before the task: none"]
    yield titled_list("Measured on this tree", tuple(clean(line, LINE_LENGTH) for line in lines))
    judged = lane.loop.judged
    # A turn that is asked for its consent looks at the work of another role.
    if judged is not None and judged.stage == lane.stage and not (judged.rejected or lane.loop.consent_wanted):
        open_still = first_few(judged.gate_1.missing) or "an approval needs `exit_signal` true"
        yield f"Your last report did not end the review: {open_still}."
    items = [each.item for each in state.batches.current.taken] if state.batches.current else [lane.item or lane.name]
    noticed = [state.noticed[item] for item in items if item in state.noticed]
    tests = [
        f"{test.id}: {', '.join(test.criteria) or 'names no criterion'}" for each in noticed for test in each.tests
    ]
    yield titled_list("New tests, with the criteria they name", tuple(clean(test, LINE_LENGTH) for test in tests))


def _gate_result(gate: GateResult) -> str:
    counts = f". {gate.counts.summary}" if gate.counts else ""
    return f"could not run: {gate.broken}" if gate.broken else f"{'passed' if gate.passed else 'failed'}{counts}"


def own_findings(state: State, lane: Lane, card: Role) -> tuple[str, str]:
    """A reviewer's findings of earlier looks with what was answered, and those of its last report that do not count."""
    look = earlier_look(lane, card.name) if card.reviews else None
    answers = {key: each for other in state.lanes.values() for key, each in other.answers.items()}
    lines = []
    for found in look.findings if look else ():
        reply = answers.get(found.id)
        answer = (
            f"; answered: {'done' if reply.done else 'not done'}{reply.because and f', {reply.because}'}"
            if reply
            else ""
        )
        lines.append(clean(f"{found.told}{answer}", LINE_LENGTH))
    void = lane.panel.void.get(card.name, ()) if lane.panel is not None else ()
    counted = (clean(f"{found.told}: {found.aside or 'it counts'}", LINE_LENGTH) for found in void)
    again = "Your last report rests on findings that do not count. Report each as its line stands, without `quote` where something is missing, or not again"
    return titled_list(EARLIER, tuple(lines)), titled_list(again, tuple(counted))


def _measurement_under_review(state: State, lane: Lane) -> Measurement | None:
    """What was measured of the tree that is reviewed: integrated work, or the lane's own."""
    if lane.name == MAIN and state.batches.proven is not None:
        return state.batches.proven
    found = (o.measurement for o in reversed(lane.outcomes.values()) if isinstance(o, Measured))
    return next(found, lane.loop.last or lane.loop.entry)


def remarks_section(measured: Measurement) -> str:
    lines = [f"{remark.place}: {remark.text}" for remark in measured.remarks]
    lines += [f"… and {measured.remarks_left} more"] if measured.remarks_left else []
    return titled_list(f"Remarks\n{REMARKS_MEANING}", tuple(clean(line, REMARK_LENGTH) for line in lines))
