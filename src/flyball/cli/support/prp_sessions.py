"""A session of another loop: shown, and taken up only if `--from` names it or a person says so."""

from __future__ import annotations

import sys
from pathlib import Path

from flyball.cli.support.exits import DONE, say
from flyball.cli.support.output import ask
from flyball.clock import system_clock
from flyball.config.home import environment
from flyball.core.workflows.tdd.prp_session import COMPLETED, PrpSession, told
from flyball.documents.prp_files import document_of, is_session, read_session, session_folder
from flyball.ports import Refusal


class SessionOver(Refusal):
    """There is nothing left of the session to take up."""


def named_session(source: Path | None, root: Path) -> tuple[PrpSession, Path] | None:
    """The session `--from` names, and its document."""
    if source is None or not is_session(source):
        return None
    session = read_session(source, system_clock.now())
    document = document_of(session, source, root)
    if session.status == COMPLETED:
        raise SessionOver(
            f"{told(session)}: that session is finished. Start a new task from its document: flyball run --from {document}"
        )
    return session, document


def offered_session(source: Path | None, root: Path, *, attended: bool) -> PrpSession | None:
    """The repository's own session on this very document, if a person wants it taken up; without one it is only named."""
    place = session_folder(root, environment())
    if source is None or place is None:
        return None
    session = read_session(place, system_clock.now())
    if session.status == COMPLETED or (root / session.document).resolve() != source.resolve():
        return None
    say(f"found {told(session)}")
    if not attended:
        say(f"the session is not continued; to continue it: flyball run --from {place}")
        return None
    word = ask(f"take it up at {session.phase}, new or abort? [take] ") or "take"
    if word.startswith("a"):
        sys.exit(DONE)
    return None if word.startswith("n") else session
