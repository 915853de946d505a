"""The text for a merge or pull request: what was asked, what was measured, how to take it."""

from __future__ import annotations

from flyball.core.text.quantities import first_few
from flyball.projections.views.report import Report
from flyball.projections.wording import code, escaped


def pull_request(report: Report) -> str:
    """Title on the first line, then the body, as most hosts want it."""
    title = escaped(report.goal.strip().splitlines()[0] if report.goal.strip() else report.task)
    lines = [title, "", f"Task {code(report.task)}, branch {code(report.branch)} at {code(report.head[:10])}.", ""]
    lines += ["## Acceptance criteria", ""]
    lines += [
        f"- [{'x' if c.state == 'completed' else ' '}] {escaped(c.id)}: {escaped(c.text)}" for c in report.criteria
    ]
    lines += ["", "## How it was verified", ""]
    gates = next((v.gates for v in reversed(report.verifications) if v.gates), ())
    lines += [f"- {'passed' if g.passed else 'failed'}: {code(g.command)}" for g in gates] or ["- no gate was run"]
    if report.forced:
        lines += ["", f"Not verified, skipped by a person: {first_few(tuple(m.previous for m in report.forced))}"]
    if report.unverified:
        lines += ["", f"Not verified: {first_few(tuple(u.name for u in report.unverified))}"]
    lines += ["", "## To take it", "", f"    git merge {report.branch}", ""]
    return "\n".join(lines)
