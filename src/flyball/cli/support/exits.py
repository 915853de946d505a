"""Exit codes, and how an error reaches a person: one sentence on stderr, nothing written."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from flyball.cli.support.output import for_terminal, tell
from flyball.config.errors import AgentMissing, ConfigError
from flyball.core.fold.lanes import JournalOutOfOrder
from flyball.core.model.state import State
from flyball.core.workflows.registry import WorkflowMissing
from flyball.documents.errors import DocumentError, LoopFolderUnwritable
from flyball.journal.errors import BlobUnwritable, JournalGone, JournalUnwritable, LeaseHeld, LeaseLost
from flyball.ports import Refusal

DONE = 0
INTERNAL = 1
USAGE = 2
BLOCKED = 3
LIMIT = 4
PAUSED = 5
NO_AGENT = 6
CONTINUE = 10
HELD = 75
INTERRUPTED = 130

REFUSED = (Refusal, ConfigError, DocumentError, JournalOutOfOrder, WorkflowMissing)
"""What reaches a person, or an agent, as one sentence."""
_STOPS = {
    "done": DONE,
    "blocked": BLOCKED,
    "aborted": BLOCKED,
    "limit": LIMIT,
    "paused": PAUSED,
    "no_agent": NO_AGENT,
    "error": INTERNAL,
    "interrupted": INTERRUPTED,
}


def exit_code(state: State) -> int:
    return _STOPS[state.stopped.kind] if state.stopped else INTERNAL


@contextmanager
def exit_on_refusal() -> Iterator[None]:
    """Turn what was refused into a sentence and an exit code."""
    try:
        yield
    except LeaseHeld as error:
        say(str(error))
        sys.exit(HELD)
    except (JournalUnwritable, JournalGone, LeaseLost, BlobUnwritable, LoopFolderUnwritable) as error:
        say(str(error))
        sys.exit(INTERNAL)
    except AgentMissing as error:
        say(str(error))
        sys.exit(NO_AGENT)
    except REFUSED as error:
        say(str(error))
        sys.exit(USAGE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def say(sentence: str) -> None:
    """A sentence on stderr; a terminal gets it folded between words."""
    tell(f"{for_terminal(f'flyball: {sentence}')}\n")
