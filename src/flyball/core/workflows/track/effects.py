"""What the `track` workflow asks of the world, down to each edit of a track's documents, and how that ends."""

from typing import Any, ClassVar

import msgspec

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import PassResult
from flyball.core.evaluation.structural import StructuralCheck
from flyball.core.evaluation.verdict import TrackEvaluation
from flyball.core.model.effects import Effect
from flyball.core.model.outcomes import Outcome
from flyball.core.model.task import Commit
from flyball.core.workflows.track.plan_text import Mark


class TrackEdit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="edit"):
    """What code wants to be true of a track's documents; an edit names a state, so that making it twice is making it once."""


class SetMetadata(TrackEdit, frozen=True, omit_defaults=True, tag="set_metadata"):
    """These values stand in metadata.json; an object is merged into the one that is there."""

    values: dict[str, Any]


class SetBox(TrackEdit, frozen=True, omit_defaults=True, tag="set_box"):
    task: str
    mark: Mark


class MarkDone(TrackEdit, frozen=True, omit_defaults=True, tag="mark_done"):
    """A task is done: the commit that holds the work, and what was done."""

    task: str
    sha: str
    summary: str


class WritePlan(TrackEdit, frozen=True, omit_defaults=True, tag="write_plan"):
    """plan.md is this text; one that stood there is kept beside it as the version it was."""

    text: str
    version: int


class AddLines(TrackEdit, frozen=True, omit_defaults=True, tag="add_lines"):
    heading: str
    lines: tuple[str, ...]


class BeginEvaluation(TrackEdit, frozen=True, omit_defaults=True, tag="begin_evaluation"):
    """metadata.json says that the track is being evaluated; what an earlier evaluation found no longer stands."""

    at: str


class WriteEvaluation(TrackEdit, frozen=True, omit_defaults=True, tag="write_evaluation"):
    """evaluation-report.md tells of this evaluation, and metadata.json has its checkpoint."""

    evaluation: TrackEvaluation
    at: str


class KeepErrors(TrackEdit, frozen=True, omit_defaults=True, tag="keep_errors"):
    """knowledge/errors.json knows these mistakes and how they were mended."""

    entries: tuple[dict[str, str], ...]
    on: str


class LogDecision(TrackEdit, frozen=True, omit_defaults=True, tag="log_decision"):
    """decision-log.md has a row for documents of the business that were brought up to date."""

    date: str
    decision: str
    source: str
    documents: tuple[str, ...]
    commit: str


class CompleteTrack(TrackEdit, frozen=True, omit_defaults=True, tag="complete_track"):
    """The track is complete: metadata.json says so, and tracks.md and index.md list it as completed."""

    at: str
    summary: str
    retrospective: str = ""


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
    users_files: ClassVar[bool] = True
    path: str


class EditTrack(Effect, frozen=True, omit_defaults=True, tag="edit_track"):
    """Change documents of a track, if those that are changed still are what was read (`seen`: SHA-256 by name)."""

    users_files: ClassVar[bool] = True
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
