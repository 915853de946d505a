"""Every prompt flyball writes, in one place; `VERSION` changes when a sentence does.

A prompt is built from the task, the stage, what was measured, open findings, learnings and guidance, and nothing else. `{nonce}` is
filled in when the turn starts, so that a report cannot be prepared before it.
"""

from __future__ import annotations

import re

from flyball.core import prompts_backlog
from flyball.core.measurement import Measurement
from flyball.core.outcomes import Measured
from flyball.core.quantities import listed
from flyball.core.stages import open_items
from flyball.core.state import State

VERSION = 6
DOCUMENT_SHOWN = 12_000
OUTPUT_SHOWN = 3_000
NONCE = "{nonce}"
_PLACEHOLDER = re.compile(r"\{(junit|coverage)\}")
_REPORT_FILE = r"${TMPDIR:-/tmp}/\1.xml"

_ROLES = {
    "planner": (
        "Write the acceptance criteria for the request below: three to seven checks a test can decide, each one sentence.\n"
        "Change no file. Put them into your report as `plan`, a markdown list under the heading `### Acceptance Criteria`, one\n"
        "`- [ ] sentence` a line."
    ),
    "tester": (
        "Write tests that fail now and will pass when the criteria below are met. At least one new test for each criterion;\n"
        "put its id into the test's name or docstring (AC-1 as `ac_1`). Each must fail by an assertion, or because a name or module\n"
        "does not exist yet. Do not write the implementation, do not touch existing tests or test configuration: fixtures belong\n"
        "into the new test files, not into a `conftest.py`."
    ),
    "implementer": (
        "Make every test pass with the smallest change to the product code. Tests and test configuration are protected: the\n"
        "accepted versions are what is run, whatever stands in the tree. If a test is wrong, say so in `protected_changes`."
    ),
    "refactorer": (
        "Improve the code this task changed without changing what it does: shorter functions, less branching, no repetition.\n"
        "All tests must stay green. When nothing is worth improving, say so and signal."
    ),
    "documenter": (
        "Document what this task changed: at least three documents (.md, .rst, .adoc or OpenAPI) added or changed, a decision\n"
        "record under `docs/decisions/` among them, README and changelog where the project has them. Mermaid diagrams must parse."
    ),
    "qa": (
        "Review the work of this task as it stands in this copy; your edits are discarded. You may run anything. Judge whether it\n"
        "meets each criterion, and look for what the measurements below cannot see. Report `verdict` (`pass`, `warn` or\n"
        "`fail`) and `findings` with severity `critical`, `major`, `minor` or `suggestion`; the first two block. Approve with\n"
        "`verdict` `pass`, or `warn` where something should be seen to later, and `exit_signal` true."
    ),
}

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

_REPORT = """## Report
When you are finished, write a JSON object to the file named in $FLYBALL_REPORT_FILE, or end your answer with it in a block fenced as
```flyball-report. Set `exit_signal` to true only if this stage is finished; it will be measured.
{"nonce": "{nonce}", "status": "complete|in_progress|blocked|needs_clarification", "exit_signal": false, "summary": "one line",
 "blockers": [{"type": "dependency|external|fundamental", "description": ""}], "questions": [{"text": "", "options": [], "default": ""}],
 "protected_changes": [{"path": "", "reason": ""}], "decisions": [{"title": "", "context": "", "choice": "", "alternatives": [""]}],
 "verdict": "", "findings": [], "issues": [], "plan": ""}
All fields but `nonce` are optional."""


def role_text(role: str) -> str:
    """What a role is asked to do, whatever the task; empty for a role that is not known."""
    return _ROLES.get(role) or prompts_backlog.ROLES.get(role, "")


def build(state: State, role: str, purpose: str = "") -> str:
    """The prompt a role gets now."""
    backlog = state.task.workflow == "backlog"
    roles = prompts_backlog.ROLES if backlog else _ROLES
    parts = [
        f"# {state.stage}: {role} for task {state.task.id}, iteration {state.iteration + 1}",
        _PURPOSES.get(purpose) or roles.get(role, f"You are the {role} of this task."),
        *(prompts_backlog.context(state) if backlog else (_request(state), _criteria(state))),
        _commands(state),
        _consent(state) if purpose == "consent" else "",
        prompts_backlog.measured(state) if backlog and role != "implementer" else _measured(state),
        _checks(state) if role == "qa" else "",
        _findings(state),
        _lesson(state),
        _listed("Guidance from a person", state.guidance),
        _listed("Learnings so far", tuple(f"{x.title}: {x.choice or x.context}" for x in state.learnings[-6:])),
        _REPORT,
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _request(state: State) -> str:
    text = f"## Request\n{state.task.request.strip()}"
    if state.task.document:
        document = state.task.document.strip()
        shown = document[:DOCUMENT_SHOWN]
        cut = "\n[cut here; the whole document is in the repository]" if len(document) > DOCUMENT_SHOWN else ""
        where = f" ({state.task.source.path})" if state.task.source else ""
        text += f"\n\n## Source document{where}\n{shown}{cut}"
    return text


def _criteria(state: State) -> str:
    return _listed("Acceptance criteria", tuple(f"{i.id}: {i.text}" for i in open_items(state.items)))


def _commands(state: State) -> str:
    """The commands that flyball measures with, as a shell takes them: an agent need not guess how tests are run here."""
    settings = state.task.settings
    gates = [(gate.name, gate.command) for gate in settings.gates]
    lint = [("lint", settings.lint)] if settings.lint else []
    told = (f"{name}: `{_PLACEHOLDER.sub(_REPORT_FILE, command)}`" for name, command in (*gates, *lint))
    return _listed("Commands that check the work, run in the root of the repository", tuple(told))


def _consent(state: State) -> str:
    wanted = _listed("Protected files the implementer wants to change", state.consent_wanted)
    return f"{wanted}\n\nThis copy is the implementer's tree; the accepted versions are those of commit {state.tests_accepted}."


def _measured(state: State) -> str:
    judged = state.judged
    lines: list[str] = []
    if judged is not None:
        if judged.false_claim:
            lines.append("You signalled that the stage is finished. It was measured, and it is not:")
        elif judged.gate_1.held:
            lines.append(
                "The measurements of this stage hold. If you agree that it is finished, set `exit_signal` to true."
            )
        else:
            lines.append("The last iteration was measured. Still missing:")
        lines += [f"- {m}" for m in judged.gate_1.missing]
        lines += [f"- your report was not taken as you wrote it: {p}" for p in judged.report_problems]
        lines += [f"- your report says otherwise than the measurement: {d}" for d in judged.disagreements]
        if state.breaker.state == "HALF_OPEN":
            lines.append(f"Nothing moved: {state.breaker.reason}. If it goes on like this, the loop stops here.")
    lines += _tricks(state.last)
    lines += _put_back(state)
    lines += _output(state.last or state.entry)
    if state.last_interrupted:
        lines.append(
            f"The previous turn was interrupted; its partial edits are in the tree (checkpoint {state.last_interrupted})."
        )
    return "## What was measured\n" + "\n".join(lines) if lines else ""


def _checks(state: State) -> str:
    """What was measured for the reviewer whose turn this is."""
    measured = next((o.measurement for o in state.outcomes.values() if isinstance(o, Measured)), None)
    checks = measured.checks if measured else ()
    return _listed("Checks of this tree", tuple(f"{c.name}: {c.status}: {c.detail}".rstrip(": ") for c in checks))


def _tricks(measured: Measurement | None) -> list[str]:
    if measured is None or not measured.tricks:
        return []
    return ["Set aside, because it would make the gate say more than is true:"] + [
        f"- {t.kind}: {t.path}: {t.detail}" for t in measured.tricks
    ]


def _put_back(state: State) -> list[str]:
    if not state.put_back:
        return []
    kept = "The tree is an earlier one again." if state.restored else "All other changes of that turn were kept."
    return [f"These protected files were put back as they were accepted: {listed(state.put_back, 20)}. {kept}"]


def _output(measured: Measurement | None) -> list[str]:
    if measured is None:
        return []
    failed = next((g for g in measured.gates if not g.passed and g.output), None)
    if failed is None:
        return []
    return [f"End of the output of `{failed.command}`:", "```", failed.output[-OUTPUT_SHOWN:].strip("\n"), "```"]


def _findings(state: State) -> str:
    return _listed("Open findings", tuple(f"{f.severity}: {f.message} {f.file}".rstrip() for f in state.findings))


def _lesson(state: State) -> str:
    text = _listed("An earlier attempt was ended; its lesson", state.lesson)
    if "smaller-scope" in state.rungs:
        text += "\n\nWork on the first open point only and leave the rest for later turns."
    return text


def _listed(title: str, lines: tuple[str, ...]) -> str:
    return f"## {title}\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
