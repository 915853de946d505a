"""C45: the names that an environment holds, and only those it can see."""

from pathlib import Path

import pytest

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


@pytest.mark.req("C16")
def test_a_virtual_environment_does_not_hold_what_only_its_base_interpreter_has(tmp_path: Path) -> None:
    base, program = tmp_path / "base" / "bin" / "python3", tmp_path / "venv" / "bin" / "python"
    (tmp_path / "base" / "lib" / "python3.12" / "site-packages" / "yaml").mkdir(parents=True)
    (tmp_path / "venv" / "lib" / "python3.12" / "site-packages" / "pytest").mkdir(parents=True)
    for each in (base, program):
        each.parent.mkdir(parents=True)
    base.write_text("#!/bin/sh\n")
    base.chmod(0o755)
    program.symlink_to(base)
    assert installed_modules([], f"{program} -m pytest", "") == {"pytest"}
