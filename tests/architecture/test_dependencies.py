"""What the sources import is declared: a package that only comes along with another one may be gone with its next release."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
PART_OF = {"pydantic": "mcp"}
"""Packages that belong to the interface of a declared one."""


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    return {re.split(r"[\s\[<>=!~;]", each)[0].lower().replace("_", "-") for each in wanted}


def imported() -> dict[str, str]:
    """Packages that are neither ours nor Python's, each with a file that imports it."""
    found: dict[str, str] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found |= {name.partition(".")[0]: str(path.relative_to(ROOT)) for name in names}
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names and name != "flyball"}


def test_every_package_that_the_sources_import_is_a_declared_dependency():
    providers = packages_distributions()
    known = declared()
    undeclared = {
        f"{name} in {path}"
        for name, path in imported().items()
        if not known & {PART_OF.get(name, ""), *(each.lower().replace("_", "-") for each in providers.get(name, []))}
    }
    assert not undeclared
