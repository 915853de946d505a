"""`flyball report`: what was done, how it was verified, decided and spent, and what is left."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.ports import Refusal

if TYPE_CHECKING:
    from flyball.core.model.task import TaskId
    from flyball.wiring.site import Site


class Format(StrEnum):
    """What the report may be written as."""

    MD = "md"
    HTML = "html"
    JSON = "json"


def report(
    task: MaybeTask = "",
    format: Annotated[
        Format,
        typer.Option(help="Format: md or html (one file with plots) for people, json for programs. Default: md."),
    ] = Format.MD,
    open_: Annotated[
        bool, typer.Option("--open", help="Show the html report in your browser. Default: print the report.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json. Default: as --format says.")] = False,
) -> None:
    """Report what was done, how it was verified, and what is left."""
    from flyball.cli.support.choosing import task_here
    from flyball.projections.views import report as projection
    from flyball.projections.views.report_markdown import markdown
    from flyball.wiring.tasks.inbox import waiting

    with exit_on_refusal():
        site, found = task_here(task)
        view = site.view(found)
        if open_:
            _open(site, found, _html(site, found))
            return
        if format is Format.HTML and not as_json:
            put(_html(site, found).rstrip("\n"))
            return
        made = projection.report(view.state, view.history, waiting(site, view.state))
        if as_json or format is Format.JSON:
            put_json(made)
        else:
            put(markdown(made).rstrip("\n"))


def _html(site: Site, task: TaskId) -> str:
    from flyball import __version__
    from flyball.markup.report_file import html_report
    from flyball.wiring.tasks.surroundings import what_is_known

    return html_report(what_is_known(site, task), __version__)


def _open(site: Site, task: TaskId, html: str) -> None:
    """Keep the file out of the repository, and hand it to the browser."""
    import webbrowser

    path = site.home.task(task) / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8")
    if not webbrowser.open(path.as_uri()):
        raise Refusal(f"No browser could be started. The report is in {path}")
    put(f"The report is in {path}")
