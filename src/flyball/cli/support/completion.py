"""Task ids for the shell, read from the journal; anything that goes wrong completes to nothing."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def task_ids(incomplete: str) -> list[tuple[str, str]]:
    """Ids that begin with, or contain, what was typed so far; each with what was asked for."""
    from flyball.wiring.site import Site

    with suppress(Exception):
        records = Site.find(Path.cwd()).journal.tasks()
        return [(r.id, " ".join(r.title.split())[:60]) for r in records if incomplete in r.id]
    return []
