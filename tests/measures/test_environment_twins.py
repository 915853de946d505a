"""Honest projects are measured as before where nobody can write their environments: each comes to green in the sandbox, without a trick."""

import functools
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.measures.conftest import Lab

from flyball.core.model.task import Gate, Settings
from flyball.folders import users_environments
from flyball.measures.gates.junit import Outcome
from flyball.wiring.run.confining import program_folders
from flyball.workspace.sandbox import Confined, Unavailable, available

pytestmark = [pytest.mark.slow, pytest.mark.req("C43", "C42")]
FOUND = available()
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flyball-packages"
SITE = sysconfig.get_paths()["purelib"]
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
VENV = f"{sys.executable} -m venv --without-pip .venv && echo {SITE} > .venv/lib/{VERSION}/site-packages/shared.pth"
PACKAGE = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "{0}"\nversion = "1"\n'
ADD, MUL = "def add(a, b):\n    return a + b\n", "\n\ndef mul(a, b):\n    return a * b\n"
TOX = "[tox]\nno_package = true\nenv_list = unit\n[testenv]\nallowlist_externals = *\npass_env = *\nset_env = PYTEST_DISABLE_PLUGIN_AUTOLOAD=1\ncommands = {0} -m pytest -q {{posargs}}\n"
JS_ADD, JS_MUL = "exports.add = (a, b) => a + b;\n", "exports.mul = (a, b) => a * b;\n"
TS_ADD, TS_MUL = (
    "export const add = (a: number, b: number) => a + b;\n",
    "export const mul = (a: number, b: number) => a * b;\n",
)


class Twin(msgspec.Struct, frozen=True):
    """A project with one test, the test that a task added, what makes it pass, and its commands."""

    base: dict[str, str]
    red: dict[str, str]
    green: dict[str, str]
    accepted: dict[str, Outcome]
    gate: str
    setup: str = ""
    packages: tuple[str, ...] = ()


TWINS = {
    "a monorepo of editable installs, by make, with xdist, beside an environment of the user's": Twin(
        {
            **{f"packages/{name}/pyproject.toml": PACKAGE.format(name) for name in ("one", "two")},
            "packages/one/src/one/__init__.py": "",
            "packages/one/src/one/calc.py": ADD,
            "packages/two/src/two/__init__.py": "from one.calc import add\n",
            "packages/two/tests/test_two.py": "from two import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
            "Makefile": f"env:\n\t{VENV}\n\t.venv/bin/python -m pip install -q --no-deps --no-build-isolation -e packages/one -e packages/two\n"
            "test:\n\tPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 .venv/bin/python -m pytest -q -p xdist.plugin -n 2 packages\n",
            ".gitignore": ".venv\n*.egg-info\n",
        },
        {"packages/one/tests/test_mul.py": "from one.calc import mul\n\n\ndef test_mul():\n    assert mul(6, 7) == 42\n"},
        {"packages/one/src/one/calc.py": ADD + MUL},
        {"packages/two/tests/test_two.py::test_add": "passing", "packages/one/tests/test_mul.py::test_mul": "failing"},
        "make -s test; : {junit}",
        "make -s env",
    ),
    "tox, from an environment outside of the tree": Twin(
        {
            "calc.py": ADD,
            "tests/test_add.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
            "tox.ini": TOX.format(sys.executable),
        },
        {"tests/test_mul.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(6, 7) == 42\n"},
        {"calc.py": ADD + MUL},
        {"tests/test_add.py::test_add": "passing", "tests/test_mul.py::test_mul": "failing"},
        "{packages}/bin/tox -q -- --junitxml={junit}",
        packages=("tox==4.30.2",),
    ),
    "jest": Twin(
        {
            "package.json": '{"name": "calc", "version": "1.0.0", "devDependencies": {"jest": "30", "jest-junit": "17"}}\n',
            "calc.js": JS_ADD,
            "test/add.test.js": "const calc = require('../calc');\ntest('adds', () => { expect(calc.add(1, 2)).toBe(3); });\n",
            ".gitignore": "node_modules\n",
        },
        {"test/mul.test.js": "const calc = require('../calc');\ntest('multiplies', () => { expect(calc.mul(6, 7)).toBe(42); });\n"},
        {"calc.js": JS_ADD + JS_MUL},
        {"test/add.test.js:: adds:: adds": "passing", "test/mul.test.js:: multiplies:: multiplies": "failing"},
        "JEST_JUNIT_OUTPUT_FILE={junit} JEST_JUNIT_ADD_FILE_ATTRIBUTE=true npx --no-install jest --ci --reporters=default --reporters=jest-junit",
        packages=("npm", "jest@30", "jest-junit@17", "vitest@4"),
    ),
    "vitest": Twin(
        {
            "package.json": '{"name": "calc", "version": "1.0.0", "type": "module", "devDependencies": {"vitest": "4"}}\n',
            "src/calc.ts": TS_ADD,
            "src/add.test.ts": "import { expect, test } from 'vitest';\nimport * as calc from './calc';\ntest('adds', () => { expect(calc.add(1, 2)).toBe(3); });\n",
            ".gitignore": "node_modules\n",
        },
        {"src/mul.test.ts": "import { expect, test } from 'vitest';\nimport * as calc from './calc';\ntest('multiplies', () => { expect(calc.mul(6, 7)).toBe(42); });\n"},
        {"src/calc.ts": TS_ADD + TS_MUL},
        {"src/add.test.ts::adds": "passing", "src/mul.test.ts::multiplies": "failing"},
        "npx --no-install vitest run --reporter=junit --outputFile={junit}",
        packages=("npm", "jest@30", "jest-junit@17", "vitest@4"),
    ),
}  # fmt: skip


@functools.cache
def installed(packages: tuple[str, ...]) -> Path:
    """An environment that is made once for all; put in place whole, for others may want it at the same time."""
    cache = Path(os.environ.get("FLYBALL_PACKAGES") or CACHE) / "environments"
    place = cache / hashlib.sha256(" ".join((VERSION, sys.executable, *packages)).encode()).hexdigest()[:16]
    if place.exists():
        return place
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as made:
        if packages[0] == "npm":
            words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", made, *packages[1:]]
        else:
            # Programs of a virtual environment name it by its place; python -m does not, so it may be moved.
            words = [sys.executable, "-m", "pip", "install", "-q", "--target", f"{made}/lib", *packages]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            pytest.skip(f"packages cannot be had here: {done.stderr.strip()[-200:]}")
        if packages[0] != "npm":
            (Path(made) / "bin").mkdir()
            start = f'#!/bin/sh\nPYTHONPATH={place}/lib exec {sys.executable} -m tox "$@"\n'
            (Path(made) / "bin" / "tox").write_text(start)
            (Path(made) / "bin" / "tox").chmod(0o755)
        with suppress(OSError):
            Path(made).rename(place)
            Path(made).mkdir()
    return place


def lab_of(twin: Twin, new_lab: Callable[..., Lab], root: Path) -> Lab:
    place = installed(twin.packages) if twin.packages else root
    names = Settings().environment_folders
    lab = new_lab(twin.base, bare=True)
    if (place / "node_modules").is_dir():
        (root / "node_modules").symlink_to(place / "node_modules")
    else:
        (root / ".venv").mkdir()
        (root / ".venv" / "of-the-user").touch()
    assert isinstance(FOUND, str)
    lab._confine = Confined(
        FOUND,
        root,
        hidden=(),
        programs=(*program_folders(os.environ), place),
        environments=users_environments(root, names),
        environment_names=names,
    )
    gate = Gate("test", twin.gate.replace("{packages}", str(place)), 600.0)
    lab.settings = replace(lab.settings, sandbox="bwrap", setup=twin.setup, gates=(gate,))
    return lab


def everything(folder: Path) -> Mapping[str, tuple[int, int]]:
    facts = ((path, path.lstat()) for path in folder.rglob("*") if path.is_file())
    return {str(path): (found.st_ctime_ns, found.st_size) for path, found in facts}


@pytest.mark.skipif(isinstance(FOUND, Unavailable), reason=str(FOUND))
@pytest.mark.parametrize("name", TWINS)
def test_an_honest_project_comes_to_green_with_an_environment_that_nobody_can_write(
    name: str, new_lab: Callable[..., Lab], tmp_path: Path
) -> None:
    twin, root = TWINS[name], tmp_path / "project"
    lab = lab_of(twin, new_lab, root)
    user = next(folder for folder in (root / "node_modules", root / ".venv") if folder.exists())
    before = everything(user.resolve())
    lab.accept(twin.red, twin.accepted)
    measured = lab.measure("green", twin.green)
    assert (measured.tricks, measured.failing, measured.missing) == ((), (), ()), measured.gates[0].output
    assert (measured.green_runs, measured.counts.passing) == (2, 2), measured.gates[0].output
    assert everything(user.resolve()) == before
