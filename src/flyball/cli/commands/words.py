"""A person's word to a task: `answer`, `reset`, `skip`, `abort`, `modify`, `pause`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson, Task
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json

if TYPE_CHECKING:
    from flyball.core.model.events import Spoken
    from flyball.wiring.tasks.inbox import Heard


def answer(
    task: Task,
    question: Annotated[str, typer.Argument(help="The question: its id (ask/3), its number or its name.")],
    text: Annotated[list[str] | None, typer.Argument(help="The answer. Default: the question's own default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question a task has asked."""
    from flyball.cli.screen.answers import understood
    from flyball.cli.support.choosing import chosen
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.inbox import question_of, require_open, speak

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        found = chosen(site, task)
        state = site.state(found)
        require_open(state)
        key, asked = question_of(site, state, question)
        given = understood(asked, " ".join(text or ()))
        _tell(speak(site, found, "answer", text=given, question=key), as_json=as_json)


def reset(task: Task, as_json: AsJson = False) -> None:
    """Forget what makes a task count as stuck, and let it try again."""
    _speak(task, "reset", as_json=as_json)


def skip(task: Task, as_json: AsJson = False) -> None:
    """Leave the present stage unverified and go on; every report will say so."""
    _speak(task, "skip", as_json=as_json)


def abort(task: Task, as_json: AsJson = False) -> None:
    """End a task for good; its checkpoints stay."""
    _speak(task, "abort", as_json=as_json)


def modify(
    task: Task,
    text: Annotated[list[str], typer.Argument(help="What the next turns are to know.")],
    as_json: AsJson = False,
) -> None:
    """Give a task new guidance, then let it try again."""
    _speak(task, "modify", text=" ".join(text), as_json=as_json)


def pause(task: Task, as_json: AsJson = False) -> None:
    """Let a running task stop after its present step."""
    from flyball.cli.support.choosing import chosen
    from flyball.ports import Refusal
    from flyball.wiring.presence import controller_of
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.inbox import require_open, speak

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        found = chosen(site, task)
        require_open(site.state(found))
        if controller_of(site, found) is None:
            raise Refusal(f"{found} is not running, so there is nothing to pause. Go on with: flyball resume {found}")
        _tell(speak(site, found, "pause"), as_json=as_json)


def _speak(words: str, word: Spoken, *, text: str = "", as_json: bool) -> None:
    from flyball.cli.support.choosing import chosen
    from flyball.ports import Refusal
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.inbox import speak

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        found = chosen(site, words)
        if word == "modify" and not text.strip():
            raise Refusal(f"modify needs guidance: flyball modify {found} TEXT")
        _tell(speak(site, found, word, text=text), as_json=as_json)


def _tell(heard: Heard, *, as_json: bool) -> None:
    if as_json:
        put_json(heard)
    elif heard.taken == "now":
        put(f"{heard.task} is ended. Its checkpoints stay: {heard.next_command}")
    elif heard.taken == "by the running controller":
        put(f"{heard.word} is on its way to the running controller of {heard.task}. Watch: {heard.next_command}")
    else:
        put(f"{heard.word} is kept for {heard.task}, which nobody runs now. It takes effect with: {heard.next_command}")
