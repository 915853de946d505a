"""C45: a new module that would be found before one of the environment is refused, whatever the environment holds."""

from pathlib import Path

import pytest
from tests.measures.conftest import MUL, tricked

from flyball.measures.tampering.installed_modules import installed_modules

pytestmark = pytest.mark.req("C45")


def test_the_modules_of_an_environment_are_read_from_it_without_the_projects_own(tmp_path: Path) -> None:
    place = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    for name in ("Assertpy", "calc", "calc-1.0.dist-info", "other-1.0.dist-info", "__pycache__"):
        (place / name).mkdir(parents=True)
    for name in ("six.py", "_fast.cpython-311-x86_64-linux-gnu.so", "x.pth", "mine.py"):
        (place / name).touch()
    (place / "calc-1.0.dist-info" / "direct_url.json").write_text(
        '{"dir_info": {"editable": true}, "url": "file:///x"}'
    )
    (place / "calc-1.0.dist-info" / "RECORD").write_text("calc/__init__.py,,\nmine.py,,\n")
    assert installed_modules([tmp_path / ".venv"], "", "") == {"assertpy", "six", "_fast"}


def test_the_modules_beside_the_programs_that_a_command_names_are_found(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "runner"
    (tmp_path / "lib" / "python3.12" / "site-packages" / "hamcrest").mkdir(parents=True)
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert installed_modules([], "X=1 runner -q tests", str(program.parent)) == {"hamcrest"}
    assert installed_modules([], f"{program} 'unclosed", "") == {"hamcrest"}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["hypothesis.py", "tests/Hypothesis.py", "__future__.py", "src/statistics.py"])
def test_a_new_module_that_shadows_what_tests_import_is_removed_and_named(green_lab, path) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL, path: "X = 1\n"})
    tricked(measured, "runner-shadowed", path)
    assert not (green_lab.home / "gate" / "task" / path).exists()
