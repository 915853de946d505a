"""Real agents' programs against a scripted model on loopback: cleared environment, fresh HOME, dummy keys."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.model_script import ModelAnswer, ModelScript
from tests.support.model_server import ModelServer

from flyball.agents.dialect import Dialect
from flyball.agents.display.display import live_line
from flyball.agents.reading.jsonl import Events
from flyball.agents.run.cli import Cli, CliAgent
from flyball.agents.run.frame import Patience, ProgramFrame
from flyball.clock import system_clock
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.task import EffectId
from flyball.ports import Confine
from flyball.process import StopFlag
from flyball.warden import processes
from flyball.wiring.run.confining import program_folders
from flyball.workspace import sandbox

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flyball-agents"
BIN = Path(os.environ.get("FLYBALL_AGENTS") or CACHE) / "bin"
AGENTS = Path(__file__).parents[1] / "agents"
PROGRAMS = AGENTS / "programs"
PATIENCE = Patience(wall_s=120.0, idle_s=60.0, grace_s=3.0, linger_s=1.0)
NONCE = "00112233445566778899aabbccddeeff"
DOCUMENT = (
    "# PRP: multiply\n\nTeach the calculator to multiply.\n\n### Acceptance Criteria\n- [ ] multiply(6, 7) gives 42\n"
)
FILES = {
    "calc/__init__.py": '"""A calculator."""\n\n\ndef add(a: float, b: float) -> float:\n    """The sum of two numbers."""\n    return a + b\n',
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    "README.md": "# calc\n\nA small calculator. It can `add`.\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- add\n",
    "pyproject.toml": '[project]\nname = "calc"\nversion = "0.1.0"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "gate.py": (AGENTS / "small_gate.py").read_text(),
}
GATE = f"test={sys.executable} -I -S gate.py {{junit}}"
"""Milliseconds: these loops are about agents' programs, and pytest has tests of its own."""
NEW_TEST = "import calc\n\n\ndef test_ac_1_multiply():\n    assert calc.multiply(6, 7) == 42\n"
MULTIPLY = '\n\ndef multiply(a: float, b: float) -> float:\n    """The product of two numbers."""\n    return a * b\n'
RECORD = "# Plain functions\n\nAccepted. `multiply` is a plain function: there is no state to keep.\n"
LONG = "word " * 30_000
"""Before a prompt, it makes it longer than an argument of a command may be."""
A_TURN = RunAgent(
    EffectId("turn/1"), role="implementer", stage="GREEN", agent="live", model="", prompt="", iteration=1, turn=1
)

Write = Callable[[str, str], ModelAnswer]
"""Makes the step in which the model writes a file, by whatever tool the program has for it."""


class Ran(NamedTuple):
    """How a `flyball` command ended: its exit code, the status it prints last, the events before."""

    code: int
    status: dict[str, Any]
    events: list[dict[str, Any]]
    stderr: str

    def facts(self, name: str) -> list[dict[str, Any]]:
        return [event["fact"] for event in self.events if event.get("fact", {}).get("fact") == name]

    def turns(self) -> list[dict[str, Any]]:
        """How each turn ended."""
        outcomes = [fact["outcome"] for fact in self.facts("effect.ended")]
        return [outcome for outcome in outcomes if outcome["outcome"] == "turn.ended"]


class Live:
    """A fresh HOME, a repository and the scripted models of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.repository = folder / "user", folder / "repository"
        self.home.mkdir()
        self.servers: list[ModelServer] = []
        self.number = 0
        _make_repository(self.repository, self.environment())

    def program(self, name: str) -> Path:
        """The program, or a skip that says how to get it."""
        path = BIN / name
        if not path.exists():
            pytest.skip(f"{name} is not installed; get it with: make agents")
        return path

    def serve(self, *steps: ModelAnswer, **options: Any) -> ModelServer:
        """A model that answers with these steps until the test ends."""
        server = ModelServer(ModelScript(steps, **options))
        server.__enter__()
        self.servers.append(server)
        return server

    def environment(self, more: Mapping[str, str] = {}) -> dict[str, str]:
        """All that programs see: nothing of the user's."""
        path = os.pathsep.join([str(BIN), str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
        own = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "FLYBALL_HOME": str(self.folder / "flyball")}
        return {**own, **more}

    def flyball(self, *words: str, env: Mapping[str, str], timeout_s: float = 900.0) -> Ran:
        """Run the command in the repository."""
        done = subprocess.run(
            [sys.executable, "-m", "flyball", *words],
            cwd=self.repository,
            env=self.environment(env),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return Ran(done.returncode, lines[-1] if lines else {}, lines[:-1], done.stderr)

    def run(self, agent: str, *words: str, env: Mapping[str, str], timeout_s: float = 900.0) -> Ran:
        """`flyball run` of the document's task with an agent, unattended."""
        source = self.folder / "prp.md"
        source.write_text(DOCUMENT)
        asked = ("run", "--from", str(source), "--agent", agent, "--gate", GATE, "--unattended", "--json")
        return self.flyball(*asked, "--workflow", "tdd", *words, env=env, timeout_s=timeout_s)

    def run_with_help(self, agent: str, *, env: Mapping[str, str]) -> Ran:
        """`flyball run` in which the agent implements; a small program plays every other role."""
        program = shutil.copy(PROGRAMS / "honest.py", self.home)
        others = ("tester", "refactorer", "documenter", "qa")
        with (self.repository / "flyball.toml").open("a") as settings:
            settings.write(f"[agents.small]\ncommand = {json.dumps([sys.executable, '-E', '-S', program])}\n")
            settings.writelines(f'[roles.{role}]\nagent = "small"\n' for role in others)
        self.flyball("trust", "--yes", env={})
        return self.run(agent, env=env)

    def turn(
        self,
        dialect: Dialect,
        *,
        env: Mapping[str, str],
        prompt: str = "Edit the file.\n",
        patience: Patience = PATIENCE,
        stop: StopFlag | None = None,
        sandboxed: bool = True,
        cli: Mapping[str, Any] = {},
        **request: Any,
    ) -> TurnEnded:
        """One turn of a program in the repository without a loop, in the sandbox unless that is not wanted."""
        confine = self.confine() if sandboxed else sandbox.Unconfined()
        self.program(dialect.program)
        self.number += 1
        agent = CliAgent(
            Cli("live", dialect, **cli),
            ProgramFrame(
                task="001-live",
                workflow="tdd",
                confine=confine,
                sandboxed=isinstance(confine, sandbox.Confined),
                environment=self.environment(env),
                clock=system_clock,
                patience=patience,
            ),
        )
        asked = msgspec.structs.replace(A_TURN, prompt=prompt, turn=self.number, **request)
        return agent.turn(
            asked,
            tree=self.repository,
            folder=self.folder / "turns" / str(self.number),
            nonce=NONCE,
            stop=stop or StopFlag(),
            notify=lambda *_: None,
        )

    def confine(self) -> Confine:
        program = sandbox.available()
        if isinstance(program, sandbox.Unavailable):
            return sandbox.Unconfined()
        hidden = sandbox.secret_paths(self.home)
        # What lies in the test's folder cannot be seen in the sandbox; a user's HOME is there and read-only.
        programs = program_folders(self.environment())
        return sandbox.Confined(program, self.repository, hidden=hidden, programs=programs, readable=(self.home,))

    def transcript(self, name: str = "stdout") -> str:
        """What the last turn printed."""
        return (self.folder / "turns" / str(self.number) / name).read_text()

    def shown(self, dialect: Dialect) -> list[str]:
        """What there was to see of the last turn; whoever watches it sees some of these lines, at a pace to be followed."""
        return [live_line(dialect.show(event)) for event in Events(self.folder / "turns" / str(self.number) / "stdout")]

    def left_running(self) -> list[int]:
        """Processes that still have the turn's nonce in their environment."""
        mark, found = f"FLYBALL_NONCE={NONCE}".encode(), []
        for process in processes():
            try:
                environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark in environment and process.state not in "ZX":
                found.append(process.pid)
        return found

    @staticmethod
    def by_shell(path: str, text: str) -> ModelAnswer:
        """Write a file through the program's shell."""
        return ModelAnswer(shell=f"mkdir -p $(dirname {path}) && cat > {path} <<'END'\n{text}END")

    @staticmethod
    def reported(summary: str, **more: Any) -> ModelAnswer:
        """The model's last word: a report in its final message."""
        report = {"nonce": "{nonce}", "status": "complete", "exit_signal": True, "summary": summary, **more}
        return ModelAnswer(say=f"{summary}\n\n```flyball-report\n{json.dumps(report)}\n```\n")

    def green(self, write: Write | None = None) -> list[ModelAnswer]:
        """A model that does what the document asks for, in one turn."""
        write = write or self.by_shell
        return [
            write("calc/__init__.py", FILES["calc/__init__.py"] + MULTIPLY),
            self.reported("multiply multiplies"),
        ]

    def whole_task(self, write: Write | None = None) -> list[ModelAnswer]:
        """A model that does the document's task honestly, one turn a stage, from RED to QA."""
        write = write or self.by_shell
        return [
            write("tests/test_multiply.py", NEW_TEST),
            self.reported("wrote a test for the criterion"),
            *self.green(write),
            self.reported("nothing is worth improving"),
            write("docs/decisions/0001-plain-functions.md", RECORD),
            write("README.md", FILES["README.md"] + "\nIt can also `multiply`.\n"),
            write("CHANGELOG.md", FILES["CHANGELOG.md"] + "- multiply\n"),
            self.reported("documented it"),
            self.reported("read the code and ran the tests", verdict="pass", findings=[]),
        ]


def _make_repository(path: Path, environment: Mapping[str, str]) -> None:
    for name, text in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    own = ("-c", "user.name=Sample", "-c", "user.email=sample@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "--all"), ("commit", "--quiet", "-m", "Adds")):
        subprocess.run(["git", *own, *words], cwd=path, env=environment, check=True, capture_output=True)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    scene = Live(tmp_path)
    yield scene
    for server in scene.servers:
        server.__exit__()
