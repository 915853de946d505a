"""`flyball serve --link`."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def served(repository: Path) -> Path:
    """The file in which a running server says where it is."""
    path = repository.parent / "home" / "serve" / "address"
    path.parent.mkdir(parents=True)
    return path


def test_the_link_leads_to_the_server_that_runs_whatever_its_port(served: Path, flyball):
    served.write_text(f"{os.getpid()} http://127.0.0.1:8972\n")
    token = flyball("serve", "--link").out.partition("?token=")[2]
    assert flyball("serve", "--link").out == f"http://127.0.0.1:8972/?token={token}"
    assert len(token.strip()) >= 32


@pytest.mark.parametrize("left", ["", "999999999 http://127.0.0.1:8972\n"], ids=["never", "not any more"])
def test_where_nothing_is_served_there_is_no_link(left: str, served: Path, flyball):
    served.write_text(left)
    told = flyball("serve", "--link")
    assert (told.out, told.code) == ("", 2)
    assert "Start it: flyball serve" in told.err
