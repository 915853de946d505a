"""How effects end: the second half of every begun effect's story."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from flyball.core.claims.values import Claim
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

    def dearer(self, other: Usage) -> Usage:
        """The most of either; money and tokens may be those of different turns."""
        most = other if other.tokens > self.tokens else self
        return msgspec.structs.replace(most, usd=max(self.usd or 0.0, other.usd or 0.0))


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


class ChangedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines added and removed; None in a file that is no text."""

    path: str
    added: int | None = None
    removed: int | None = None


class ChangedLines(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first files that differ between two commits, and how many do, with all of their lines."""

    files: tuple[ChangedFile, ...] = ()
    count: int = 0
    added: int = 0
    removed: int = 0


class Recalled(Outcome, frozen=True, omit_defaults=True, tag="recalled"):
    """The learnings that fit, best first, of so many `searched`; a `problem` says why none could be looked for.

    `changes` are what is under review since each commit that is shown.
    """

    learnings: tuple[RecalledLearning, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    searched: int = 0
    problem: str = ""
    changes: dict[str, ChangedLines] = {}


class DayCounted(Outcome, frozen=True, omit_defaults=True, tag="day.counted"):
    """What turns used until `at` on the local day that ends at `ends_at`, in all repositories but those in `unread`; what those
    `under_way` will use is not known.
    """

    ends_at: datetime
    turns: int = 0
    usage: Usage = NOTHING_USED
    known_usd: float = 0.0
    unpriced: int = 0
    dearest: Usage = NOTHING_USED
    unread: tuple[str, ...] = ()
    under_way: int = 0
    at: datetime | None = None

    def plus(self, *turns: Usage) -> DayCounted:
        usage, known, dearest = self.usage, self.known_usd, self.dearest
        for turn in turns:
            usage, known, dearest = usage.plus(turn), round(known + (turn.usd or 0.0), 6), dearest.dearer(turn)
        unpriced = self.unpriced + sum(turn.usd is None for turn in turns)
        count = self.turns + len(turns)
        return msgspec.structs.replace(
            self, turns=count, usage=usage, known_usd=known, unpriced=unpriced, dearest=dearest
        )


class Measured(Outcome, frozen=True, omit_defaults=True, tag="measured"):
    measurement: Measurement
    seconds: float = 0.0


class Saved(Outcome, frozen=True, omit_defaults=True, tag="saved"):
    """A checkpoint; `files` are the first of those that are others than in the checkpoint before."""

    commit: Commit
    tree: str
    label: str
    accepted: bool = False
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] | None = None


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
    text: str
    by: Literal["person", "default"] = "person"


class Unanswered(Outcome, frozen=True, omit_defaults=True, tag="unanswered"):
    """Nobody is there to answer, and there is no default."""


class Interrupted(Outcome, frozen=True, omit_defaults=True, tag="interrupted"):
    detail: str = ""


class Failed(Outcome, frozen=True, omit_defaults=True, tag="failed"):
    """The world refused: a full disk, a broken setup command, a moved branch."""

    detail: str


class Edited(Outcome, frozen=True, omit_defaults=True, tag="edited"):
    sha256: str


class Stale(Outcome, frozen=True, omit_defaults=True, tag="stale"):
    """The user's file is no longer what was read; nothing was changed."""

    sha256: str
