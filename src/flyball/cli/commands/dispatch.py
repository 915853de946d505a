"""`flyball dispatch`: the specialised evaluators a track needs, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import USAGE, exit_on_refusal, say
from flyball.cli.support.output import put, put_json


def dispatch(
    track: Annotated[str, typer.Argument(help="Folder of the track, or its name below conductor/tracks/.")],
    choose: Annotated[bool, typer.Option("--choose", help="Name the evaluators and stop; nothing is run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Choose the evaluators a track needs, from its metadata and the words of its specification."""
    from flyball.core.evaluation import choosing
    from flyball.documents.track_folder import read_track
    from flyball.ports import Refusal

    with exit_on_refusal():
        if not choose:
            say(f"dispatch chooses evaluators and does not run them. Use it with: flyball dispatch {track} --choose")
            sys.exit(USAGE)
        read = read_track(track, Path.cwd())
        try:
            chosen = choosing.choose(read.metadata, read.spec)
        except choosing.UnknownEvaluator as error:
            raise Refusal(f"metadata.json of {read.folder}: {error}") from error
        if as_json:
            put_json({"track": read.folder, "evaluators": chosen})
            return
        for each in chosen:
            put(f"{each.name}: {'; '.join(each.chosen_by)}")
