"""`flyball prompt`: the prompt a role would get now."""

from __future__ import annotations

from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson, MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.core.loop import prompts
from flyball.core.workflows.registry import workflow_of
from flyball.ports import Refusal


def prompt(
    role: Annotated[str, typer.Argument(help="Role of the task's workflow, such as implementer or qa.")],
    task: MaybeTask = "",
    as_json: AsJson = False,
) -> None:
    """Show the prompt a role would get now."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.next_turn import as_next_turn

    with exit_on_refusal():
        site, found = task_here(task)
        state = site.state(found)
        roles = workflow_of(state.task).roles
        if role not in roles:
            raise Refusal(f"{state.task.workflow} has no role {role!r}; expected one of: {', '.join(roles)}")
        known = as_next_turn(site, state, role)
        text = workflow_of(state.task).brief(known, known.main, role, "")
        if as_json:
            put_json(
                {"task": found, "role": role, "stage": state.main.stage, "version": prompts.VERSION, "prompt": text}
            )
        else:
            put(text.rstrip("\n"))
