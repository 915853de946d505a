"""What a workflow must say of itself."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from flyball.core.events import Moved
from flyball.core.next import Next
from flyball.core.state import State

BOTH_GATES = "the gate passed and the agent says that it is done"
"""Why a stage is left, in the words of every screen; the two together are the dual gate."""


class Workflow(msgspec.Struct, frozen=True):
    """A name, its stages in order, what comes next, where a skipped stage leads, and what becomes of feedback once it is done.

    A workflow that goes round names the stage it begins anew in when a person rolls it back.
    """

    name: str
    stages: tuple[str, ...]
    roles: tuple[str, ...]
    next: Callable[[State], Next]
    skipped: Callable[[State], Moved]
    reopened: Callable[[State], Next]
    rolled_back_to: str = ""
