"""Import cycles among Python modules, by grimp; imports for type checking only do not count."""

import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SourceTree
from flyball.measures.evaluators.toolbox import Toolbox, ToolFailed


def python_cycles(toolbox: Toolbox, tree: SourceTree) -> list[TrackDefect]:
    """Every import that is a part of a cycle, where it stands."""
    found: list[TrackDefect] = []
    for place, names in _packages(tree).items():
        toolbox.require("grimp")
        found += _in_packages(tree, tree.root / place, names, place)
    return found


def _packages(tree: SourceTree) -> dict[str, list[str]]:
    """The topmost packages, by the folder they lie in."""
    folders = {path.rpartition("/")[0] for path in tree.product("__init__.py") if "/" in path}
    top = sorted(folder for folder in folders if folder.rpartition("/")[0] not in folders)
    found: dict[str, list[str]] = {}
    for folder in top:
        above, _, name = folder.rpartition("/")
        if name.isidentifier():
            found.setdefault(above, []).append(name)
    return found


def _in_packages(tree: SourceTree, root: Path, names: list[str], place: str) -> list[TrackDefect]:
    import grimp  # noqa: PLC0415 - an extra

    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        graph = grimp.build_graph(*names, cache_dir=None, exclude_type_checking_imports=True)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ToolFailed(f"the imports of {', '.join(names)} cannot be read: {reason}") from error
    finally:
        sys.path.remove(str(root))
    where: dict[tuple[str, str], TrackDefect] = {}
    for module in sorted(graph.modules):
        for other in sorted(graph.find_modules_directly_imported_by(module)):
            defect = _at_load(tree, graph.get_import_details(importer=module, imported=other), place)
            if defect is None:
                graph.remove_import(importer=module, imported=other)
            else:
                where[module, other] = defect
    return [found for (start, end), found in where.items() if graph.chain_exists(importer=end, imported=start)]


def _at_load(tree: SourceTree, details: Iterable[Mapping[str, Any]], place: str) -> TrackDefect | None:
    """The first import of a module that is made when the importer is loaded; one within a function is made later."""
    for each in details:
        name = "/".join(filter(None, (place, *each["importer"].split("."))))
        path = f"{name}.py" if f"{name}.py" in tree.files else f"{name}/__init__.py"
        line = int(each["line_number"])
        if not re.match(r"\s", tree.line(path, line)):
            message = f"import cycle: {each['importer']} imports {each['imported']}, which leads back to it"
            return tree.defect("cycle", message, path, line, action="move what both need into a third module")
    return None
