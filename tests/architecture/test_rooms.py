"""What import-linter cannot say about the rooms."""

import ast
import re
import sys
from pathlib import Path

FLYBALL = Path(__file__).parents[2] / "src" / "flyball"


def imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def test_the_warden_needs_the_standard_library_only_because_one_starts_for_each_turn() -> None:
    foreign = {
        name for name in imported(FLYBALL / "warden.py") if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert foreign == set()


def test_every_folder_of_modules_is_a_package_so_that_import_linter_sees_it() -> None:
    folders = {path.parent for path in FLYBALL.rglob("*.py")}
    assert {folder for folder in folders if not (folder / "__init__.py").exists()} == set()


def test_nothing_that_ships_imports_the_tests_or_their_tools() -> None:
    tools = {"pytest", "hypothesis", "tests"}
    shipped = [path for path in FLYBALL.rglob("*.py") if path.relative_to(FLYBALL).parts[0] != "testing"]
    suspects = [path for path in shipped if any(tool in path.read_text(encoding="utf-8") for tool in tools)]
    assert [path.name for path in suspects if {name.partition(".")[0] for name in imported(path)} & tools] == []


def test_no_class_name_stands_twice_in_the_sources() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(FLYBALL.rglob("*.py")):
        for name in re.findall(r"^\s*class (\w+)[(:\[]", path.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(name, []).append(path.relative_to(FLYBALL).as_posix())
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
