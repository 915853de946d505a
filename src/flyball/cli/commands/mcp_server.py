"""The tools of `flyball mcp`. They tell what was measured and take claims; none of them can set anything to done."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from flyball import __version__
from flyball.cli.support.choosing import choose_task
from flyball.cli.support.exits import REFUSED
from flyball.clock import system_clock
from flyball.config.home import environment
from flyball.core.advice.stream import StreamObservation, advise
from flyball.core.health.history import History
from flyball.ports import Refusal
from flyball.wiring.run.agent_api import AgentApi, agent_api, gates
from flyball.wiring.tools.evaluating import evaluate_folder
from flyball.wiring.tools.evaluation import Given
from flyball.wiring.tools.monitoring import thresholds_in

INSTRUCTIONS = (
    "flyball governs this repository's tasks: it measures the work and decides CONTINUE, DONE or BLOCKED. Ask get_task what is "
    "missing before you say that something is finished, and get_gate_output why a gate fails. What you report is a claim; it is "
    "measured when your turn ends."
)
Task = Annotated[
    str, Field(description="The task's id, a part of it, or words of its request; empty for the unfinished one.")
]


def serve() -> None:
    """Answer until standard input ends."""
    server(agent_api(Path.cwd(), environment(), choose_task)).run("stdio")


def server(at: AgentApi) -> MCPServer[Any]:
    """All tools, for an agent that asks here."""
    made: MCPServer[Any] = MCPServer("flyball", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING")
    for tool in (*_asking(at), *_saying(at), monitor, evaluate):
        made.tool()(tool)
    return made


def _asking(at: AgentApi) -> tuple[Any, ...]:
    def get_task(task: Task = "") -> dict[str, Any]:
        """Where a task stands: request, items, stage, decision with its reason, what is missing, findings, open questions."""
        with _explain_refusal():
            turn = at.turn()
            known = _data(at.verdict(task))
            return {**known, "gates": [gate["name"] for gate in known["gates"]], **({"turn": turn} if turn else {})}

    def get_gate_output(
        task: Task = "", gate: Annotated[str, Field(description="The gate's name; empty for all.")] = ""
    ) -> dict[str, Any]:
        """What the gates said when flyball last ran them: passed or not, exit code, the end of their output."""
        with _explain_refusal():
            return {"gates": [_data(each) for each in gates(at.verdict(task), gate)]}

    return get_task, get_gate_output


def _saying(at: AgentApi) -> tuple[Any, ...]:
    def report_progress(
        summary: Annotated[str, Field(description="One line: what is done so far and what comes next.")],
    ) -> str:
        """Note how far your turn is. It is a claim: it finishes nothing, and the last one stands until you report."""
        with _explain_refusal():
            return at.progress(summary)

    def ask_human(
        question: Annotated[str, Field(description="What only a person can decide.")],
        options: Annotated[list[str], Field(description="The answers to choose from; empty for free text.")] = [],  # noqa: B006 - it becomes a schema
        default: Annotated[str, Field(description="What to take if nobody answers; empty to wait for an answer.")] = "",
    ) -> str:
        """Put a question to a person; the answer comes in a later turn, so go on with what does not depend on it."""
        with _explain_refusal():
            return at.question(question, tuple(options), default)

    return report_progress, ask_human


def monitor(
    observations: Annotated[
        list[dict[str, Any]],
        Field(
            description="The iterations of a loop so far, oldest first, as for `flyball monitor --stream`: iteration, context, tree, "
            "edit, changed_files, gates[{name, passed, output, failing[]}], metric."
        ),
    ],
) -> dict[str, Any]:
    """Judge whether a loop makes progress: health, remedy (`cure`), evidence and confidence after its last iteration. Nothing is kept."""
    with _explain_refusal():
        try:
            seen = msgspec.convert(observations, list[StreamObservation])
        except msgspec.ValidationError as error:
            raise Refusal(f"observations: {error}") from error
        if not seen:
            raise Refusal("observations: expected at least one iteration")
        limits, history = thresholds_in(Path.cwd()), History()
        for each in seen:
            history, advice = advise(history, each, limits)
        return _data(advice)


def evaluate(
    root: Annotated[str, Field(description="The folder with `.work`; empty for the nearest one.")] = "",
    focus: Annotated[str, Field(description="The issue to look at first.")] = "",
) -> dict[str, Any]:
    """The evaluator's word on a `.work` backlog: CONTINUE with the next issue, or BLOCKED. It writes nothing, and knows no build or
    gates, since your word on them is no measurement: so it never says DONE.
    """
    with _explain_refusal():
        where = Path(root) if root else None
        return _data(evaluate_folder(where, Given(focus=focus), system_clock, write=False).evaluation)


@contextmanager
def _explain_refusal() -> Iterator[None]:
    """What is refused reaches the model as one sentence."""
    try:
        yield
    except REFUSED as error:
        raise ToolError(str(error)) from error


def _data(value: Any) -> dict[str, Any]:
    """A value as JSON knows it."""
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain
