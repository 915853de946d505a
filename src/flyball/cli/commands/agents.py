"""`flyball agents`: which of the agents flyball knows are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json

if TYPE_CHECKING:
    from flyball.wiring.tools.roster import Listed


def agents(as_json: AsJson = False) -> None:
    """List the agents flyball knows: installed, version, logged in. No token is spent."""
    from flyball.config.home import environment
    from flyball.wiring.tools.roster import roster

    with exit_on_refusal():
        found = roster(environment())
        if as_json:
            put_json(found)
            return
        width = max(len(agent.name) for agent in found)
        for agent in sorted(found, key=lambda one: not one.path):
            put(f"{agent.name:<{width}}  {_description(agent)}")
        if not any(agent.path for agent in found):
            put(
                "No known agent is installed. Any other program can be the agent: flyball run --agent-command 'PROG ARG …'"
            )


def _description(agent: Listed) -> str:
    if not agent.path:
        return f"not installed; get it with: {agent.fix}"
    login = {True: "logged in", False: f"not logged in; log in with: {agent.fix}", None: "login not known"}
    return f"{agent.version}, {login[agent.logged_in]} ({agent.path})"
