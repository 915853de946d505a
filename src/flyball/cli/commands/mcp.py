"""`flyball mcp`: flyball as a server an agent can ask, over the Model Context Protocol on standard input and output."""

import sys

from flyball.cli.support.exits import exit_on_refusal
from flyball.ports import Refusal


def mcp() -> None:
    """Serve an agent over MCP on stdio: its task, gates, progress, questions, monitor and evaluator. No tool can declare the work done."""
    from flyball.core.extras import install_command

    with exit_on_refusal():
        try:
            from flyball.cli.commands.mcp_server import serve
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("mcp"):
                raise
            command = install_command("mcp", sys.executable)
            raise Refusal(f"flyball mcp needs the library of its protocol. Install it with: {command}") from error
        serve()
