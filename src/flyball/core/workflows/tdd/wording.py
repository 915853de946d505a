"""What `tdd` alone records, in words: a line on screens and a note of the report."""

from collections.abc import Iterator

from flyball.core.loop.workflow import Lines, Notes
from flyball.core.workflows.tdd.facts import SessionImported
from flyball.core.workflows.tdd.prp_session import PHASES, describe_session


def _import_note(fact: SessionImported) -> Iterator[str]:
    before = PHASES[: PHASES.index(fact.session.phase)]
    unseen = f"; not verified here: {', '.join(before)}" if before else ""
    yield f"Begun at {fact.session.phase}, from {describe_session(fact.session)}{unseen}"


LINES: Lines = {SessionImported: lambda f: f"begun from {describe_session(f.session)}"}
NOTES: Notes = {SessionImported: _import_note}
