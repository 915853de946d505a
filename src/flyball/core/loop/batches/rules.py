"""What a workflow brings to have its items worked on in batches."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from flyball.core.loop.kernel import Stage
from flyball.core.loop.workflow import Brief
from flyball.core.model.batch_events import BatchReviewed
from flyball.core.model.batches import Batch
from flyball.core.model.state import Lane, State


class BatchRules(msgspec.Struct, frozen=True):
    """Stages, roles and prompts of a workflow that works in batches.

    A finished lane moves to `reviewing`, where the task's own lane integrates and lets `judge` have its say; `monitoring` and `settling` are
    the stages after that, and `following` says where it goes on then. `stage_of` is the row of the table for a subtask's lane, `consenting`
    the role that is asked about protected files where nobody is there. Files in `kept` are not a lane's to change. `replans`: what does not
    move in this task can be planned anew.
    """

    reviewing: str
    monitoring: str
    settling: str
    consenting: str
    brief: Brief
    stage_of: Callable[[State, Lane], Stage]
    judge: Callable[[State, Lane, Batch], BatchReviewed]
    following: Callable[[State], str]
    kept: Callable[[State], tuple[str, ...]] = lambda _state: ()
    replans: Callable[[State], bool] = lambda _state: False
