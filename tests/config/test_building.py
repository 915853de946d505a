"""The command that builds a project, from its files."""

import pytest

from flyball.config.stacks import build_command


@pytest.mark.req("D10")
@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"package.json": '{"scripts": {"build": "tsc"}}'}, "npm run build"),
        ({"package.json": '{"scripts": {"build": "tsc"}}', "pnpm-lock.yaml": ""}, "pnpm run build"),
        ({"package.json": '{"scripts": {"test": "x"}}', "Makefile": "all:\n\nbuild: all\n"}, "make build"),
        ({"package.json": "{", "go.mod": ""}, "go build ./..."),
        ({"Cargo.toml": ""}, "cargo build"),
        ({"pyproject.toml": ""}, ""),
        ({}, ""),
    ],
)
def test_the_build_of_each_stack_is_known(files, command):
    assert build_command(files, files.get) == command
