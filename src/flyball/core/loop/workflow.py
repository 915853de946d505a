"""What a workflow must say of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from flyball.core.loop.step import Step
from flyball.core.model.effects import Effect
from flyball.core.model.events import Fact, Moved
from flyball.core.model.outcomes import Outcome
from flyball.core.model.state import Lane, Record, State

Brief = Callable[[State, Lane, str, str], str]
"""The prompt for a role and a purpose, from what is known now."""

BOTH_GATES = "the gate passed and the agent says that it is done"
"""Why a stage is left, in the words of every screen; the two together are the dual gate."""


class Workflow(msgspec.Struct, frozen=True):
    """A name, its stages in order, what comes next in a lane, where a skipped stage leads, what its roles are told, and what
    becomes of feedback once it is done.

    `coordinate` looks at the whole task before the lanes are asked: it opens, integrates and closes them. A workflow that goes round
    names the stage it begins anew in when a person rolls it back. What it remembers itself begins as `record`; `folds` add its
    facts to it, and `begun` and `ended` what its effects and outcomes tell. Stored names of its own stand in `facts`, `effects` and `outcomes`.
    """

    name: str
    stages: tuple[str, ...]
    roles: tuple[str, ...]
    next: Callable[[State, Lane], Step]
    skipped: Callable[[State, Lane], Moved]
    brief: Brief
    reopened: Callable[[State, Lane], Step]
    coordinate: Callable[[State], Step | None] = lambda _state: None
    rolled_back_to: str = ""
    record: Record = Record()
    folds: Mapping[type, Callable[[State, Any], None]] = {}
    begun: Mapping[type, Callable[[State, Lane, Any], None]] = {}
    ended: Mapping[type, Callable[[State, Lane, Effect, Any], None]] = {}
    facts: tuple[type[Fact], ...] = ()
    effects: tuple[type[Effect], ...] = ()
    outcomes: tuple[type[Outcome], ...] = ()
