"""`flyball mcp`: flyball as a server an agent can ask, over the Model Context Protocol on standard input and output."""

from __future__ import annotations

from flyball.cli.exits import told


def mcp() -> None:
    """Serve an agent over MCP on stdio: its task, gates, progress, questions, monitor and evaluator; none can say "done"."""
    from flyball.ports import Refusal

    with told():
        try:
            from flyball.cli.mcp_server import serve
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("mcp"):
                raise
            raise Refusal('flyball mcp needs its extra. Install it with: pip install "flyball[mcp]"') from error
        serve()
