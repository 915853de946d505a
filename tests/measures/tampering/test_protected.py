"""Which paths are protected, and how test sections are put back."""

import json
import tomllib

import pytest

from flyball.core.model.task import Gate, Item, Settings
from flyball.measures.sources import is_test_file, source_tests
from flyball.measures.tampering.gate_scripts import makings
from flyball.measures.tampering.installed_modules import is_shadow
from flyball.measures.tampering.protected import exempt, is_configuration
from flyball.measures.tampering.sections import restore

pytestmark = pytest.mark.req("C42")

PYTEST = Settings(gates=(Gate("test", "pytest -q"),))


@pytest.mark.parametrize(
    "path",
    "conftest.py a/b/conftest.py pytest.ini .pytest.toml noxfile.py .coveragerc jest.config.ts web/vitest.config.js .mocharc.yml "
    "flyball.toml karma.conf.js phpunit.xml .github/workflows/x.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .ci/run".split(),
)
def test_test_and_ci_configuration_is_always_protected(path) -> None:
    assert is_configuration(path, PYTEST)


@pytest.mark.parametrize(
    "path",
    [
        "calc.py",
        "src/conftest_reader.py",
        "karma.py",
        "Makefile",
        "docs/pytest.md",
        "github/workflows/x.yml",
        "pyproject.toml",
    ],
)
def test_product_files_are_not_configuration(path) -> None:
    assert not is_configuration(path, PYTEST)


def test_what_a_gate_command_is_made_of_is_protected() -> None:
    settings = Settings(
        gates=(Gate("a", "make check"), Gate("b", "./ci/test.sh && bash scripts/run-checks.bash")),
        protected=("golden/*",),
    )
    for path in ("Makefile", "sub/rules.mk", "ci/test.sh", "scripts/run-checks.bash", "golden/a/b.json"):
        assert is_configuration(path, settings), path
    assert not is_configuration("scripts/other.sh", settings)
    assert not is_configuration("app.py", Settings(gates=(Gate("a", "python app.py --selftest"),)))


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 tools/mini.py {junit}", "tools/mini.py"),
        (".venv/bin/python -u tools/mini.py --out={junit}", "tools/mini.py"),
        ("cd web && CI=1 node ./tools/runner.js {junit}", "tools/runner.js"),
        ("./bin/all {junit}", "bin/all"),
        ("uv run tools/mini.py '{junit}'", "tools/mini.py"),
        ("python tools/verify.py", "tools/verify.py"),
    ],
)
def test_the_program_that_writes_the_report_is_protected_whatever_its_name(command, path) -> None:
    assert is_configuration(path, Settings(gates=(Gate("a", command),)))


@pytest.mark.parametrize(
    "command", ["pytest --junitxml={junit} calc.py", "python -m pytest calc.py --junitxml={junit}"]
)
def test_a_product_file_that_a_runner_is_pointed_at_is_not_protected(command) -> None:
    assert not is_configuration("calc.py", Settings(gates=(Gate("a", command),)))


@pytest.mark.parametrize(
    ("path", "shadow"),
    [
        ("pytest.py", True),
        ("src/pytest/__init__.py", True),
        ("tests/_pytest/__init__.py", True),
        ("lib/sitecustomize.py", True),
        ("deep/down/usercustomize.py", True),
        ("__future__.py", True),
        ("src/Assertpy/__init__.py", True),
        ("tests/JSON.py", True),
        ("pkg/assertpy.py", False),
        ("statistics.py", True),
        ("json.py", True),
        ("tests/os.py", True),
        ("pkg/json.py", False),
        ("pkg/pytest.py", False),
        ("scripts/types.py", False),
        ("pytest_notes.py", False),
        ("docs/pytest.md", False),
    ],
)
def test_shadows_are_told_from_modules_inside_packages(path, shadow) -> None:
    files = frozenset(
        {path, "pkg/__init__.py", "src/pytest/__init__.py", "tests/_pytest/__init__.py", "tests/test_a.py"}
    )
    assert is_shadow(path, files, frozenset({"pytest", "_pytest", "assertpy"})) is shadow


def test_a_product_module_named_like_a_test_is_a_product_module() -> None:
    assert not is_test_file("src/test_utils.py", b"def shorten(x):\n    return x\n")
    assert is_test_file("src/test_utils.py", b"def test_a():\n    assert 1\n")
    assert is_test_file("tests/helpers.py", b"X = 1\n")
    assert is_test_file("src/sum.test.ts")
    assert is_test_file("pkg/sum_test.go")
    assert not is_test_file("src/contest.py")


def test_only_what_the_task_names_is_exempt() -> None:
    items = (Item("AC-1", "Rewrite `tests/test_a.py`.", files=("noxfile.py",)), Item("AC-2", "Set up CI"))
    assert exempt("tests/test_a.py", items)
    assert exempt("noxfile.py", items)
    assert exempt(".github/workflows/ci.yml", items)
    assert not exempt("tests/test_b.py", items)
    assert not exempt("tests/test_a.pyx", items)
    assert not exempt("conftest.py", items)
    assert not exempt("tests/test_a.py", (Item("AC-1", "tests/test_a.py still passes"),))
    assert not exempt("pyproject.toml", (Item("AC-1", "Add the dependency to pyproject.toml"),))
    assert exempt("pyproject.toml", (Item("AC-1", "Add a pytest marker to pyproject.toml"),))


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("Test on Python 3.13 in the GitHub workflow as well", ".github/workflows/ci.yml"),
        ("Run the tests on Windows in the CI pipeline", ".github/workflows/ci.yml"),
        ("Add Python 3.13 to the build matrix", ".gitlab-ci.yml"),
        ("Add Python 3.13 to the build pipeline", ".gitlab-ci.yml"),
        ("Change the test settings: add the folder b", "pytest.ini"),
        ("Add a pre-commit hook for spelling", ".pre-commit-config.yaml"),
        ("Extend ruff's rules by the naming ones", "ruff.toml"),
        ("Set the linter configuration to 100 columns", ".flake8"),
        ("Register the marker slow in the pytest configuration: add it", "pytest.ini"),
        ("tests/test_cache.py::test_expires is flaky on slow machines", "tests/test_cache.py"),
    ],
)
def test_a_request_may_name_configuration_in_words(request_: str, path: str) -> None:
    assert exempt(path, (Item("request", request_),))


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("parse fails on CI; fix it without changing the CI configuration", "ruff.toml"),
        ("parse crashes in CI", ".github/workflows/ci.yml"),
        ("Add a workflow for orders", ".github/workflows/ci.yml"),
        ("Fix the order workflow, but do not touch the GitHub workflow", ".github/workflows/ci.yml"),
        ("Extend ruff's rules by the naming ones", "pytest.ini"),
        ("Add a plugin for pytest", "pytest.ini"),
        ("Run tests/test_a.py", "tests/test_a.py"),
        ("Add and test pricing rules", "pytest.ini"),
        ("Add a test for each option: test command options", "pytest.ini"),
        ("Add a step to the data pipeline", ".github/workflows/ci.yml"),
    ],
)
def test_words_about_something_else_open_no_configuration(request_: str, path: str) -> None:
    assert not exempt(path, (Item("request", request_),))


RUNNER = '[tool.pytest.ini_options]\naddopts = ["-q"]\ntestpaths = ["a"]\n\n[tool.ruff]\nline-length = 80\n'


@pytest.mark.parametrize(
    ("new", "wanted", "kept"),
    [
        (RUNNER.replace('["a"]', '["a", "b"]'), (), True),
        (RUNNER.replace('["a"]', '["b"]'), (), False),
        (RUNNER.replace('["-q"]', '["-q", "--co"]'), (), False),
        (RUNNER.replace("80", "100"), (), False),
        (RUNNER.replace("80", "100"), ("ruff",), True),
        (RUNNER.replace("80", "100"), ("pytest",), False),
    ],
)
def test_a_manifest_may_name_more_folders_of_tests_and_change_what_is_asked_for(
    new: str, wanted: tuple[str, ...], *, kept: bool
) -> None:
    assert (restore("pyproject.toml", RUNNER.encode(), new.encode(), "pytest", wanted) is None) is kept


TOML = '[project]\nname = "a"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.other]\nx = 1\n'


@pytest.mark.parametrize(
    "candidate",
    [
        TOML.replace('"-q"', '"--co"'),
        TOML.replace("[tool.other]", "[tool.pytest.other]\nz = 1\n\n[tool.other]"),
        '[project]\nname = "a"\n\n[tool.other]\nx = 1\n',
        '[project]\nname = "a"\n\n[tool]\npytest = {ini_options = {addopts = "--co"}}\nother = {x = 1}\n',
        TOML + '\n[project.entry-points.pytest11]\nevil = "evil"\n',
        TOML + '\n[tool.coverage.run]\nomit = ["*"]\n',
    ],
)
def test_test_tables_of_a_toml_manifest_are_put_back(candidate) -> None:
    found = restore("pyproject.toml", TOML.encode(), candidate.encode(), "pytest")
    assert found is not None
    assert tomllib.loads(found.content.decode()) == tomllib.loads(TOML)


def test_other_tables_of_a_toml_manifest_are_the_candidates() -> None:
    assert restore("pyproject.toml", TOML.encode(), TOML.replace("x = 1", "x = 2").encode(), "pytest") is None
    assert restore("pyproject.toml", TOML.encode(), (TOML + "# remark\n").encode(), "pytest") is None
    found = restore(
        "pyproject.toml", TOML.encode(), TOML.replace("x = 1", "x = 2").replace('"-q"', '"--co"').encode(), "pytest"
    )
    assert found is not None
    assert tomllib.loads(found.content.decode())["tool"] == {
        "pytest": {"ini_options": {"addopts": "-q"}},
        "other": {"x": 2},
    }


def test_a_manifest_that_is_no_longer_valid_is_put_back_whole() -> None:
    found = restore("pyproject.toml", TOML.encode(), b"[project\n", "pytest")
    assert found is not None
    assert found.content == TOML.encode()


def test_test_scripts_and_runner_keys_of_a_json_manifest_are_put_back() -> None:
    accepted = {"name": "a", "scripts": {"test": "jest", "check": "tsc", "build": "x"}, "jest": {"bail": 1}}
    candidate = {
        "name": "a",
        "scripts": {"test": "true", "check": "true", "build": "y", "pretest": "rm -r t"},
        "vitest": {},
    }
    found = restore(
        "package.json", json.dumps(accepted).encode(), json.dumps(candidate).encode(), "npm test && npm run check"
    )
    assert found is not None
    assert json.loads(found.content) == {
        "name": "a",
        "scripts": {"test": "jest", "check": "tsc", "build": "y"},
        "jest": {"bail": 1},
    }
    candidate = {**accepted, "dependencies": {"left-pad": "1"}}
    assert restore("package.json", json.dumps(accepted).encode(), json.dumps(candidate).encode(), "npm test") is None


def test_scripts_that_are_no_object_are_put_back_whole() -> None:
    restored = restore("package.json", b'{"scripts": {"test": "a"}}', b'{"scripts": ["x"]}', "npm test")
    assert restored is not None
    assert restored.content == b'{"scripts": {"test": "a"}}'


@pytest.mark.parametrize(
    ("path", "text"),
    [("pyproject.toml", "a=" + "[" * 100_000), ("package.json", '{"jest":{}, "a":' + "[" * 100_000)],
)
def test_a_manifest_nested_without_end_is_put_back_whole(path: str, text: str) -> None:
    restored = restore(path, b"{}", text.encode(), "")
    assert restored is not None
    assert restored.content == b"{}"
    assert "nested too deeply" in restored.changed[0]


def test_test_sections_of_an_ini_manifest_are_put_back() -> None:
    accepted = "[metadata]\nname = a\n\n[tool:pytest]\naddopts = -q\n"
    candidate = "[metadata]\nname = b\n\n[tool:pytest]\naddopts = --co\n"
    found = restore("setup.cfg", accepted.encode(), candidate.encode(), "pytest")
    assert found is not None
    assert found.content.decode() == "[metadata]\nname = b\n\n[tool:pytest]\naddopts = -q\n"
    assert restore("setup.cfg", accepted.encode(), accepted.replace("name = a", "name = b").encode(), "pytest") is None


def test_tests_are_counted_from_source_as_pytest_names_them() -> None:
    source = b"""
import unittest

def helper(): pass
def test_a(): pass
async def test_b(): pass
class TestX:
    def test_c(self): pass
    def other(self): pass
    class TestY:
        def test_d(self): pass
class Plain:
    def test_no(self): pass
class Case(unittest.TestCase):
    def test_e(self): pass
"""
    found = source_tests(source, "t.py")
    assert found is not None
    assert [t.id for t in found] == [
        "t.py::test_a",
        "t.py::test_b",
        "t.py::TestX::test_c",
        "t.py::TestX::TestY::test_d",
        "t.py::Case::test_e",
    ]
    assert source_tests(b"def (", "t.py") is None


MAKINGS = {
    "run.sh": b'. ci/env.inc\nsource "${HERE}/ci/more"\npytest -c cfg/run.ini src/app.py\n',
    "ci/env.inc": b"",
    "ci/more": b"",
    "cfg/run.ini": b"[pytest]\n",
    "src/app.py": b"",
    "manage.py": b"import django\n",
    "Makefile": b"include build/common.mk\n-include build/local.inc\ntest: src/app.py build/input.txt\n\t@sh build/step.sh && $(PY) build/go.py\n",
    "build/common.mk": b"",
    "build/local.inc": b"",
    "build/step.sh": b"",
    "build/go.py": b"",
    "build/input.txt": b"",
    "rules/other": b"all:\n\tsh build/step.sh\n",
    "package.json": b'{"scripts": {"test": "npm run unit -- --ci", "unit": "node --import ./boot.mjs web/run-all.cjs", "build": "node web/build.cjs"}}',
    "boot.mjs": b"import './hooks.mjs';\nimport './src/index.js';\n",
    "hooks.mjs": b"",
    "src/index.js": b"",
    "web/run-all.cjs": b"require('./part.cjs'); require('../src/index.js');\n",
    "web/part.cjs": b"",
    "web/build.cjs": b"",
    "vitest.config.ts": b"import x from './build/plugin';\nexport default { test: { setupFiles: ['./spec/setup.ts'], globalSetup: 'spec/global' }, resolve: { alias: { '@': './src/index.js' } } }\n",
    "build/plugin.ts": b"",
    "spec/setup.ts": b"",
    "spec/global.ts": b"",
    "pages/Makefile": b"RUN = sh build/step.sh\nall:\n\t$(RUN)\n",
    "vary.sh": b"HERE=ci\nsh $HERE/more\nfor each in build/*.sh; do sh $each; done\n",
    "tools/check.py": b"from tools.rules import start\nfrom . import less\n",
    "tools/rules.py": b"",
    "tools/less.py": b"",
    "check": b"",
    "tox.ini": b"[testenv]\ncommands =\n    python build/go.py\n    pytest -c cfg/run.ini\n",
}


@pytest.mark.req("C45")
@pytest.mark.parametrize(
    ("commands", "made_of"),
    [
        ("bash run.sh", "run.sh ci/env.inc ci/more cfg/run.ini"),
        (". ci/env.inc; pytest -q", "ci/env.inc"),
        ("pytest -c cfg/run.ini -q", "cfg/run.ini"),
        ("pytest --config-file=cfg/run.ini src/app.py", "cfg/run.ini"),
        ("python manage.py test", "manage.py"),
        ("timeout -k 5 60s sh ci/more", "ci/more"),
        ("env -u NAME A=1 bash -e ci/more", "ci/more"),
        ("nice -n 5 pytest src/app.py", ""),
        ("if [ -e ci/more ]; then (cd ci; sh ./more); fi", "ci/more"),
        ("bash -ec 'sh ci/more'", "ci/more"),
        ("sh vary.sh", "vary.sh ci/more"),
        ("python -m tools.check", "tools/check.py tools/rules.py tools/less.py"),
        ("make check", "check Makefile pages/Makefile build/common.mk build/local.inc build/step.sh build/go.py"),
        ("make -s test", "Makefile pages/Makefile build/common.mk build/local.inc build/step.sh build/go.py"),
        (
            "make -f rules/other all",
            "Makefile pages/Makefile rules/other build/common.mk build/local.inc build/step.sh build/go.py",
        ),
        ("npm test", "boot.mjs hooks.mjs web/run-all.cjs web/part.cjs"),
        ("node --import ./boot.mjs --test", "boot.mjs hooks.mjs"),
        (
            "NODE_OPTIONS='--import=./boot.mjs' npx vitest run --config vitest.config.ts",
            "boot.mjs hooks.mjs vitest.config.ts build/plugin.ts spec/setup.ts",
        ),
        ("tox -q", "tox.ini build/go.py cfg/run.ini"),
        ("pytest src/app.py", ""),
    ],
)
def test_what_a_gate_executes_or_is_configured_by_belongs_to_it_however_it_is_called(
    commands: str, made_of: str
) -> None:
    tests = {"spec/setup.ts", "spec/global.ts", "tox.ini"}
    found = makings(commands, frozenset(MAKINGS), MAKINGS.get).files
    assert found - tests == set(made_of.split()) - tests


@pytest.mark.req("C45")
@pytest.mark.parametrize(
    "path",
    "ruff.toml .ruff.toml web/.eslintrc.cjs eslint.config.mjs .flake8 mypy.ini vite.config.ts babel.config.js .babelrc "
    "src/__mocks__/fs.js __mocks__/chai.js .pre-commit-config.yaml biome.json Conftest.py PYTEST.INI "
    ".ignore .c8rc.json nose2.cfg behave.ini .config/nextest.toml".split(),
)
def test_what_configures_runners_and_linters_is_protected_by_one_table(path: str) -> None:
    assert is_configuration(path, PYTEST)


@pytest.mark.req("C45")
@pytest.mark.parametrize("table", ["tool.ruff", "tool.mypy", "tool.pylint"])
def test_a_linters_own_tables_are_put_back(table: str) -> None:
    found = restore("pyproject.toml", TOML.encode(), f"{TOML}\n[{table}]\nignore = 1\n".encode(), "pytest")
    assert found is not None
    assert tomllib.loads(found.content.decode()) == tomllib.loads(TOML)


SCRIPTS = {
    "check.sh": b'#!/bin/sh\nset -e\n. "$(dirname "$0")/tools/env.sh"\nsh tools/run.sh "$1"\npython app/main.py\n',
    "tools/run.sh": b"python scripts/check_all.py && ./tools/deep.sh\n",
    "tools/env.sh": b"",
    "tools/deep.sh": b"sh tools/run.sh\n",
    "scripts/check_all.py": b"import rules\nfrom helpers import x\nimport os\n",
    "scripts/rules.py": b"",
    "scripts/helpers.py": b"",
    "scripts/release.py": b"",
    "app/main.py": b"",
    "app/cli.py": b"from app.main import start\n",
    "Makefile": b"test:\n\tsh tools/other.sh\n",
    "tools/other.sh": b"",
    "package.json": b'{"scripts": {"test": "node tools/test-all.js"}}',
    "tools/test-all.js": b"",
}


@pytest.mark.parametrize(
    ("commands", "started"),
    [
        (
            "sh check.sh {junit}",
            "check.sh tools/run.sh tools/env.sh tools/deep.sh scripts/check_all.py scripts/rules.py scripts/helpers.py",
        ),
        ("make test", "Makefile tools/other.sh"),
        ("npm test", "tools/test-all.js"),
        ("pytest", ""),
    ],
)
def test_what_a_gates_script_starts_in_turn_belongs_to_the_gate(commands: str, started: str) -> None:
    assert makings(commands, frozenset(SCRIPTS), SCRIPTS.get).files == set(started.split())


@pytest.mark.parametrize("path", [".npmrc", "web/.yarnrc.yml", "bunfig.toml", ".cargo/config.toml", ".mvn/jvm.config"])
def test_settings_that_say_how_a_runner_is_started_are_test_configuration(path: str) -> None:
    assert is_configuration(path, Settings())
