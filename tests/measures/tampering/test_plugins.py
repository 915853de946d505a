"""C42: what the test runner loads as a plugin is test configuration, wherever it lies and whoever names it."""

from collections.abc import Mapping

import pytest

from flyball.measures.tampering.plugins import plugin_files

PLUGIN = "tools/fixtures.py"
TREE = {
    "tools/__init__.py": "",
    PLUGIN: "def two():\n    return 2\n",
    "tools/more.py": "",
    "calc/__init__.py": "x = 1\n",
}


def found(files: Mapping[str, str], commands: str = "pytest -q", scripts: tuple[str, ...] = ()) -> frozenset[str]:
    tree = {**TREE, **files}

    def read(path: str) -> bytes | None:
        return tree[path].encode() if path in tree else None

    return plugin_files(commands, scripts, frozenset(tree), read) - {"conftest.py", "tests/conftest.py"}


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    "files",
    [
        {"conftest.py": "pytest_plugins = ['tools.fixtures']\n"},
        {"conftest.py": "pytest_plugins = 'tools.fixtures'\n"},
        {"tests/conftest.py": "pytest_plugins: list[str] = [\n    'tools.fixtures',\n]\n"},
        {"conftest.py": "pytest_plugins = ['pytester']\npytest_plugins += ('tools.fixtures',)\n"},
        {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = [\n  "-q",\n  "-p", "tools.fixtures",\n]\n'},
        {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q -p tools.fixtures"\n'},
        {"pytest.ini": "[pytest]\naddopts =\n    --strict-markers\n    -p tools.fixtures\n"},
        {"tox.ini": "[testenv]\ncommands =\n    pytest -p tools.fixtures {posargs}\n"},
    ],
)
def test_a_plugin_that_configuration_names_is_found(files) -> None:
    assert found(files) == {PLUGIN}


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    "command",
    [
        "python3 -m pytest -q -p tools.fixtures --junit-xml={junit}",
        "pytest -ptools.fixtures",
        "PYTEST_PLUGINS=tools.fixtures pytest",
        "cd . && pytest \\\n  -p tools.fixtures",
    ],
)
def test_a_plugin_that_a_gate_names_is_found(command) -> None:
    assert found({}, command) == {PLUGIN}
    assert found({"scripts/test.sh": f"{command}\n"}, "scripts/test.sh", ("scripts/test.sh",)) == {PLUGIN}


@pytest.mark.req("C42")
def test_a_plugin_that_a_plugin_names_is_found() -> None:
    files = {"conftest.py": "pytest_plugins = ['tools.fixtures']\n", PLUGIN: "pytest_plugins = ['tools.more']\n"}
    assert found(files) == {PLUGIN, "tools/more.py"}


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"conftest.py": "from calc import x\npytest_plugins = ['pytester']\n"}, "pytest -p no:tools.fixtures"),
        ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q"\npythonpath = ["tools"]\n'}, "pytest tools"),
        ({}, "mkdir -p tools; pytest -q"),
    ],
)
def test_product_modules_are_no_plugins(files, command) -> None:
    assert not found(files, command)


@pytest.mark.req("C42")
def test_what_the_project_publishes_as_a_plugin_is_its_product() -> None:
    published = {"pyproject.toml": '[project.entry-points.pytest11]\ntools = "tools.fixtures"\n'}
    assert not found(published | {"conftest.py": "pytest_plugins = ['tools.fixtures']\n"})


HOOK = "\n\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n"


@pytest.mark.req("C42")
def test_a_hook_in_a_plugin_outside_the_tests_is_named_and_not_measured(new_lab) -> None:
    lab = new_lab(
        {"conftest.py": "pytest_plugins = ['tools.fixtures']\n", "tools/__init__.py": "", PLUGIN: "TWO = 2\n"}
    )
    measured = lab.measure("gates", {PLUGIN: "TWO = 2\n" + HOOK})
    assert [(t.kind, t.path) for t in measured.tricks] == [("test-config-changed", PLUGIN)]
    assert lab.workspace.read_file(measured.tree, PLUGIN) == b"TWO = 2\n"
