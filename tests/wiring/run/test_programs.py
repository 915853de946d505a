"""Which programs a command line starts, told without running it."""

import os
from pathlib import Path

import pytest

from flyball.wiring.run.programs import missing_programs, programs_of

PROGRAMS = [
    ("pytest -q", ("pytest",)),
    ("A=1 B='x y' pytest -q", ("pytest",)),
    ("env A=1 pytest -q", ("pytest",)),
    ("npm ci && npx vitest --reporter=junit > {junit} 2>&1", ("npm", "npx")),
    ("cd sub && ./run && /bin/echo x", ("/bin/echo",)),
    ("python -c 'import a; b && c'", ("python",)),
    ("make -s | tee out; ls", ("make", "tee", "ls")),
    (". .venv/bin/activate && pytest", ()),
    ("PATH=.venv/bin:$PATH pytest", ()),
    ("gotestsum || go test ./...", ()),
    ("if true; then pytest; fi", ()),
    ("command -v uv && uv sync", ()),
    ("$RUNNER -q && make", ("make",)),
    ("cat <<X\npytest\nX", ()),
    ("make a\nnpm test", ("make", "npm")),
    ("cargo nextest run \\\n  --profile ci", ("cargo",)),
    ("echo 'not closed", ()),
    ("", ()),
    ("(cd sub; make) & wait", ("make",)),
]


@pytest.mark.parametrize(("command", "programs"), PROGRAMS)
def test_c9_only_programs_that_are_started_for_certain_are_named(command: str, programs: tuple[str, ...]) -> None:
    assert programs_of(command) == programs


def test_c9_what_set_up_names_or_builds_is_not_missing(tmp_path: Path) -> None:
    environment = {"PATH": "/nowhere"}
    assert missing_programs("vitest run", tmp_path, environment) == ("vitest",)
    assert missing_programs("vitest run", tmp_path, environment, "npm install -g vitest") == ()
    assert missing_programs(".venv/bin/pytest", tmp_path, environment) == (".venv/bin/pytest",)
    assert missing_programs(".venv/bin/pytest", tmp_path, environment, "python -m venv .venv") == ()
    (tmp_path / "run.sh").write_text("")
    assert missing_programs("./run.sh", tmp_path, environment) == ()


@pytest.mark.parametrize(
    "command",
    [
        "sh -m venv .venv && .venv/bin/python -m pip install -e .",
        "sh make.sh; ./configure && build/run",
        "sh get-tool.sh no-such-tool && no-such-tool on",
    ],
)
def test_c9_what_an_earlier_command_of_the_same_line_makes_or_names_is_not_missing(
    command: str, tmp_path: Path
) -> None:
    here = {"PATH": os.defpath}
    assert missing_programs(command, tmp_path, here) == ()
    assert missing_programs(command.rpartition("&& ")[2], tmp_path, here) != ()
