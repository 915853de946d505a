"""`flyball prompt`: the prompt a role would get now."""

from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson, MaybeTask
from flyball.cli.support.exits import exit_on_refusal, say
from flyball.cli.support.output import put, put_json
from flyball.core.loop import prompts
from flyball.core.workflows.registry import workflow_of
from flyball.ports import Refusal


def prompt(
    role: Annotated[str, typer.Argument(help="Role of the task's workflow, such as implementer or qa.")],
    task: MaybeTask = "",
    builtin: Annotated[
        bool,
        typer.Option("--builtin", help="Leave out what the project adds to or replaces in the prompt. Default: no."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the prompt a role would get now, and which part of it is the project's own."""
    from msgspec.structs import replace

    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.next_turn import as_next_turn

    with exit_on_refusal():
        site, found = task_here(task)
        state = site.state(found)
        roles = workflow_of(state.task).roles
        if role not in roles:
            raise Refusal(f"{state.task.workflow} has no role {role!r}; expected one of: {', '.join(roles)}")
        own = None if builtin else state.task.settings.prompts.get(role)
        if builtin:
            settings = replace(state.task.settings, prompts={})
            state = replace(state, task=replace(state.task, settings=settings))
        known = as_next_turn(site, state, role)
        text = workflow_of(state.task).brief(known, known.main, role, "")
        if as_json:
            shown = {"task": found, "role": role, "stage": state.main.stage, "version": prompts.VERSION}
            parts = {"project": {"path": own.path, "mode": own.mode, "digest": own.digest}} if own is not None else {}
            put_json({**shown, **parts, "prompt": text})
            return
        put(text.rstrip("\n"))
        if own is not None:
            part = f'"{prompts.PROJECT_RULES}"' if own.mode == "add" else f"the text of {role}"
            say(f"{part} is from {own.path} {own.digest}; all other parts are flyball's, version {prompts.VERSION}")
