"""How effects end: the second half of every begun effect's story."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from flyball.core.claims.claims import Claim
from flyball.core.model.measurement import Measurement
from flyball.core.model.task import Commit

TurnKind = Literal[
    "ok",
    "denied",
    "question",
    "max_turns",
    "budget",
    "rate_limited",
    "usage_limit",
    "overloaded",
    "not_logged_in",
    "not_installed",
    "context_full",
    "timed_out",
    "killed",
    "crashed",
    "interrupted",
]
LIMITED: frozenset[str] = frozenset({"rate_limited", "usage_limit", "overloaded"})
FAILED: frozenset[str] = frozenset({"crashed", "killed"})
ABSENT: frozenset[str] = frozenset({"not_logged_in", "not_installed"})


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What turns cost; `estimated` when the agent did not say. Money is None where it is not known, which is not nothing."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    estimated: bool = False

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: Usage) -> Usage:
        """Both together; their money is known only if that of each is."""
        known = self.usd is not None and other.usd is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            round((self.usd or 0.0) + (other.usd or 0.0), 6) if known else None,
            self.estimated or other.estimated,
        )

    def minus(self, before: Usage) -> Usage:
        """What came on top of `before`; a total that went down was begun anew."""
        if (
            self.input_tokens < before.input_tokens
            or self.output_tokens < before.output_tokens
            or (self.usd is not None and self.usd < (before.usd or 0.0))
        ):
            return self
        return Usage(
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            None if self.usd is None else round(self.usd - (before.usd or 0.0), 6),
            self.estimated,
        )


NOTHING_USED = Usage(usd=0.0)


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="outcome"):
    """How an effect ended."""


class Prepared(Outcome, frozen=True, omit_defaults=True, tag="prepared"):
    """The workspace stands at `base`, the commit before any turn; `onto` is the user's branch that was checked out then."""

    base: Commit
    tree: str
    branch: str
    notes: tuple[str, ...] = ()
    onto: str = ""
    left: tuple[str, ...] = ()


class TurnEnded(Outcome, frozen=True, omit_defaults=True, tag="turn.ended"):
    """How one agent run ended, what it claimed and what it used; `session_usage` is the conversation's total where it tells one.

    `model` is the one that ran: as the agent said, else as it was asked for; empty where nobody knows.
    """

    kind: TurnKind
    detail: str = ""
    claim: Claim = Claim()
    usage: Usage = Usage()
    seconds: float = 0.0
    exit_code: int | None = None
    reset_at: datetime | None = None
    session: str = ""
    session_usage: Usage = Usage()
    transcript: str = ""
    final_message: str = ""
    stray_processes: int = 0
    model: str = ""


class RecalledLearning(msgspec.Struct, frozen=True, omit_defaults=True):
    """One learning as a prompt shows it in `line`; `score` and `why` say what it was chosen for, `files` which of its files the turn shares."""

    id: str
    kind: Literal["decision", "anti-pattern"]
    title: str
    choice: str
    line: str
    score: float
    why: str
    files: tuple[str, ...] = ()


class Contradiction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision that is not accepted yet, and an earlier one on the same subject that says something else; `subject` is what they share."""

    new: str
    old: str
    told: str
    subject: str


class Recalled(Outcome, frozen=True, omit_defaults=True, tag="recalled"):
    """The learnings that fit, best first, of so many `searched`; a `problem` says why none could be looked for."""

    learnings: tuple[RecalledLearning, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    searched: int = 0
    problem: str = ""


class Measured(Outcome, frozen=True, omit_defaults=True, tag="measured"):
    """A measurement was made."""

    measurement: Measurement
    seconds: float = 0.0


class Saved(Outcome, frozen=True, omit_defaults=True, tag="saved"):
    """A tree is kept and can be restored."""

    commit: Commit
    tree: str
    label: str
    accepted: bool = False
    notes: tuple[str, ...] = ()


class Restored(Outcome, frozen=True, omit_defaults=True, tag="restored"):
    """The workspace's tree is that of `commit` again; `undone` keeps what was there, `notes` tell what else was kept."""

    commit: Commit
    tree: str
    undone: Commit = Commit("")
    notes: tuple[str, ...] = ()


class Mended(Outcome, frozen=True, omit_defaults=True, tag="mended"):
    """Protected `paths` are as accepted again, and the tree with them is kept as a checkpoint."""

    commit: Commit
    tree: str
    label: str
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class WorkspaceOpened(Outcome, frozen=True, omit_defaults=True, tag="workspace.opened"):
    """A lane's workspace stands at its base."""

    tree: str
    notes: tuple[str, ...] = ()


class WorkspaceClosed(Outcome, frozen=True, omit_defaults=True, tag="workspace.closed"):
    """All of a lane's workspace is saved, and the next lane may have it."""


class Integrated(Outcome, frozen=True, omit_defaults=True, tag="integrated"):
    """A lane's work and the commit it was brought onto are one commit now.

    `changed` are status and path of the files the lane changed since its base, the first of `changes` many; `dropped` are changes it may
    not bring along.
    """

    commit: Commit
    tree: str
    changed: tuple[tuple[str, str], ...] = ()
    changes: int = 0
    dropped: tuple[str, ...] = ()


class Conflicted(Outcome, frozen=True, omit_defaults=True, tag="conflicted"):
    """A lane's work and the commit it was to be brought onto change the same lines; nothing was made of them.

    `own_diff` is what the lane changed in these files since its base, `other_diff` what was changed there meanwhile, and `markers` the
    files as git would have left them; each is cut at a bound.
    """

    paths: tuple[str, ...] = ()
    detail: str = ""
    own_diff: str = ""
    other_diff: str = ""
    markers: str = ""


class NothingToIntegrate(Outcome, frozen=True, omit_defaults=True, tag="integrated.empty"):
    """A lane's work adds nothing to the commit it was to be brought onto; `dropped` are changes it may not bring along."""

    dropped: tuple[str, ...] = ()


class Delivered(Outcome, frozen=True, omit_defaults=True, tag="delivered"):
    """The task's branch in the user's repository is this commit."""

    commit: Commit
    branch: str
    notes: tuple[str, ...] = ()


class Undelivered(Outcome, frozen=True, omit_defaults=True, tag="undelivered"):
    """The task's branch was not moved: somebody else uses it, or a push was refused."""

    detail: str


class PullRequested(Outcome, frozen=True, omit_defaults=True, tag="pull_requested"):
    """A pull request is open at `url`; without one there is none, and `detail` says why and what to type."""

    url: str = ""
    detail: str = ""


class Waited(Outcome, frozen=True, omit_defaults=True, tag="waited"):
    """The time came."""


class Answered(Outcome, frozen=True, omit_defaults=True, tag="answered"):
    """A question has its answer."""

    text: str
    by: Literal["person", "default"] = "person"


class Unanswered(Outcome, frozen=True, omit_defaults=True, tag="unanswered"):
    """Nobody is there to answer, and there is no default."""


class Interrupted(Outcome, frozen=True, omit_defaults=True, tag="interrupted"):
    """The controller ended while this was under way."""

    detail: str = ""


class Failed(Outcome, frozen=True, omit_defaults=True, tag="failed"):
    """The world refused: a full disk, a broken setup command, a moved branch."""

    detail: str


class Edited(Outcome, frozen=True, omit_defaults=True, tag="edited"):
    """The user's file was changed as asked."""

    sha256: str


class Stale(Outcome, frozen=True, omit_defaults=True, tag="stale"):
    """The user's file is no longer what was read; nothing was changed."""

    sha256: str
