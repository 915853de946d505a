"""Arguments that several commands share, as typer knows them."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer


def task_ids(incomplete: str) -> list[tuple[str, str]]:
    """Ids that begin with, or contain, what was typed so far; each with what was asked for."""
    from flyball.wiring.site import Site

    with suppress(Exception):
        records = Site.find(Path.cwd()).journal.tasks()
        return [(r.id, " ".join(r.title.split())[:60]) for r in records if incomplete in r.id]
    return []


Task = Annotated[
    str,
    typer.Argument(help="Task: its id, number, part of its id, or words of its request.", autocompletion=task_ids),
]
MaybeTask = Annotated[
    str,
    typer.Argument(
        help="Task: its id, number, part of its id, or words of its request. Default: the unfinished one, else the last one.",
        autocompletion=task_ids,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text. Default: text.")]
