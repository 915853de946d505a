"""Measures a track: both trees laid out, structural checks, evaluators side by side; whoever asks says from where to where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball import process
from flyball.config.building import build_command
from flyball.config.file import FileConfig, said
from flyball.core.evaluation import checkpoints, structural
from flyball.core.evaluation.business import BusinessSync, business_sync
from flyball.core.evaluation.catalogue import EvaluatorCard
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import Changes
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.core.evaluation.plan_page import PlanPage, read_plan
from flyball.core.evaluation.structural import BuildRun, StructuralCheck
from flyball.core.model.task import Commit, Settings
from flyball.documents.track_folder import Track
from flyball.measures.evaluators.ground import TrackGround
from flyball.measures.evaluators.running import PYTHONPATH, Answered, run_evaluators
from flyball.measures.gates.commands import Commands, cleaned
from flyball.ports import Notify
from flyball.wiring.run.agents import hiding_logins
from flyball.wiring.run.controller import confinement
from flyball.wiring.site import Site
from flyball.wiring.tools.track_measures import built, covered
from flyball.workspace.differences import FileDifference, differences
from flyball.workspace.workspace import GitWorkspace

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's name for a tree without files."""
HEAD = "head"
UNKNOWN = "neither the metadata nor the plan names a commit that exists, so the whole tree counts as the track's work"


class Choice(msgspec.Struct, frozen=True):
    """A track, the evaluators it needs, and all there are."""

    track: Track
    chosen: tuple[Chosen, ...]
    cards: tuple[EvaluatorCard, ...]
    notes: tuple[str, ...] = ()


class TrackSpan(msgspec.Struct, frozen=True):
    """What a track did: from `base` to `head`, file by file; `note` says where the beginning is not known."""

    head: Commit
    base: str
    files: tuple[FileDifference, ...]
    note: str = ""

    @property
    def changes(self) -> Changes:
        spans = {each.path: each.spans for each in self.files if not each.gone}
        return Changes(spans, {each.path: each.was for each in self.files if each.was and not each.gone})


class MeasuredTrack(msgspec.Struct, frozen=True):
    """What was measured: each evaluator's answer, the structural checks, and what documents of the business need."""

    span: TrackSpan
    answers: Mapping[str, Answered]
    structural: tuple[StructuralCheck, ...]
    sync: BusinessSync


class TrackMeasuring:
    """Measures one track of a repository; `folder` is scratch space, `workspace` holds both commits."""

    def __init__(
        self,
        site: Site,
        file: FileConfig | None,
        choice: Choice,
        folder: Path,
        *,
        workspace: GitWorkspace,
        settings: Settings,
        environment: Mapping[str, str],
        stop: process.StopFlag,
        notify: Notify,
    ) -> None:
        self._site, self._file, self._choice, self._folder = site, file, choice, folder
        self._workspace, self._settings, self._options = workspace, settings, options_of(file)
        self._environment, self._stop, self._notify = environment, stop, notify
        self._plan = read_plan(choice.track.plan) if choice.track.plan is not None else None
        self.shots = folder / "scratch" / "shots"

    def base(self) -> str:
        """The plan's checkpoint, else the parent of the first commit the plan names; empty where neither is known."""
        planned = self._commit(checkpoints.plan_commit(self._choice.track.metadata))
        first = self._commit(self._plan.first_sha) if self._plan and not planned else ""
        return planned or ((self._commit(f"{first}^") or EMPTY) if first else "")

    def measure(self, head: Commit, base: str) -> MeasuredTrack:
        """All that needs no model, from `base` to `head`; without a base the whole tree counts."""
        since = base or EMPTY
        span = TrackSpan(head, since, differences(self._workspace.vault, since, head), "" if base else UNKNOWN)
        tree, before = self._folder / HEAD, self._folder / "scratch" / "base"
        self._lay_out(span.head, tree)
        self._lay_out(span.base, before)
        confine = hiding_logins(
            confinement(self._site, self._settings, self._workspace, self._environment), self._environment
        )
        commands = Commands(
            confine=confine,
            environment=self._environment,
            folder=self._folder / "logs",
            stop=self._stop,
            notify=self._notify,
        )
        files = self._workspace.list_files(span.head)
        command = self._options.build or build_command(files, lambda path: _text(tree / path))
        build = built(commands, command, tree, self._settings)
        sync = business_sync({each.path: each.lines for each in span.files}, _summary(self._choice.track))
        ground = msgspec.structs.replace(
            self._ground(span, files, before), build=build, coverage=covered(commands, self._file, tree, files)
        )
        answers = run_evaluators(
            self._choice.chosen,
            ground,
            tree=tree,
            confine=confine,
            environment=_of_evaluators(self._environment),
            stop=self._stop,
            notify=self._notify,
        )
        return MeasuredTrack(span, answers, self._checks(self._plan, span, build, sync), sync)

    def _commit(self, name: str) -> str:
        if not name:
            return ""
        asked = self._workspace.vault.git().run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return asked.stdout.decode().strip() if asked.code == 0 else ""

    def _lay_out(self, tree: str, folder: Path) -> None:
        self._workspace.export(tree, folder)
        for name in self._settings.environment_folders:
            source = self._site.repository.root / name
            mounted = self._settings.sandbox == "bwrap" and folder.name == HEAD
            if source.is_dir() and not (folder / name).exists() and not mounted:
                (folder / name).symlink_to(source, target_is_directory=True)

    def _ground(self, span: TrackSpan, files: Sequence[str], base: Path) -> TrackGround:
        track, root = self._choice.track, self._site.repository.root.resolve()
        product = track.product_path
        place = product.relative_to(root).as_posix() if product and product.is_relative_to(root) else ""
        before = self._workspace.read_file(Commit(span.base), place) if place and span.base != EMPTY else None
        return TrackGround(
            "",
            str(base),
            str(self._folder / "scratch"),
            tuple(files),
            tuple(self._workspace.list_files(Commit(span.base))),
            span.changes,
            self._options,
            track.spec,
            track.product,
            place or "product.md",
            (before or b"").decode("utf-8", "replace"),
            shots=str(self.shots),
            track=track.folder,
            cache=str(self._cache()),
        )

    def _cache(self) -> Path:
        """What tools keep from one evaluation to the next."""
        folder = self._site.home.folder / "tools"
        folder.mkdir(exist_ok=True)
        return folder

    def _checks(
        self, plan: PlanPage | None, span: TrackSpan, build: BuildRun | None, sync: BusinessSync
    ) -> tuple[StructuralCheck, ...]:
        root, track = self._site.repository.root.resolve(), self._choice.track
        inside = track.path.relative_to(root).as_posix() if track.path.is_relative_to(root) else track.path.name
        page = f"{inside}/plan.md"
        own = (f"{inside}/", "conductor/") if inside.startswith("conductor/") else (f"{inside}/",)
        scope = (
            structural.no_beginning(page)
            if span.note
            else structural.check_scope(plan, page, [each.path for each in span.files], own)
        )
        return (
            structural.check_plan(plan, page, lambda sha: bool(self._commit(sha))),
            scope,
            structural.check_skipped(plan, page),
            structural.check_build(build),
            structural.check_business(sync.documents, sync.reasons),
        )


def options_of(file: FileConfig | None) -> EvaluatorOptions:
    """The settings of `[evaluators]`."""
    given = said(file.evaluators) if file else {}
    seconds = {f"{name}_s": float(given.pop(name)) for name in ("timeout", "start_timeout") if name in given}
    return msgspec.convert({**given, **seconds}, EvaluatorOptions)


def _of_evaluators(environment: Mapping[str, str]) -> dict[str, str]:
    """What evaluators are started with: what a command needs, where packages lie, and which browser was named."""
    more = {name: environment[name] for name in (PYTHONPATH, "CHROMIUM") if name in environment}
    return cleaned(environment) | more


def _summary(track: Track) -> str:
    log = track.path / "fix-log.md"
    return "\n".join((track.plan or "", _text(log)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
