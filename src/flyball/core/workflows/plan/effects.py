"""What planning asks of the world: the plan.md that a planner edited."""

from __future__ import annotations

from flyball.core.model.effects import Effect
from flyball.core.model.outcomes import Outcome
from flyball.core.model.task import Commit


class ReadDraft(Effect, frozen=True, omit_defaults=True, tag="read_draft"):
    """Read a file as a planner's turn left it, from the tree that was saved then."""

    commit: Commit
    path: str


class DraftRead(Outcome, frozen=True, omit_defaults=True, tag="draft.read"):
    """What the file held; empty where there was none."""

    text: str = ""
