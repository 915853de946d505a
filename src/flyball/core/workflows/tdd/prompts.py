"""The prompts of the `tdd` workflow."""

from __future__ import annotations

from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, LOOKING, WORKING, Role
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import Lane, State

ROLES = {
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
        "All tests must stay green. Name what you applied (extract function, …) in `metrics.patterns_applied`, a list. When\n"
        "nothing is worth improving, say so and signal."
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

_DESCRIBED = {
    "planner": ("Turns a request into acceptance criteria that a test can decide. Changes no file.", LOOKING),
    "tester": ("Writes tests that fail now and pass once the acceptance criteria are met.", WORKING),
    "implementer": ("Makes failing tests pass with the smallest change to the product code.", WORKING),
    "refactorer": ("Improves changed code without changing what it does; tests stay green.", WORKING),
    "documenter": ("Documents a change: decision record, README, changelog, diagrams.", WORKING),
    "qa": ("Judges finished work against its criteria before it ships. Changes no file.", CHECKING),
}
CARDS = tuple(Role(name, said, tools, ROLES[name], reviews=name == "qa") for name, (said, tools) in _DESCRIBED.items())


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    """The prompt a role of this workflow gets now."""
    return prompts.compose(
        state,
        lane,
        role,
        purpose,
        text=ROLES.get(role, ""),
        context=(prompts.request(state), prompts.criteria(state)),
        measured="\n\n".join(p for p in (prompts.measured_section(lane), _checks(lane) if role == "qa" else "") if p),
    )


def _checks(lane: Lane) -> str:
    """What was measured for the reviewer whose turn this is."""
    measured = next((o.measurement for o in lane.outcomes.values() if isinstance(o, Measured)), None)
    checks = measured.checks if measured else ()
    return prompts.listed(
        "Checks of this tree", tuple(f"{c.name}: {c.status}: {c.detail}".rstrip(": ") for c in checks)
    )
