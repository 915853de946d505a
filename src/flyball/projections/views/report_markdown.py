"""The report as Markdown; every foreign text in it is escaped, so no agent can write its own verdict into it."""

from __future__ import annotations

from collections.abc import Iterable

from flyball.core.text.quantities import plural
from flyball.projections.history.records import GateRecord, Learning, LearningGiven, Tally, Verification
from flyball.projections.history.reviews import ReviewRecord
from flyball.projections.history.spend import Spend
from flyball.projections.views.report import Report
from flyball.projections.views.status import SUBTASK
from flyball.projections.wording import code, duration, escaped, money, short, stamp

GOAL_LINES = 40


def markdown(report: Report) -> str:
    """The whole report."""
    r = report
    parts = [
        [f"# Report: {escaped(r.task)}", "", f"**{escaped(r.outcome)}**", "", *_facts(r)],
        _section("Goal", _goal(r.goal)),
        _section("Acceptance criteria", [_criterion(c.id, c.text, c.state) for c in r.criteria]),
        _section("What was done", _done(r)),
        _section("How it was verified", _verified(r)),
        _section("Not verified", _unverified(r)),
        _section("Who reviewed", [_review(x) for x in r.reviews]),
        _section("Tricks caught", [_trick(t.kind, t.path, t.detail, t.stage, t.times) for t in r.tricks]),
        _section("False claims", _false_claims(r)),
        _section("Reported against measured", _disagreements(r)),
        _section("Decisions", [_decision(d) for d in r.decisions]),
        _section("Learnings", [f"- {a.number:03d} {escaped(a.title)}{_standing(a)}" for a in r.anti_patterns]),
        _section("Learnings given to turns", [_given(g) for g in r.learnings_given]),
        _section("People", _people(r)),
        _section("Stages", _stages(r)),
        _section("Spent", _spent(r)),
        _section("Sessions", _sessions(r)),
        _section("Notes", [f"- {escaped(n, 500)}" for n in r.notes]),
        _section("What is left", [f"- {escaped(x)}" for x in r.left] or ["Nothing flyball knows of."]),
        _section("Next", [code(r.next_command)] if r.next_command else []),
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return ["", f"## {title}", "", *body] if body else []


def _facts(r: Report) -> list[str]:
    facts = [
        f"- Decision: {r.decision}: {escaped(r.reason, 1000)}",
        f"- Workflow: {escaped(r.workflow)}, stage {escaped(r.stage)}",
        f"- Branch: {code(r.branch)} at {code(short(r.head))}" if r.branch else "- Branch: none, nothing was accepted",
        f"- From {stamp(r.started_at)} to {stamp(r.updated_at)}, {duration(r.elapsed_s)} at work",
        f"- {plural(r.iterations, 'iteration')}, {plural(r.total.turns, 'turn')}",
    ]
    facts += [f"- Source: {code(r.source)}"] if r.source else []
    return facts + [f"- Evidence: {escaped(e, 500)}" for e in r.evidence]


def _goal(goal: str) -> list[str]:
    lines = [line for line in goal.splitlines() if line.strip()]
    shown = [f"> {escaped(line, 500)}" for line in lines[:GOAL_LINES]]
    quoted = [line for pair in shown for line in (pair, ">")][:-1]
    return [*quoted, *([">", f"> … {plural(len(lines) - GOAL_LINES, 'more line')}"] if len(lines) > GOAL_LINES else [])]


def _criterion(id_: str, text: str, state: str) -> str:
    return f"- [{'x' if state == 'completed' else ' '}] **{escaped(id_)}** {escaped(text, 1000)} ({state})"


def _done(r: Report) -> list[str]:
    files = r.files
    changed = f"{plural(files.created, 'file')} created, {files.modified} modified, {files.deleted} deleted"
    since = code(short(r.base)) if r.base else "the beginning"
    lines = [f"- {changed} since {since}"]
    lines += [f"- {code(short(c.sha))} {escaped(c.label)}, {stamp(c.at)}" for c in r.commits]
    return lines + [
        f"- Rolled back to {code(short(b.commit))} in {escaped(b.stage)}, {stamp(b.at)}"
        + (f"; what was undone is kept as {code(short(b.undone))}" if b.undone else "")
        for b in r.rollbacks
    ]


def _verified(r: Report) -> list[str]:
    lines = [line for v in r.verifications for line in _verification(v)]
    if r.last_measured is not None:
        lines += ["", "Measured last, and the gate did not hold or was not signalled:", ""]
        lines += _verification(r.last_measured)
    return lines or ["Nothing was measured."]


def _verification(v: Verification) -> list[str]:
    runs = f", {v.green_runs} full green runs" if v.green_runs > 1 else ""
    held = f"; passed: {escaped(v.condition)}" if v.condition else ""
    head = f"- **{escaped(v.stage)}** on {code(short(v.candidate))}, {stamp(v.at)}{runs}{held}"
    checks = [f"  - check {escaped(c.name)}: {c.status}{_after(c.detail)}" for c in v.checks]
    coverage = [f"  - coverage {v.coverage}"] if v.coverage is not None else []
    return [head, *(f"  - {_gate(g)}" for g in v.gates), *coverage, *checks]


def _gate(g: GateRecord) -> str:
    result = "passed" if g.passed else f"could not run: {escaped(g.broken)}" if g.broken else "failed"
    counts = f", {_counts(g.counts)}" if g.counts else ""
    return f"gate {escaped(g.name)} {result}: {code(g.command)}, exit {g.exit_code}{counts}, {duration(g.seconds)}"


def _counts(counts: Tally) -> str:
    words = [f"{counts.passing} passed", f"{counts.failing} failed"]
    words += [f"{counts.skipped} skipped"] if counts.skipped else []
    words += [f"{counts.known_failing} known failing"] if counts.known_failing else []
    return ", ".join(words)


def _after(detail: str) -> str:
    return f" ({escaped(detail)})" if detail else ""


def _unverified(r: Report) -> list[str]:
    skipped = [
        f"- Stage {escaped(m.previous)} was forced, {stamp(m.at)}: {escaped(m.reason)}; it does not count as verified"
        for m in r.forced
    ]
    named = ((c.name if c.name.startswith(SUBTASK) else f"check {c.name}", c.detail) for c in r.unverified)
    return skipped + [f"- {escaped(name[0].upper() + name[1:])}: unverified{_after(detail)}" for name, detail in named]


def _review(review: ReviewRecord) -> str:
    whose = " and ".join(map(escaped, review.authors))
    head = f"{escaped(review.stage)}, turn {review.turn}, {escaped(review.role)}: {escaped(review.reviewer)}"
    match review.model:
        case "other":
            return f"- {head} reviewed the work of {whose}: another model"
        case "unknown":
            return f"- {head} reviewed the work of {whose}: whether that was another model is not known"
        case "same":
            return f"- **{head}: the author reviewed its own work** ({whose})"


def _trick(kind: str, path: str, detail: str, stage: str, times: int) -> str:
    seen = f", seen {times} times" if times > 1 else ""
    return f"- {kind}: {code(path)}: {escaped(detail)} ({escaped(stage)}{seen})"


def _false_claims(r: Report) -> list[str]:
    return [
        f"- {escaped(c.stage)} {c.iteration}, turn {c.turn}: said done, but measured: {escaped('; '.join(c.missing), 500)}"
        for c in r.false_claims
    ]


def _disagreements(r: Report) -> list[str]:
    return [
        f"- {escaped(d.stage)} {d.iteration}, turn {d.turn}: {escaped('; '.join(d.numbers), 500)}"
        for d in r.disagreements
    ]


def _decision(d: Learning) -> str:
    return f"- {d.number:03d} {escaped(d.title)}: {escaped(d.choice, 400)} ({_became(d)})"


def _became(d: Learning) -> str:
    told = f"{d.standing}: {escaped(d.because, 300)}" if d.because else d.standing
    return f"{told}; check it: {escaped(d.check)}" if d.check else told


def _standing(a: Learning) -> str:
    return "" if a.standing == "kept" else f" ({_became(a)})"


def _given(g: LearningGiven) -> str:
    turns = ", ".join(str(turn) for turn in g.turns)
    rejected = (
        f"; the work of turn {', '.join(str(t) for t in g.rejected)} was rejected all the same" if g.rejected else ""
    )
    return f"- {escaped(g.id)} {escaped(g.title)}: turn {turns} ({escaped(g.why)}){rejected}"


def _people(r: Report) -> list[str]:
    lines = []
    for q in r.questions:
        answer = (
            "not answered"
            if q.answer is None
            else f"{escaped(q.answer, 500)} ({q.by}, {stamp(q.answered_at or q.asked_at)})"
        )
        lines.append(f"- Asked {stamp(q.asked_at)}: {escaped(q.text, 500)} Answer: {answer}")
    words = [w for w in r.words if w.word != "answer"]
    lines += [f"- {stamp(w.at)}: {w.word} {escaped(w.text, 500)}".rstrip() for w in words]
    return lines + [
        f"- {stamp(c.at)}: {escaped(c.by)} {'allowed' if c.allowed else 'refused'} changes to "
        + ", ".join(code(p) for p in c.paths)
        for c in r.consents
    ]


def _stages(r: Report) -> list[str]:
    rows = ["| stage | iterations | time | left because |", "|---|---|---|---|"]
    for s in r.stages:
        why = escaped(s.exit_reason) + (" (forced, not verified)" if s.forced else "")
        rows.append(f"| {escaped(s.stage)} | {s.iterations} | {duration(s.seconds)} | {why} |")
    waits = [
        f"- Waited from {stamp(w.at)}{f' until {stamp(w.until)}' if w.until else ''}: {w.guard}: {escaped(w.reason)}"
        for w in r.waits
    ]
    return [*rows, *(["", *waits] if waits else [])]


def _spent(r: Report) -> list[str]:
    rows = [
        "| stage | role | agent | turns | time | tokens in | tokens out | USD |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows += [_spend_row(s.stage, s.role, s) for s in r.spend]
    rows.append(_spend_row("all", "", r.total))
    notes = ["Some figures are estimates: an agent did not say."] if r.total.estimated else []
    unknown = [what for what, holds in (("money", r.total.usd is None), ("tokens", r.total.untold)) if holds]
    notes += [f"A dash stands for {' or '.join(unknown)} that nobody told."] if unknown else []
    return [*rows, *(["", " ".join(notes)] if notes else [])]


def _sessions(r: Report) -> list[str]:
    """The conversations agents keep by an id of their own, with the turns of each."""
    turns: dict[tuple[str, str], list[str]] = {}
    for turn in r.turns:
        if turn.session:
            turns.setdefault((turn.agent, turn.session), []).append(str(turn.turn))
    return [
        f"- {escaped(agent)} {code(session)}: {'turn' if len(numbers) == 1 else 'turns'} {', '.join(numbers)}"
        for (agent, session), numbers in turns.items()
    ]


def _tokens(told: int | None, untold: int) -> str:
    return "–" if told is None else f"at least {told}" if untold else str(told)


def _spend_row(stage: str, role: str, s: Spend) -> str:
    cells = [
        escaped(stage),
        escaped(role),
        escaped(", ".join(s.agents)),
        str(s.turns),
        duration(s.seconds),
        _tokens(s.input_tokens, s.untold),
        _tokens(s.output_tokens, s.untold),
        money(s.usd, s.known_usd, digits=4).removesuffix(" USD"),
    ]
    return f"| {' | '.join(cells)} |"
