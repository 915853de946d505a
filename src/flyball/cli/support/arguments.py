"""Arguments that several commands share, as typer knows them."""

from __future__ import annotations

from typing import Annotated

import typer

from flyball.cli.support.completion import task_ids

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
