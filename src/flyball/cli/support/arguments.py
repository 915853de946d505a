"""Arguments that several commands share, as typer knows them."""

from __future__ import annotations

from typing import Annotated

import typer

from flyball.cli.support.completion import task_ids

Task = Annotated[
    str,
    typer.Argument(help="The task: its id, a part of it, or words that match it.", autocompletion=task_ids),
]
MaybeTask = Annotated[
    str,
    typer.Argument(
        help="The task: its id, a part of it, or words that match it. Default: the one that is unfinished.",
        autocompletion=task_ids,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]
