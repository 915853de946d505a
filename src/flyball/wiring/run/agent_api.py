"""Where an agent asks about its task and leaves its word: within a turn that flyball drives, or in anybody's conversation.

In a turn the journal is out of the agent's reach, so the API reads what was rendered into the tree and writes into the
turn's own report. Outside it reads the journal; nothing that is said there reaches a task.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from flyball.core.model.naming import LOOP
from flyball.core.model.task import TaskId
from flyball.documents.errors import DocumentError
from flyball.documents.turn_notes import TurnNotes
from flyball.ports import Refusal
from flyball.projections.files.verdict_file import NAME as VERDICT, GateShown, TaskVerdict, task_verdict
from flyball.wiring.site import Site


class TurnApi(msgspec.Struct, frozen=True):
    """In a turn: what its environment names."""

    start: Path
    environment: dict[str, str]

    def verdict(self, task: str) -> TaskVerdict:
        """The verdict as rendered into the tree; a turn knows its own task and no other."""
        own = self.environment["FLYBALL_TASK"]
        if task and task not in own:
            raise Refusal(f"this turn works on {own}; it knows nothing of {task!r}")
        for folder in (self.start, *self.start.parents):
            path = folder / LOOP / own / VERDICT
            if path.is_file():
                # A verdict from the tree, where an agent can write too; what it did to the file it did to itself.
                try:
                    return msgspec.json.decode(path.read_bytes(), type=TaskVerdict)
                except (OSError, msgspec.DecodeError) as error:
                    raise Refusal(f"{path} cannot be read ({error}); your prompt contains what is known") from error
        raise Refusal(f"this copy has no verdict of {own}; your prompt contains what is known")

    def turn(self) -> dict[str, str]:
        names = ("TASK", "WORKFLOW", "STAGE", "ROLE", "SUBTASK", "ITERATION", "TURN", "PROMPT_FILE")
        return {name.lower(): self.environment.get(f"FLYBALL_{name}", "") for name in names}

    def progress(self, summary: str) -> str:
        self._notes.progress(summary)
        return "Noted as your claim. What counts is measured when your turn ends."

    def question(self, text: str, options: tuple[str, ...], default: str) -> str:
        self._notes.question(text, options, default)
        rest = f"if nobody answers, {default!r} is taken" if default else "without an answer the task waits for one"
        return (
            f"Noted; a person is asked when your turn ends, and a later prompt contains the answer ({rest}). Go on with what does "
            "not depend on it, or end your turn. A report of your own that you write to the file later must repeat it."
        )

    @property
    def _notes(self) -> TurnNotes:
        return TurnNotes(Path(self.environment["FLYBALL_REPORT_FILE"]), self.environment["FLYBALL_NONCE"])


class SiteApi(msgspec.Struct, frozen=True):
    """Outside a turn: the journal of the repository around `start`; `choose` finds the task that words mean."""

    start: Path
    choose: Callable[[Site, str], TaskId]

    def verdict(self, task: str) -> TaskVerdict:
        site = Site.find(self.start)
        try:
            view = site.view(self.choose(site, task))
            return task_verdict(view.state, view.history)
        finally:
            site.journal.close()

    def turn(self) -> dict[str, str]:
        return {}

    def progress(self, summary: str) -> str:  # noqa: ARG002 - as in a turn
        raise DocumentError(
            "flyball does not drive this conversation, so there is no turn your progress would belong to, and nothing was kept. "
            "Tell the person; what is true of the work is measured by: flyball resume"
        )

    def question(self, text: str, options: tuple[str, ...], default: str) -> str:  # noqa: ARG002 - as in a turn
        raise DocumentError(
            "flyball does not drive this conversation, so nothing was asked. Ask the person here. A question the task itself has "
            "asked is answered by: flyball answer"
        )


AgentApi = TurnApi | SiteApi


def agent_api(start: Path, environment: Mapping[str, str], choose: Callable[[Site, str], TaskId]) -> AgentApi:
    if all(environment.get(name) for name in ("FLYBALL_TASK", "FLYBALL_NONCE", "FLYBALL_REPORT_FILE")):
        return TurnApi(start, dict(environment))
    return SiteApi(start, choose)


def gates(verdict: TaskVerdict, name: str) -> tuple[GateShown, ...]:
    if not verdict.gates:
        raise Refusal(f"no gate of {verdict.task} has been measured yet")
    found = tuple(gate for gate in verdict.gates if not name or gate.name == name)
    if not found:
        names = ", ".join(gate.name for gate in verdict.gates)
        raise Refusal(f"{verdict.task} has no gate {name!r}; there are: {names}")
    return found
