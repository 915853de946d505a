"""Every command line that a message names can be typed: its command exists, and so does each of its options."""

from __future__ import annotations

import ast
import functools
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from typer.main import get_command

import flyball
from flyball.cli.app import app
from flyball.core.extras import PACKAGES, install_command

SOURCE = Path(flyball.__file__).parent
ROOT = SOURCE.parents[1]
NO_MESSAGES = ("testing", "demo")
GAP = "\0"
"""Stands for a value that is put into a message."""
_FLYBALL = re.compile(
    r"((?:(?:: |`|type |then ))?)(?<![\w./\-\0])flyball +([a-z][a-z-]*)((?: +(?:--?[a-z][a-z-]*|\"[^\"]*\"|'[^']*'|[^\s`;:,()&]+))*)"
)
_GIT = re.compile(r"(?:[:;`] ?|type |then |or )git ([a-z][a-z-]+)")
_WORTH_READING = re.compile(r"flyball[ \[]|git ")
_PROSE = {"cannot", "edits", "measures", "runs", "saves", "says"}
"""What git and flyball do in a sentence."""


@functools.cache
def texts() -> tuple[tuple[Path, int, str], ...]:
    return tuple(_texts())


def _texts() -> Iterator[tuple[Path, int, str]]:
    """Every string a program may print in modules that name commands, docstrings aside, with a gap for each value."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in NO_MESSAGES:
            continue
        source = path.read_text()
        if not _WORTH_READING.search(source):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        skipped = docstrings | inner
        for node in nodes:
            if id(node) in skipped:
                continue
            if isinstance(node, ast.JoinedStr):
                parts = (str(p.value) if isinstance(p, ast.Constant) else GAP for p in node.values)
                yield path.relative_to(SOURCE), node.lineno, "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.relative_to(SOURCE), node.lineno, node.value


def named_commands() -> list[tuple[str, str, str]]:
    return [
        (f"{path}:{line}", match[2], match[3])
        for path, line, text in texts()
        for match in _FLYBALL.finditer(text)
        if match[2] in options() or (match[1] and match[2] not in _PROSE)
    ]


@functools.cache
def options() -> dict[str, set[str]]:
    """Each command with its options; `get_command` has a type of its own."""
    group: Any = get_command(app)
    return {
        name: {word for p in command.params for word in (*p.opts, *p.secondary_opts) if word.startswith("-")}
        | {"--help"}
        for name, command in group.commands.items()
    }


@pytest.mark.slow
def test_messages_name_commands_at_all() -> None:
    found = named_commands()
    assert len(found) > 40
    assert {"run", "resume", "init", "doctor", "answer"} <= {name for _, name, _ in found}


def test_every_command_a_message_names_exists_with_its_options() -> None:
    known = options()
    wrong = []
    for where, name, rest in named_commands():
        if name not in known:
            wrong.append(f"{where}: flyball {name}: there is no such command")
            continue
        typed = re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest)
        wrong += [f"{where}: flyball {name} has no {o}" for o in typed if o not in known[name]]
        if "|" in rest:
            wrong.append(f"{where}: flyball {name}{rest}: a shell takes | for a pipe")
    assert not wrong, "\n".join(wrong)


def test_no_message_names_a_package_that_no_registry_has() -> None:
    wrong = [f"{p}:{n}" for p, n, text in texts() if "flyball[" in text]
    assert not wrong, "\n".join(wrong)


def test_every_git_command_a_message_names_is_one_of_gits() -> None:
    listed = subprocess.run(["git", "--list-cmds=main"], capture_output=True, text=True, check=True).stdout.split()
    found = [(f"{p}:{n}", m[1]) for p, n, text in texts() for m in _GIT.finditer(text)]
    assert found
    assert [(where, name) for where, name in found if name not in listed and name not in _PROSE] == []


@pytest.mark.req("C9")
def test_the_command_that_installs_an_extra_names_the_extras_own_packages() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {name: list(packages) for name, packages in PACKAGES.items()} == {name: extras[name] for name in PACKAGES}
    for extra in PACKAGES:
        python, dash_m, pip, install, *packages = shlex.split(install_command(extra, sys.executable))
        assert (python, dash_m, pip, install) == (sys.executable, "-m", "pip", "install")
        assert packages
        assert all(Requirement(package).name != "flyball" for package in packages)
