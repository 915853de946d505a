"""What the `track` workflow asks of the world, and how that ends."""

from __future__ import annotations

import msgspec

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import PassResult
from flyball.core.evaluation.structural import StructuralCheck
from flyball.core.model.effects import Effect
from flyball.core.model.outcomes import Outcome
from flyball.core.model.task import Commit
from flyball.core.workflows.track.edits import (
    AddLines,
    BeginEvaluation,
    CompleteTrack,
    KeepErrors,
    LogDecision,
    MarkDone,
    SetBox,
    SetMetadata,
    WriteEvaluation,
    WritePlan,
)

Edit = (
    SetMetadata
    | SetBox
    | MarkDone
    | WritePlan
    | AddLines
    | BeginEvaluation
    | WriteEvaluation
    | KeepErrors
    | LogDecision
    | CompleteTrack
)


class ReadTrack(Effect, frozen=True, omit_defaults=True, tag="read_track"):
    """Read the documents of a track as they are now, in the user's tree."""

    path: str


class EditTrack(Effect, frozen=True, omit_defaults=True, tag="edit_track"):
    """Change documents of a track, if those that are changed still are what was read (`seen`: SHA-256 by name)."""

    path: str
    seen: dict[str, str]
    edits: tuple[Edit, ...]


class MeasureTrack(Effect, frozen=True, omit_defaults=True, tag="measure_track"):
    """Run the structural checks and all passes of the chosen evaluators that need no model, on `candidate` against `base`."""

    path: str
    candidate: Commit
    base: Commit
    chosen: tuple[Chosen, ...]
    summary: str = ""


class CheckAnswers(Effect, frozen=True, omit_defaults=True, tag="check_answers"):
    """Read what judges said of `candidate`: a line they cite must stand there. `answers` are final messages by evaluator."""

    candidate: Commit
    chosen: tuple[Chosen, ...]
    answers: dict[str, str]


class TrackRead(Outcome, frozen=True, omit_defaults=True, tag="track.read"):
    """The documents of a track as they were; `files` are the SHA-256 of those that may be edited, one that is not there has none.

    `cards` are those of evaluators that other packages bring, `elsewhere` are files that other unfinished tracks plan to change, with the track; `known_errors` what knowledge/errors.json has.
    """

    track: str
    title: str
    spec: str = ""
    plan: str = ""
    product: str = ""
    chosen: tuple[Chosen, ...] = ()
    cards: tuple[EvaluatorCard, ...] = ()
    files: dict[str, str] = msgspec.field(default_factory=dict)
    fix_cycles: int = 0
    max_fix_cycles: int | None = None
    max_plan_revisions: int | None = None
    plan_version: int = 0
    completed: bool = False
    elsewhere: tuple[tuple[str, str], ...] = ()
    known_errors: tuple[dict[str, str], ...] = ()
    documents: tuple[str, ...] = ()


class TrackEdited(Outcome, frozen=True, omit_defaults=True, tag="track.edited"):
    """The documents are as asked."""


class TrackStale(Outcome, frozen=True, omit_defaults=True, tag="track.stale"):
    """A document is no longer what was read; nothing was changed in it."""

    file: str


class TrackMeasured(Outcome, frozen=True, omit_defaults=True, tag="track.measured"):
    """What was measured: passes by evaluator, structural checks, documents of the business to bring up to date.

    `broken` are evaluators that crashed or took too long, with the reason.
    """

    passes: dict[str, tuple[PassResult, ...]] = msgspec.field(default_factory=dict)
    structural: tuple[StructuralCheck, ...] = ()
    sync: BusinessSync = BusinessSync()
    changed: tuple[str, ...] = ()
    broken: dict[str, str] = msgspec.field(default_factory=dict)


class AnswersChecked(Outcome, frozen=True, omit_defaults=True, tag="answers.checked"):
    """What judges found as far as their evidence bears it out, by evaluator; `unusable` are answers that cannot be read."""

    passes: dict[str, tuple[PassResult, ...]] = msgspec.field(default_factory=dict)
    unusable: dict[str, str] = msgspec.field(default_factory=dict)


EFFECTS: tuple[type[Effect], ...] = (ReadTrack, EditTrack, MeasureTrack, CheckAnswers)
OUTCOMES: tuple[type[Outcome], ...] = (TrackRead, TrackEdited, TrackStale, TrackMeasured, AnswersChecked)
