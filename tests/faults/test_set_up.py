"""A whole task whose set-up litters the tree: none of it is on the branch, and the report names it once."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.faults.world import BRANCH, TASK, World

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
