"""Evaluates a track: trees laid out, structural checks, evaluators side by side, judges, one verdict, written down."""

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec

from flyball import process
from flyball.clock import system_clock
from flyball.config import file as config_file, schema, trust
from flyball.config.file import FileConfig
from flyball.core.evaluation import checkpoints
from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.choosing import Chosen, UnknownEvaluator, choose
from flyball.core.evaluation.findings import EvaluatorResult
from flyball.core.evaluation.judging import JudgeSeat, TrackMatter, judged_passes, skipped_seat
from flyball.core.evaluation.plan_page import PlanPage, read_plan
from flyball.core.evaluation.verdict import TrackEvaluation, aggregate, weigh_evaluator
from flyball.core.model.task import Commit, Settings
from flyball.core.text.quantities import first_few, plural
from flyball.documents.track_folder import Track, read_track, update_metadata, write_page
from flyball.measures.evaluators.offered import find_evaluators
from flyball.measures.evaluators.running import Answered
from flyball.ports import Notify, Refusal
from flyball.projections.files.evaluation_report import PAGE, evaluation_report
from flyball.wiring.run.agents import hiding_logins
from flyball.wiring.run.confining import confinement
from flyball.wiring.run.track_measuring import EMPTY, TrackMeasuring, TrackSpan, require_tools
from flyball.wiring.site import Site
from flyball.wiring.tools.judges import NAME, ask_judges, require_agent
from flyball.workspace.sandbox import Unavailable, available
from flyball.workspace.workspace import GitWorkspace


class Choice(msgspec.Struct, frozen=True):
    """A track, the evaluators it needs, and all there are."""

    track: Track
    chosen: tuple[Chosen, ...]
    cards: tuple[EvaluatorCard, ...]
    notes: tuple[str, ...] = ()


def choose_evaluators(name: str, here: Path) -> Choice:
    """Which evaluators a track needs; refuses one that nobody offers."""
    track, there = read_track(name, here), find_evaluators()
    try:
        chosen = choose(track.metadata, track.spec, there.cards)
    except UnknownEvaluator as error:
        why = "".join(f" {each}: {reason}." for each, reason in there.unusable.items() if each in str(error))
        raise Refusal(f"metadata.json of {track.folder}: {error}.{why}") from error
    return Choice(
        track, chosen, there.cards, tuple(f"{each} cannot be used: {why}" for each, why in there.unusable.items())
    )


def evaluate_track(
    name: str, here: Path, *, environment: Mapping[str, str], measured_only: bool, notify: Notify
) -> TrackEvaluation:
    """The whole evaluation. With `measured_only` nothing is judged and nothing is written."""
    choice = choose_evaluators(name, here)
    site = Site.find(choice.track.path)
    file = config_file.read(site.repository.root)
    trust.require(site.home, file)
    require_tools(choice.chosen, site.repository.root, environment, file)
    with tempfile.TemporaryDirectory(prefix="dispatch-", dir=site.home.folder, ignore_cleanup_errors=True) as made:
        evaluating = _Evaluating(_measuring(site, file, Path(made), environment, notify), file, choice)
        if measured_only:
            return evaluating.evaluate(measured_only=True)
        folder, tell = choice.track.path, partial(notify, "waiting")
        # Judges need an agent; better known before anything is run.
        if evaluating.seats(TrackMatter("", "", "")):
            require_agent(file)
        update_metadata(folder, lambda _: checkpoints.at_start(_now()), tell=tell)
        evaluation = evaluating.evaluate(measured_only=False)
        evaluating.measuring.keep_shots(choice.track)
        write_page(folder, PAGE, evaluation_report(evaluation, system_clock.now()))
        update_metadata(folder, lambda metadata: checkpoints.at_end(evaluation, metadata, _now()), tell=tell)
        return evaluation


def _now() -> str:
    return f"{system_clock.now():%Y-%m-%dT%H:%M:%SZ}"


def _measuring(
    site: Site, file: FileConfig | None, folder: Path, environment: Mapping[str, str], notify: Notify
) -> TrackMeasuring:
    workspace, settings = GitWorkspace(site.repository, folder, NAME), _settings(file)
    confine = hiding_logins(confinement(site, settings, workspace, environment), environment)
    return TrackMeasuring(site, workspace, confine, settings, folder, environment, notify)


class _Evaluating(msgspec.Struct):
    measuring: TrackMeasuring
    file: FileConfig | None
    choice: Choice
    stop: process.StopFlag = msgspec.field(default_factory=process.StopFlag)
    asked: tuple[str, ...] = ()
    """Who judged."""

    def seats(self, matter: TrackMatter) -> tuple[JudgeSeat, ...]:
        return judged_passes(self.choice.chosen, self.choice.cards, matter)

    def evaluate(self, *, measured_only: bool) -> TrackEvaluation:
        track = self.choice.track
        base, note = self._base(read_plan(track.plan) if track.plan is not None else None)
        span = self.measuring.span(base, Commit(self.measuring.site.repository.require_commit()), note)
        measured = self.measuring.measure(track, self.choice.chosen, span, self.stop)
        results = self._results(measured.answers, span, measured_only=measured_only)
        notes = (*self.choice.notes, *self.asked, *((span.note,) if span.note else ()), *self._uncommitted_note())
        return aggregate(
            track.folder,
            results,
            measured.checks,
            measured.sync,
            measured_only=measured_only,
            base=span.base,
            head=span.head,
            notes=notes,
        )

    def _base(self, plan: PlanPage | None) -> tuple[str, str]:
        """The plan's checkpoint, else the parent of the first commit the plan names."""
        commit = self.measuring.commit
        planned = commit(checkpoints.plan_commit(self.choice.track.metadata))
        if planned:
            return planned, ""
        first = commit(plan.first_sha) if plan else ""
        if first:
            return commit(f"{first}^") or EMPTY, ""
        return (
            EMPTY,
            "neither the metadata nor the plan names a commit that exists, so the whole tree counts as the track's work",
        )

    def _results(
        self, answers: Mapping[str, Answered], span: TrackSpan, *, measured_only: bool
    ) -> list[EvaluatorResult]:
        track = self.choice.track
        measured = {name: answer for name, answer in answers.items() if not isinstance(answer, str)}
        matter = TrackMatter(
            track.folder, span.base[:12], track.spec, track.plan or "", track.product,
            tuple(each.path for each in span.files), measured, span.diff,
        )  # fmt: skip
        seats = [seat for seat in self.seats(matter) if seat.evaluator in measured]
        if measured_only:
            judged = {seat.evaluator: skipped_seat(seat) for seat in seats}
        else:
            judged, self.asked = ask_judges(seats, self.file, self.measuring, span.head, self.stop)
        cards = {card.name: card for card in self.choice.cards}
        return [
            weigh_evaluator(
                cards[each.name], each, answers[each.name], judged.get(each.name, ()), measured_only=measured_only
            )
            for each in self.choice.chosen
        ]

    def _uncommitted_note(self) -> tuple[str, ...]:
        """What a person might believe was evaluated: the track's own documents are read as they stand, all else as it was committed."""
        root, track = self.measuring.site.repository.root.resolve(), self.choice.track
        if not track.path.is_relative_to(root):
            return ()
        read = (f"{track.path}/", *([str(track.product_path)] if track.product_path else []))
        left = [
            name for name in self.measuring.site.repository.uncommitted_files() if not f"{root}/{name}".startswith(read)
        ]
        told = f"{plural(len(left), 'uncommitted file')} left out ({first_few(left)})"
        return (f"{told}; dispatch evaluates the commit at HEAD, so commit first",) if left else ()


def _settings(file: FileConfig | None) -> Settings:
    """What of the settings matters outside a task: where dependencies lie, and the sandbox."""
    top = file.top if file else schema.TopLevel()
    options = file.gate_options if file else schema.GateOptions()
    wanted = top.sandbox or "auto"
    unconfined = wanted == "none" or (wanted == "auto" and isinstance(available(), Unavailable))
    defaults = Settings()
    return Settings(
        setup=top.setup or "",
        environment_folders=defaults.environment_folders if options.environment is None else options.environment,
        sandbox="none" if unconfined else "bwrap",
        network=defaults.network if top.network is None else top.network,
    )
