"""`flyball report --format html` and `--open`."""

from pathlib import Path

import pytest
from tests.support.builders import short_tdd_run


@pytest.mark.req("V20")
def test_the_report_is_printed_as_one_file_and_shown_by_the_users_browser(told, site, flyball, monkeypatch, tmp_path):
    task = told(short_tdd_run())
    printed = flyball("report", "--format", "html").out
    assert printed.startswith("<!doctype html>")
    opened: list[str] = []

    def show(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", show)
    said = flyball("report", "--open")
    assert said.code == 0
    path = site.home.task(task) / "report.html"
    assert opened == [path.as_uri()]
    assert Path(path).read_text().rstrip() == printed.rstrip()


def test_without_a_browser_the_file_is_named(told, flyball, monkeypatch):
    told(short_tdd_run())
    monkeypatch.setattr("webbrowser.open", lambda _url: False)
    said = flyball("report", "--open")
    assert said.code == 2
    assert "report.html" in said.err
