"""What code wants to be true of a track's documents; each edit names a state, so that making it twice is making it once."""

from __future__ import annotations

from typing import Any

import msgspec

from flyball.core.evaluation.verdict import TrackEvaluation
from flyball.core.workflows.track.plan_text import Mark


class TrackEdit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="edit"):
    """One change to the documents of a track."""


class SetMetadata(TrackEdit, frozen=True, omit_defaults=True, tag="set_metadata"):
    """These values stand in metadata.json; an object is merged into the one that is there."""

    values: dict[str, Any]


class SetBox(TrackEdit, frozen=True, omit_defaults=True, tag="set_box"):
    """A task's box holds this mark."""

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
    """These lines stand under a heading of plan.md."""

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
