"""Without a sandbox environments are compared wherever they lie, and whoever wrote into them."""

from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.measures.conftest import tricked

from flyball.core.model.task import Gate, Settings
from flyball.measures.gates.gate_tree import GateTree
from flyball.measures.gates.outside import outside_environments

pytestmark = pytest.mark.req("C43")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("opt/venv", "home/.venvs/x", "session", "usr"):
        (tmp_path / name / "bin").mkdir(parents=True)
        if name != "usr":
            (tmp_path / name / "pyvenv.cfg").touch()
    (tmp_path / "conda" / "conda-meta").mkdir(parents=True)
    (tmp_path / "js" / "node_modules" / ".bin").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{0}/opt/venv/bin/python -m pytest", "opt/venv"),
        ("PYTHON={0}/opt/venv/bin/python; $PYTHON -m pytest", "opt/venv"),
        ("test:\n\t. {0}/opt/venv/bin/activate && pytest", "opt/venv"),
        ("~/.venvs/x/bin/pytest", "home/.venvs/x"),
        ("$HOME/.venvs/x/bin/pytest", "home/.venvs/x"),
        ("{0}/conda/bin/pytest", "conda"),
        ("{0}/js/node_modules/.bin/jest", "js/node_modules"),
        ("{0}/usr/bin/python", ""),
        ("{0}/nowhere/bin/python http://host/a", ""),
    ],
)
def test_environments_that_texts_name_are_found(home: Path, text: str, found: str) -> None:
    environment = {"HOME": str(home / "home"), "PATH": f"{home}/usr/bin"}
    expected = (home / found,) if found else ()
    assert outside_environments([text.format(home)], environment) == expected


def test_those_of_path_and_of_the_session_are_found_without_a_word(home: Path) -> None:
    found = outside_environments(
        ["make test"], {"PATH": f"{home}/session/bin:/usr/bin", "VIRTUAL_ENV": f"{home}/opt/venv"}
    )
    assert found == (home / "session", home / "opt" / "venv")


def test_what_a_run_writes_into_an_environment_that_a_makefile_names_is_named(new_lab, home: Path) -> None:
    venv = home / "opt" / "venv"
    lab = new_lab({"Makefile": f"test:\n\t: {venv}/bin/python; if test -e on; then echo x > {venv}/worse.pth; fi\n"})
    lab.outside = partial(outside_environments, environment={"PATH": "/usr/bin"})
    lab.settings = replace(lab.settings, gates=(Gate("test", "make -s test", 600.0),))
    assert not any(trick.kind == "environment-changed" for trick in lab.measure("gates", {"calc.py": "X = 1\n"}).tricks)
    measured = lab.measure("gates", {"on": "x\n"})
    tricked(measured, "environment-changed", f"{venv}/worse.pth")
    assert any("it is yours" in trick.detail for trick in measured.tricks)


def test_what_an_agent_wrote_into_the_gates_environment_is_discarded_and_said(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    (gate / ".venv").mkdir(parents=True)
    (gate / ".venv" / "runner.py").write_text("as installed")
    settings = Settings(setup="install", sandbox="none")
    tree = GateTree(gate, repository=tmp_path, settings=settings, workspace=None)  # type: ignore[arg-type]
    assert tree.changed_since(None) == ()
    left = tree.fingerprint()
    assert tree.changed_since(left) == ()
    (gate / ".venv" / "runner.py").write_text("worse")
    tree = GateTree(gate, repository=tmp_path, settings=settings, workspace=None)  # type: ignore[arg-type]
    (said,) = tree.changed_since(left)
    assert said.startswith(".venv/runner.py has changed since the last measurement")
    assert said.endswith("it is built anew")
    assert not (gate / ".venv").exists()


def test_what_changed_in_the_users_own_is_said_and_stays(tmp_path: Path) -> None:
    gate, own = tmp_path / "gate", tmp_path / "project" / "node_modules"
    for folder in (gate, own):
        folder.mkdir(parents=True)
    (gate / "node_modules").symlink_to(own)
    settings = Settings(sandbox="none")
    tree = GateTree(gate, repository=own.parent, settings=settings, workspace=None)  # type: ignore[arg-type]
    (own / "a.js").touch()
    left = tree.fingerprint()
    (own / "b.js").touch()
    tree = GateTree(gate, repository=own.parent, settings=settings, workspace=None)  # type: ignore[arg-type]
    assert tree.changed_since(left)[0].endswith("so it stays as it is now")
    assert (own / "b.js").exists()
