"""Measures a candidate tree: what is said here is what flyball believes, so nothing here believes the candidate."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from flyball.core.failures.signature import signature
from flyball.core.model.effects import Measure
from flyball.core.model.measurement import GateResult, Measurement, Remark, Trick
from flyball.core.model.naming import LOOP
from flyball.core.model.task import MAIN, Commit, Settings
from flyball.core.text.scrubbing import decode, escape_surrogates
from flyball.folders import environment_folders
from flyball.measures.examination import Examination, RunsMade
from flyball.measures.found import Found
from flyball.measures.gates.commands import Commands, MeasurementStopped, clean_environment
from flyball.measures.gates.coverage import measure_coverage, merge_coverage
from flyball.measures.gates.expectations import Expectations, keep, load
from flyball.measures.gates.gate_tree import Fingerprint, GateTree
from flyball.measures.gates.junit import Outcome
from flyball.measures.gates.places import failures, look_up
from flyball.measures.gates.running import count
from flyball.measures.kept import KeptBaselines, baseline_key
from flyball.measures.kinds import KINDS, measure_restored, measure_unaided
from flyball.measures.noticing.probe import measure_noticed
from flyball.measures.remarks.change import RemarksMade, changed_tree, make_remarks
from flyball.measures.sources import text_of
from flyball.measures.tampering.conflict_markers import conflict_markers
from flyball.measures.tampering.gate_scripts import makings
from flyball.measures.tampering.installed_modules import installed_modules
from flyball.measures.tampering.protected import Protection, changed_paths, protect
from flyball.measures.tampering.tests_by_report import held_by_file
from flyball.measures.trees import RememberedTrees
from flyball.measures.twins import measure_twins
from flyball.ports import Blobs, Confine, Notify, Stop, Trees, Workspace

SHOWN = 200
"""Ids in a measurement; the whole sets are kept as blobs."""
FAILURES_KEPT = 50
BASELINE_SHOWN = 2000
"""Failing tests of a baseline: a request may name any of them."""
FILES_NAMED = 16
REMARKS_SHOWN = 10
"""Remarks of one measurement: whoever gets more reads none."""
MOST_ENVIRONMENTS = 4
"""Environments of which runs are kept: lanes may have one each."""
TREES_REMARKED = 32
"""Changes whose remarks are remembered."""


def main_folder(directory: Path) -> Path:
    """Where all gates of a task run that have no folder of their own."""
    return directory / "task"


class TreeMeasurer(msgspec.Struct, kw_only=True, eq=False):
    """Behind the port `Measurer`, for one task: `directory` is where gates run, `repository` the user's own folder.

    `outside` finds the environments elsewhere that are named in the texts of commands and of what they execute. `baselines` are those
    that were measured before.
    """

    directory: Path
    repository: Path
    confine: Confine
    blobs: Blobs
    environment: Mapping[str, str]
    nonce: Callable[[], str]
    hold_fds: Sequence[int] = ()
    outside: Callable[[Iterable[str]], Sequence[Path]] = lambda _texts: ()
    baselines: KeptBaselines | None = None
    _left: dict[Path, Fingerprint] = {}
    _remarked: dict[tuple[Commit, str], RemarksMade] = {}
    _runs: dict[str, RunsMade] = {}

    def measure(
        self, request: Measure, *, settings: Settings, workspace: Workspace, folder: Path, stop: Stop, notify: Notify
    ) -> Measurement:
        """Everything that is true of the candidate; when told to stop, that nothing is known of it."""
        commands = Commands(
            confine=self.confine, environment=self.environment, folder=folder,
            stop=stop, notify=notify, hold_fds=self.hold_fds,
        )  # fmt: skip
        try:
            return self._measure(request, settings, RememberedTrees(workspace), commands)
        except MeasurementStopped as stopped:
            unknown = GateResult("gates", "", passed=False, broken=str(stopped))
            return Measurement(request.candidate, "", gates=(unknown,))

    def _measure(self, request: Measure, settings: Settings, workspace: Trees, commands: Commands) -> Measurement:
        baseline = load(self.blobs, request.baseline_ref)
        accepted = load(self.blobs, request.accepted_ref)
        installed = partial(self._installed_modules, settings)
        protection = protect(request, settings, workspace, held_by_file({**baseline, **accepted}), installed)
        # Where one gate runs at a time, all lanes share a folder, and its environment is set up once.
        own = settings.gates_side_by_side and request.lane != MAIN
        lane = self.directory / f"lane-{quote(request.lane, safe='')}"
        directory = lane if own else main_folder(self.directory)
        kept = self.baselines if request.kind == "baseline" else None
        asks = kept is not None or settings.sandbox == "none"
        outside = tuple(self.outside(_texts(request.accepted, settings, workspace))) if asks else ()
        tree = GateTree(
            directory,
            repository=self.repository,
            settings=settings,
            workspace=workspace,
            outside=outside if settings.sandbox == "none" else (),
        )
        notes = tree.changed_since(self._left.get(directory))
        examination = Examination(
            request,
            settings,
            workspace,
            commands,
            tree,
            _expectations(request, protection, baseline, accepted),
            self.nonce,
            partial(_runs_made, {} if settings.measure_again else self._runs, settings),
        )
        sha = workspace.overlay(request.candidate, protection.overlay, protection.rewritten)
        examination.use(sha)
        key = kept and self._key(examination, outside)
        if kept and key and not settings.measure_again and (same := kept.find(key, request, self.repository)):
            self._left[directory] = tree.fingerprint()
            return same
        found = KINDS[request.kind](examination, protection)
        found = measure_unaided(examination, protection, found)
        examination.use(sha)
        found = measure_twins(examination, found)
        found = measure_restored(examination, protection, found)
        found = measure_noticed(examination, protection, found, sha)
        self._left[directory] = tree.fingerprint()
        measured = storable(self._assemble(examination, protection, sha, found))
        if kept and key:
            kept.keep(key, request, self.repository, measured)
        return replace(measured, notes=(*notes, *measured.notes))

    def _key(self, examination: Examination, outside: Iterable[Path]) -> str:
        """What the baseline depends on, known once its environment is there; nothing where it cannot be set up."""
        if examination.set_up() is not None:
            return ""
        environment = clean_environment(self.environment)
        return baseline_key(examination.request, examination.tree, environment, outside)

    def _installed_modules(self, settings: Settings, commands: str) -> frozenset[str]:
        """The modules that set-up has installed for gates, that the user has, and that the commands' own programs have."""
        names = settings.environment_folders
        folders = [
            place / name for place in (self.directory, self.repository) for name in environment_folders(place, names)
        ]
        return installed_modules(folders, commands, self.environment.get("PATH", os.defpath))

    def _remarks(self, workspace: Trees, base: Commit, tree: Commit) -> RemarksMade:
        """What a reviewer should look at in a tree, made once for each."""
        if (base, tree) not in self._remarked:
            self._remarked = dict(list(self._remarked.items())[1 - TREES_REMARKED :])
            try:
                self._remarked[base, tree] = make_remarks(changed_tree(workspace, base, tree))
            except Exception as error:  # noqa: BLE001 - a remark never stops work, whatever the source makes a reader raise
                note = f"no remarks could be made on this change: {type(error).__name__}"
                self._remarked[base, tree] = RemarksMade(notes=(note,))
        return self._remarked[base, tree]

    def _assemble(self, examination: Examination, protection: Protection, sha: str, found: Found) -> Measurement:
        trial, request, workspace = found.trial, examination.request, examination.workspace
        is_baseline = request.kind == "baseline"
        known = frozenset(trial.failing) if is_baseline else examination.expectations.known
        excused = tuple(sorted(i for i, outcome in trial.outcomes.items() if outcome == "failing" and i in known))
        failing = () if is_baseline else trial.failing
        every = (*protection.tricks, *trial.tricks, *found.tricks, *conflict_markers(request, workspace))
        tricks = () if is_baseline else tuple(dict.fromkeys(every))
        failed = bool(failing) or not trial.round.passed
        unloaded = {i for run in trial.round.runs for i, case in run.cases.items() if case.uncollected}
        put_back: dict[str, Commit | None] = {**protection.put_back, **found.aiding}
        # The candidate's tree without what tricks did to protected files.
        is_mended = put_back or protection.rewritten
        mended = workspace.overlay(request.candidate, put_back, protection.rewritten) if is_mended else ""
        changed = _changes(examination, protection)
        made = RemarksMade() if is_baseline else self._remarks(workspace, request.base, Commit(sha))
        skipped = (
            _remark_on_skip(test, workspace, Commit(sha))
            for test in examination.expectations.born_skipped(trial.outcomes)
        )
        remarks = (
            dict.fromkeys((*skipped, *protection.remarks, *found.remarks, *made.remarks)) if not is_baseline else {}
        )
        # What was accepted before, a reviewer has seen.
        remarks_in_order = sorted(remarks, key=lambda remark: remark.file not in changed)
        covered = merge_coverage(run.covered for run in trial.round.runs)
        return Measurement(
            candidate=request.candidate,
            tree=sha,
            gates=tuple(_gates(found, tricks)),
            counts=count(trial.outcomes, known),
            tests_ref=keep(self.blobs, found.outcomes if found.outcomes is not None else trial.outcomes),
            failing=failing[:SHOWN],
            failures=tuple(
                failures(
                    (excused if is_baseline else failing)[:FAILURES_KEPT],
                    trial.round.cases,
                    examination.index,
                    examination.tree.directory,
                )
            ),
            uncounted=bool(failing) and all(i in unloaded for i in failing),
            known=excused[: BASELINE_SHOWN if is_baseline else SHOWN],
            failing_ref=keep(self.blobs, trial.failing) if trial.failing else "",
            missing=trial.missing[:SHOWN],
            newly_skipped=trial.newly_skipped[:SHOWN],
            new_tests=found.new_tests,
            old_tests_broken=found.old_tests_broken[:SHOWN],
            green_runs=found.green_runs,
            flaky=found.flaky[:SHOWN],
            passing_on_rejected=found.passing_on_rejected[:SHOWN],
            tricks=tricks,
            files=found.files,
            quality=found.quality,
            checks=found.checks,
            tools=found.tools,
            signature=signature(trial.round.text, failing) if failed else None,
            notes=tuple(dict.fromkeys((*protection.notes, *trial.notes, *found.notes, *made.notes))),
            commands_s=round(examination.commands.seconds, 3),
            unseen=found.unseen,
            unchanged=not is_baseline and not changed,
            changed=changed[:FILES_NAMED],
            coverage=measure_coverage(covered, workspace, request.base, Commit(sha)),
            put_back=(*put_back, *protection.rewritten),
            mended=mended,
            remarks=tuple(remarks_in_order[:REMARKS_SHOWN]),
            remarks_left=max(len(remarks) - REMARKS_SHOWN, 0),
            unparsed=found.unparsed[:SHOWN],
            noticed=found.noticed,
            reused=trial.reused,
            shown=look_up(request.shown[:FAILURES_KEPT], trial.outcomes, workspace, Commit(sha)),
        )


def _runs_made(known: dict[str, RunsMade], settings: Settings, environment: str) -> RunsMade:
    found = known.setdefault(f"{settings} {environment}", RunsMade())
    for old in list(known)[:-MOST_ENVIRONMENTS]:
        known.pop(old, None)
    return found


def _remark_on_skip(test: str, workspace: Trees, tree: Commit) -> Remark:
    file, _, name = test.partition("::")
    last = name.rpartition("::")[2].partition("[")[0]
    lines = text_of(workspace.read_file(tree, file)).splitlines()
    line = next((number for number, text in enumerate(lines, 1) if last and last in text), 0)
    return Remark(file, line, f"the new test {name or file} was skipped: nothing shows that it can pass")


def _texts(accepted: Commit, settings: Settings, workspace: Trees) -> Iterable[str]:
    """What gates, lint and set-up are made of: the commands, and the files that these execute."""
    gates = " ; ".join((*(gate.command for gate in settings.gates), settings.setup))
    read = partial(workspace.read_file, accepted)
    files = makings(gates, frozenset(workspace.list_files(accepted)), read, settings.lint).files
    return (gates, settings.lint, *(decode(read(path) or b"") for path in sorted(files)))


def _changes(examination: Examination, protection: Protection) -> tuple[str, ...]:
    """Where the candidate is not what was accepted, but for what is measured as accepted and flyball's own files."""
    request = examination.request
    if request.kind == "baseline":
        return ()
    paths = changed_paths(examination.workspace, request.accepted, request.candidate)
    return tuple(sorted(p for p in paths if p not in protection.overlay and not p.startswith(f"{LOOP}/")))


def _expectations(
    request: Measure, protection: Protection, baseline: dict[str, Outcome], accepted: dict[str, Outcome]
) -> Expectations:
    # What was accepted as passing is no known failure any more.
    baseline = {i: "passing" if accepted.get(i) == "passing" else outcome for i, outcome in baseline.items()}
    required = baseline if request.kind == "red" or not accepted else accepted
    kept = {i: outcome for i, outcome in required.items() if i.partition("::")[0] not in protection.released}
    return Expectations(kept, baseline, frozenset(request.work))


def storable(measurement: Measurement) -> Measurement:
    """The same measurement with names that are not UTF-8 spelt out, for a journal takes only text."""
    try:
        msgspec.json.encode(measurement)
    except UnicodeEncodeError:
        return msgspec.convert(escape_surrogates(msgspec.to_builtins(measurement)), Measurement)
    return measurement


def _gates(found: Found, tricks: tuple[Trick, ...]) -> Iterable[GateResult]:
    """The results; a gate that was tricked has not passed, whatever it said."""
    tricked = {trick.path for trick in tricks if not trick.harmless}
    for run in found.trial.round.runs:
        result = run.result
        if result.name in tricked:
            result = replace(result, passed=False)
        if found.broken and not result.broken:
            result = replace(result, passed=False, broken=found.broken)
        yield result
