"""Finds and reads a `.prp-session` folder; nothing in it is ever changed."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from flyball.core.workflows.tdd.prp_session import Odd, PrpSession, read
from flyball.documents.errors import DocumentError
from flyball.documents.source import read_bytes, read_text

FOLDER = ".prp-session"
STATE = "loop-state.json"
BREAKER = "circuit-breaker.json"


def is_session(path: Path) -> bool:
    return (path / STATE).is_file() or (path.name == STATE and path.is_file())


def session_folder(root: Path, environment: Mapping[str, str]) -> Path | None:
    place = Path(environment.get("PRP_SESSION_DIR") or root / FOLDER)
    return place if is_session(place) else None


def read_session(path: Path, now: datetime) -> PrpSession:
    """The session at a path; raises with the file and what was expected."""
    folder = path if path.is_dir() else path.parent
    state, breaker = folder / STATE, folder / BREAKER
    known = _json(breaker) if breaker.is_file() else None
    try:
        return read(_json(state), known, now)
    except Odd as odd:
        raise DocumentError(f"{state} (with {BREAKER}): {odd}. Nothing was changed.") from odd


def document_of(session: PrpSession, path: Path, root: Path) -> Path:
    """The document the session works on, from the repository's root or as it stands."""
    document = root / session.document
    if not document.is_file():
        raise DocumentError(
            f"{path} works on {session.document}, which is not there; expected the document. Put it back, or begin with another:"
            " flyball run --from FILE"
        )
    return document


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path, read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise DocumentError(
            f"{path} is not JSON ({error}); expected a session's state. Nothing was changed."
        ) from error
