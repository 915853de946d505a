"""Performs what a track's evaluation asks of the world: measuring, and looking up what judges cite."""

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

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
from flyball.wiring.site import Site
from flyball.workspace.workspace import GitWorkspace


class TrackEvaluators(msgspec.Struct, frozen=True):
    """The evaluators of one task; what they need lies in `folder`, and is made anew each time."""

    site: Site
    workspace: GitWorkspace
    confine: Confine
    settings: Settings
    folder: Path
    environment: Mapping[str, str]
    notify: Notify
    cards: Sequence[EvaluatorCard]

    def measure(self, request: MeasureTrack, stop: Stop) -> TrackMeasured:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        root = self.site.repository.root
        track = read_track(request.path, root)
        measuring = TrackMeasuring(
            self.site,
            self.workspace,
            self.confine,
            self.settings,
            config_file.read(root),
            self.folder,
            self.environment,
            stop,
            self.notify,
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
        seats = {seat.evaluator: seat for seat in judged_passes(request.chosen, self.cards, TrackMatter("", "", ""))}
        passes: dict[str, tuple[PassResult, ...]] = {}
        unusable: dict[str, str] = {}
        for name, message in request.answers.items():
            said = read_answer(seats[name], message, partial(committed_lines, self.workspace, request.candidate))
            if isinstance(said, str):
                unusable[name] = said
            else:
                passes[name] = said
        return AnswersChecked(passes, unusable)
