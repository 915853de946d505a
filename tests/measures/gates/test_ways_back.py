"""Without a sandbox gates run in another folder: they measure the candidate's files, or nothing is begun."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from msgspec.structs import replace

from flyball.core.model.task import Gate, Settings
from flyball.measures.gates.ways_back import find_way_back
from flyball.wiring.run.readiness import way_back

pytestmark = [pytest.mark.req("C42", "C43"), pytest.mark.slow]
SITE = sysconfig.get_paths()["purelib"]
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
PACKAGES = f".venv/lib/{VERSION}/site-packages"
PRODUCT = (
    "import sys\n\n\ndef main():\n    print(sum(map(int, sys.argv[1:])))\n\n\nif __name__ == '__main__':\n    main()\n"
)
PYTHON = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "calcpkg"\nversion = "1"\n',
    "src/calcpkg/__init__.py": "",
    "src/calcpkg/main.py": PRODUCT,
    "tests/test_main.py": "import subprocess\nimport sys\n\n\ndef test_adds():\n    done = subprocess.run([sys.executable, '-m', 'calcpkg.main', '1', '2'], capture_output=True, text=True)\n    assert done.stdout == '3\\n'\n",
    ".gitignore": ".venv\n*.egg-info\n__pycache__\n",
}
NODE = {
    "package.json": '{"name": "root", "private": true, "workspaces": ["packages/*"]}\n',
    "packages/lib/package.json": '{"name": "@me/lib", "version": "1.0.0", "main": "index.js"}\n',
    "packages/lib/index.js": "exports.add = (a, b) => a + b;\n",
    "packages/app/package.json": '{"name": "@me/app", "version": "1.0.0", "dependencies": {"@me/lib": "1.0.0"}}\n',
    "packages/app/app.test.js": "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('@me/lib');\ntest('adds', () => assert.strictEqual(add(1, 2), 3));\n",
    ".gitignore": "node_modules\n",
}
NODE_GATE = "node --test --test-reporter=junit --test-reporter-destination={junit} packages/app"
UNCONFINED = Settings(sandbox="none")
needs_npm = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")


def run(folder: Path, *words: str) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


def install(root: Path, *how: str) -> None:
    """A virtual environment in the repository with the project in it, by pip."""
    venv(root)
    pip = (".venv/bin/python", "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", *how)
    run(root, *pip)


def venv(root: Path) -> None:
    run(root, sys.executable, "-m", "venv", "--without-pip", ".venv")
    (root / PACKAGES / "shared.pth").write_text(SITE)


@needs_npm
def test_a_broken_workspace_package_is_measured_and_not_the_users_own(new_lab) -> None:
    lab = new_lab(NODE, bare=True)
    run(lab.repository, "npm", "install", "--offline", "--no-audit", "--no-fund")
    lab.gates(Gate("test", NODE_GATE, 600.0))
    lab.forget_tests()
    assert lab.measure("gates", {"packages/app/notes.js": "exports.notes = 1;\n"}).gates[0].passed
    measured = lab.measure("gates", {"packages/lib/index.js": "exports.add = () => 0;\n"})
    assert not measured.gates[0].passed
    assert (lab.repository / "packages/lib/index.js").read_text() == NODE["packages/lib/index.js"]


@needs_npm
def test_honest_work_on_a_workspace_package_is_seen(new_lab) -> None:
    lab = new_lab(NODE, bare=True)
    run(lab.repository, "npm", "install", "--offline", "--no-audit", "--no-fund")
    assert find_way_back(lab.repository, UNCONFINED) == ""
    lab.gates(Gate("test", NODE_GATE, 600.0))
    lab.forget_tests()
    test = NODE["packages/app/app.test.js"].replace("adds", "subtracts").replace("add(1, 2), 3", "sub(3, 2), 1")
    test = test.replace("{ add }", "{ sub }")
    product = NODE["packages/lib/index.js"] + "exports.sub = (a, b) => a - b;\n"
    measured = lab.measure("gates", {"packages/app/sub.test.js": test, "packages/lib/index.js": product})
    assert (measured.gates[0].passed, measured.counts.passing) == (True, 2), measured.gates[0].output


def test_an_environment_that_leads_nowhere_back_is_copied_once_and_what_is_written_into_it_is_gone(
    new_lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = new_lab({".gitignore": ".venv\n__pycache__\n"})
    venv(lab.repository)
    assert find_way_back(lab.repository, UNCONFINED) == ""
    lab.gates(Gate("test", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 .venv/bin/python -m pytest -q", 600.0))
    monkeypatch.setattr(type(lab), "measurer", lab.measurer)
    assert lab.measure("baseline").gates[0].passed
    copied = lab.home / "gate" / "task" / PACKAGES / "shared.pth"
    assert not (lab.home / "gate" / "task" / ".venv").is_symlink()
    inode = copied.stat().st_ino
    assert lab.measure("gates", {"more.py": "X = 1\n"}).gates[0].passed
    assert copied.stat().st_ino == inode
    copied.write_text("/nowhere\n")
    measured = lab.measure("gates", {"more.py": "X = 2\n"})
    assert copied.read_text() == SITE
    assert measured.gates[0].passed
    assert any("it is built anew" in note for note in measured.notes)


def test_an_editable_install_is_a_way_back(tmp_path: Path) -> None:
    put(tmp_path, PYTHON)
    install(tmp_path, "-e", ".")
    told = find_way_back(tmp_path, UNCONFINED)
    assert "leads back to your own tree: gates would measure your files, not the agent's" in told
    assert f"and {PACKAGES}/" in told
    assert find_way_back(tmp_path, replace(UNCONFINED, setup="pip install -e .")) == ""
    assert find_way_back(tmp_path, Settings(sandbox="bwrap")) == ""


def test_an_editable_install_outside_the_repository_is_a_way_back_too(tmp_path: Path) -> None:
    root = tmp_path / "project"
    put(root, PYTHON)
    install(root, "-e", ".")
    elsewhere = (root / ".venv").rename(tmp_path / "venv")
    assert find_way_back(root, UNCONFINED) == ""
    assert str(elsewhere) in find_way_back(root, UNCONFINED, [elsewhere])


def test_a_python_of_the_machine_that_leads_back_is_found_by_path(tmp_path: Path) -> None:
    root, site = tmp_path / "project", tmp_path / "usr/lib/python3.11/site-packages"
    put(tmp_path, {"project/src/calcpkg/main.py": PRODUCT, "usr/bin/python3": "", f"{site}/other.pth": "/elsewhere\n"})
    environment = {"PATH": f"{tmp_path}/usr/bin", "HOME": str(tmp_path / "home")}
    assert way_back(UNCONFINED, environment, root) == ""
    put(tmp_path, {f"{site}/__editable__.calcpkg-1.pth": f"{root}/src\n"})
    assert "__editable__.calcpkg-1.pth leads back" in way_back(UNCONFINED, environment, root)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (f"{PACKAGES}/calcpkg.pth", "{root}/src\n"),
        (f"{PACKAGES}/relative.pth", "../../../../src\n"),
        (f"{PACKAGES}/calcpkg.egg-link", "{root}/src\n../"),
        (f"{PACKAGES}/calcpkg-1.dist-info/direct_url.json", '{{"url": "file://{root}"}}'),
        (f"{PACKAGES}/__editable___calcpkg_finder.py", "MAPPING = {{'calcpkg': '{root}/src/calcpkg'}}\n"),
        (f"{PACKAGES}/_calcpkg_editable_loader.py", "install('{root}/src')\n"),
        (".venv/bin/calc", "#!{root}/tools/python\n"),
        ("node_modules/.package-lock.json", '{{"resolved": "file:{root}/packages/lib"}}'),
        ("node_modules/composer/autoload_static.php", "'{root}/src'"),
    ],
)
def test_each_kind_of_file_that_names_the_users_own_files_is_found(tmp_path: Path, file: str, text: str) -> None:
    put(tmp_path, {"src/calcpkg/main.py": PRODUCT, file: text.format(root=tmp_path)})
    assert f" {file} leads back" in find_way_back(tmp_path, UNCONFINED)


def test_links_lead_back_where_a_copy_of_them_would(tmp_path: Path) -> None:
    root = tmp_path / "project"
    put(root, {"packages/lib/index.js": "", "node_modules/.keep": "", "node_modules/dep/cli.js": ""})
    link(root / "node_modules/lib", "../packages/lib")
    link(root / "node_modules/.bin/dep", "../dep/cli.js")
    link(root / "node_modules/system", os.path.realpath(sys.executable))
    link(root / "node_modules/alias", str(root / "node_modules/dep"))
    assert find_way_back(root, UNCONFINED) == ""
    link(root / "node_modules/.bin/way", str(root / "node_modules/lib"))
    assert " node_modules/.bin/way leads back" in find_way_back(root, UNCONFINED)


def test_a_path_of_the_environment_itself_or_of_a_neighbour_is_no_way_back(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    venv(root)
    put(
        root,
        {
            f"{PACKAGES}/own.pth": f"{root}/.venv/share/more\n",
            f"{PACKAGES}/neighbour.pth": f"{root}-two/src\n",
            f"{PACKAGES}/dep.dist-info/direct_url.json": f'{{"url": "file://{root}-two"}}',
            ".venv/bin/tool": f"#!{root}/.venv/bin/python\nimport sys\nsys.path.insert(0, '{root}/src')\n",
            ".venv/notes.txt": f"{root}/src\n",
            "src/calcpkg/main.py": PRODUCT,
        },
    )
    assert find_way_back(root, UNCONFINED) == ""


def test_a_dependency_beside_the_repository_is_reached_from_the_copy(new_lab) -> None:
    lab = new_lab({"tests/run.sh": "grep -q shared node_modules/shared/index.js\n", ".gitignore": "node_modules\n"})
    put(lab.home, {"shared/index.js": "shared\n"})
    link(lab.repository / "node_modules/shared", "../../shared")
    lab.gates(Gate("test", "sh tests/run.sh", 600.0))
    lab.forget_tests()
    assert lab.measure("gates", {"more.py": "X = 1\n"}).gates[0].passed


def put(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def link(at: Path, target: str) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(target)
