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


def test_without_a_server_the_link_is_that_of_the_port_it_would_listen_on(served: Path, flyball):
    assert flyball("serve", "--link").out.startswith("http://127.0.0.1:7117/?token=")
    served.write_text("999999999 http://127.0.0.1:8972\n")
    assert flyball("serve", "--link", "--port", "9000").out.startswith("http://127.0.0.1:9000/?token=")
