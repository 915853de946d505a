"""A small world for crash tests: a user's repository, flyball's home outside of it, an agent and a gate of milliseconds."""

import atexit
import functools
import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

import flyball
from flyball.core.fold.evolve import fold
from flyball.core.model.events import Begun, Ended, Event, Judged, Moved, PersonSpoke
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.journal.sqlite import SqliteJournal

PROGRAMS = Path(__file__).parent / "programs"
REQUEST = "# Greet the world\n\n### Acceptance Criteria\n- [ ] greets the world\n"
TASK = TaskId("001-greet-the-world")
BRANCH = f"flyball/{TASK}"
TDD_ITERATIONS = 4
"""One for each stage of `tdd` but REFACTOR, which a measurement makes unnecessary."""
LONGEST_S = 300


class World:
    """One repository and one home below a folder of their own."""

    def __init__(self, folder: Path, workflow: str = "tdd") -> None:
        self.folder = folder
        self.workflow = workflow
        self.repository = folder / "repository"
        self.home = folder / "home"
        self.outside = folder.with_name(folder.name + "-outside")
        self.agent = f"sh {PROGRAMS / 'tiny_agent.sh'}"
        self.gate = f"sh {PROGRAMS / 'tiny_gate.sh'} {{junit}}"
        self.variables: dict[str, str] = {}
        self.path = os.environ["PATH"]

    def make(self) -> Self:
        """A repository with history, a staged file, an unstaged change and a stash: all of it the user's."""
        self.outside.mkdir(parents=True)
        (self.outside / ".gitconfig").write_text("[user]\n\tname = User\n\temail = user@localhost\n")
        (self.outside / "request.md").write_text(REQUEST)
        for path, text in {
            "tests/old.t": "true\n",
            "README.md": "# greeter\n",
            "CHANGELOG.md": "# Changelog\n",
        }.items():
            self.write(path, text)
        self.git("init", "-q", "--template=", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Start")
        self.write("staged.txt", "staged, not committed\n")
        self.git("add", "staged.txt")
        self.write("README.md", "# greeter\n\nchanged, not staged\n")
        self.write("loose.txt", "untracked\n")
        self.git("config", "user.note", "mine")
        return self

    def speak_python(self) -> Self:
        """A project with real pytest in the place of the gate of milliseconds."""
        self.agent = f"sh {PROGRAMS / 'tiny_agent.sh'} python"
        self.gate = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider"
        # Each run looks at every file of the environments on PATH, so only worlds that use one have it there.
        self.path = f"{Path(sys.executable).parent}:{self.path}"
        self.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
        self.write("tests/test_old.py", "def test_old():\n    assert True\n")
        self.git("add", "pyproject.toml", "tests")
        self.git("commit", "-q", "-m", "Speak Python", "pyproject.toml", "tests")
        return self

    def misbehave(self, deed: str, *more: object) -> Path:
        """Let the agent's first turn do `deed`; the file that appears when it is at it."""
        flag = self.outside / "flag"
        self.agent = " ".join(map(str, ("sh", PROGRAMS / "once.sh", flag, deed, *more)))
        return flag

    def write(self, path: str, text: str) -> None:
        place = self.repository / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.repository,
            env=self.environment(),
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def environment(self) -> dict[str, str]:
        """What a person's shell would have; the world's name in it marks every process that came from it."""
        return {
            "PATH": self.path,
            "HOME": str(self.outside),
            "FLYBALL_HOME": str(self.home),
            "LANG": "C.UTF-8",
            **self.variables,
        }

    def run_arguments(self, *more: str) -> list[str]:
        """The command line of a first run."""
        flags = ["--unattended", "--sandbox", "none", "--agent-command", self.agent, "--gate", f"test={self.gate}"]
        return ["run", "--from", str(self.outside / "request.md"), "--workflow", self.workflow, *flags, *more]

    def start(self, *arguments: str, kill: str = "") -> "subprocess.Popen[bytes]":
        """Start flyball as a person does."""
        fault = {"FLYBALL_FAULT_KILL": kill} if kill else {}
        return subprocess.Popen(
            [sys.executable, "-m", "flyball", *arguments],
            cwd=self.repository,
            env=self.environment() | fault,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def flyball(
        self, *arguments: str, kill: str = "", images: Path | None = None, wanted: tuple[int, int] = (0, 1)
    ) -> tuple[int, str]:
        """Play one command to its end in a fork of the warm process: its exit code, negative for a signal, and what it said."""
        said = self.outside / "said"
        said.unlink(missing_ok=True)
        order = {
            "arguments": arguments,
            "folder": str(self.repository),
            "world": str(self.folder),
            "environment": self.environment(),
            "output": str(said),
            "kill": kill,
            "images": str(images or ""),
            "wanted": wanted,
        }
        return warm().play(order), said.read_text("utf-8", "replace")

    def installed(self, *arguments: str, kill: str = "") -> tuple[int, str]:
        """Run the installed command to its end: its exit code and what it said."""
        process = self.start(*arguments, kill=kill)
        said = self.said(process)
        return process.returncode, said

    def begin(self, flag: Path, *arguments: str, timeout: float = 120.0) -> "subprocess.Popen[bytes]":
        """Start flyball, by default with a first run, and wait until a program of it has made `flag`."""
        process = self.start(*(arguments or self.run_arguments()))
        deadline = time.monotonic() + timeout
        while not flag.exists():
            assert process.poll() is None, self.said(process)
            assert time.monotonic() < deadline, f"{flag} was not made within {timeout:g} s"
            time.sleep(0.01)
        return process

    def said(self, process: "subprocess.Popen[bytes]", timeout: float = 120.0) -> str:
        """Wait for the end of a process that was begun: all it printed."""
        with process:
            return process.communicate(timeout=timeout)[0].decode("utf-8", "replace")

    def finish(self, *arguments: str, attempts: int = 3) -> str:
        """Resume until the task is done."""
        said = ""
        for _ in range(attempts):
            code, text = self.flyball("resume", *arguments)
            said += text
            if code == 0:
                return said
        raise AssertionError(f"not done after {attempts} resumptions:\n{said}")

    @property
    def site(self) -> Path:
        """The repository's own folder below flyball's home."""
        return next((self.home / "repos").iterdir())

    @property
    def tree(self) -> Path:
        """The task's own checkout."""
        return self.site / "tasks" / TASK / "tree"

    @property
    def loop(self) -> Path:
        return self.repository / ".loop" / TASK

    def events(self) -> list[Event]:
        """Every fact of the task, each checked; nothing before the journal exists."""
        journals = list(self.home.glob("repos/*/journal.sqlite"))
        if not journals:
            return []
        with SqliteJournal.open(journals[0]) as journal:
            return list(journal.read(TASK))

    def state(self) -> State:
        state = fold(self.events())
        assert state is not None
        return state

    def vault(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", f"--git-dir={self.site / 'vault.git'}", *arguments], capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    def belongings(self, *, files: bool = True) -> dict[str, str]:
        """Everything that is the user's: index, HEAD, configuration, branches of their own, their files; by hash."""
        ours = (".loop", ".git/objects", ".git/refs/heads/flyball")
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((self.repository if files else self.repository / ".git").rglob("*"))
            if path.is_file() and not (name := str(path.relative_to(self.repository))).startswith(ours)
        }

    def processes(self) -> list[str]:
        """The command lines of live processes that came from this world."""
        mark, found = os.fsencode(self.folder), []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                seen = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
                if mark in seen and process.name != str(os.getpid()):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        return found

    def orphans(self, within: float = 60.0) -> list[str]:
        """Processes still there after a while."""
        deadline = time.monotonic() + within
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def remove(self) -> None:
        for folder in (self.folder, self.outside):
            shutil.rmtree(folder, ignore_errors=True)


class Result(msgspec.Struct, frozen=True):
    """What must be the same however often the controller was killed."""

    decision: str
    reason: str
    stages: tuple[str, ...]
    iterations: int
    qa_attempts: int
    false_claims: int
    tree: str
    messages: tuple[str, ...]
    checkpoints: tuple[str, ...]
    status_blocks: int
    rendered: tuple[str, ...]

    @classmethod
    def of(cls, world: World) -> "Result":
        state = world.state()
        log = world.loop / "phase-status.log"
        return cls(
            decision=state.decision,
            reason=state.stopped.reason if state.stopped else "",
            stages=tuple(e.fact.stage for e in world.events() if isinstance(e.fact, Moved)),
            iterations=state.iterations,
            qa_attempts=state.main.rejections,
            false_claims=state.false_claims,
            tree=_tree_without_loop(world),
            messages=tuple(world.git("log", "--format=%s", f"main..{BRANCH}").splitlines()),
            checkpoints=tuple(c.label for c in state.checkpoints if c.accepted),
            status_blocks=log.read_text().count("---PRP_PHASE_STATUS---"),
            rendered=tuple(sorted(str(p.relative_to(world.loop)) for p in world.loop.rglob("*"))),
        )

    def differs(self, other: "Result") -> str:
        """What is not the same in another result."""
        mine, theirs = msgspec.structs.asdict(self), msgspec.structs.asdict(other)
        return "; ".join(f"{name}: {mine[name]!r}, not {theirs[name]!r}" for name in mine if mine[name] != theirs[name])


def _tree_without_loop(world: World) -> str:
    """The files of the branch; what is rendered into `.loop/` carries times and turns, which a kill may change."""
    listing = world.git("ls-tree", "-r", BRANCH).splitlines()
    return "\n".join(line for line in listing if "\t.loop/" not in line)


def check_journal(events: list[Event]) -> None:
    """Facts without a gap; every attempt has at most one outcome, every effect one that counts; no word is doubled."""
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    begun = Counter((e.fact.effect.id, e.fact.effect.attempt) for e in events if isinstance(e.fact, Begun))
    ended = Counter((e.fact.id, e.fact.attempt) for e in events if isinstance(e.fact, Ended))
    often = [attempt for attempt, times in (begun + ended).items() if times > 2]
    assert not often, often
    assert max(begun.values()) == 1, begun.most_common(3)
    assert max(ended.values()) == 1, ended.most_common(3)
    assert set(ended) <= set(begun)
    assert {effect for effect, _ in begun} == {effect for effect, _ in ended}
    words = [e.fact.inbox for e in events if isinstance(e.fact, PersonSpoke) and e.fact.inbox]
    assert len(words) == len(set(words))
    judged = [e.fact.turn for e in events if isinstance(e.fact, Judged) and e.fact.turn]
    assert len(judged) == len(set(judged))


def check_repository(world: World) -> None:
    """Nothing stale in the user's repository, and nothing that flyball started is left."""
    assert not list((world.repository / ".git").rglob("*.lock"))
    assert not [p for p in world.loop.rglob("*") if ".edited-" in p.name or p.name.endswith(".new")]
    world.git("fsck", "--strict", "--no-dangling")
    assert world.orphans() == []


class Runner:
    """The warm process that plays flyball in forks of itself."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("runner.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(flyball.__file__).parents[1])},
            text=True,
        )

    def play(self, order: Mapping[str, object]) -> int:
        """One flyball process to its end: its exit code, negative for a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(dict(order)) + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], LONGEST_S)
        assert ready, f"no end after {LONGEST_S} s: {order['arguments']}"
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@functools.cache
def warm() -> Runner:
    """One for all worlds."""
    runner = Runner()
    atexit.register(runner.close)
    return runner
