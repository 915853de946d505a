"""A whole task with a set-up: it runs once, what it leaves in the tree is not on the branch, and the report names it once."""

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.faults.world import BRANCH, TASK, World

from flyball.workspace.sandbox import Unavailable, available

pytestmark = pytest.mark.slow

SET_UP = "mkdir -p greeter.egg-info && echo 1 > greeter.egg-info/PKG-INFO && echo {} > package-lock.json && echo more >> lock.txt"
PROJECT = """[build-system]
requires = ["setuptools==68.2.2"]
build-backend = "setuptools.build_meta"
[project]
name = "greeter"
version = "1"
[tool.setuptools]
py-modules = ["greeter"]
"""
# Newer ones leave no egg-info in the tree.
BUILDERS = ("setuptools==68.2.2", "wheel==0.45.1")

MODULES = "mkdir -p node_modules/adder && echo 'module.exports = 1' > node_modules/adder/index.js"
SANDBOXES = [
    "none",
    pytest.param("bwrap", marks=pytest.mark.skipif(isinstance(available(), Unavailable), reason="no bubblewrap")),
]


class Counted:
    """A world in which each run of set-up and of the gate leaves a line outside of every tree."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.log = world.outside / "ran.log"
        self.gate = f"echo gate >> {self.log}; {world.gate}"

    def run(self, setup: str, *more: str) -> str:
        world = self.world
        world.gate = self.gate
        code, said = world.flyball(*world.run_arguments("--setup", f"echo setup >> {self.log}; {setup}", *more))
        assert code == 0, said
        return said

    @property
    def setups(self) -> int:
        return self.log.read_text().splitlines().count("setup")

    def notes(self) -> list[str]:
        notes = json.loads(self.world.flyball("report", TASK, "--json")[1])["notes"]
        return [note for note in notes if note.startswith("Set-up runs once more for the gates")]


@pytest.fixture
def counted(world: World) -> Counted:
    world.workflow = "quick"
    return Counted(world)


@pytest.fixture
def editable(tmp_path: Path) -> str:
    """A set-up that really installs the project, with builders fetched before."""
    wheels = tmp_path / "wheels"
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), *BUILDERS]
    if subprocess.run(fetch, check=False, capture_output=True, timeout=120).returncode != 0:
        pytest.skip("PyPI cannot be reached")
    pip = f"PYTHONPATH={sysconfig.get_path('purelib')} .venv/bin/python -m pip"
    return f"python -m venv --without-pip .venv && {pip} install -q --no-deps --no-index --find-links {wheels} -e ."


@pytest.mark.req("C8")
def test_a_task_ends_done_without_what_set_up_left_on_its_branch(world: World) -> None:
    world.write("lock.txt", "tracked\n")
    world.git("add", "-A")
    world.git("commit", "-q", "-m", "All of it")
    code, said = world.flyball(*world.run_arguments("--setup", SET_UP))
    assert code == 0, said
    there = world.git("ls-tree", "-r", "--name-only", BRANCH).splitlines()
    assert [path for path in there if "egg-info" in path or path == "package-lock.json"] == []
    assert world.git("show", f"{BRANCH}:lock.txt") == "tracked"
    told = json.loads(world.flyball("report", TASK, "--json")[1])
    naming = [note for note in told["notes"] if "egg-info" in note]
    assert len(naming) == 1
    assert "greeter.egg-info, lock.txt, package-lock.json" in naming[0]


@pytest.mark.req("C8")
def test_what_a_real_editable_install_makes_is_not_on_the_branch(world: World, editable: str) -> None:
    world.write("pyproject.toml", PROJECT)
    world.write("greeter.py", "HELLO = 'hello'\n")
    world.git("add", "-A")
    world.git("commit", "-q", "-m", "A package")
    code, said = world.flyball(*world.run_arguments("--setup", editable))
    assert code == 0, said
    assert (world.tree / "greeter.egg-info" / "PKG-INFO").is_file(), "the install really made it"
    assert [path for path in world.git("ls-tree", "-r", "--name-only", BRANCH).splitlines() if "egg-info" in path] == []
    told = json.loads(world.flyball("report", TASK, "--json")[1])
    assert len([note for note in told["notes"] if "greeter.egg-info" in note]) == 1


@pytest.mark.req("C7", "C9")
def test_a_set_up_that_fails_is_told_by_its_own_words_and_the_way_on_that_is_named_works(world: World) -> None:
    code, said = world.flyball(*world.run_arguments("--setup", "echo 'ERROR: no such package' >&2; echo bye; exit 3"))
    assert code == 3
    reason = json.loads(world.flyball("status", TASK, "--json")[1])["reason"]
    assert reason.startswith("setup failed: ERROR: no such package; correct setup in flyball.toml"), said
    assert "flyball run with --new" in reason
    code, said = world.flyball(*world.run_arguments("--setup", "true", "--new"))
    assert code == 0, said


@pytest.mark.req("C18", "C43")
@pytest.mark.parametrize("setup", [MODULES, "true", "echo 1 > made.txt"], ids=["modules", "nothing", "a file"])
def test_set_up_runs_once_for_a_task_and_gates_get_a_copy_of_what_it_made(counted: Counted, setup: str) -> None:
    counted.run(setup)
    assert counted.setups == 1
    assert counted.notes() == []


@pytest.mark.req("C18", "C42")
@pytest.mark.parametrize(
    ("setup", "file"),
    [
        ("python3 -m venv --without-pip .venv", ".venv/"),
        ("mkdir -p .venv/lib && pwd > .venv/lib/mine.pth", ".venv/lib/mine.pth"),
        ("mkdir node_modules && ln -s $PWD/tests node_modules/tests", "node_modules/tests"),
        ("mkdir -p ~/.local/lib/python3.9/site-packages && pwd > ~/.local/lib/python3.9/site-packages/a.pth", "a.pth"),
    ],
    ids=["virtual environment", "path file", "link", "outside the tree"],
)
def test_without_a_sandbox_what_leads_to_the_agents_folder_is_not_copied_and_set_up_runs_again(
    counted: Counted, setup: str, file: str
) -> None:
    counted.run(setup)
    assert counted.setups == 2
    (note,) = counted.notes()
    assert file in note
    assert note.endswith("leads to the folder that agents work in")


@pytest.mark.req("C18")
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_what_npm_installs_is_copied_also_without_a_sandbox(counted: Counted) -> None:
    counted.world.write("web/adder/package.json", '{"name": "adder", "version": "1.0.0"}')
    counted.world.write("web/package.json", '{"name": "greeter", "dependencies": {"adder": "file:adder"}}')
    counted.world.git("add", "web")
    counted.world.git("commit", "-q", "-m", "Add", "web")
    counted.run("cd web && npm install --silent --offline --no-audit --no-fund --install-links")
    assert counted.setups == 1
    gates = counted.world.site / "tasks" / TASK / "gate" / "task"
    assert (gates / "web" / "node_modules" / "adder" / "package.json").is_file()


@pytest.mark.req("C18", "C43")
@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_gates_do_not_notice_what_an_agent_makes_of_its_environment(counted: Counted, sandbox: str) -> None:
    world = counted.world
    setup = "mkdir -p .venv && date +%s%N > .venv/made"
    world.agent = f"sh -c 'rm .venv/made; echo worse > .venv/made; echo worse > .venv/more; exec {world.agent}'"
    world.gate = f"test ! -e .venv/more && ! grep -q worse .venv/made && {world.gate}"
    code, said = world.flyball(*world.run_arguments("--setup", setup, "--sandbox", sandbox))
    assert code == 0, said
    assert (world.tree / ".venv" / "made").read_text() == "worse\n", "the agent really did it"
    made = world.site / "tasks" / TASK / "gate" / "task" / ".venv" / "made"
    assert made.read_text().strip().isdigit()
    assert made.stat().st_nlink == 1, "no link into what an agent writes"


@pytest.mark.req("C18", "C42")
@pytest.mark.skipif(isinstance(available(), Unavailable), reason="bubblewrap does not work here")
def test_in_the_sandbox_an_editable_install_is_copied_and_the_candidate_is_measured(
    counted: Counted, editable: str
) -> None:
    world = counted.world
    world.write("package/pyproject.toml", PROJECT)
    world.write("package/greeter.py", "HELLO = 'hello'\n")
    world.git("add", "package")
    world.git("commit", "-q", "-m", "A package", "package")
    imported = f'import greeter; assert greeter.__file__ == "{world.repository}/package/greeter.py"'
    world.gate = f"(here=$PWD/package && cd / && $here/.venv/bin/python -c '{imported}') && {world.gate}"
    setup = f"cd package && {editable} && date +%s%N > .venv/made"
    code, said = world.flyball(*world.run_arguments("--setup", setup, "--sandbox", "bwrap"))
    assert code == 0, said
    made = Path("package/.venv/made")
    gates = world.site / "tasks" / TASK / "gate" / "task"
    assert (gates / made).read_bytes() == (world.tree / made).read_bytes(), "one run for both"


@pytest.mark.req("C18")
def test_a_changed_manifest_has_set_up_run_anew_for_gates(counted: Counted) -> None:
    counted.world.agent = f"sh -c 'echo adder==2 > requirements.txt; exec {counted.world.agent}'"
    counted.run(MODULES)
    assert counted.setups == 2
