"""Measures a track: both trees laid out, the project's build, structural checks, and every evaluator in a process of its own.

`flyball dispatch` and the workflow for tracks measure in the same way; who judges, and what becomes of it, is theirs.
"""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball.config import file as config_file
from flyball.config.file import FileConfig
from flyball.config.stacks import build_command
from flyball.core.evaluation import structural
from flyball.core.evaluation.business import BusinessSync, business_sync
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import Changes
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.core.evaluation.plan_page import read_plan
from flyball.core.evaluation.structural import StructuralCheck
from flyball.core.model.naming import LOOP
from flyball.core.model.task import Commit, Settings
from flyball.core.text.scrubbing import one_line
from flyball.documents.track_folder import Track
from flyball.measures.evaluators.ground import CoverageLines, TrackGround
from flyball.measures.evaluators.running import PYTHONPATH, Answered, run_evaluators
from flyball.measures.evaluators.toolbox import lacking_tools
from flyball.measures.gates.commands import Commands, clean_environment
from flyball.measures.gates.coverage import PLACEHOLDER, CoverageUnreadable, merge_coverage, read_coverage
from flyball.measures.gates.junit import TreeIndex
from flyball.measures.gates.telling import telling_line
from flyball.ports import Confine, Notify, Refusal, Stop
from flyball.projections.files.evaluation_report import SHOTS
from flyball.wiring.memory import LONGEST_TEXT, regular_text
from flyball.wiring.site import Site
from flyball.workspace.differences import FileDifference, differences
from flyball.workspace.workspace import GitWorkspace

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's name for a tree without files."""
HEAD, BASE = "head", "scratch/base"
TIMEOUT_S = 1800.0
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
    answers: dict[str, Answered]
    checks: tuple[StructuralCheck, ...]
    sync: BusinessSync


class TrackMeasuring(msgspec.Struct, frozen=True):
    """One look at a track, with everything it may use; `folder` is its own and is thrown away after it."""

    site: Site
    workspace: GitWorkspace
    confine: Confine
    settings: Settings
    folder: Path
    environment: Mapping[str, str]
    notify: Notify

    @property
    def shots(self) -> Path:
        return self.folder / "scratch" / "shots"

    def keep_shots(self, track: Track) -> None:
        """Put the pictures that were taken into the track's folder, in the place of older ones."""
        shutil.rmtree(track.path / SHOTS, ignore_errors=True)
        if self.shots.is_dir():
            shutil.copytree(self.shots, track.path / SHOTS)

    def span(self, base: str, head: Commit, note: str = "") -> TrackSpan:
        return TrackSpan(head, base, differences(self.workspace.vault, base, head), note)

    def commit(self, name: str) -> str:
        """The whole id of a commit that exists; empty for any other name."""
        if not name:
            return ""
        asked = self.workspace.vault.git().run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return asked.stdout.decode().strip() if asked.code == 0 else ""

    def measure(self, track: Track, chosen: Sequence[Chosen], span: TrackSpan, stop: Stop) -> MeasuredTrack:
        """Everything about a track that needs no judgement."""
        file = config_file.read(self.site.repository.root)
        head = self.folder / HEAD
        self._lay_out(span.head, head)
        self._lay_out(span.base, self.folder / BASE)
        commands = Commands(
            confine=self.confine,
            environment=self.environment,
            folder=self.folder / "logs",
            stop=stop,
            notify=self.notify,
        )
        files = self.workspace.list_files(span.head)
        options = options_of(file)
        command = options.build or build_command(files, lambda path: regular_text(head / path, LONGEST_TEXT))
        build = run_build(commands, command, head, self.settings)
        summary = "\n".join((track.plan or "", regular_text(track.path / "fix-log.md", LONGEST_TEXT) or ""))
        sync = business_sync({each.path: each.lines for each in span.files}, summary)
        coverage = measure_coverage(commands, file, head, files)
        named = {name: self.environment[name] for name in (PYTHONPATH, "CHROMIUM") if name in self.environment}
        answers = run_evaluators(
            chosen,
            self._ground(track, span, files, options, build, coverage),
            tree=head,
            confine=self.confine,
            environment=clean_environment(self.environment) | named,
            stop=stop,
            notify=self.notify,
        )
        return MeasuredTrack(answers, self._checks(track, span, build, sync), sync)

    def _lay_out(self, tree: str, folder: Path) -> None:
        self.workspace.export(tree, folder)
        for name in self.settings.environment_folders:
            source = self.site.repository.root.resolve() / name
            mounted = self.settings.sandbox == "bwrap" and folder.name == HEAD
            if source.is_dir() and not (folder / name).exists() and not mounted:
                self.workspace.lend(name, folder)

    def _ground(
        self,
        track: Track,
        span: TrackSpan,
        files: Sequence[str],
        options: EvaluatorOptions,
        build: structural.BuildRun | None,
        coverage: CoverageLines | None,
    ) -> TrackGround:
        root, product = self.site.repository.root.resolve(), track.product_path
        place = product.relative_to(root).as_posix() if product and product.is_relative_to(root) else ""
        before = self.workspace.read_file(Commit(span.base), place) if place and span.base != EMPTY else None
        cache = self.site.home.folder / "tools"
        cache.mkdir(exist_ok=True)
        return TrackGround(
            "",
            str(self.folder / BASE),
            str(self.folder / "scratch"),
            tuple(files),
            tuple(self.workspace.list_files(Commit(span.base))),
            span.changes,
            options,
            track.spec,
            track.product,
            place or "product.md",
            (before or b"").decode("utf-8", "replace"),
            shots=str(self.shots),
            track=track.folder,
            cache=str(cache),
            build=build,
            coverage=coverage,
        )

    def _checks(
        self, track: Track, span: TrackSpan, build: structural.BuildRun | None, sync: BusinessSync
    ) -> tuple[StructuralCheck, ...]:
        plan = read_plan(track.plan) if track.plan is not None else None
        root, path = self.site.repository.root.resolve(), track.path
        inside = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
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


def require_tools(
    chosen: Sequence[Chosen], root: Path, environment: Mapping[str, str], file: FileConfig | None
) -> None:
    """Refuse an evaluation for which the project configures a tool that nobody installed; better known before anything runs."""
    options = options_of(file)
    pages = bool(options.url or options.start)
    for sentence in lacking_tools({each.name for each in chosen}, root, environment, pages=pages):
        raise Refusal(sentence)


def options_of(file: FileConfig | None) -> EvaluatorOptions:
    given = config_file.given_values(file.evaluators) if file else {}
    seconds = {f"{name}_s": float(given.pop(name)) for name in ("timeout", "start_timeout") if name in given}
    return msgspec.convert({**given, **seconds}, EvaluatorOptions)


def run_build(commands: Commands, command: str, tree: Path, settings: Settings) -> structural.BuildRun | None:
    """How the build ended, after the set-up where there is one; None for a project that is not built."""
    if not command:
        return None
    for each in (settings.setup, command):
        if each:
            ran = commands.run(each, tree=tree, folder=commands.fresh_folder("build"), timeout_s=TIMEOUT_S)
            if ran.exit.ended_by != "exit" or ran.exit.code != 0:
                said = f"exit {ran.exit.code}: {telling_line(ran.text)}"
                how = said if ran.exit.ended_by == "exit" else ran.exit.detail
                return structural.BuildRun(command, passed=False, said=one_line(how)[:300])
    return structural.BuildRun(command, passed=True)


def measure_coverage(
    commands: Commands, file: FileConfig | None, tree: Path, files: Sequence[str]
) -> CoverageLines | None:
    """What gates with {coverage} in their command say of each line; None where there is none."""
    gates = {name: gate for name, gate in (file.gates if file else {}).items() if PLACEHOLDER in gate.command}
    if not gates:
        return None
    found, problems = [], []
    for name, gate in gates.items():
        folder = commands.fresh_folder(name)
        reports = folder / "report"
        reports.mkdir()
        command = gate.command.replace(PLACEHOLDER, shlex.quote(str(reports / "coverage.xml")))
        command = command.replace("{junit}", shlex.quote(str(reports / "junit.xml")))
        timeout = float(gate.timeout or TIMEOUT_S)
        commands.run(command, tree=tree, folder=folder, timeout_s=timeout, writable=[reports])
        try:
            found.append(read_coverage(reports / "coverage.xml", TreeIndex(files)))
        except FileNotFoundError:
            problems.append(f"gate {name} wrote no coverage report")
        except (CoverageUnreadable, OSError) as error:
            problems.append(f"the coverage report of gate {name} cannot be used: {error}")
    return CoverageLines(merge_coverage(found), "; ".join(problems))


def committed_lines(workspace: GitWorkspace, commit: Commit, path: str) -> list[str] | None:
    """A file's lines as committed, not as in a copy, which a judge may have written into; None where there is no such file."""
    raw = workspace.read_file(commit, path)
    return None if raw is None else raw.decode("utf-8", "replace").split("\n")
