"""Packages nobody here wrote, as their registries publish them: `init`, then an honest task, comes to DONE or says at once what to do."""

import contextlib
import functools
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C7", "C9", "C50")]

PROGRAM = Path(__file__).parents[1] / "agents" / "programs" / "package_worker.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flyball-packages"
DOCUMENT = """# Initials

### Acceptance Criteria
- [ ] initials of "Ada Lovelace" are "AL"
- [ ] initials of an empty text are empty
"""
PIP = (sys.executable, "-m", "pip")
DOCUMENTS = {"docs/decisions/0001-initials.md", "docs/initials.md"}


class Package(msgspec.Struct, frozen=True):
    """A published version, the files an honest agent adds to it, and what its set-up leaves."""

    registry: str
    name: str
    version: str
    changed: frozenset[str]
    left: str = ""


def pypi(name: str, version: str, *changed: str, left: str = "") -> Package:
    return Package("pypi", name, version, frozenset(changed) | DOCUMENTS, left)


def npm(name: str, version: str, *changed: str, left: str = "") -> Package:
    return Package("npm", name, version, frozenset(changed) | DOCUMENTS, left)


PACKAGES = [
    # Below src/, requirements in files of their own; its linter is configured and not listed.
    pypi("itsdangerous", "2.2.0", "src/itsdangerous/initials.py", "tests/test_itsdangerous/test_initials.py", "README.md", "CHANGES.rst"),
    pypi("blinker", "1.9.0", "src/blinker/initials.py", "tests/test_initials.py", "README.md", "CHANGES.rst"),
    # A dependency of the runner itself, with its version from tags that an archive does not have.
    pypi("iniconfig", "2.3.0", "src/iniconfig/initials.py", "testing/test_initials.py", "README.rst", "CHANGELOG", left="src/iniconfig/_version.py"),
    # A dependency group for tests, and a linter with old findings.
    pypi("structlog", "25.4.0", "src/structlog/initials.py", "tests/test_initials.py", "README.md", "CHANGELOG.md"),
    # One module; the archive holds what setuptools wrote, and set-up writes it anew.
    pypi("six", "1.17.0", "six.py", "test_initials.py", "README.rst", "CHANGES", left="six.egg-info/PKG-INFO"),
    # A package in the root that holds its tests, beside another one.
    pypi("toolz", "1.0.0", "toolz/initials.py", "toolz/tests/test_initials.py", "README.rst", left="toolz.egg-info/PKG-INFO"),
    # An old mocha.
    npm("url-join", "4.0.1", "lib/initials.js", "test/initials.js", "README.md", "CHANGELOG.md", left="package-lock.json"),
    # Its test script calls another one, which starts vitest, and then a linter.
    npm("css-what", "8.0.0", "src/initials.ts", "src/initials.spec.ts", "readme.md", left="package-lock.json"),
]  # fmt: skip


def cached() -> Path:
    return Path(os.environ.get("FLYBALL_PACKAGES") or CACHE)


def tools() -> dict[str, str]:
    """What downloads and set-ups share: how registries are reached here, and one cache for all of them."""
    known = {
        n: v for n, v in os.environ.items() if n.lower().startswith(("pip_", "npm_config_", "ssl_", "node_extra_"))
    }
    own = {"npm_config_userconfig": Path.home() / ".npmrc", "PIP_CONFIG_FILE": Path.home() / ".config/pip/pip.conf"}
    known = {name: str(path) for name, path in own.items() if path.exists()} | known
    quiet = {"npm_config_audit": "false", "npm_config_fund": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**known, **quiet, "PIP_CACHE_DIR": str(cached() / "pip"), "npm_config_cache": str(cached() / "npm")}


def asked(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, env={**os.environ, **tools()}, capture_output=True, text=True, timeout=120, check=False
    )


@functools.cache
def unreachable(registry: str) -> str:
    """Why packages cannot be had here, or an empty string."""
    words = {"npm": ("npm", "view", "url-join@4.0.1", "version"), "pypi": (*PIP, "index", "versions", "six")}
    try:
        done = asked(*words[registry])
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return f"{registry} cannot be asked: {error}"
    said = (done.stderr or done.stdout).strip().splitlines()
    return "" if done.returncode == 0 else f"{registry} cannot be reached: {said[-1] if said else done.returncode}"


def archive(package: Package) -> Path:
    """The published archive, downloaded once; put in place whole, for others may want it at the same time."""
    folder = cached() / "archives" / f"{package.name.replace('/', '-')}-{package.version}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            wanted = f"{package.name}=={package.version}"
            done = (
                asked("npm", "pack", "--silent", "--pack-destination", made, f"{package.name}@{package.version}")
                if package.registry == "npm"
                else asked(*PIP, "download", "-q", "--no-deps", "--no-binary", package.name, "-d", made, wanted)
            )
            assert done.returncode == 0, done.stderr
            with contextlib.suppress(OSError):
                Path(made).rename(folder)
                Path(made).mkdir()
    (found,) = folder.iterdir()
    return found


def unpacked(package: Package, root: Path) -> None:
    """The archive's files in a repository with one commit."""
    with tarfile.open(archive(package)) as content:
        content.extractall(root.parent / "content", filter="data")
    (inner,) = (root.parent / "content").iterdir()
    inner.rename(root)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A", "-f"], ["commit", "-q", "-m", "As published"]):
        subprocess.run([*git, *words], cwd=root, check=True)


class Place:
    """A repository with flyball's home beside it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.folder = folder / "project", folder
        (folder / "person").mkdir()
        (folder / "prp.md").write_text(DOCUMENT)

    def flyball(self, *words: str) -> subprocess.CompletedProcess[str]:
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "person"),
            "FLYBALL_HOME": str(self.folder / "home"),
        }
        return subprocess.run(
            [sys.executable, "-m", "flyball", *words], cwd=self.root, env={**tools(), **own},
            capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip

    def run(self) -> tuple[int, dict[str, Any], str]:
        program = " ".join([sys.executable, "-E", "-S", str(PROGRAM)])
        asked = ("run", "--from", "../prp.md", "--workflow", "tdd", "--agent-command", program)
        done = self.flyball(*asked, "--unattended", "--json")
        lines = done.stdout.splitlines()
        return done.returncode, json.loads(lines[-1]) if lines else {}, done.stdout + done.stderr

    def changed(self, branch: str) -> set[str]:
        said = subprocess.run(
            ["git", "diff", "--name-only", "main", branch], cwd=self.root, capture_output=True, text=True, check=True
        )
        return {path for path in said.stdout.splitlines() if not path.startswith(".loop/")}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.req("C8")
@pytest.mark.parametrize("package", PACKAGES, ids=lambda each: each.name)
def test_an_honest_agent_comes_to_done_on_a_published_package(package: Package, place: Place) -> None:
    if why := unreachable(package.registry):
        pytest.skip(why)
    unpacked(package, place.root)
    tried = place.flyball("init", "--json")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    code, status, text = place.run()
    assert (code, status.get("decision")) == (0, "DONE"), f"{tried.stdout}\n{text[-3000:]}"
    assert status["turns"] == len(("tester", "implementer", "documenter", "qa"))
    assert place.changed(status["branch"]) == package.changed
    notes = json.loads(place.flyball("report", status["task"], "--json").stdout)["notes"]
    left = [note for note in notes if note.startswith("Set-up created or changed")]
    assert [package.left in note for note in left] == ([True] if package.left else [])


def test_a_package_published_without_tests_stops_before_anything_is_opened(place: Place) -> None:
    if why := unreachable("pypi"):
        pytest.skip(why)
    unpacked(pypi("python-slugify", "8.0.4"), place.root)
    tried = place.flyball("init")
    assert tried.returncode == 2
    assert 'test = "COMMAND"' in tried.stdout
    code, _, text = place.run()
    assert code == 2
    assert '--gate test="COMMAND"' in text
    assert "flyball init" not in text, "it was typed already"
    assert not (place.root / ".loop").exists()
