"""Performs what a track's evaluation asks of the world: measuring, and looking up what judges cite."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from flyball.config import file as config_file
from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.findings import PassResult
from flyball.core.evaluation.judging import FILES_NAMED, TrackMatter, judged_passes, read_answer
from flyball.core.model.task import Settings
from flyball.core.workflows.track.effects import AnswersChecked, CheckAnswers, MeasureTrack, TrackMeasured
from flyball.documents.track_folder import read_track
from flyball.ports import Confine, Notify, Stop
from flyball.projections.files.evaluation_report import SHOTS
from flyball.wiring.run.track_measuring import TrackMeasuring, committed_lines
from flyball.workspace.workspace import GitWorkspace


class TrackEvaluators:
    """The evaluators of one task; what they need lies in `folder`, and is made anew each time."""

    def __init__(
        self,
        root: Path,
        workspace: GitWorkspace,
        confine: Confine,
        settings: Settings,
        *,
        folder: Path,
        cache: Path,
        environment: Mapping[str, str],
        notify: Notify,
        cards: Sequence[EvaluatorCard],
    ) -> None:
        self._root, self._workspace, self._confine, self._settings = root, workspace, confine, settings
        self._folder, self._cache, self._environment, self._notify = folder, cache, environment, notify
        self._cards = cards

    def measure(self, request: MeasureTrack, stop: Stop) -> TrackMeasured:
        """Everything about the candidate that needs no judgement."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        track = read_track(request.path, self._root)
        measuring = TrackMeasuring(
            self._root,
            self._workspace,
            self._confine,
            self._settings,
            config_file.read(self._root),
            folder=self._folder,
            cache=self._cache,
            environment=self._environment,
            stop=stop,
            notify=self._notify,
        )
        span = measuring.span(request.base, request.candidate)
        found = measuring.measure(track, request.chosen, span)
        if measuring.shots.is_dir():
            shutil.rmtree(track.path / SHOTS, ignore_errors=True)
            shutil.copytree(measuring.shots, track.path / SHOTS)
        return TrackMeasured(
            {name: answer for name, answer in found.answers.items() if not isinstance(answer, str)},
            found.checks,
            found.sync,
            tuple(each.path for each in span.files)[:FILES_NAMED],
            {name: answer for name, answer in found.answers.items() if isinstance(answer, str)},
        )

    def check(self, request: CheckAnswers) -> AnswersChecked:
        """What judges said, as far as the lines they cite stand in the tree they judged."""
        seats = {seat.evaluator: seat for seat in judged_passes(request.chosen, self._cards, TrackMatter("", "", ""))}
        passes: dict[str, tuple[PassResult, ...]] = {}
        unusable: dict[str, str] = {}
        for name, message in request.answers.items():
            said = read_answer(seats[name], message, partial(committed_lines, self._workspace, request.candidate))
            if isinstance(said, str):
                unusable[name] = said
            else:
                passes[name] = said
        return AnswersChecked(passes, unusable)
