"""What flyball itself costs, as ratios in one run: per iteration, in a Stop hook, at start, on resume, and in memory.

    python benchmarks/overhead.py [iteration|hook|start|resume|telling|memory ...]

The floor of an iteration is the same git work (add to a private index, write-tree, commit-tree, update-ref, diff) and the same number of
durable appends to SQLite, done by hand on the same repository. Own time runs from the first verdict to the last; agent and
gate time are subtracted.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "agents"), str(HERE.parent)]

import hook as hooks  # noqa: E402 - beside this file
from sample import make_sample_repository  # noqa: E402 - found by the path above

FEATURES = ("multiply", "divide", "power", "remainder", "negate", "square", "halve")
ROUNDS = 30
LOOPS = 5
RESUMES = 9


def iteration(folder: Path) -> tuple[str, float, float]:
    """Own time per iteration against the floor on the same repository; the medians of some loops, with the floor in between."""
    loops = [_loop(folder / str(n)) for n in range(LOOPS)]
    return "own time per iteration", statistics.median(o for o, _ in loops), statistics.median(f for _, f in loops)


def _loop(folder: Path) -> tuple[float, float]:
    folder.mkdir()
    repository = make_sample_repository(folder / "repository")
    source = folder / "prp.md"
    boxes = "".join(f"- [ ] {name} works\n" for name in FEATURES)
    source.write_text(f"# More\n\nTeach it more.\n\n### Acceptance Criteria\n{boxes}")
    agent = f"{sys.executable} {HERE.parent / 'tests' / 'agents' / 'programs' / 'honest.py'} --turns {len(FEATURES)}"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "flyball", "run", "--workflow", "tdd"),
            *("--from", str(source), "--unattended", "--json"),
            *(
                "--agent-command",
                agent,
                "--gate",
                f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q",
            ),
        ],
        cwd=repository,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "FLYBALL_HOME": str(folder / "home")},
        capture_output=True,
        check=True,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()][:-1]
    judged = [n for n, e in enumerate(events) if e["fact"]["fact"] == "iteration.judged"]
    seen, iterations = events[judged[0] : judged[-1] + 1], len(judged) - 1
    appends = round((len(seen) - 1) / iterations)
    return _own_seconds(seen) / iterations, _floor(repository, folder, appends)


def _own_seconds(events: list[dict[str, Any]]) -> float:
    """From the first event to the last, less what agents and gates took after the first."""
    total = (_at(events[-1]) - _at(events[0])).total_seconds()
    taken = 0.0
    for event in events[1:]:
        outcome = event["fact"].get("outcome", {})
        if not isinstance(outcome, dict):
            continue
        if outcome.get("outcome") == "turn.ended":
            taken += outcome.get("seconds", 0.0)
        if outcome.get("outcome") == "measured":
            taken += outcome["measurement"].get("commands_s", 0.0)
    return total - taken


def _at(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])


def _floor(repository: Path, folder: Path, appends: int) -> float:
    """One iteration's git work and appends by hand."""
    index = folder / "floor.index"
    env = {**os.environ, "GIT_INDEX_FILE": str(index)}

    def git(*arguments: str) -> str:
        command = ["git", "-c", "core.fsync=all", "-c", "gc.auto=0", *arguments]
        return subprocess.run(
            command, cwd=repository, env=env, capture_output=True, text=True, check=True
        ).stdout.strip()

    journal = sqlite3.connect(folder / "floor.sqlite", isolation_level=None)
    journal.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE events (body TEXT);")
    parent = git("rev-parse", "HEAD")
    times = []
    for n in range(ROUNDS):
        (repository / "calc" / "floor.py").write_text(f"N = {n}\n")
        begun = time.perf_counter()
        git("add", "--all")
        tree = git("write-tree")
        commit = git("commit-tree", tree, "-p", parent, "-m", str(n))
        git("update-ref", "refs/floor/tip", commit)
        git("diff", "--stat", parent, commit)
        for _ in range(appends):
            journal.execute("INSERT INTO events VALUES (?)", ("x" * 240,))
        times.append(time.perf_counter() - begun)
        parent = commit
    return statistics.median(times)


def hook(_folder: Path) -> tuple[str, float, float]:
    """`flyball hook stop` where it takes longest, after a change in a backlog, against `python -c pass`."""
    return "flyball hook stop", *hooks.measured(hooks.changed)


def start(_folder: Path) -> tuple[str, float, float]:
    """`flyball --version` against `python -c pass`."""
    program = Path(sys.executable).with_name("flyball")
    return "flyball --version", _median([str(program), "--version"]), _median([sys.executable, "-c", "pass"])


def _median(command: list[str]) -> float:
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def resume(folder: Path) -> tuple[str, float, float]:
    """Folding a journal of 100,000 events against reading and decoding it once."""
    from flyball.core.fold.evolve import fold

    return "resume of 100,000 events", *_against_reading(folder, lambda journal, task: fold(journal.read(task)))


def telling(folder: Path) -> tuple[str, float, float]:
    """The same with all that screens and reports tell of it, which a command that takes a task up has ready."""
    from flyball.wiring.task_view import TaskView

    return "the same with its history", *_against_reading(folder, lambda *where: TaskView().look(*where))


def _against_reading(folder: Path, work: Callable[[Any, Any], object]) -> tuple[float, float]:
    from flyball.journal.sqlite import SqliteJournal

    journal = SqliteJournal.open(folder / "journal.sqlite")
    task = _long_journal(journal)

    def seconds(work: Callable[[], object]) -> float:
        """Of the processor: both sides are one process that computes, and other load on the machine must not count."""
        begun = time.process_time()
        work()
        return time.process_time() - begun

    # In turns, so that both sides see the same machine.
    rounds = [
        (seconds(lambda: work(journal, task)), seconds(lambda: sum(1 for _ in journal.read(task))))
        for _ in range(RESUMES)
    ]
    return min(own for own, _ in rounds), min(floor for _, floor in rounds)


def _long_journal(journal: Any) -> Any:
    """A GREEN stage that moves one test at a time, as a real loop would have written it, 100,000 events long."""
    from tests.support.simulator import START, Simulator, a_task

    from flyball.core.model.events import Event, TaskOpened
    from flyball.core.model.task import Task

    model = a_task()
    record = journal.open_task(
        "long",
        workflow="tdd",
        title="long",
        at=START,
        opening=lambda task: [TaskOpened(Task(task, "tdd", "x", model.settings, START, items=model.items), "RED")],
    )
    simulator = Simulator(_slow_world())
    while len(simulator.events) < 2_000:
        simulator.step()
    pattern: list[Event] = simulator.events[1:]
    rounds = _repeated(pattern, 100_000)
    for first in range(0, len(rounds), 2000):
        journal.append(record.id, rounds[first : first + 2000], epoch=0, at=datetime.now(UTC))
    return record.id


def _slow_world() -> Any:
    """Tests pass one by one, for ever."""
    from msgspec.structs import replace
    from tests.support.simulator import World, suite

    from flyball.core.claims.values import Claim
    from flyball.core.model.measurement import NewTest
    from flyball.core.model.outcomes import TurnEnded

    new = NewTest("tests/test_new.py::test_ac_1", "tests/test_new.py", "failing", "assertion", criteria=("AC-1",))
    done = 0

    def turn(request: Any, _state: Any) -> Any:
        nonlocal done
        done += 1
        world.tree = f"tree-{request.turn}"
        summary = f"made test {done} pass; the next one needs the parser to keep its place"
        return TurnEnded(
            "ok", claim=Claim(exit_signal=request.stage == "RED", summary=summary), final_message=summary * 8
        )

    def measure(request: Any, _state: Any) -> Any:
        if request.kind == "baseline":
            return suite(request.candidate, world.tree)
        failing = (f"tests/test_new.py::test_{done}",)
        measured = suite(request.candidate, world.tree, failing=failing, total=done + 10)
        gate = replace(measured.gates[0], output="E   assert parse(row) == expected\n" * 60)
        return replace(measured, gates=(gate,), new_tests=(new,))

    world = World(turn, measure)
    return world


def _repeated(pattern: list[Any], wanted: int) -> list[Any]:
    """The pattern's iterations over and over; effect ids may repeat, because each is ended before it is begun again."""
    facts = [e.fact for e in pattern]
    green = next(n for n, f in enumerate(facts) if type(f).__name__ == "Moved") + 1
    last = max(n for n, f in enumerate(facts) if type(f).__name__ == "Judged") + 1
    head, body = facts[:green], facts[green:last]
    rounds = head + body * ((wanted - len(head)) // len(body) + 1)
    return rounds[:wanted]


def memory(folder: Path) -> tuple[str, float, float]:
    """Peak memory of a turn that prints 300 MB against one that prints nothing."""
    code = (
        "import sys, resource, pathlib\n"
        "from flyball import process\n"
        "process.run(['sh', '-c', sys.argv[1]], cwd=pathlib.Path('/'), env={'PATH': '/usr/bin:/bin'},"
        " stdout=pathlib.Path(sys.argv[2]) / 'out', stderr=pathlib.Path(sys.argv[2]) / 'err')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )

    def peak(command: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", code, command, str(folder)], capture_output=True, text=True, check=True
        )
        return float(done.stdout) * (1 if sys.platform == "darwin" else 1024) / 2**20

    return "peak MB with 300 MB of output", peak("head -c 300000000 /dev/zero"), peak("true")


TARGETS: dict[str, tuple[Callable[[Path], tuple[str, float, float]], float | None]] = {
    "iteration": (iteration, 5.0),
    "hook": (hook, hooks.TARGET),
    "start": (start, 4.0),
    "resume": (resume, 3.0),
    "telling": (telling, None),
    "memory": (memory, 1.5),
}


def main() -> None:
    """Print one line a measurement."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    missed = 0
    print(f"{'what':34} {'flyball':>10} {'floor':>10} {'ratio':>7} {'target':>7}")
    for name in sys.argv[1:] or TARGETS:
        measure, target = TARGETS[name]
        with tempfile.TemporaryDirectory() as folder:
            label, own, floor = measure(Path(folder))
        missed += target is not None and own / floor > target
        wanted = "" if target is None else f"<= {target}"
        print(f"{label:34} {own:10.4f} {floor:10.4f} {own / floor:7.2f} {wanted:>7}", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
