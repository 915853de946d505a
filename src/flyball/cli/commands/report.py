"""`flyball report`: what was done, how it was verified, decided and spent, and what is left."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.arguments import MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json


class Format(StrEnum):
    """What the report may be written as."""

    MD = "md"
    JSON = "json"


def report(
    task: MaybeTask = "",
    format: Annotated[Format, typer.Option(help="Format: md for people, json for programs. Default: md.")] = Format.MD,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Report what was done, how it was verified, and what is left."""
    from flyball.cli.support.choosing import chosen
    from flyball.projections.views import report as projection
    from flyball.projections.views.report_markdown import markdown
    from flyball.wiring.site import Site

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        found = chosen(site, task)
        dossier = site.dossier(found)
        made = projection.report(dossier.state, dossier.chronicle)
        if as_json or format is Format.JSON:
            put_json(made)
        else:
            put(markdown(made).rstrip("\n"))
