"""One candidate under examination: lays out trees, runs rounds of gates, plants canaries."""

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import GateResult, Noticed, Remark, Trick
from flyball.core.model.task import Commit, Gate, Settings
from flyball.core.text.quantities import first_few, plural
from flyball.measures.gates.commands import Commands
from flyball.measures.gates.expectations import Expectations
from flyball.measures.gates.gate_tree import GateTree
from flyball.measures.gates.junit import Case, Outcome, TreeIndex
from flyball.measures.gates.running import GateRun, Round, choose_tests, reads_text, run_gate, runs_pytest
from flyball.measures.planting.plan import Sources, muted_files
from flyball.measures.planting.proof import PlantingGround, Proof, prove
from flyball.measures.sources import looks_like_test
from flyball.measures.tampering.probes import Probe, failing_script
from flyball.measures.tampering.protected import changed_paths
from flyball.ports import Trees

NO_GATE = 'no gate is configured: name one with --gate test="COMMAND" or under [gates] in flyball.toml'


MOST_TREES = 32
"""Trees of which the runs are kept."""

RoundKey = tuple[str, frozenset[str], tuple[tuple[str, int], ...]]
"""A tree, the failures that are excused there, and how gates ended with them."""


class RunsMade(msgspec.Struct, eq=False):
    """What holds for one set of gates in one environment, so that nothing is run twice: rounds that passed, each with the measurement it was made for; trees in
    which planted failures were `proven` to be reported, and those in which every test passed `twice`.
    """

    rounds: dict[RoundKey, tuple[str, Round]] = {}
    proven: dict[str, tuple[str, ...]] = {}
    twice: dict[str, int] = {}
    alone: dict[tuple[str, str], bool] = {}
    noticed: dict[tuple[str, str], tuple[Noticed, tuple[Remark, ...]]] = {}

    def keep(self, key: RoundKey, measurement: str, passed: Round) -> None:
        self.rounds[key] = (measurement, passed)
        for old in list(self.rounds)[:-MOST_TREES]:
            self.rounds.pop(old, None)


class Trial(msgspec.Struct, frozen=True):
    round: Round
    outcomes: dict[str, Outcome]
    failing: tuple[str, ...]
    missing: tuple[str, ...]
    newly_skipped: tuple[str, ...]
    tricks: tuple[Trick, ...]
    notes: tuple[str, ...]
    reused: str = ""
    """Which measurement's run this is, where the gates were not run again."""

    @property
    def green(self) -> bool:
        """Whether this round alone says that everything passes."""
        doubted = any(not trick.harmless for trick in self.tricks)
        return self.round.passed and not (self.failing or self.missing or self.newly_skipped or doubted)


class Examination(msgspec.Struct, eq=False):
    request: Measure
    settings: Settings
    workspace: Trees
    commands: Commands
    tree: GateTree
    expectations: Expectations
    nonce: Callable[[], str]
    runs_made: Callable[[str], RunsMade]
    made: RunsMade = msgspec.field(default_factory=RunsMade)
    tree_in_use: str = ""
    index: TreeIndex = TreeIndex(())
    _written: list[Trick] = []
    _laid: tuple[str, int] | None = None
    _unset: tuple[str, GateResult | None] = ("", None)

    def use(self, sha: str) -> None:
        self.tree_in_use = sha
        self.index = TreeIndex(self.workspace.list_files(Commit(sha)))

    def set_up(self) -> GateResult | None:
        """Lay the tree and see that its environment is there; why it is not, which is found out once for each tree."""
        if self._unset[0] != self.tree_in_use or self._unset[1] is None:
            self.lay()
            self._unset = self.tree_in_use, self.tree.set_up(self.commands)
        return self._unset[1]

    def trial(self) -> Trial:
        """Every gate once, unless they passed on this very tree before, in this environment."""
        is_baseline = self.request.kind == "baseline"
        failed = self.set_up()
        if failed is not None:
            return self._weigh(Round((GateRun(failed, {}, failed.output),)), ())
        if not self.settings.gates:
            result = GateResult("gates", "", passed=False, broken=NO_GATE)
            return self._weigh(Round((GateRun(result, {}, NO_GATE),)), ())
        self.made = self.runs_made(self.tree.identity())
        key: RoundKey = (
            self.tree_in_use,
            self.expectations.known,
            tuple(sorted(self.request.failed_exits.items())),
        )
        if key in self.made.rounds and not is_baseline:
            measurement, passed = self.made.rounds[key]
            reused = f"the gates passed on this tree in {measurement}, in the same environment"
            return self._without_excuses(replace(self._weigh(passed, ()), reused=reused))
        ran = Round(tuple(self._run_gate(gate) for gate in self.settings.gates))
        trial = self._weigh(ran, () if is_baseline else tuple(self._written))
        if ran.passed and not self._written:
            self.made.keep(key, self.request.id, ran)
        return self._without_excuses(trial) if not is_baseline else trial

    def _run_gate(self, gate: Gate) -> GateRun:
        self.lay()
        return self._run(gate)

    def trial_again(self, first: Trial) -> Trial | None:
        """The gates that count no tests once more, where they may run some: nobody can say which of their tests a planted failure stands for."""
        if not any(looks_like_test(file) for file in self.index.files):
            return None
        ran = tuple(zip(self.settings.gates, first.round.runs, strict=True))
        again = [gate for gate, run in ran if run.result.counts is None and not reads_text(gate.command)]
        if not again:
            return None
        runs = tuple(self._run_gate(gate) if gate in again else run for gate, run in ran)
        return self._weigh(Round(runs), tuple(self._written))

    def run_chosen(self, gate: Gate, tests: Collection[str]) -> GateRun:
        """A gate on the tree as it is, with as few tests beside the chosen ones as its runner lets one choose."""
        return self.run_planted(gate, {}, options=f"--maxfail=0 {choose_tests(gate.command, tests)}".rstrip())

    def _without_excuses(self, trial: Trial) -> Trial:
        """A known failure excuses itself alone: without those tests the gate must end with 0, where it does so on the base."""
        if not trial.green:
            return trial
        runs = []
        for gate, run in zip(self.settings.gates, trial.round.runs, strict=True):
            failing = [case for case in run.cases.values() if case.outcome == "failing"]
            if not failing or run.result.exit_code == 0 or self._ends_with_0(gate, failing):
                runs.append(run)
                continue
            known = first_few(sorted(case.id for case in failing), 3)
            other = f"{run.result.name} fails for another reason, too"
            told = f"{other}, than the tests that failed before the task began ({known})"
            result = replace(run.result, passed=False)
            runs.append(replace(run, result=result, text=f"{run.text}\n{told}", notes=(*run.notes, told)))
        return replace(trial, round=Round(tuple(runs)), notes=tuple(note for run in runs for note in run.notes))

    def _ends_with_0(self, gate: Gate, failing: list[Case]) -> bool:
        if (self.tree_in_use, gate.name) not in self.made.alone:
            self.lay()
            muted = muted_files(failing, Sources(self.tree.directory, self.index.files))
            ends = self.run_planted(gate, muted).result.exit_code == 0
            ends = ends or self.run_planted(gate, muted, on_base=True).result.exit_code != 0
            self.made.alone[self.tree_in_use, gate.name] = ends
        return self.made.alone[self.tree_in_use, gate.name]

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

    def lay(self) -> None:
        """Lay the tree again unless nothing has run in it since."""
        laid = (self.tree_in_use, self.commands.started)
        if self._laid != laid:
            self.tree.lay(self.tree_in_use)
            self._laid = laid

    def _run(self, gate: Gate, *, options: str = "") -> GateRun:
        """Run a gate on the tree that lies there and see to it that the environment is as it was."""
        before = self.tree.fingerprint()
        run = run_gate(
            gate,
            self.index,
            self.commands,
            self.tree.directory,
            known=self.expectations.known,
            before=self.request.failed_exits.get(gate.name),
            baseline=self.request.kind == "baseline",
            options=options,
        )
        if changes := self.tree.environment_changes(before):
            self._written += changes
            self.tree.set_up(self.commands)
        return run

    def _weigh(self, gates: Round, tricks: tuple[Trick, ...]) -> Trial:
        expected = self.expectations
        outcomes = expected.outcomes(gates.cases)
        failing = expected.failing(outcomes)
        counted = any(run.result.counts is not None for run in gates.runs)
        if gates.passed and not counted and expected.accepted:
            detail = "exit 0, but no test was reported any more"
            tricks += (Trick("report-missing", gates.runs[0].result.name, detail),)
        tricks += tuple(trick for run in gates.runs for trick in run.tricks)
        # A run that stopped at its first failure has not lost its other tests, nor has one that could not be built.
        told = (counted or gates.passed) and not failing and not any(_is_unbuilt(run) for run in gates.runs)
        missing = expected.missing(outcomes) if told else ()
        skipped = expected.newly_skipped(outcomes)
        if self.request.kind == "baseline":
            missing, skipped = (), ()
        if missing:
            detail = f"{plural(len(missing), 'accepted test')} did not run: {first_few(missing, 5)}"
            tricks += (Trick("test-deleted", missing[0].partition("::")[0], detail),)
        if skipped:
            detail = f"{plural(len(skipped), 'test')} newly skipped: {first_few(skipped, 5)}"
            tricks += (Trick("test-skipped", skipped[0].partition("::")[0], detail),)
        notes = tuple(note for run in gates.runs for note in run.notes)
        return Trial(gates, outcomes, failing, missing, skipped, tricks, notes)

    def canaries(self, gates: Round, *, whole: bool = False) -> Proof:
        """Plant failures in accepted tests and see that gates report them; a tree that was seen to is not tried again.

        Where the `whole` suite is run, the proof says how all other tests ended beside the planted failures.
        """
        if self.tree_in_use in self.made.proven:
            return Proof((), self.made.proven[self.tree_in_use])
        self.lay()
        changed = changed_paths(self.workspace, self.request.base, Commit(self.tree_in_use))
        ran = tuple(zip(self.settings.gates, gates.runs, strict=True))
        ground = PlantingGround(
            tree=self.tree.directory,
            files=self.index.files,
            changed=frozenset(changed),
            run=self.run_planted,
            nonce=self.nonce,
            environments=self.settings.environment_folders,
            baseline=self.request.kind == "baseline",
            whole=whole,
        )
        proof = prove(ran, ground)
        tricks = tuple(trick for gate, run in ran for trick in self._script_canary(gate, run, changed))
        proof = replace(proof, tricks=(*proof.tricks, *tricks))
        if not proof.tricks:
            self.made.proven[self.tree_in_use] = proof.notes
        return proof

    def run_planted(
        self, gate: Gate, files: Mapping[str, bytes], *, options: str = "", on_base: bool = False
    ) -> GateRun:
        """A gate once with some files as given; what they are on the base only where the base has them."""
        in_use = self.tree_in_use
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

    def run_carrying(self, gate: Gate, names: Iterable[str], *, options: str) -> GateRun:
        """A gate once with files of the user's own tree beside the one in use."""
        self.lay()
        for name in names:
            self.tree.carry(name)
        self._laid = None
        return self._run(gate, options=options)

    def _script_canary(self, gate: Gate, run: GateRun, preferred: tuple[str, ...]) -> tuple[Trick, ...]:
        """Where nothing is counted, a test the task has written is made to fail at its end; it was seen to turn the gate red."""
        if run.result.counts is not None or self.request.kind == "baseline":
            return ()
        self.lay()
        probe = failing_script(preferred, self.tree.directory)
        if probe is None or not self._run_with(gate, probe).result.passed:
            return ()
        detail = f"{probe.path} was made to fail at its end and passed: what it tests ends it before"
        return (Trick("exit-forced", gate.name, detail),)


def _is_unbuilt(run: GateRun) -> bool:
    """Whether a runner ended badly though no test of its report fails: a compiler did before it."""
    result = run.result
    failed = any(case.outcome == "failing" for case in run.cases.values())
    return not (result.passed or failed or result.exit_code == 0 or runs_pytest(result.command))
