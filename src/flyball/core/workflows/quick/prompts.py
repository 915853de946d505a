"""The prompts of the `quick` workflow."""

from __future__ import annotations

from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, WORKING, Role
from flyball.core.model.state import Lane, State

ROLES = {
    "implementer": (
        "Do what is asked for below, and nothing else, with the smallest change that does it. Add a test for each criterion that\n"
        "fails without the change, with the criterion's id in its name (AC-1 as `ac_1`): work that no test notices is not accepted.\n"
        "Accepted tests and test configuration are protected: you may add tests, not weaken them; if one is wrong, say so in\n"
        "`protected_changes`. Set `exit_signal` to true when it is done."
    ),
    "reviewer": (
        "Review the change as it stands in this copy; your edits are discarded. You may run anything. Judge whether it does what\n"
        "was asked for, whether its tests can fail, and what the measurements cannot see; reject it where no test shows a criterion.\n"
        "Report `verdict` (`pass`, `warn` or\n"
        "`fail`) and `findings` with severity `critical`, `major`, `minor` or `suggestion`; the first two block. Approve with\n"
        "`verdict` `pass`, or `warn` where something should be seen to later, and `exit_signal` true."
    ),
}

CARDS = (
    Role("implementer", "Does what is asked for, with tests, in the smallest change.", WORKING, ROLES["implementer"]),
    Role(
        "reviewer",
        "Reviews a change against what was asked for. Changes no file.",
        CHECKING,
        ROLES["reviewer"],
        reviews=True,
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    """The prompt a role of this workflow gets now."""
    return prompts.compose(
        state,
        lane,
        role,
        purpose,
        text=ROLES.get(role, ""),
        context=(prompts.request(state), prompts.criteria(state)),
        measured=prompts.measured_section(lane),
    )
