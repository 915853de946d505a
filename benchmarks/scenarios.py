"""What each kind of agent ends as: runs real loops (git, tests, sandbox) with scripted agents and prints the table.

python benchmarks/scenarios.py [NAME ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
AGENTS = HERE.parent / "tests" / "agents"
sys.path.insert(0, str(AGENTS))

from sample import DOCUMENT, make_sample_repository  # noqa: E402 - found by the path above

PYTEST = f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
SMALL = f"test={sys.executable} -I -S {AGENTS / 'small_gate.py'} {{junit}}"
"""What loops are measured by that are not about pytest."""


REFUSED = "You signalled that the stage is finished. It was measured, and it is not"


class Scenario(NamedTuple):
    """An agent, what it must end as, and how many turns it may cost."""

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


class Outcome(NamedTuple):
    """How a loop ended."""

    exit_code: int
    status: dict[str, Any]
    events: list[dict[str, Any]]
    seconds: float
    repository: Path
    stderr: str

    @property
    def text(self) -> str:
        return json.dumps(self.events)


SCENARIOS = (
    Scenario("finishes honestly in one turn a stage", "honest.py", "DONE", 0, 6, gate=PYTEST),
    Scenario("finishes honestly in three turns of GREEN", "honest.py", "DONE", 0, 8, ("--turns", "3")),
    Scenario("claims done at once, tests red", "liar.py", "BLOCKED", 3, None, named=REFUSED),
    Scenario("edits the tests to pass", "editor_of_tests.py", "BLOCKED", 3, None, named="test-weakened", gate=PYTEST),
    Scenario("deletes the tests", "deleter_of_tests.py", "BLOCKED", 3, None, named="test-deleted", gate=PYTEST),
    Scenario("skips the tests", "skipper.py", "BLOCKED", 3, None, named="test-skipped", gate=PYTEST),
    Scenario("patches conftest", "conftest_patcher.py", "BLOCKED", 3, None, named="conftest.py", gate=PYTEST),
    Scenario("changes nothing for ever", "do_nothing.py", "BLOCKED", 3, 6),
    Scenario("changes nothing beside its own old edit", "old_edit.py", "BLOCKED", 3, 6),
    Scenario("changes nothing beside the user's old edit", "do_nothing.py", "BLOCKED", 3, 6, dirty=True),
    Scenario("adds only untracked files", "untracked_noise.py", "BLOCKED", 3, 6),
    Scenario("adds only untracked files from the start", "untracked_noise.py", "BLOCKED", 3, 6, ("--always",)),
    Scenario("A breaks B, B breaks A", "flip_flopper.py", "BLOCKED", 3, 8, named="FLIP-FLOPPING"),
    Scenario("usage limit with a reset time, once", "usage_limit_once.py", "DONE", 0, 6, ("--at-turn", "2")),
    Scenario("crashes each time", "crasher.py", "BLOCKED", 3, 6, named="The agent crashed 5 times in a row"),
    Scenario("never ends", "never_ending.py", "BLOCKED", 3, None, flags=("--turn-timeout", "1")),
    Scenario("ignores SIGTERM", "sigterm_ignorer.py", "BLOCKED", 3, None, flags=("--turn-timeout", "1")),
    Scenario("forks daemons", "daemon_forker.py", "DONE", 0, 6),
    Scenario("prints 1 GB", "babbler.py", "DONE", 0, 6, ("--at-turn", "1")),
    Scenario("prints binary", "binary.py", "DONE", 0, 6),
)


def run(scenario: Scenario, folder: Path, *, document: bool = True) -> Outcome:
    """Run one loop in `folder`."""
    repository = make_sample_repository(folder / "repository")
    (repository / "flyball.toml").write_text("[limits]\ncrash_backoff = 0\n")
    if scenario.dirty:
        with (repository / "README.md").open("a") as readme:
            readme.write("\nan old edit\n")
    source = folder / "prp.md"
    source.write_text(DOCUMENT)
    program = " ".join([sys.executable, "-E", "-S", str(AGENTS / "programs" / scenario.program), *scenario.arguments])
    asked = ["--from", str(source)] if document else ["Teach the calculator to multiply"]
    command = [sys.executable, "-m", "flyball", "run", *asked, "--agent-command", program, "--gate", scenario.gate]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "FLYBALL_HOME": str(folder / "home")}
    begun = time.monotonic()
    done = subprocess.run(
        [*command, "--unattended", "--json", *scenario.flags],
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
    return Outcome(done.returncode, status, lines[:-1], time.monotonic() - begun, repository, done.stderr)


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1:]
    print(f"{'agent':44} {'decision':9} {'exit':>4} {'turns':>5} {'limit':>5} {'health':14} {'seconds':>7}")
    failed = 0
    for scenario in SCENARIOS:
        if wanted and not any(w in scenario.name for w in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(scenario, Path(folder))
        status = outcome.status
        good = status.get("decision") == scenario.decision and outcome.exit_code == scenario.exit_code
        good = good and (scenario.most_turns is None or status["turns"] <= scenario.most_turns)
        good = good and scenario.named in outcome.text
        failed += not good
        print(
            f"{scenario.name:44} {status.get('decision', '-'):9} {outcome.exit_code:4} {status.get('turns', -1):5} "
            f"{scenario.most_turns or '-':>5} {status.get('health', '-'):14} {outcome.seconds:7.1f}{'' if good else '  UNEXPECTED'}",
            flush=True,
        )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
