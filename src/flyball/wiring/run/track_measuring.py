"""Measures a track: both trees laid out, the project's build, structural checks, and every evaluator in a process of its own.

`flyball dispatch` and the workflow for tracks measure in the same way; who judges, and what becomes of it, is theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball.config import file as config_file
from flyball.config.building import build_command
from flyball.config.file import FileConfig
from flyball.core.evaluation import structural
from flyball.core.evaluation.business import BusinessSync, business_sync
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import Changes
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.core.evaluation.plan_page import read_plan
from flyball.core.evaluation.structural import StructuralCheck
from flyball.core.model.naming import LOOP
from flyball.core.model.task import Commit, Settings
from flyball.documents.track_folder import Track
from flyball.measures.evaluators.ground import TrackGround
from flyball.measures.evaluators.running import PYTHONPATH, Answered, run_evaluators
from flyball.measures.gates.commands import Commands, cleaned
from flyball.ports import Confine, Notify, Stop
from flyball.wiring.run.track_commands import built, covered
from flyball.workspace.differences import FileDifference, differences
from flyball.workspace.workspace import GitWorkspace

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's name for a tree without files."""
HEAD = "head"
_DIFF_SHOWN = 60_000


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

    @property
    def diff(self) -> str:
        text = "\n".join(f"## {each.path}\n" + "\n".join(each.lines) for each in self.files)
        return text if len(text) <= _DIFF_SHOWN else text[:_DIFF_SHOWN] + "\n(the rest is left out)"


class MeasuredTrack(msgspec.Struct, frozen=True):
    """What each evaluator measured, or why it could not, and what the structural checks found."""

    answers: dict[str, Answered]
    checks: tuple[StructuralCheck, ...]
    sync: BusinessSync


class TrackMeasuring:
    """One look at a track, with everything it may use; `folder` is its own and is thrown away after it."""

    def __init__(
        self,
        root: Path,
        workspace: GitWorkspace,
        confine: Confine,
        settings: Settings,
        file: FileConfig | None,
        *,
        folder: Path,
        cache: Path,
        environment: Mapping[str, str],
        stop: Stop,
        notify: Notify,
    ) -> None:
        self._root, self._workspace, self._confine = root.resolve(), workspace, confine
        self._settings, self._file, self._options = settings, file, options_of(file)
        self._folder, self._cache, self._environment = folder, cache, environment
        self._stop, self._notify = stop, notify
        self.shots = folder / "scratch" / "shots"

    def span(self, base: str, head: Commit, note: str = "") -> TrackSpan:
        """What changed from a base to a head."""
        return TrackSpan(head, base, differences(self._workspace.vault, base, head), note)

    def commit(self, name: str) -> str:
        """The whole id of a commit that exists; empty for any other name."""
        if not name:
            return ""
        asked = self._workspace.vault.git().run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return asked.stdout.decode().strip() if asked.code == 0 else ""

    def measure(self, track: Track, chosen: Sequence[Chosen], span: TrackSpan) -> MeasuredTrack:
        """Everything about a track that needs no judgement."""
        head, base = self._folder / HEAD, self._folder / "scratch" / "base"
        self._lay_out(span.head, head)
        self._lay_out(span.base, base)
        commands = Commands(
            confine=self._confine,
            environment=self._environment,
            folder=self._folder / "logs",
            stop=self._stop,
            notify=self._notify,
        )
        files = self._workspace.list_files(span.head)
        command = self._options.build or build_command(files, lambda path: _text(head / path))
        build = built(commands, command, head, self._settings)
        sync = business_sync({each.path: each.lines for each in span.files}, _summary(track))
        ground = msgspec.structs.replace(
            self._ground(track, span, files, base),
            build=build,
            coverage=covered(commands, self._file, head, files),
        )
        answers = run_evaluators(
            chosen,
            ground,
            tree=head,
            confine=self._confine,
            environment=_of_evaluators(self._environment),
            stop=self._stop,
            notify=self._notify,
        )
        return MeasuredTrack(answers, self._checks(track, span, build, sync), sync)

    def _lay_out(self, tree: str, folder: Path) -> None:
        self._workspace.export(tree, folder)
        for name in self._settings.environment_folders:
            source = self._root / name
            mounted = self._settings.sandbox == "bwrap" and folder.name == HEAD
            if source.is_dir() and not (folder / name).exists() and not mounted:
                (folder / name).symlink_to(source, target_is_directory=True)

    def _ground(self, track: Track, span: TrackSpan, files: Sequence[str], base: Path) -> TrackGround:
        product = track.product_path
        place = product.relative_to(self._root).as_posix() if product and product.is_relative_to(self._root) else ""
        before = self._workspace.read_file(Commit(span.base), place) if place and span.base != EMPTY else None
        self._cache.mkdir(exist_ok=True)
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
            cache=str(self._cache),
        )

    def _checks(
        self, track: Track, span: TrackSpan, build: structural.BuildRun | None, sync: BusinessSync
    ) -> tuple[StructuralCheck, ...]:
        plan = read_plan(track.plan) if track.plan is not None else None
        inside = (
            track.path.relative_to(self._root).as_posix() if track.path.is_relative_to(self._root) else track.path.name
        )
        page = f"{inside}/plan.md"
        own = (f"{LOOP}/", f"{inside}/", *(("conductor/",) if inside.startswith("conductor/") else ()))
        scope = (
            structural.no_beginning(page)
            if span.note
            else structural.check_scope(plan, page, [each.path for each in span.files], own)
        )
        return (
            structural.check_plan(plan, page, lambda sha: bool(self.commit(sha))),
            scope,
            structural.check_skipped(plan, page),
            structural.check_build(build),
            structural.check_business(sync.documents, sync.reasons),
        )


def options_of(file: FileConfig | None) -> EvaluatorOptions:
    """The settings of `[evaluators]`."""
    given = config_file.given_values(file.evaluators) if file else {}
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
