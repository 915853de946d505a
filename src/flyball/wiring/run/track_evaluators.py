"""Performs what a track's evaluation asks of the world: measuring, and looking up what judges cite."""

import shutil
from collections.abc import Sequence
from functools import partial

import msgspec

from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.findings import PassResult
from flyball.core.evaluation.judging import FILES_NAMED, TrackMatter, judged_passes, read_answer
from flyball.core.workflows.track.effects import AnswersChecked, CheckAnswers, MeasureTrack, TrackMeasured
from flyball.documents.track_folder import read_track
from flyball.ports import Stop
from flyball.wiring.run.track_measuring import TrackMeasuring, committed_lines


class TrackEvaluators(msgspec.Struct, frozen=True):
    """The evaluators of one task; the folder they measure in is made anew each time."""

    measuring: TrackMeasuring
    cards: Sequence[EvaluatorCard]

    def measure(self, request: MeasureTrack, stop: Stop) -> TrackMeasured:
        measuring = self.measuring
        shutil.rmtree(measuring.folder, ignore_errors=True)
        measuring.folder.mkdir(parents=True)
        track = read_track(request.path, measuring.site.repository.root)
        span = measuring.span(request.base, request.candidate)
        found = measuring.measure(track, request.chosen, span, stop)
        measuring.keep_shots(track)
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
            said = read_answer(
                seats[name], message, partial(committed_lines, self.measuring.workspace, request.candidate)
            )
            if isinstance(said, str):
                unusable[name] = said
            else:
                passes[name] = said
        return AnswersChecked(passes, unusable)
