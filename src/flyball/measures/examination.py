"""One candidate under examination: lays out trees, runs rounds of gates, plants canaries."""

import re
from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import GateResult, Trick
from flyball.core.model.task import Commit, Gate, Settings
from flyball.core.text.quantities import first_few, plural
from flyball.measures.gates.commands import Commands
from flyball.measures.gates.expectations import Expectations
from flyball.measures.gates.gate_tree import GateTree
from flyball.measures.gates.junit import Case, Outcome, TreeIndex
from flyball.measures.gates.running import Bench, GateRun, Round, runs_pytest
from flyball.measures.planting.plan import Sources, muted_files
from flyball.measures.planting.proof import PlantingGround, prove
from flyball.measures.sources import is_code, looks_like_test
from flyball.measures.tampering import script_canary
from flyball.measures.tampering.probes import Probe
from flyball.measures.tampering.protected import Protection, changed_paths
from flyball.measures.trees import Trees

NO_GATE = 'no gate is configured: name one with --gate test="COMMAND" or under [gates] in flyball.toml'
_FORMATS = re.compile(
    r"\b(?:black|isort|prettier|pre-commit|ruff format|gofmt|cargo fmt|--fix|--write|format|fmt|make|just)\b"
)
"""Commands that may write to test files because that is what they are for."""


class Trial(msgspec.Struct, frozen=True):
    """A round of all gates and what it says against the expectations."""

    round: Round
    outcomes: dict[str, Outcome]
    failing: tuple[str, ...]
    missing: tuple[str, ...]
    newly_skipped: tuple[str, ...]
    tricks: tuple[Trick, ...]
    notes: tuple[str, ...]

    @property
    def green(self) -> bool:
        """Whether this round alone says that everything passes."""
        doubted = any(not trick.harmless for trick in self.tricks)
        return self.round.passed and not (self.failing or self.missing or self.newly_skipped or doubted)


class Examination:
    """Holds what every kind of measurement needs."""

    def __init__(
        self,
        request: Measure,
        settings: Settings,
        workspace: Trees,
        commands: Commands,
        tree: GateTree,
        expectations: Expectations,
        nonce: Callable[[], str],
        proven: dict[str, tuple[str, ...]],
    ) -> None:
        self.request = request
        self.settings = settings
        self.workspace = workspace
        self.commands = commands
        self.tree = tree
        self.expectations = expectations
        self._nonce = nonce
        self._proven = proven
        self._bench = Bench(
            commands,
            tree.directory,
            expectations.known,
            baseline=request.kind == "baseline",
            exits=request.failed_exits,
        )
        self._sha = ""
        self._written: list[Trick] = []
        self._alone: dict[tuple[str, str], bool] = {}
        self._laid: tuple[str, int] | None = None
        self.index = TreeIndex(())

    @property
    def tree_in_use(self) -> str:
        return self._sha

    def use(self, sha: str) -> None:
        """Take a tree for the rounds that follow."""
        self._sha = sha
        self.index = TreeIndex(self.workspace.list_files(Commit(sha)))

    def use_protected(self, protection: Protection) -> str:
        """Take the candidate with its protected paths as accepted; gives back that tree."""
        sha = self.workspace.overlay(self.request.candidate, protection.overlay, protection.rewritten)
        self.use(sha)
        return sha

    def trial(self) -> Trial:
        """Run every gate once, each on a freshly laid tree."""
        self.lay()
        failed = self.tree.set_up(self.commands, always=self.request.kind == "baseline")
        if failed is not None:
            return self._weigh(Round((GateRun(failed, {}, failed.output),)), ())
        if not self.settings.gates:
            result = GateResult("gates", "", passed=False, broken=NO_GATE)
            return self._weigh(Round((GateRun(result, {}, NO_GATE),)), ())
        runs = []
        for gate in self.settings.gates:
            self.lay()
            runs.append(self._untouched(gate))
        trial = self._weigh(Round(tuple(runs)), () if self.request.kind == "baseline" else tuple(self._written))
        return self._without_excuses(trial) if trial.green and self.request.kind != "baseline" else trial

    def _without_excuses(self, trial: Trial) -> Trial:
        """A known failure excuses itself alone: without those tests the gate must end with 0, where it does so on the base."""
        runs = []
        for gate, run in zip(self.settings.gates, trial.round.runs, strict=True):
            failing = [case for case in run.cases.values() if case.outcome == "failing"]
            excused = failing and run.result.exit_code != 0 and not self._ends_with_0(gate, failing)
            runs.append(_unexcused(run, failing) if excused else run)
        return replace(trial, round=Round(tuple(runs)), notes=tuple(note for run in runs for note in run.notes))

    def _ends_with_0(self, gate: Gate, failing: list[Case]) -> bool:
        if (self._sha, gate.name) not in self._alone:
            self.lay()
            muted = muted_files(failing, Sources(self.tree.directory, self.index.files))
            ends = self._run_planted(gate, muted).result.exit_code == 0
            self._alone[self._sha, gate.name] = (
                ends or self._run_planted(gate, muted, on_base=True).result.exit_code != 0
            )
        return self._alone[self._sha, gate.name]

    def trial_with(self, probe: Probe) -> Round:
        """Every gate once, each with a planted file in its tree, and nothing said of what that means."""
        return Round(tuple(self._run_with(gate, probe) for gate in self.settings.gates))

    def _run_with(self, gate: Gate, probe: Probe) -> GateRun:
        self.lay()
        target = self.tree.directory / probe.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(probe.source)
        target.chmod(probe.mode)
        self._laid = None
        return self._run(gate)

    def _untouched(self, gate: Gate) -> GateRun:
        """Run a gate and see to it that the tests were not rewritten between being laid out and being loaded."""
        holding = {i.partition("::")[0] for i in self.expectations.accepted}
        tests = [f for f in self.index.files if (looks_like_test(f) or f in holding) and is_code(f)]
        before = self.tree.stamps(tests)
        run = self._run(gate)
        after = self.tree.stamps(tests)
        rewritten = sorted(f for f in before if before[f] != after.get(f))
        if not rewritten or _FORMATS.search(gate.command):
            return run
        trick = Trick(
            "test-weakened", rewritten[0], f"{plural(len(rewritten), 'test file')} written to while the tests ran"
        )
        return replace(run, result=replace(run.result, passed=False), tricks=(*run.tricks, trick))

    def lay(self) -> None:
        """Lay the tree again unless nothing has run in it since."""
        laid = (self._sha, self.commands.started)
        if self._laid != laid:
            self.tree.lay(self._sha)
            self._laid = laid

    def _run(self, gate: Gate, *, options: str = "") -> GateRun:
        """Run a gate on the tree that lies there and see to it that the environment is as it was."""
        before = self.tree.fingerprint()
        run = self._bench.run(gate, self.index, options=options)
        if changes := self.tree.environment_changes(before):
            self._written += changes
            self.tree.set_up(self.commands, always=True)
        return run

    def _weigh(self, gates: Round, tricks: tuple[Trick, ...]) -> Trial:
        expected = self.expectations
        outcomes = expected.outcomes(gates.cases)
        failing = expected.failing(outcomes)
        counted = any(run.result.counts is not None for run in gates.runs)
        if gates.passed and not counted and expected.accepted:
            tricks = (
                *tricks,
                Trick("report-missing", gates.runs[0].result.name, "exit 0, but no test was reported any more"),
            )
        # A run that stopped at its first failure has not lost its other tests, nor has one that could not be built.
        told = (counted or gates.passed) and not failing and not any(_is_unbuilt(run) for run in gates.runs)
        missing = expected.missing(outcomes) if told else ()
        skipped = expected.newly_skipped(outcomes, only_accepted=self.request.kind in {"red", "baseline"})
        if self.request.kind == "baseline":
            missing, skipped = (), ()
        return Trial(
            gates,
            outcomes,
            failing,
            missing,
            skipped,
            (*tricks, *(trick for run in gates.runs for trick in run.tricks), *_lost(missing), *_skipped(skipped)),
            tuple(note for run in gates.runs for note in run.notes),
        )

    def canaries(self, gates: Round) -> tuple[tuple[Trick, ...], tuple[str, ...]]:
        """Plant failures in accepted tests and see that gates report them; a tree that was seen to is not tried again."""
        if self._sha in self._proven:
            return (), self._proven[self._sha]
        self.lay()
        changed = changed_paths(self.workspace, self.request.base, Commit(self._sha))
        ran = tuple(zip(self.settings.gates, gates.runs, strict=True))
        ground = PlantingGround(
            tree=self.tree.directory,
            files=self.index.files,
            changed=frozenset(changed),
            run=self._run_planted,
            nonce=self._nonce,
            environments=self.settings.environment_folders,
            baseline=self.request.kind == "baseline",
        )
        tricks, notes = prove(ran, ground)
        tricks += tuple(trick for gate, run in ran for trick in self._script_canary(gate, run, changed))
        if not tricks:
            self._proven[self._sha] = notes
        return tricks, notes

    def _run_planted(
        self, gate: Gate, files: Mapping[str, bytes], *, options: str = "", on_base: bool = False
    ) -> GateRun:
        """A gate once with some files as given; what they are on the base only where the base has them."""
        in_use = self._sha
        if on_base:
            self.use(self.workspace.tree_of(self.request.base))
        self.lay()
        for path, source in files.items():
            if path in self.index.files:
                (self.tree.directory / path).write_bytes(source)
        self._laid = None
        run = self._run(gate, options=options)
        self.use(in_use)
        return run

    def _script_canary(self, gate: Gate, run: GateRun, preferred: tuple[str, ...]) -> tuple[Trick, ...]:
        """Where nothing is counted, a test the task has written is made to fail at its end; it was seen to turn the gate red."""
        if run.result.counts is not None or self.request.kind == "baseline":
            return ()
        self.lay()
        probe = script_canary.planted(preferred, self.tree.directory)
        if probe is None or not self._run_with(gate, probe).result.passed:
            return ()
        return (script_canary.missed(probe, gate.name),)


def _unexcused(run: GateRun, failing: list[Case]) -> GateRun:
    known = first_few(sorted(case.id for case in failing), 3)
    told = (
        f"{run.result.name} fails for another reason, too, than the tests that failed before the task began ({known})"
    )
    return replace(run, result=replace(run.result, passed=False), text=f"{run.text}\n{told}", notes=(*run.notes, told))


def _is_unbuilt(run: GateRun) -> bool:
    """Whether a runner ended badly though no test of its report fails: a compiler did before it."""
    result = run.result
    failed = any(case.outcome == "failing" for case in run.cases.values())
    return not (result.passed or failed or result.exit_code == 0 or runs_pytest(result.command))


def _lost(missing: tuple[str, ...]) -> tuple[Trick, ...]:
    if not missing:
        return ()
    return (
        Trick(
            "test-deleted",
            missing[0].partition("::")[0],
            f"{plural(len(missing), 'accepted test')} did not run: {first_few(missing, 5)}",
        ),
    )


def _skipped(skipped: tuple[str, ...]) -> tuple[Trick, ...]:
    if not skipped:
        return ()
    return (
        Trick(
            "test-skipped",
            skipped[0].partition("::")[0],
            f"{plural(len(skipped), 'test')} newly skipped: {first_few(skipped, 5)}",
        ),
    )
