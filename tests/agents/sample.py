"""A tiny repository to be worked on by the programs beside this file, made anew for each test."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

REQUEST = "Teach the calculator to multiply, to divide, and to raise to a power."
CRITERIA = (
    "multiply(6, 7) gives 42",
    "divide(9, 3) gives 3, and dividing by zero raises ValueError",
    "power(2, 10) gives 1024",
)
DOCUMENT = (
    "# PRP: more of the calculator\n\n"
    + REQUEST
    + "\n\n### Acceptance Criteria\n"
    + "".join(f"- [ ] {c}\n" for c in CRITERIA)
)

FILES = {
    "calc/__init__.py": '''"""A calculator."""


def add(a: float, b: float) -> float:
    """The sum of two numbers."""
    return a + b
''',
    "tests/test_calc.py": """from calc import add


def test_add():
    assert add(2, 3) == 5
""",
    "README.md": "# calc\n\nA small calculator. It can `add`.\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- add\n",
    "pyproject.toml": '[project]\nname = "calc"\nversion = "0.1.0"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}
_IDENTITY = ("-c", "user.name=Sample", "-c", "user.email=sample@example.com", "-c", "commit.gpgsign=false")
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2026-01-05T09:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-05T09:00:00Z",
}


def make_sample_repository(path: Path, more: Mapping[str, str | None] = {}) -> Path:
    """A git repository with one commit: package `calc`, a passing test, README and changelog. Gives back its path.

    `more` are further files; None leaves one out.
    """
    for name, text in {**FILES, **more}.items():
        if text is None:
            continue
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    _git(path, "init", "--quiet", "--initial-branch=main")
    _git(path, "add", "--all")
    _git(path, *_IDENTITY, "commit", "--quiet", "--no-verify", "--message", "A calculator that adds")
    return path


def _git(path: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(path), **_ENVIRONMENT}
    subprocess.run(["git", *arguments], cwd=path, env=environment, check=True, capture_output=True)
