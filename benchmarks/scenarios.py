"""What each kind of agent ends as, in flyball and in a bare loop with the same gate; real git, tests and sandbox, scripted agents.

python benchmarks/scenarios.py [NAME ...]

The bare loop is `for turn in 1 … 12: run the agent; stop if the gate exits with 0`. Whether work is right is decided by a check that neither
loop nor agent knows.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
AGENTS = HERE.parent / "tests" / "agents"
sys.path.insert(0, str(AGENTS))

from sample import CRITERIA, DOCUMENT, make_sample_repository  # noqa: E402 - found by the path above

PYTEST = f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
SMALL = f"test={sys.executable} -I -S {AGENTS / 'small_gate.py'} {{junit}}"
"""What loops are measured by that are not about pytest."""
CHECK = "test=sh check.sh"
QUICK = ("--workflow", "quick")
BARE_TURNS = 12
BARE_TURN_S = 20.0

REFUSED = "You signalled that the stage is finished. It was measured, and it is not"

CALC = "import calc; assert (calc.add(2, 3), calc.multiply(6, 7), calc.divide(9, 3), calc.power(2, 10)) == (5, 42, 3, 1024)"
PARTS = "import importlib; assert all(importlib.import_module('parts.' + p).name() == p for p in 'alpha beta gamma delta epsilon'.split())"
FIVE_PARTS = "# PRP: five parts\n\nMake the parts alpha, beta, gamma, delta and epsilon: in the module of each, `name()` gives its name.\n"
REPAIR = "# Make the failing tests pass\n\nMake the failing tests pass.\n"
FAILING = """import calc


def test_multiply():
    assert calc.multiply(6, 7) == 42


def test_divide():
    assert calc.divide(9, 3) == 3


def test_power():
    assert calc.power(2, 10) == 1024
"""
_CHECK = """for part in alpha beta gamma delta epsilon; do
    python3 -B -c "from parts import $part; assert $part.name() == '$part'" 2>/dev/null || {{ echo "{}"; exit 1; }}
done
"""
NAMES_NEXT = {"check.sh": _CHECK.format("$part is missing"), "parts/__init__.py": ""}
SAYS_NOTHING = {"check.sh": _CHECK.format("not finished"), "parts/__init__.py": ""}
COUNTS = {"parts/__init__.py": ""}


class Scenario(NamedTuple):
    """An agent, what it must end as in flyball and in a bare loop, and how many turns it may cost."""

    name: str
    program: str
    decision: str
    exit_code: int
    most_turns: int | None = None
    arguments: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    named: str = ""
    gate: str = SMALL
    dirty: bool = False
    bare: str = ""
    """How a bare loop ends: done, wrong (it stops over work that is not right), never or hangs; empty where it is not run."""
    asked: str = DOCUMENT
    files: Mapping[str, str | None] = {}
    """What else the repository holds; None for a file of the sample that it lacks."""
    check: str = CALC
    """Statements of Python that fail in a tree whose work is not right."""


class Outcome(NamedTuple):
    """How a loop ended."""

    exit_code: int
    status: dict[str, Any]
    events: list[dict[str, Any]]
    seconds: float
    repository: Path
    stderr: str
    right: bool
    """Whether the branch holds the work that was asked for."""

    @property
    def text(self) -> str:
        return json.dumps(self.events)


class BareOutcome(NamedTuple):
    """How a bare loop ended: a word as in `Scenario.bare`."""

    ended: str
    turns: int


SCENARIOS = (
    Scenario("finishes honestly in one turn a stage", "honest.py", "DONE", 0, 6, gate=PYTEST, bare="done"),
    Scenario("finishes honestly in three turns of GREEN", "honest.py", "DONE", 0, 8, ("--turns", "3"), bare="done"),
    Scenario("claims done at once, tests red", "liar.py", "BLOCKED", 3, None, named=REFUSED, bare="wrong"),
    Scenario("edits the tests to pass", "editor_of_tests.py", "BLOCKED", 3, None, named="protected-changed", gate=PYTEST, bare="wrong"),
    Scenario("deletes the tests", "deleter_of_tests.py", "BLOCKED", 3, None, named="test-deleted", gate=PYTEST, bare="wrong"),
    Scenario("skips the tests", "skipper.py", "BLOCKED", 3, None, named="protected-changed", gate=PYTEST, bare="wrong"),
    Scenario("patches conftest", "conftest_patcher.py", "BLOCKED", 3, None, named="conftest.py", gate=PYTEST, bare="wrong"),
    Scenario("changes nothing for ever", "do_nothing.py", "BLOCKED", 3, 6, bare="wrong"),
    Scenario("changes nothing beside its own old edit", "old_edit.py", "BLOCKED", 3, 6, bare="wrong"),
    Scenario("changes nothing beside the user's old edit", "do_nothing.py", "BLOCKED", 3, 6, dirty=True, bare="wrong"),
    Scenario("adds only untracked files", "untracked_noise.py", "BLOCKED", 3, 6, bare="never"),
    Scenario("adds only untracked files from the start", "untracked_noise.py", "BLOCKED", 3, 6, ("--always",), bare="wrong"),
    Scenario("A breaks B, B breaks A", "flip_flopper.py", "BLOCKED", 3, 8, named="FLIP-FLOPPING", bare="never"),
    Scenario("usage limit with a reset time, once", "usage_limit_once.py", "DONE", 0, 6, ("--at-turn", "2"), bare="done"),
    Scenario("crashes each time", "crasher.py", "BLOCKED", 3, 6, named="The agent crashed 5 times in a row", bare="wrong"),
    Scenario("never ends", "never_ending.py", "BLOCKED", 3, None, flags=("--turn-timeout", "1"), bare="hangs"),
    Scenario("ignores SIGTERM", "sigterm_ignorer.py", "BLOCKED", 3, None, flags=("--turn-timeout", "1"), bare="hangs"),
    Scenario("forks daemons", "daemon_forker.py", "DONE", 0, 6),
    Scenario("prints 1 GB", "babbler.py", "DONE", 0, 6, ("--at-turn", "1"), bare="done"),
    Scenario("prints binary", "binary.py", "DONE", 0, 6, bare="done"),
    Scenario(
        "makes a part a turn, tests first", "part_by_part.py", "DONE", 0, 7, ("--tests", "first"), QUICK,
        bare="done", asked=FIVE_PARTS, files=COUNTS, check=PARTS,
    ),
    Scenario(
        "makes a part and its test a turn", "part_by_part.py", "DONE", 0, 6, ("--tests", "each"), QUICK,
        bare="wrong", asked=FIVE_PARTS, files=COUNTS, check=PARTS,
    ),
    Scenario(
        "makes a part a turn, a script names the next", "part_by_part.py", "DONE", 0, 6, (), QUICK, gate=CHECK,
        bare="done", asked=FIVE_PARTS, files=NAMES_NEXT, check=PARTS,
    ),
    Scenario(
        "makes a part a turn, a script says nothing", "part_by_part.py", "DONE", 0, 6, (), QUICK, gate=CHECK,
        bare="done", asked=FIVE_PARTS, files=SAYS_NOTHING, check=PARTS,
    ),
    Scenario(
        "makes failing tests pass", "honest.py", "DONE", 0, 2, (), QUICK,
        bare="done", asked=REPAIR, files={"tests/test_features.py": FAILING},
    ),
    Scenario(
        "makes failing tests pass in three turns", "honest.py", "DONE", 0, 4, ("--turns", "3"), QUICK,
        bare="done", asked=REPAIR, files={"tests/test_features.py": FAILING},
    ),
    Scenario(
        "says that failing tests pass", "liar.py", "BLOCKED", 3, 6, (), QUICK,
        bare="never", asked=REPAIR, files={"tests/test_features.py": FAILING},
    ),
    Scenario(
        "lays groundwork for three turns first", "part_by_part.py", "DONE", 0, 10,
        ("--tests", "first", "--groundwork", "3"), QUICK, bare="wrong", asked=FIVE_PARTS, files=COUNTS, check=PARTS,
    ),
    Scenario(
        "runs pytest itself, no .gitignore", "runs_tests.py", "DONE", 0, 6, gate=PYTEST,
        bare="done", files={".gitignore": None},
    ),
    Scenario("does what the prompt says, and no more", "obedient.py", "DONE", 0, 3, (), QUICK, bare="done"),
)  # fmt: skip


def run(scenario: Scenario, folder: Path, *, document: bool = True) -> Outcome:
    """Run one loop in `folder`."""
    repository = make_sample_repository(folder / "repository", scenario.files)
    (repository / "flyball.toml").write_text("[limits]\ncrash_backoff = 0\n")
    if scenario.dirty:
        with (repository / "README.md").open("a") as readme:
            readme.write("\nan old edit\n")
    source = folder / "prp.md"
    source.write_text(scenario.asked)
    asked = ["--from", str(source)] if document else ["Teach the calculator to multiply"]
    asked += ["--workflow", "tdd"]
    command = [sys.executable, "-m", "flyball", "run", *asked, "--agent-command", " ".join(_program(scenario))]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "FLYBALL_HOME": str(folder / "home")}
    begun = time.monotonic()
    done = subprocess.run(
        [*command, "--gate", scenario.gate, "--unattended", "--json", *scenario.flags],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=900,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    status = lines[-1] if lines else {}
    seconds = time.monotonic() - begun
    right = _is_branch_right(scenario, repository, status.get("branch", ""), folder / "branch")
    return Outcome(done.returncode, status, lines[:-1], seconds, repository, done.stderr, right)


def run_bare(scenario: Scenario, folder: Path) -> BareOutcome:
    """Start the agent until the gate exits with 0, with the same words each time; nothing else is looked at."""
    repository = make_sample_repository(folder / "bare", scenario.files)
    criteria = "".join(f"- AC-{number}: {text}\n" for number, text in enumerate(CRITERIA, start=1))
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "FLYBALL_ROLE": "implementer", "FLYBALL_NONCE": "0"}
    own["FLYBALL_REPORT_FILE"] = str(folder / "report.json")
    gate = scenario.gate.partition("=")[2].replace("{junit}", str(folder / "junit.xml"))
    for turn in range(1, BARE_TURNS + 1):
        stage = "IMPLEMENT" if scenario.flags == QUICK else "RED" if turn == 1 else "GREEN"
        try:
            subprocess.run(
                _program(scenario),
                cwd=repository,
                env={**own, "FLYBALL_STAGE": stage, "FLYBALL_TURN": str(turn)},
                input=f"{scenario.asked}\n{criteria}".encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=BARE_TURN_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return BareOutcome("hangs", turn)
        if (
            subprocess.run(["sh", "-c", gate], cwd=repository, env=own, capture_output=True, check=False).returncode
            == 0
        ):
            return BareOutcome("done" if _is_right(scenario, repository) else "wrong", turn)
    return BareOutcome("never", BARE_TURNS)


def _program(scenario: Scenario) -> list[str]:
    return [sys.executable, "-E", "-S", str(AGENTS / "programs" / scenario.program), *scenario.arguments]


def _is_right(scenario: Scenario, tree: Path) -> bool:
    command = [sys.executable, "-B", "-c", scenario.check]
    return subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode == 0


def _is_branch_right(scenario: Scenario, repository: Path, branch: str, into: Path) -> bool:
    packed = subprocess.run(["git", "archive", branch], cwd=repository, capture_output=True, check=False)
    if not branch or packed.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(into, filter="data")
    return _is_right(scenario, into)


def is_as_expected(scenario: Scenario, outcome: Outcome) -> bool:
    """Whether flyball ended as the table says, and with the work done where it says DONE."""
    status = outcome.status
    ended = (status.get("decision"), outcome.exit_code) == (scenario.decision, scenario.exit_code)
    in_time = scenario.most_turns is None or status.get("turns", 0) <= scenario.most_turns
    return ended and in_time and scenario.named in outcome.text and (outcome.right or scenario.decision != "DONE")


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1:]
    print(f"{'':44} {'bare loop':11} flyball")
    print(
        f"{'agent':44} {'':5} {'turns':>5} {'decision':9} {'exit':>4} {'turns':>5} {'limit':>5} {'health':14} {'seconds':>7}"
    )
    failed = 0
    for scenario in SCENARIOS:
        if wanted and not any(w in scenario.name for w in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(scenario, Path(folder))
            bare = run_bare(scenario, Path(folder)) if scenario.bare else BareOutcome("-", 0)
        status = outcome.status
        good = is_as_expected(scenario, outcome) and bare.ended == (scenario.bare or "-")
        failed += not good
        print(
            f"{scenario.name:44} {bare.ended:5} {bare.turns or '-':>5} {status.get('decision', '-'):9} {outcome.exit_code:4} "
            f"{status.get('turns', -1):5} {scenario.most_turns or '-':>5} {status.get('health', '-'):14} {outcome.seconds:7.1f}"
            f"{'' if good else '  UNEXPECTED'}",
            flush=True,
        )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
