"""A person's word to a task: `answer`, `reset`, `skip`, `abort`, `modify`, `pause`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson, Task
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.core.model.events import Spoken
from flyball.ports import Refusal

if TYPE_CHECKING:
    from flyball.wiring.tasks.inbox import Heard


def answer(
    task: Task,
    question: Annotated[
        str,
        typer.Argument(
            help="Question: its id (ask/3), number or name; of one subtask: 2.2/NAME. May be left out before an option of the only one."
        ),
    ],
    text: Annotated[list[str] | None, typer.Argument(help="The answer. Default: the question's own default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question of a task."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.inbox import find_answer, require_open, speak

    with exit_on_refusal():
        site, found = task_here(task)
        state = site.state(found)
        require_open(state)
        key, given = find_answer(site, state, question, " ".join(text or ()))
        _tell(speak(site, found, "answer", text=given, question=key), as_json=as_json)


def reset(task: Task, as_json: AsJson = False) -> None:
    """Clear the counters that stopped a task as stuck, and let the task try again."""
    _speak(task, "reset", as_json=as_json)


def skip(
    task: Task,
    subtask: Annotated[
        str,
        typer.Option(
            metavar="ID", help="Subtask to leave out. Default: the one that asks; if none asks, the current stage."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Leave the current stage unverified, or a subtask out, and go on; every report says so."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.inbox import require_at_work, speak

    with exit_on_refusal():
        site, found = task_here(task)
        if subtask:
            require_at_work(site.state(found), subtask)
        _tell(speak(site, found, "skip", text=subtask), as_json=as_json)


def abort(task: Task, as_json: AsJson = False) -> None:
    """End a task for good; its checkpoints remain."""
    _speak(task, "abort", as_json=as_json)


def modify(
    task: Task,
    text: Annotated[list[str], typer.Argument(help="Guidance for the next turns.")],
    as_json: AsJson = False,
) -> None:
    """Give a task new guidance, then let it try again."""
    _speak(task, "modify", text=" ".join(text), as_json=as_json)


def pause(task: Task, as_json: AsJson = False) -> None:
    """Pause a running task when its current iteration ends."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.presence import controller_of
    from flyball.wiring.tasks.inbox import require_open, speak

    with exit_on_refusal():
        site, found = task_here(task)
        require_open(site.state(found))
        if controller_of(site, found) is None:
            raise Refusal(
                f"{found} is not running, so there is nothing to pause. Continue it with: flyball resume {found}"
            )
        _tell(speak(site, found, "pause"), as_json=as_json)


def _speak(words: str, word: Spoken, *, text: str = "", as_json: bool) -> None:
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.inbox import speak

    with exit_on_refusal():
        site, found = task_here(words)
        if word == "modify" and not text.strip():
            raise Refusal(f"modify needs guidance: flyball modify {found} TEXT")
        _tell(speak(site, found, word, text=text), as_json=as_json)


def _tell(heard: Heard, *, as_json: bool) -> None:
    if as_json:
        put_json(heard)
    elif heard.taken == "now":
        put(f"{heard.task} has ended. Its checkpoints remain: {heard.next_command}")
    elif heard.taken == "by the running controller":
        put(f"{heard.word} was sent to {heard.task}, which is running. Watch it with: {heard.next_command}")
    else:
        put(f"{heard.word.capitalize()} saved. {heard.task} is not running; apply it with: {heard.next_command}")
