"""A small real repository with tests, its workspace, and a measurer that runs real pytest in it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Measurement
from flyball.core.model.task import MAIN, Commit, EffectId, Gate, Item, Settings, TaskId
from flyball.journal.blobs import FileBlobs
from flyball.measures.gates.expectations import keep, load
from flyball.measures.gates.junit import Outcome
from flyball.measures.measurer import TreeMeasurer
from flyball.ports import Confine
from flyball.process import StopFlag
from flyball.workspace.repository import Repository
from flyball.workspace.sandbox import Unconfined
from flyball.workspace.workspace import GitWorkspace

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
ITEMS = (Item("AC-1", "mul multiplies two numbers"),)
TESTS = "tests/test_mul.py"

MUL = '''
    """Arithmetic."""


    def add(a, b):
        """Add."""
        return a + b


    def mul(a, b):
        """Multiply."""
        return a * b
    '''

BASE = {
    "calc.py": '''
        """Arithmetic."""


        def add(a, b):
            """Add."""
            return a + b
        ''',
    "tests/test_old.py": """
        from calc import add


        def test_add():
            assert add(1, 2) == 3
        """,
    "pyproject.toml": """
        [project]
        name = "calc"
        version = "1.0"
        dependencies = []

        [tool.pytest.ini_options]
        testpaths = ["tests"]
        addopts = "-q"

        [tool.other]
        key = 1
        """,
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}
RED = {
    "tests/test_mul.py": """
        import pytest

        from calc import mul


        def test_ac_1_multiplies():
            assert mul(2, 3) == 6


        @pytest.mark.parametrize("a, b, product", [(0, 5, 0), (1, 7, 7), (-2, 3, -6)])
        def test_ac_1_many(a, b, product):
            assert mul(a, b) == product
        """,
}
ACCEPTED: dict[str, Outcome] = {
    "tests/test_old.py::test_add": "passing",
    "tests/test_mul.py::test_ac_1_multiplies": "failing",
    "tests/test_mul.py::test_ac_1_many[0-5-0]": "failing",
    "tests/test_mul.py::test_ac_1_many[1-7-7]": "failing",
    "tests/test_mul.py::test_ac_1_many[-2-3--6]": "failing",
}


def tricked(measured: Measurement, kind: str, path: str = "") -> None:
    named = [t for t in measured.tricks if t.kind == kind and not t.harmless and path in t.path]
    assert named, measured.tricks
    assert measured.green_runs < 2


def restored(measured: Measurement, kind: str, path: str) -> None:
    """A protected file was changed, which is named and undone; as no measurement came out otherwise, nobody is accused."""
    named = [t for t in measured.tricks if t.kind == kind and t.harmless and path in t.path]
    assert named, measured.tricks
    assert path in measured.put_back
    assert not measured.caught


class Lab:
    """Writes files as an agent would, saves candidates, and has them measured."""

    def __init__(self, home: Path, files: Mapping[str, str], *, confine: Confine | None = None) -> None:
        self.home = home
        self.repository = home / "project"
        self.repository.mkdir(parents=True)
        self._confine = confine
        self._saved = 0
        self._measured = 0
        self._put(self.repository, files)
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "Start"]):
            subprocess.run(
                ["git", "-c", "user.name=U", "-c", "user.email=u@localhost", *words], cwd=self.repository, check=True
            )
        self.workspace = GitWorkspace(Repository.find(self.repository), home / "state", TaskId("001-mul"))
        self.workspace.prepare()
        self.base = self.workspace.base
        self.accepted = self.base
        self.blobs = FileBlobs(home / "blobs")
        self.settings = Settings(gates=(Gate("test", PYTEST, 600.0),), sandbox="none")
        self.baseline_ref = keep(self.blobs, {"tests/test_old.py::test_add": "passing"})
        self.accepted_ref = self.baseline_ref
        self.rejected = Commit("")
        self.consented: tuple[str, ...] = ()
        self.failed_exits: dict[str, int] = {}
        self.items: tuple[Item, ...] = ITEMS
        self.lane = MAIN
        self.outside: Callable[[Iterable[str]], tuple[Path, ...]] = lambda _texts: ()
        self.stop = StopFlag()
        self.said: list[tuple[str, str]] = []

    @staticmethod
    def _put(root: Path, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = root / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text).lstrip("\n"))

    def write(self, files: Mapping[str, str | None]) -> None:
        """Change the workspace's tree; None deletes a file."""
        self._put(self.workspace.root, files)

    def save(self) -> Commit:
        self._saved += 1
        return Commit(self.workspace.snapshot(f"s{self._saved}", "work", AT).commit)

    def accept(self, files: Mapping[str, str], outcomes: Mapping[str, Outcome]) -> Commit:
        """Files of an accepted stage, with how its tests ended."""
        self.write(files)
        self.accepted = self.save()
        self.accepted_ref = keep(self.blobs, outcomes)
        return self.accepted

    @property
    def measurer(self) -> TreeMeasurer:
        return TreeMeasurer(
            directory=self.home / "gate",
            repository=self.repository,
            confine=self._confine or Unconfined(),
            blobs=self.blobs,
            environment={**os.environ, "PYTEST_ADDOPTS": "--collect-only", "PYTHONPATH": "/nowhere"},
            nonce=lambda: os.urandom(8).hex(),
            outside=self.outside,
        )

    def measure(self, kind: str, files: Mapping[str, str | None] | None = None) -> Measurement:
        """Change the tree, save it and measure it."""
        self.write(files or {})
        candidate = self.base if kind == "baseline" else self.save()
        self._measured += 1
        request = Measure(
            EffectId(f"measure/{self._measured}"),
            kind=kind,  # type: ignore[arg-type]
            lane=self.lane,
            candidate=candidate,
            base=self.base,
            accepted=self.accepted,
            items=self.items,
            asked=self.items,
            baseline_ref="" if kind == "baseline" else self.baseline_ref,
            accepted_ref="" if kind == "baseline" else self.accepted_ref,
            rejected=self.rejected,
            consented=dict.fromkeys(self.consented, candidate),
            failed_exits=self.failed_exits,
            checks=kind == "baseline" or bool(self.rejected),
        )
        return self.measurer.measure(
            request,
            settings=self.settings,
            workspace=self.workspace,
            folder=self.home / "logs" / str(self._measured),
            stop=self.stop,
            notify=lambda kind, line: self.said.append((kind, line)),
        )

    def gates(self, *gates: Gate) -> None:
        self.settings = replace(self.settings, gates=gates)

    def forget_tests(self) -> None:
        """As if no gate had ever reported a test."""
        self.baseline_ref = self.accepted_ref = ""

    def tests(self, measured: Measurement) -> dict[str, Outcome]:
        return load(self.blobs, measured.tests_ref)


@pytest.fixture
def new_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Lab]:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    (tmp_path / "person").mkdir()
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def make(files: Mapping[str, str] | None = None, *, bare: bool = False, confine: Confine | None = None) -> Lab:
        return Lab(tmp_path, {**({} if bare else BASE), **(files or {})}, confine=confine)

    return make


@pytest.fixture
def lab(new_lab: Callable[..., Lab]) -> Lab:
    """The calculator before anything was done."""
    return new_lab()


@pytest.fixture
def green_lab(lab: Lab) -> Lab:
    """The calculator with accepted RED tests for a multiplication that is not there yet."""
    lab.accept(RED, ACCEPTED)
    return lab
