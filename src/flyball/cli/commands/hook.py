"""`flyball hook`: answers the hooks of agents' own programs; `flyball.hook` does, before this room is even imported."""

import sys
from enum import StrEnum
from typing import Annotated

import typer


class HookEvent(StrEnum):
    """What a program may ask about."""

    STOP = "stop"


def hook(
    event: Annotated[HookEvent, typer.Argument(help="The agent's event: stop (the agent is about to stop).")],
) -> None:
    """Answer an agent's hook on stdin: keep the agent from stopping while flyball has not measured its work as done."""
    from flyball.hook import main

    sys.exit(main([event.value]))
