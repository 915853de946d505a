"""New modules that programs started by gates or by the linter would import in place of something else."""

import sys
from collections.abc import Mapping

import pytest
from msgspec.structs import replace
from tests.measures.conftest import MUL, PYTEST, Lab, tricked

from flyball.core.model.task import Gate, Settings
from flyball.measures.tampering.gate_scripts import makings
from flyball.measures.tampering.protected import is_configuration
from flyball.measures.tampering.shadows import import_roots, stand_in

pytestmark = pytest.mark.req("C42")

FILES: Mapping[str, bytes] = {
    "tools/check.py": b"import sys, rules\nimport yaml\n",
    "tools/rules.py": b"",
    "tools/style.py": b"",
    "Makefile": b"check:\n\t@$(PYTHON) -m compileall -q calc\n",
    "calc/core.py": b"",
}


def stands_in(path: str, command: str) -> bool:
    files = frozenset(FILES)
    scripts = makings(command, files, FILES.get).files
    return stand_in(path, import_roots(command, scripts, FILES.get), files) is not None


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 tools/check.py", "tools/pathlib.py"),
        ("python3 tools/check.py", "tools/json/__init__.py"),
        ("python3 tools/check.py", "tools/struct.cpython-311-x86_64-linux-gnu.so"),
        ("python3 tools/check.py", "tools/yaml.py"),
        ("python3 tools/check.py", "tools/Yaml.py"),
        ("python3 tools/check.py", "tools/rules/__init__.py"),
        (".venv/bin/python -W error tools/style.py", "tools/shelve.py"),
        ("cd tools && python3 style.py", "tools/shelve.py"),
        ("python3 -m compileall -q calc", "compileall.py"),
        ("python3 -Bm compileall -q calc", "filecmp.py"),
        ("python3 -m mylint calc", "mylint/__init__.py"),
        ("python3 -c 'import ast; print(ast)'", "ast.py"),
        ("PYTHONPATH=vendor:lib python3 -P -m compileall calc", "vendor/py_compile.py"),
        ("make check", "filecmp.py"),
        ("python3 manage.py test", "profile/__init__.py"),
        ("python3 -m ruff check .", "profile.py"),
        ("python3 -W error -m unittest discover", "statistics.py"),
        ("python3 -m pytest -q", "profile.py"),
    ],
)
def test_a_new_module_that_a_program_would_import_first_is_named(command, path) -> None:
    assert stands_in(path, command)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 tools/check.py", "tools/report.py"),
        ("python3 tools/check.py", "calc/pathlib.py"),
        ("python3 tools/check.py", "pathlib.py"),
        ("python3 tools/check.py", "tools/pathlib/data.txt"),
        ("python3 -I -m compileall calc", "filecmp.py"),
        ("python3 -m calc.core", "calc/__init__.py"),
        ("pytest -q", "statistics.py"),
        ("ruff check . && mypy", "profile.py"),
    ],
)
def test_an_ordinary_new_module_stands_in_for_nothing(command, path) -> None:
    assert not stands_in(path, command)


@pytest.mark.parametrize(
    ("lint", "path"),
    [
        ("python3 tools/style.py", "tools/style.py"),
        ("./tools/style", "tools/style"),
        ("python3 -m tools.style", "tools/style.py"),
        ("make -s lint", "GNUmakefile"),
        ("ruff check . && bash dev/style.bash", "dev/style.bash"),
    ],
)
def test_what_the_lint_command_starts_is_protected_as_a_gate_is(lint, path) -> None:
    assert is_configuration(path, Settings(gates=(Gate("test", "pytest -q"),), lint=lint))


@pytest.mark.parametrize("lint", ["ruff check calc.py", "python3 -m mypy calc.py", "python3 -m calc.lint"])
def test_a_file_that_is_linted_or_part_of_the_product_is_not_protected(lint) -> None:
    settings = Settings(gates=(Gate("test", "pytest -q"),), lint=lint)
    assert not any(is_configuration(path, settings) for path in ("calc.py", "calc/lint.py", "calc/__init__.py"))


def test_what_the_linter_imports_beside_itself_is_protected() -> None:
    assert makings("pytest", frozenset(FILES), FILES.get, "python3 tools/check.py").files == {
        "tools/check.py",
        "tools/rules.py",
    }


def test_a_linter_that_is_a_module_of_the_root_is_protected_where_it_lies_in_the_tree() -> None:
    files = {"style.py": b"", "calc.py": b""}
    assert makings("pytest", frozenset(files), files.get, "python3 -m style calc.py").files == {"style.py"}


def test_a_module_planted_beside_a_gates_script_is_removed_and_named_runner_shadowed(new_lab) -> None:
    lab: Lab = new_lab(
        {"tools/check.py": "import sys, pathlib\nsys.exit('TODO' in pathlib.Path('calc.py').read_text())\n"}
    )
    lab.gates(Gate("test", PYTEST, 600.0), Gate("check", f"{sys.executable} tools/check.py", 600.0))
    measured = lab.measure("gates", {"calc.py": MUL + "# TODO\n", "tools/pathlib.py": "import sys\nsys.exit(0)\n"})
    tricked(measured, "runner-shadowed", "tools/pathlib.py")
    assert [gate.passed for gate in measured.gates] == [True, False]


def test_an_emptied_linter_is_put_back_and_named(new_lab) -> None:
    lab: Lab = new_lab({"tools/style.py": "import sys\nsys.exit('TODO' in open('calc.py').read())\n"})
    lab.settings = replace(lab.settings, lint=f"{sys.executable} tools/style.py")
    measured = lab.measure("qa", {"calc.py": MUL + "# TODO\n", "tools/style.py": ""})
    tricked(measured, "test-config-changed", "tools/style.py")
    assert next(check.status for check in measured.checks if check.name == "lint_clean") == "fail"
