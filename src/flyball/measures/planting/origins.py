"""Where the code under test was imported from: a planted failure says so, since it runs in the tests' own process."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from flyball.core.model.measurement import Trick
from flyball.measures.planting.python_source import TELLING
from flyball.measures.sources import imports, looks_like_test

_SOURCE = """
def {function}(mark):
    import importlib.util as _util
    import json as _json
    import os as _os
    import sys as _sys

    def _origin(name):
        module = _sys.modules.get(name)
        path = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
        if path is None:
            try:
                found = _util.find_spec(name)
            except (ImportError, ValueError, AttributeError):
                return ""
            path = found and (found.origin or next(iter(found.submodule_search_locations or ()), ""))
        return _os.path.realpath(path) if path else ""

    def _replaced():
        found = {{}}
        case, mock, runner = (_sys.modules.get(name) for name in ("unittest.case", "unittest.mock", "pytest"))
        for holder in (getattr(case, "TestCase", None), getattr(mock, "NonCallableMock", None), runner):
            for name, value in list(vars(holder).items()) if holder else ():
                value = getattr(value, "__func__", value)
                value = getattr(value, "__wrapped__", value)
                module = _sys.modules.get(value.__module__) if isinstance(value, type) else None
                path = getattr(getattr(value, "__code__", None), "co_filename", "") or getattr(module, "__file__", "")
                if path and _os.path.realpath(path).startswith(_os.path.join(root, "")):
                    found[holder.__name__ + "." + name] = _os.path.realpath(path)
        return found

    root = _os.path.realpath(_os.path.join(_os.path.dirname(__file__), {up!r}))
    told = [root, {{name: _origin(name) for name in {names!r}}}, _replaced()]
    return " " + _json.dumps(told) + " " + mark
"""
_Told = tuple[str, dict[str, str], dict[str, str]]
_TOLD = re.compile(r"([xh][0-9a-f]{16}) (\[.*?\]) \1")

Found = tuple[tuple[Trick, ...], tuple[str, ...]]


def teller(path: str, packages: Iterable[str]) -> str:
    """The source of a function for a test file that says where packages were imported from, and which functions of the runner were replaced."""
    up = "/".join([".."] * (len(PurePosixPath(path).parts) - 1)) or "."
    return _SOURCE.format(function=TELLING, up=up, names=list(packages))


def own_packages(files: Iterable[str], tree: Path) -> tuple[str, ...]:
    every = frozenset(files)
    tops: set[str] = set()
    for file in every:
        parts = PurePosixPath(file).parts
        rooted = parts[0] in {"src", "lib"} and len(parts) > 1
        inner = parts[1:] if rooted else parts
        if not file.endswith(".py") or looks_like_test(file):
            continue
        if len(inner) == 1 or rooted or f"{inner[0]}/__init__.py" in every:
            tops.add(inner[0].removesuffix(".py"))
    imported: set[str] = set()
    for file in sorted(f for f in every if f.endswith(".py") and looks_like_test(f)):
        if (tree / file).is_file():
            imported |= imports((tree / file).read_bytes())
    return tuple(sorted(tops & imported))


def judge(text: str, gate: str, packages: tuple[str, ...], environments: Iterable[str]) -> Found:
    """What a failure's text says of imports: tricks and remarks. It is written beside the code under test, which may forge it."""
    unchecked = f"{gate}: it could not be checked where the code under test is imported from"
    if not packages:
        return (), (f"{unchecked}: no test imports a module of the tree",)
    told = _TOLD.search(text)
    try:
        root, origins, replaced = msgspec.json.decode(told[2], type=_Told) if told else ("", {}, {})
    except (msgspec.DecodeError, RecursionError):
        return (), (unchecked,)
    within = frozenset(environments)
    tricks = [
        f"{name} is imported from {path}, not from the candidate's tree {root}; let setup install it in editable mode"
        for name, path in origins.items()
        if path and not _inside(path, root, within)
    ]
    unknown = sorted(name for name in packages if not origins.get(name))
    remarks = (f"{unchecked}: {', '.join(unknown)}",) if unknown else ()
    taken = [
        Trick("report-forged", gate, f"{name}, by which tests fail, was replaced by {path}")
        for name, path in sorted(replaced.items())
        if _inside(path, root, within) and not looks_like_test(str(PurePosixPath(path).relative_to(root)))
    ]
    return (*(Trick("wrong-tree", gate, detail) for detail in tricks), *taken), remarks


def _inside(path: str, root: str, environments: frozenset[str]) -> bool:
    if not PurePosixPath(path).is_relative_to(root):
        return False
    parts = PurePosixPath(path).relative_to(root).parts
    return not environments & set(parts) and "site-packages" not in parts
