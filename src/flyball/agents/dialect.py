"""What one agent's command line program is asked, what it did, and what that means: the part each adapter speaks for itself."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from flyball.agents.display.display import Shown
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.process import Exit

PROMPT_FILE = "prompt.md"

Event = dict[str, Any]
"""One JSON object a program printed on a line of its own."""


HowEnded = tuple[TurnKind, str, datetime | None]
"""How a turn ended, in which words, and when the limit it met is over, if that was said."""


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What one turn wants of a program.

    `tree` is where it works and `folder` its own writable folder, both as the program sees them; in `folder` lies the prompt.
    `session` is the conversation to go on with, "" is a fresh one. Where flyball's sandbox holds it, a program's own guard is in the
    way; where none does (`sandboxed` is false), it stays as far as it needs nobody to ask. `args` are the user's own, for the
    dialect to place.
    """

    model: str
    folder: Path
    tree: Path
    nonce: str
    role: str = ""
    session: str = ""
    access: Literal["write", "read"] = "write"
    sandboxed: bool = True
    max_turns: int | None = None
    budget_usd: float | None = None
    args: tuple[str, ...] = ()

    def add_unless_given(self, words: Sequence[str], *about: str) -> tuple[str, ...]:
        """Our words on a matter, unless the user's arguments have their own: one of `about` is among them."""
        own = any(arg == name or arg.startswith(f"{name}=") for arg in self.args for name in about)
        return () if own else tuple(words)

    def options(self, *, session: str = "", max_turns: str = "") -> tuple[str, ...]:
        """The words for model, conversation and cap on turns, as far as one is asked for and the program has an option for it."""
        wanted = (("--model", self.model), (session, self.session), (max_turns, self.max_turns))
        return tuple(str(word) for option, value in wanted if option and value for word in (option, value))


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """How the program is started: `argv` begins with its name; `env` is added to what is passed on; `files` are put into the
    folder, and those it writes there under the names in `left` are read when it has ended. `retrying` is a pattern of the lines by
    which it says that a request failed and is tried again.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    prompt_on_stdin: bool = True
    files: dict[str, bytes] = {}
    left: tuple[str, ...] = ()
    retrying: str = ""


class ProgramOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What the program did.

    `lines` are the JSON objects of standard output, read from the transcript each time they are gone through, so that memory stays
    small; `other` are the last lines that were none. `files` are those it left of the ones it was asked for, `homes` those of the
    dialect's that are there, `now` is in its own zone.
    """

    asked: TurnRequest
    lines: Iterable[Event]
    exit: Exit
    now: datetime
    other: tuple[str, ...] = ()
    stderr_text: str = ""
    files: Mapping[str, bytes] = {}
    homes: tuple[Path, ...] = ()

    @property
    def stderr_lines(self) -> list[str]:
        return [line.strip() for line in self.stderr_text.splitlines() if line.strip()]


class TurnReading(msgspec.Struct, frozen=True, kw_only=True):
    """One normalised outcome.

    "ok" is only for a terminal event that says no error; without a terminal event it is "crashed". The frame adds what no program
    can say of itself: a non-zero exit, a signal, a time-out. `usage` with `cumulative` is the conversation's total so far;
    `model` is the one that was used, where the program says so.
    """

    kind: TurnKind
    detail: str = ""
    final_message: str = ""
    usage: Usage = Usage(estimated=True)
    cumulative: bool = False
    session: str = ""
    reset_at: datetime | None = None
    question: str = ""
    options: tuple[str, ...] = ()
    model: str = ""


class Dialect(Protocol):
    """How one program is spoken to and understood; it starts nothing and keeps nothing.

    `variables` are the user's variables it may see. `homes` are folders it keeps its settings, logins and conversations in: a path
    below HOME, or "$NAME" for the folder that variable names; they are made and writable in the sandbox (a name with a suffix is a
    file, shown only if it is there). `guarded` are paths in them that stay read-only, and are moved away where an
    agent made them: what would be obeyed outside the sandbox later.
    """

    @property
    def name(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def variables(self) -> tuple[str, ...]: ...
    @property
    def homes(self) -> tuple[str, ...]: ...
    @property
    def guarded(self) -> tuple[str, ...]: ...
    @property
    def version_argv(self) -> tuple[str, ...]: ...
    @property
    def tells_money(self) -> bool:
        """Whether it says what a turn cost, at least of models whose price it knows."""

    @property
    def install(self) -> str:
        """The command a person types to get it."""

    @property
    def login(self) -> str:
        """The command, or variable, with which a person logs in."""

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        """Whether it has credentials, found without calling anybody; None where that cannot be told."""

    def invoke(self, asked: TurnRequest) -> Invocation: ...
    def read(self, heard: ProgramOutput) -> TurnReading: ...
    def show(self, event: Event) -> Sequence[Shown]:
        """What an event says, for whoever watches or reads the log."""
