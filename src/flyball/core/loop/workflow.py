"""What a workflow must say of itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from flyball.core.health.breaker import Strikes
from flyball.core.loop.progress import StageNumbers
from flyball.core.loop.role import Role
from flyball.core.loop.step import Step
from flyball.core.loop.transitions import Transition
from flyball.core.model.effects import Effect
from flyball.core.model.events import Fact, Moved
from flyball.core.model.outcomes import Outcome
from flyball.core.model.state import Lane, Record, State

Brief = Callable[[State, Lane, str, str], str]
"""The prompt for a role and a purpose, from what is known now."""

Lines = Mapping[type, Callable[[Any], str | None]]
"""One line for a fact, or for an effect that begins, in the words of every screen; None for what nobody needs to read."""

Notes = Mapping[type, Callable[[Any], Iterable[str]]]
"""What a fact adds to the notes of the report."""

BOTH_GATES = "the measurements hold and the agent says that it is done"
"""Why a stage is left, in the words of every screen; the two together are the dual gate."""

BATCH_HELD = "the measurements hold on the integrated tree"
"""Why a batch is complete: no agent is asked."""


class Demo(msgspec.Struct, frozen=True):
    """What `flyball demo` plays: `package` holds `demo/script.yaml` and, beside the shared sample, files of its own in `demo/sample.yaml`.

    `source` is what the task is opened from in the sample, `answer` what a person says when the task asks.
    """

    package: str
    source: str
    answer: str = ""


class Workflow(msgspec.Struct, frozen=True):
    """A name, its stages in order, what comes next in a lane, where a skipped stage leads, what its roles are told, and what
    becomes of feedback once it is done. `transitions` is the table that its moves are looked up in, where they stand in one.

    `undo` gives the facts of a person's rollback: which accepted checkpoints no longer stand, by their labels, and which one does.
    `coordinate` looks at the whole task before the lanes are asked: it opens, integrates and closes them. A workflow that goes round
    names the stage it begins anew in when a person rolls it back. What it remembers itself begins as `record`; `folds` add its
    facts to it, and `begun` and `ended` what its effects and outcomes tell. Stored names of its own stand in `facts`, `effects` and `outcomes`.

    What the shared rooms show and set is data: `cards` are its roles as others call on them, `author` is the role that writes the
    product and whose model does not review it, `strikes` the breaker's thresholds by stage. It works from a `source`: a document, or a
    folder of issues that it edits itself. The criteria are done together once the stages in `verifying` were left unforced; where there
    are none, each item has a status of its own. `covering` is the stage that measures which criteria have tests, `planning` are those in which no
    work has begun, `closing` the one in which only the report and the branch are left. `takes_sessions`: it goes on with sessions that another program kept by stage.
    `lines` are its facts and effects on screens, `notes` what they add to the report, `limit` is a limit of its own at which it stopped, with what was used.
    `imports`: it works to plans that other tools keep, and marks them. `percent` and `overall` how far a stage and the whole task are, `story`
    what the demo has shown, `unverified` which items are done by a person's tick alone.
    """

    name: str
    stages: tuple[str, ...]
    roles: tuple[str, ...]
    next: Callable[[State, Lane], Step]
    skipped: Callable[[State, Lane], Moved]
    brief: Brief
    reopened: Callable[[State, Lane], Step]
    coordinate: Callable[[State], Step | None] = lambda _state: None
    transitions: tuple[Transition, ...] = ()
    rolled_back_to: str = ""
    undo: Callable[[State, frozenset[str], str], tuple[Fact, ...]] = lambda _state, _labels, _to: ()
    record: Record = Record()
    folds: Mapping[type, Callable[[State, Any], None]] = {}
    begun: Mapping[type, Callable[[State, Lane, Any], None]] = {}
    ended: Mapping[type, Callable[[State, Lane, Effect, Any], None]] = {}
    facts: tuple[type[Fact], ...] = ()
    effects: tuple[type[Effect], ...] = ()
    outcomes: tuple[type[Outcome], ...] = ()
    cards: tuple[Role, ...] = ()
    author: str = ""
    strikes: Mapping[str, Strikes] = {}
    source: Literal["document", "issues", "track"] = "document"
    verifying: frozenset[str] = frozenset()
    covering: str = ""
    closing: str = ""
    planning: frozenset[str] = frozenset()
    takes_sessions: bool = False
    imports: bool = False
    percent: Callable[[str, StageNumbers], int] = lambda _stage, _numbers: 0
    overall: Callable[[str, int, Collection[str]], int] = lambda _stage, _iteration, _completed: 0
    demo: Demo | None = None
    story: Callable[[Iterable[Fact]], Iterator[str]] | None = None
    lines: Lines = {}
    notes: Notes = {}
    limit: Callable[[State], tuple[str, float]] = lambda _state: ("", 0)
    unverified: Callable[[State], tuple[str, ...]] = lambda _state: ()
