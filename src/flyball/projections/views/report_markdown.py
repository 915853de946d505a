"""The report as Markdown, and the text for a pull request; foreign text is escaped, so no agent can write its own verdict there."""

from collections.abc import Iterable

from flyball.core.model.measurement import CHANGES_OF_TESTS
from flyball.core.text.quantities import first_few, plural
from flyball.projections.history.records import GateRecord, Learning, LearningGiven, TrickSeen, Verification
from flyball.projections.history.reviews import ReviewRecord
from flyball.projections.history.spend import Spend
from flyball.projections.views.forecast import compare_forecast, describe_forecast
from flyball.projections.views.report import CriterionShown, Disagreement, FalseClaim, Report
from flyball.projections.views.status import SUBTASK
from flyball.projections.wording import code, duration, escape, money, name_lane, short, stamp

GOAL_LINES = 40


def markdown(report: Report) -> str:
    r = report
    parts = [
        [f"# Report: {escape(r.task)}", "", f"**{escape(r.outcome)}**", "", *_facts(r)],
        _section("Goal", _goal(r.goal)),
        _section("Acceptance criteria", [_criterion(c) for c in r.criteria]),
        _section("What was done", _work_done(r)),
        _section("How it was verified", _verifications(r)),
        _section("Tests that failed before", [f"- {escape(line, 2000)}" for line in r.failures]),
        _section("Not verified", _unverified_parts(r)),
        _section(
            "Who reviewed", [*map(_review, r.reviews), *([f"- **{escape(r.unreviewed)}**"] if r.unreviewed else [])]
        ),
        _section("Tricks caught", [_trick(t) for t in r.tricks if not (t.harmless or t.kind in CHANGES_OF_TESTS)]),
        _section(
            "Protected files that were restored",
            [_trick(t) for t in r.tricks if t.harmless or t.kind in CHANGES_OF_TESTS],
        ),
        _section(
            "False claims", [f"{_where(c)}: said done, but measured: {_in_one_line(c.missing)}" for c in r.false_claims]
        ),
        _section("Remarks", _remarks(r)),
        _section("Reported against measured", [f"{_where(d)}: {_in_one_line(d.numbers)}" for d in r.disagreements]),
        _section("Decisions", [f"{_learning(d)}: {escape(d.choice, 400)} ({_standing(d)})" for d in r.decisions]),
        _section("Learnings", [_learning(a) + _unless_kept(a) for a in r.anti_patterns]),
        _section("Learnings given to turns", [_learning_given(g) for g in r.learnings_given]),
        _section("People", _people(r)),
        _section("Stages", _stages(r)),
        _section("Spent", _spending(r)),
        _section("Sessions", _sessions(r)),
        _section("Notes", [f"- {escape(n, 500)}" for n in r.notes]),
        _section("What is left", [f"- {escape(x, 1000)}" for x in r.left] or ["Nothing flyball knows of."]),
        _section("Next", [code(r.next_command)] if r.next_command else []),
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def pull_request(report: Report) -> str:
    """What was asked, what was measured, how to take it: the title on the first line, then the body, as most hosts want it."""
    title = escape(report.goal.strip().splitlines()[0] if report.goal.strip() else report.task)
    lines = [title, "", f"Task {code(report.task)}, branch {code(report.branch)} at {code(report.head[:10])}.", ""]
    lines += ["## Acceptance criteria", ""]
    lines += [f"- [{'x' if c.state == 'completed' else ' '}] {escape(c.id)}: {escape(c.text)}" for c in report.criteria]
    lines += ["", "## How it was verified", ""]
    gates = next((v.gates for v in reversed(report.verifications) if v.gates), ())
    lines += [f"- {_result(g)}: {code(g.command)}" for g in gates] or ["- no gate was run"]
    lines += [f"- {escape(line, 2000)}" for line in report.failures]
    if report.forced:
        lines += ["", f"Not verified, skipped by a person: {first_few(tuple(m.previous for m in report.forced))}"]
    if report.unverified:
        lines += ["", f"Not verified: {first_few(tuple(u.name for u in report.unverified))}"]
    if report.unreviewed:
        lines += ["", escape(report.unreviewed)]
    lines += ["", "## To take it", "", f"    git merge {report.branch}", ""]
    return "\n".join(lines)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return ["", f"## {title}", "", *body] if body else []


def _facts(r: Report) -> list[str]:
    facts = [
        f"- Decision: {r.decision}: {escape(r.reason, 1000)}",
        f"- Workflow: {escape(r.workflow)}, stage {escape(r.stage)}",
        f"- Branch: {code(r.branch)} at {code(short(r.head))}" if r.branch else "- Branch: none, nothing was accepted",
        f"- From {stamp(r.started_at)} to {stamp(r.updated_at)}, {duration(r.elapsed_s)} at work",
        f"- {plural(r.iterations, 'iteration')}, {plural(r.total.turns, 'turn')}",
    ]
    if r.forecast is not None:
        compared = compare_forecast(r.forecast, r.total.turns, r.elapsed_s)
        facts.append(f"- Forecast: {describe_forecast(r.forecast, r.workflow)}; it took {compared}")
    facts += [f"- Source: {code(r.source)}"] if r.source else []
    return facts + [f"- Evidence: {escape(e, 500)}" for e in r.evidence]


def _goal(goal: str) -> list[str]:
    lines = [line for line in goal.splitlines() if line.strip()]
    shown = [f"> {escape(line, 500)}" for line in lines[:GOAL_LINES]]
    quoted = [line for pair in shown for line in (pair, ">")][:-1]
    return [*quoted, *([">", f"> … {plural(len(lines) - GOAL_LINES, 'more line')}"] if len(lines) > GOAL_LINES else [])]


def _criterion(c: CriterionShown) -> str:
    return f"- [{'x' if c.state == 'completed' else ' '}] **{escape(c.id)}** {escape(c.text, 1000)} ({c.state})"


def _work_done(r: Report) -> list[str]:
    files = r.files
    changed = f"{plural(files.created, 'file')} created, {files.modified} modified, {files.deleted} deleted"
    since = code(short(r.base)) if r.base else "the beginning"
    lines = [f"- {changed} since {since}"]
    lines += [f"- {code(short(c.sha))} {escape(c.label)}, {stamp(c.at)}" for c in r.commits]
    return lines + [
        f"- Rolled back to {code(short(b.commit))} in {escape(name_lane(b.lane, b.stage))}, {stamp(b.at)}"
        + (f"; what was undone is kept as {code(short(b.undone))}" if b.undone else "")
        for b in r.rollbacks
    ]


def _verifications(r: Report) -> list[str]:
    lines = [line for v in r.verifications for line in _verification(v)]
    if r.last_measured is not None:
        lines += ["", "Measured last, and the gate did not hold or was not signalled:", ""]
        lines += _verification(r.last_measured)
    return lines or ["Nothing was measured."]


def _verification(v: Verification) -> list[str]:
    runs = f", each test green {v.green_runs} times" if v.green_runs > 1 and v.counts.total else ""
    held = f"; passed: {escape(v.condition)}" if v.condition else ""
    head = f"- **{escape(name_lane(v.lane, v.stage))}** on {code(short(v.candidate))}, {stamp(v.at)}{runs}{held}"
    checks = [f"  - check {escape(c.name)}: {c.status}{_after(c.detail)}" for c in v.checks]
    coverage = [f"  - coverage {v.coverage}"] if v.coverage is not None else []
    reused = [f"  - not run again: {escape(v.reused)}"] if v.reused else []
    return [head, *reused, *(f"  - {_gate(g)}" for g in v.gates), *coverage, *checks]


def _result(g: GateRecord) -> str:
    if g.passed and g.counts and g.counts.known_failing:
        return g.counts.summary
    return "passed" if g.passed else "failed"


def _gate(g: GateRecord) -> str:
    passed = "with known failures" if g.counts and g.counts.known_failing else "passed"
    result = passed if g.passed else f"could not run: {escape(g.broken)}" if g.broken else "failed"
    counts = ""
    if g.counts:
        counts = f", {g.counts.passing} passed, {g.counts.failing} failed"
        counts += f", {g.counts.skipped} skipped" if g.counts.skipped else ""
        counts += f", {g.counts.known_failing} known failing" if g.counts.known_failing else ""
    return f"gate {escape(g.name)} {result}: {code(g.command)}, exit {g.exit_code}{counts}, {duration(g.seconds)}"


def _after(detail: str) -> str:
    return f" ({escape(detail)})" if detail else ""


def _unverified_parts(r: Report) -> list[str]:
    skipped = [
        f"- Stage {escape(m.previous)} was forced, {stamp(m.at)}: {escape(m.reason)}; it does not count as verified"
        for m in r.forced
    ]
    named = ((c.name if c.name.startswith(SUBTASK) else f"check {c.name}", c.detail) for c in r.unverified)
    return skipped + [f"- {escape(name[0].upper() + name[1:])}: unverified{_after(detail)}" for name, detail in named]


def _review(review: ReviewRecord) -> str:
    whose = " and ".join(map(escape, review.authors))
    head = f"{escape(review.stage)}, turn {review.turn}, {escape(review.role)}: {escape(review.reviewer)}"
    match review.model:
        case "other":
            return f"- {head} reviewed the work of {whose}: another model"
        case "unknown":
            return f"- {head} reviewed the work of {whose}: whether that was another model is not known"
        case "same":
            return f"- **{head}: the author reviewed its own work** ({whose})"


def _trick(t: TrickSeen) -> str:
    seen = f", seen {t.times} times" if t.times > 1 else ""
    return f"- {code(t.path)}: {escape(t.detail)} ({escape(t.stage)}{seen})"


def _remarks(r: Report) -> list[str]:
    """Places to look at; they prove nothing, and the section says so."""
    if not r.remarks.shown:
        return []
    lines = [f"- {code(remark.place)} {escape(remark.text, 500)}" for remark in r.remarks.shown]
    more = [f"- … and {r.remarks.left} more"] if r.remarks.left else []
    return [r.remarks.meaning, "", *lines, *more]


def _where(seen: FalseClaim | Disagreement) -> str:
    return f"- {escape(seen.stage)} {seen.iteration}, turn {seen.turn}"


def _in_one_line(texts: Iterable[str]) -> str:
    return escape("; ".join(texts), 500)


def _learning(d: Learning) -> str:
    return f"- {d.number:03d} {escape(d.title)}"


def _standing(d: Learning) -> str:
    told = f"{d.standing}: {escape(d.because, 300)}" if d.because else d.standing
    return f"{told}; check it: {escape(d.check)}" if d.check else told


def _unless_kept(a: Learning) -> str:
    return "" if a.standing == "kept" else f" ({_standing(a)})"


def _learning_given(g: LearningGiven) -> str:
    turns = ", ".join(str(turn) for turn in g.turns)
    rejected = (
        f"; the work of turn {', '.join(str(t) for t in g.rejected)} was rejected all the same" if g.rejected else ""
    )
    return f"- {escape(g.id)} {escape(g.title)}: turn {turns} ({escape(g.why)}){rejected}"


def _people(r: Report) -> list[str]:
    lines = []
    for q in r.questions:
        answer = (
            "not answered"
            if q.answer is None
            else f"{escape(q.answer, 500)} ({q.by}, {stamp(q.answered_at or q.asked_at)})"
        )
        lines.append(f"- Asked {stamp(q.asked_at)}: {escape(q.text, 500)} Answer: {answer}")
    words = [w for w in r.words if w.word != "answer"]
    lines += [f"- {stamp(w.at)}: {w.word} {escape(w.text, 500)}".rstrip() for w in words]
    return lines + [
        f"- {stamp(c.at)}: {escape(c.by)} {'allowed' if c.allowed else 'refused'} changes to "
        + ", ".join(code(p) for p in c.paths)
        for c in r.consents
    ]


def _stages(r: Report) -> list[str]:
    rows = ["| stage | iterations | time | left because |", "|---|---|---|---|"]
    for s in r.stages:
        why = escape(s.exit_reason) + (" (forced, not verified)" if s.forced else "")
        rows.append(f"| {escape(s.stage)} | {s.iterations} | {duration(s.seconds)} | {why} |")
    waits = [
        f"- {escape(name_lane(w.lane, 'Waited'))} from {stamp(w.at)}{f' until {stamp(w.until)}' if w.until else ''}: {w.guard}: {escape(w.reason)}"
        for w in r.waits
    ]
    return [*rows, *(["", *waits] if waits else [])]


def _spending(r: Report) -> list[str]:
    rows = [
        "| stage | role | agent | turns | time | tokens in | tokens out | USD |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows += [_spend_row(s.stage, s.role, s) for s in r.spend]
    rows.append(_spend_row("all", "", r.total))
    notes = ["Some figures are estimates: an agent reported none."] if r.total.estimated else []
    unknown = [what for what, holds in (("money", r.total.usd is None), ("tokens", r.total.untold)) if holds]
    notes += [f"A dash stands for {' or '.join(unknown)} that no agent reported."] if unknown else []
    return [*rows, *(["", " ".join(notes)] if notes else [])]


def _sessions(r: Report) -> list[str]:
    turns: dict[tuple[str, str], list[str]] = {}
    for turn in r.turns:
        if turn.session:
            turns.setdefault((turn.agent, turn.session), []).append(str(turn.turn))
    return [
        f"- {escape(agent)} {code(session)}: {'turn' if len(numbers) == 1 else 'turns'} {', '.join(numbers)}"
        for (agent, session), numbers in turns.items()
    ]


def _tokens(told: int | None, untold: int) -> str:
    return "–" if told is None else f"at least {told}" if untold else str(told)


def _spend_row(stage: str, role: str, s: Spend) -> str:
    cells = [
        escape(stage),
        escape(role),
        escape(", ".join(s.agents)),
        str(s.turns),
        duration(s.seconds),
        _tokens(s.input_tokens, s.untold),
        _tokens(s.output_tokens, s.untold),
        money(s.usd, s.known_usd, digits=4).removesuffix(" USD"),
    ]
    return f"| {' | '.join(cells)} |"
