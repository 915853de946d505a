"""The report as one HTML file: no request, no script, both themes, made for paper too."""

import msgspec

from flyball.markup.rendering import asset, render
from flyball.projections.pages.report_page import report_page
from flyball.projections.pages.summary import Known


class ReportFrame(msgspec.Struct, frozen=True):
    """What the file is filled with beside the report itself; a page of the server has a link to its style instead."""

    flyball: str
    style: str = ""
    theme: str = "system"
    back: str = ""
    version: str = ""
    scripts: bool = False


def html_report(known: Known, version: str) -> str:
    frame = ReportFrame(version, asset("style.css").decode())
    return render("report.html", page=frame, report=report_page(known))
