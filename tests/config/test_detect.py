import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from flyball.config.detect import Proposal, detect, render, without_tools
from flyball.config.file import parse
from flyball.config.settings import RunFlags, build
from flyball.core.loop import junit_hint


def look(files: Mapping[str, str], *programs: str) -> Proposal:
    return detect(files, files.get, lambda name: name in programs)


def gates(proposal: Proposal) -> dict[str, str]:
    return {line.key: line.value for line in proposal.gates}


def package(**fields: object) -> dict[str, str]:
    return {"package.json": json.dumps(fields)}


PYTEST = {"pyproject.toml": '[project]\nname = "x"\n[tool.ruff]\n', "tests/test_a.py": "def test_a(): ..."}


@pytest.mark.parametrize(
    ("files", "programs", "gate", "setup"),
    [
        (PYTEST, (), ".venv/bin/python -m pytest -q --junit-xml={junit}", "pip install -q -e ."),
        ({**PYTEST, "uv.lock": ""}, ("uv",), ".venv/bin/python -m pytest -q --junit-xml={junit}", "uv sync --frozen"),
        ({"test_a.py": "def test_a(): ..."}, (), "python3 -m pytest -q --junit-xml={junit}", ""),
        (
            {"test_a.py": "x", ".venv/bin/python": ""},
            (),
            ".venv/bin/python -m pytest -q --junit-xml={junit}",
            "",
        ),
        ({"tests/test_a.py": "import unittest"}, (), "python3 -m unittest discover", ""),
        (
            {"tests/test_a.py": "import unittest", "requirements.txt": "pytest\n"},
            (),
            ".venv/bin/python -m pytest -q --junit-xml={junit}",
            "-r requirements.txt",
        ),
        (
            {**package(devDependencies={"vitest": "1"}), "package-lock.json": ""},
            (),
            "npx --no-install vitest run --reporter=junit --outputFile={junit}",
            "npm ci",
        ),
        (
            {**package(devDependencies={"jest": "1", "jest-junit": "1"}), "yarn.lock": ""},
            ("yarn",),
            (
                "JEST_JUNIT_OUTPUT_FILE={junit} JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true"
                " npx --no-install jest --ci --reporters=default --reporters=jest-junit"
            ),
            "yarn install --frozen-lockfile",
        ),
        (package(devDependencies={"jest": "1"}), (), "npx --no-install jest --ci", "npm install"),
        (
            package(scripts={"test": "mocha --recursive test"}),
            (),
            "npx --no-install mocha --recursive test --reporter xunit --reporter-options output={junit}",
            "npm install",
        ),
        (package(scripts={"test": "mocha | tee out"}), (), "npm test", "npm install"),
        (package(scripts={"test": "mocha\nnode --test"}), (), "npm test", "npm install"),
        (
            package(scripts={"test": "node --test test/"}),
            (),
            (
                "node --test --test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit"
                " --test-reporter-destination={junit} test/"
            ),
            "npm install",
        ),
        ({"go.mod": ""}, (), "go test ./...", ""),
        ({"go.mod": ""}, ("gotestsum",), "gotestsum --junitfile {junit} -- ./...", ""),
        ({"Cargo.toml": ""}, (), "cargo test", ""),
        (
            {"Cargo.toml": "", ".config/nextest.toml": '[profile.ci.junit]\npath = "junit.xml"'},
            ("cargo-nextest",),
            junit_hint.nextest(),
            "",
        ),
        ({"pom.xml": "", "mvnw": ""}, (), junit_hint.maven("./mvnw"), ""),
        ({"build.gradle.kts": ""}, (), junit_hint.gradle("gradle"), ""),
        ({"phpunit.xml": ""}, (), "phpunit --log-junit {junit}", ""),
        (
            {"composer.json": '{"require-dev": {"phpunit/phpunit": "*"}}'},
            (),
            "vendor/bin/phpunit --log-junit {junit} tests",
            "composer install",
        ),
        ({"spec/a_spec.rb": ""}, (), "rspec", ""),
        (
            {"spec/a_spec.rb": "", "Gemfile": "gem 'rspec_junit_formatter'"},
            (),
            "BUNDLE_PATH=vendor/bundle bundle exec rspec --format progress --format RspecJunitFormatter --out {junit}",
            "bundle install",
        ),
        ({"a/a.csproj": "<Project/>"}, (), "dotnet test", ""),
        (
            {"a/a.csproj": '<PackageReference Include="JunitXml.TestLogger"/>'},
            (),
            'dotnet test --logger "junit;LogFilePath={junit}/{assembly}.xml"',
            "",
        ),
        ({"test/sub/a.bats": ""}, (), junit_hint.bats("test"), ""),
        ({"tests/run.sh": "#!/bin/sh\n"}, (), "sh tests/run.sh", ""),
        ({"run_tests.sh": "#!/usr/bin/env bash\n"}, (), "bash run_tests.sh", ""),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"}, (), "make test", ""),
    ],
)
def test_the_gate_and_set_up_of_a_project_are_proposed_from_its_files(
    files: dict[str, str], programs: tuple[str, ...], gate: str, setup: str
) -> None:
    found = look(files, *programs)
    assert gates(found) == {"test": gate}
    assert (setup in found.setup.value) if found.setup and setup else (found.setup is None and not setup)
    assert found.gates[0].reason


NODE = "node --test --test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination={junit}"
MOCHA = "npx --no-install mocha --reporter xunit --reporter-options output={junit}"


@pytest.mark.req("C31")
@pytest.mark.parametrize(
    ("scripts", "gate"),
    [
        ({"test": "npm run lint && npm run unit", "lint": "standard", "unit": "c8 --100 node --test"}, NODE),
        ({"test": "npm run test:unit && npm run test:types", "test:unit": "nyc --reporter text mocha", "test:types": "tsd"}, MOCHA),
        ({"test": "npm run build && mocha", "build": "rm -rf out && tsc"}, f"rm -rf out && npx --no-install tsc && {MOCHA}"),
        ({"test": "cross-env A=1 mocha"}, f"A=1 {MOCHA}"),
        ({"test": "NODE_ENV=test mocha"}, f"NODE_ENV=test {MOCHA}"),
        ({"test": "yarn unit", "unit": "vitest --coverage src"}, "npx --no-install vitest run src --reporter=junit --outputFile={junit}"),
        ({"test": "npm run test"}, "npm test"),
        ({"test": "npm run a", "a": "npm run b", "b": "npm run a"}, "npm test"),
        ({"test": "npm run gone && node test.js"}, "npm test"),
        ({"test": "tape test/*.js | tap-spec"}, "npm test"),
        ({"test": "npm run unit", "unit": ["no", "text"]}, "npm test"),
    ],
)  # fmt: skip
def test_a_test_script_is_followed_to_the_runner_whose_tests_can_be_counted(
    scripts: dict[str, object], gate: str
) -> None:
    assert gates(look(package(scripts=scripts))) == {"test": gate}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "x"},
        {"Makefile": "test := 3\nbuild:\n"},
        package(scripts={"test": 'echo "Error: no test specified" && exit 1'}),
        {"package.json": "not json", "pyproject.toml": "not toml ["},
    ],
)
def test_where_no_tests_are_found_no_gate_is_invented(files: dict[str, str]) -> None:
    found = look(files)
    assert found.gates == ()
    text = render(found)
    assert "No way to run tests was found" in text
    assert parse(text).gates == {}


@pytest.mark.parametrize(
    "files", [{"pyproject.toml": "a=" + "[" * 100_000}, {"package.json": '{"a":' + "[" * 100_000}], ids=["toml", "json"]
)
def test_a_manifest_nested_without_end_proposes_nothing(files: dict[str, str]) -> None:
    assert not look(files).gates


def test_two_stacks_have_a_gate_each() -> None:
    found = look({**PYTEST, **package(devDependencies={"vitest": "1"})})
    assert list(gates(found)) == ["test-python", "test-node"]
    assert found.environment == (".venv", "node_modules")
    assert found.setup is not None
    assert " && " in found.setup.value


def test_linters_are_proposed_only_where_they_are_configured() -> None:
    assert look({"test_a.py": "x"}).lint is None
    ruff = look(PYTEST, "ruff").lint
    assert ruff is not None
    assert ruff.value == "ruff check ."
    eslint = look({**package(), "eslint.config.mjs": ""}).lint
    assert eslint is not None
    assert eslint.value == "npx --no-install eslint ."


@pytest.mark.req("C50")
def test_checks_are_proposed_off_for_what_the_project_does_not_have() -> None:
    bare = {line.key for line in look({"test_a.py": "x"}).qa_off}
    assert bare == {"lint_clean", "readme", "decision_record", "changelog"}
    rich = {**PYTEST, "README.rst": "", "CHANGELOG.md": "", "docs/decisions/0001-x.md": ""}
    assert look(rich).qa_off == ()


def test_installed_agents_are_named() -> None:
    assert look({}, "claude", "aider", "vim").agents == ("claude", "aider")
    assert "Agents found on this machine: claude, aider." in render(look({}, "claude", "aider"))


@pytest.mark.parametrize(
    ("logins", "chosen"),
    [
        ({}, "claude"),
        ({"claude": False, "codex": None, "goose": True}, "goose"),
        ({"claude": False, "codex": None, "goose": False}, "codex"),
        ({"claude": False, "codex": False, "goose": False}, "claude"),
    ],
)
def test_the_agent_proposed_is_one_that_is_logged_in_if_there_is_one(
    logins: dict[str, bool | None], chosen: str
) -> None:
    found = detect({}, lambda _: None, lambda name: name in {"claude", "codex", "goose"}, logins.get)
    assert found.agent is not None
    assert found.agent.value == chosen
    text = render(found).replace("[gates]\n", '[gates]\ntest = "make"\n')
    assert build(parse(text), RunFlags()).settings.roles["default"].agent == chosen


def test_without_an_agent_none_is_proposed() -> None:
    assert look({}).agent is None
    assert "\nagent = " not in render(look({}))


def test_what_is_rendered_is_a_configuration_that_works(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "x"\n[project.optional-dependencies]\ntest = []',
        "tests/test_a.py": "x",
    }
    text = render(look(files, "claude"))
    config = parse(text)
    settings = build(config, RunFlags(agent_command="prog")).settings
    assert settings.gates[0].command == ".venv/bin/python -m pytest -q --junit-xml={junit}"
    assert settings.setup.endswith("-e '.[test]' pytest")
    assert (settings.qa.changelog, settings.environment_folders) == ("off", (".venv",))
    assert '# there is no changelog\nchangelog = "off"' in text
    assert all(len(line) <= 160 for line in text.splitlines())


TESTED = {"tests/test_a.py": "def test_a(): ..."}


@pytest.mark.req("C7")
@pytest.mark.parametrize(
    ("files", "installs"),
    [
        ({"pyproject.toml": '[project]\nname = "x"\n'}, "-e . pytest"),
        (
            {"pyproject.toml": '[project]\nname = "x"\n[project.optional-dependencies]\ndev = ["tox"]\ntests = ["pytest>=7"]\n'},
            "-e '.[tests]'",
        ),
        (
            {
                "pyproject.toml": '[project]\nname = "x"\n[dependency-groups]\ntests = ["freezegun", {include-group = "run"}]\n'
                'run = ["pytest"]\ndev = [{include-group = "tests"}, "ruff"]\n[tool.ruff]\n'
            },
            "-e . --group tests ruff",
        ),
        ({"pyproject.toml": '[project]\nname = "x"\n[dependency-groups]\ndev = ["pytest-xdist"]\n'}, "-e . --group dev pytest"),
        (
            {"setup.py": "", "requirements.txt": "six", "requirements/tests.txt": "pytest==8", "requirements/dev.txt": "tox"},
            "-r requirements.txt -r requirements/tests.txt -e .",
        ),
        ({"setup.py": "", "dev.requirements.txt": "pytest"}, "-r dev.requirements.txt -e ."),
        (
            {
                "setup.py": "", "ruff.toml": "",
                ".pre-commit-config.yaml": "repos:\n  - repo: https://example.org/x/ruff-pre-commit\n    rev: v0.11.12\n    hooks: []\n",
            },
            "-e . pytest ruff==0.11.12",
        ),
        ({"setup.py": "", "tox.ini": "[pytest]\naddopts = --cov-append\n  --cov=x -nauto\n[other]\na = --timeout\n"}, "-e . pytest pytest-cov pytest-xdist"),
        ({"pyproject.toml": '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = ["-n", "2"]\n'}, "-e . pytest pytest-xdist"),
    ],
)  # fmt: skip
def test_setup_installs_what_the_tests_need_by_the_projects_own_lists(files: dict[str, str], installs: str) -> None:
    found = look({**TESTED, **files}).setup
    assert found is not None
    assert found.value.endswith(f".venv/bin/python -m pip install -q {installs}")
    assert ("pip>=25.1" in found.value) is ("--group" in installs)
    faster = look({**TESTED, **files}, "uv").setup
    assert faster is not None
    assert faster.value.endswith(f"uv pip install -q --python .venv/bin/python {installs}")


@pytest.mark.req("C7")
def test_a_group_that_includes_itself_ends() -> None:
    manifest = '[project]\nname = "x"\n[dependency-groups]\ntest = [{include-group = "test"}, 3]\n'
    found = look({**TESTED, "pyproject.toml": manifest}).setup
    assert found is not None
    assert found.value.endswith("--group test pytest")


@pytest.mark.req("C7", "C50")
def test_a_check_whose_tool_cannot_run_here_is_proposed_off_with_the_reason() -> None:
    tried = without_tools(look(PYTEST), {"lint": "No module named ruff"})
    assert tried.lint is None
    text = render(tried)
    file = parse(text)
    assert file.qa == {"lint_clean": "off", **{line.key: "off" for line in look(PYTEST).qa_off}}
    assert ".venv/bin/python -m ruff check . cannot be run here: No module named ruff" in text


WEB = {"web/package.json": json.dumps({"scripts": {"test": "node --test"}}), "web/a.test.js": ""}


def test_a_second_stack_below_the_root_is_named_with_a_gate_to_switch_on() -> None:
    (line,) = look({**PYTEST, **WEB}, "node", "npm").elsewhere
    assert (line.key, line.reason) == ("test-web", "web is a node project, and no gate covers it")
    assert line.value.startswith("cd web && ")
    text = render(look({**PYTEST, **WEB}, "node", "npm"))
    assert f"# {line.reason}. To cover it, once what it needs is installed there:\n# test-web = " in text
    file = parse(text)
    assert list(file.gates) == ["test"]
    switched_on = parse(text.replace("# test-web = ", "test-web = "))
    assert switched_on.gates["test-web"].command == line.value


@pytest.mark.parametrize(
    "files",
    [
        PYTEST,
        {**PYTEST, "tools/pyproject.toml": ""},
        {**PYTEST, "node_modules/x/package.json": "{}"},
        {**PYTEST, "tests/fixtures/package.json": "{}"},
        {**PYTEST, "a/b/c/d/package.json": "{}"},
    ],
    ids=["none", "the same stack", "installed", "for tests", "deep below"],
)
def test_what_is_no_second_stack_of_the_project_is_not_named(files: dict[str, str]) -> None:
    assert look(files, "node", "npm").elsewhere == ()


def test_a_folder_is_named_once_and_one_without_tests_without_a_command() -> None:
    bare = {"services/api/go.mod": "module x", "services/api/inner/go.mod": "module y", "app/Cargo.toml": "[package]"}
    found = look({**PYTEST, **bare}).elsewhere
    assert [line.key for line in found] == ["test-app", "test-services-api"]
