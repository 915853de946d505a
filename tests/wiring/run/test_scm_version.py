"""Projects that take their version from git's tags can be built in a tree without git."""

import subprocess
from pathlib import Path

import pytest

from flyball.wiring.run.scm_version import with_version
from flyball.workspace.repository import Repository

pytestmark = pytest.mark.req("C7")

SETUPTOOLS = '[build-system]\nrequires = ["setuptools-scm>=8"]\n[project]\nname = "a-b.c"\n'
HATCH = '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n[project]\nname = "x"\n'
GENERAL, OWN = "SETUPTOOLS_SCM_PRETEND_VERSION", "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_A_B_C"


def told(root: Path, files: dict[str, str], *tags: str, **environment: str) -> dict[str, str]:
    root.mkdir()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for name, text in files.items():
        (root / name).write_text(text)
    steps = [
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        *(["tag", tag] for tag in tags),
    ]
    for words in steps:
        subprocess.run([*git, *words], cwd=root, check=True)
    repository = Repository.find(root)
    return with_version(environment, repository)


@pytest.mark.parametrize(
    ("files", "tags", "expected"),
    [
        ({"pyproject.toml": SETUPTOOLS}, ("v2.3.1",), {OWN: "2.3.1"}),
        ({"pyproject.toml": HATCH}, ("release-2.0rc1",), {GENERAL: "2.0rc1"}),
        ({"pyproject.toml": SETUPTOOLS, "PKG-INFO": "Name: x\nVersion: 4.5\n"}, (), {OWN: "4.5"}),
        ({"pyproject.toml": SETUPTOOLS, "PKG-INFO": "Version: 4.5\n"}, ("5.0",), {OWN: "5.0"}),
        ({"pyproject.toml": SETUPTOOLS}, (), {OWN: "0.1.dev0"}),
        ({"setup.py": "setup(use_scm_version=True, setup_requires=['setuptools_scm'])"}, ("1.0",), {GENERAL: "1.0"}),
        ({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n'}, ("v1",), {}),
        ({}, ("v1",), {}),
    ],
)
def test_the_version_is_that_of_the_last_tag_or_of_the_archive(
    files: dict[str, str], tags: tuple[str, ...], expected: dict[str, str], tmp_path: Path
) -> None:
    assert told(tmp_path / "project", files, *tags) == expected


def test_what_a_person_has_set_stays(tmp_path: Path) -> None:
    assert told(tmp_path / "project", {"pyproject.toml": SETUPTOOLS}, "v2", **{OWN: "9", "PATH": "/bin"}) == {
        OWN: "9",
        "PATH": "/bin",
    }
