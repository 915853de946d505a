"""A planted test that must fail: if the runner does not report it as failing, its reports mean nothing.

The planted file is a copy of an accepted test file with the canary as its last test, so the product code is imported and
called in the same process before it, and it lies beside the original, so the same configuration applies. The canary's
message says where the tree's own packages were imported from, and what came from where no environment has it.
"""

import ast
import hashlib
import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from flyball.core.model.measurement import Trick
from flyball.measures.gates.junit import Case
from flyball.measures.gates.running import GateRun
from flyball.measures.sources import imports, looks_like_test, parse

_PLANTED = """


def {name}():
    import importlib.util as _util
    import json as _json
    import os as _os
    import subprocess as _subprocess
    import sys as _sys
    import tempfile as _tempfile

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

    def _strangers():
        library = _os.path.dirname(_os.__file__)
        homes = [root, library, _sys.prefix, _sys.base_prefix, _tempfile.gettempdir()]
        homes = tuple(_os.path.join(_os.path.realpath(home), "") for home in homes)
        tops = {{name.partition(".")[0] for name in list(_sys.modules)}} - {{"__main__"}}
        origins = {{name: _origin(name) for name in tops if getattr(_sys.modules.get(name), "__file__", None)}}
        far = {{name: path for name, path in origins.items() if not path.startswith(homes)}}
        if not far:
            return {{}}
        ask = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
        asked = _subprocess.run([_sys.executable, "-c", ask, *far], capture_output=True, text=True)
        known = asked.stdout.split() if asked.returncode == 0 else far
        return {{name: path for name, path in far.items() if name not in known}}

    root = _os.path.realpath(_os.path.join(_os.path.dirname(__file__), {up!r}))
    told = [root, {{name: _origin(name) for name in {names!r}}}, _strangers()]
    raise AssertionError("{mark} " + _json.dumps(told) + " {mark}")
"""
_decoder = msgspec.json.Decoder(tuple[str, dict[str, str], dict[str, str]])


class Canary(msgspec.Struct, frozen=True):
    """A planted test: where it lies, what it is called, and the mark its failure must carry."""

    path: str
    name: str
    mark: str
    source: bytes
    packages: tuple[str, ...]
    original: str = ""

    @property
    def options(self) -> str:
        """Everything is collected, only the planted file is run, to its end."""
        stem = PurePosixPath(self.path).stem
        also = f" or {stem}" if self.mark not in stem and stem.isidentifier() else ""
        return f"-k 'x{self.mark}{also}' --maxfail=0"

    @property
    def in_place(self) -> "Canary":
        """The same in the original's place, for runners that are told which names hold tests."""
        return msgspec.structs.replace(self, path=self.original or self.path)


def make(
    cases: Mapping[str, Case], preferred: Iterable[str], tree: Path, files: Iterable[str], nonce: str
) -> Canary | None:
    """A canary beside one of the tests that ran, one of the `preferred` files if possible; None without such a file."""
    mark = hashlib.sha256(nonce.encode()).hexdigest()[:12]
    ran: dict[str, list[str]] = {}
    for case in cases.values():
        if case.outcome == "passing" and case.file.endswith(".py"):
            ran.setdefault(case.file, []).append(case.id.partition("[")[0].rpartition("::")[2])
    for file in (*(f for f in preferred if f in ran), *sorted(ran)):
        source = (tree / file).read_bytes() if (tree / file).is_file() else b""
        functions = _functions(source) & set(ran[file])
        if not functions:
            continue
        path = PurePosixPath(file)
        stem = f"x{mark}_{path.stem}" if re.search(r"_tests?$", path.stem) else f"{path.stem}_x{mark}"
        prefix = re.match(r"[A-Za-z]+", min(functions))
        name = f"{prefix[0] if prefix else 'test'}_x{mark}"
        names = own_packages(files, tree)
        up = "/".join([".."] * (len(path.parts) - 1)) or "."
        planted = textwrap.dedent(_PLANTED).format(name=name, up=up, mark=mark, names=list(names))
        return Canary(str(path.with_name(stem + ".py")), name, mark, source + planted.encode(), names, file)
    return None


def _functions(source: bytes) -> set[str]:
    """The functions a source defines: a doctest that ran is none, and may stand where no test function is looked for."""
    nodes = ast.walk(parse(source) or ast.Module([], []))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def own_packages(files: Iterable[str], tree: Path) -> tuple[str, ...]:
    """The tree's top-level packages and modules that its tests import."""
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
    for file in sorted(f for f in every if f.endswith(".py") and looks_like_test(f))[:500]:
        if (tree / file).is_file():
            imported |= imports((tree / file).read_bytes())
    return tuple(sorted(tops & imported))


def reported(canary: Canary, run: GateRun) -> Case | None:
    """The canary in a report, if it is there."""
    return next((c for c in run.cases.values() if c.id.rpartition("::")[2] == canary.name), None)


def verdict(
    canary: Canary, run: GateRun, gate: str, environments: Iterable[str]
) -> tuple[tuple[Trick, ...], tuple[str, ...]]:
    """Tricks and remarks: was the canary reported as failing, and was the code under test the candidate's own."""
    case = reported(canary, run)
    if case is None:
        detail = "a planted test that must fail is not in the report"
        return (Trick("canary-missed", gate, detail),), ()
    if case.outcome != "failing" or canary.mark not in case.message + case.text:
        return (Trick("report-forged", gate, f"a planted test that must fail was reported as {case.outcome}"),), ()
    return _origins(canary, case, gate, frozenset(environments))


def _origins(
    canary: Canary, case: Case, gate: str, environments: frozenset[str]
) -> tuple[tuple[Trick, ...], tuple[str, ...]]:
    told = re.search(rf"{canary.mark} (\[.*?\]) {canary.mark}", f"{case.message}\n{case.text}")
    unchecked = f"{gate}: it could not be checked where the code under test is imported from"
    if not canary.packages:
        return (), (f"{unchecked}: no test imports a module of the tree",)
    try:
        root, origins, strangers = _decoder.decode(told[1]) if told else ("", {}, {})
    except (msgspec.DecodeError, RecursionError):
        return (), (unchecked,)
    foreign = {name: path for name, path in origins.items() if path and not _inside(path, root, environments)}
    tricks = tuple(
        Trick(
            "wrong-tree",
            gate,
            f"{name} is imported from {path}, not from the candidate's tree {root}; let setup install it in editable mode",
        )
        for name, path in foreign.items()
    )
    tricks += tuple(
        Trick("wrong-tree", gate, f"{name} is imported from {path}, which is neither in the tree nor installed")
        for name, path in sorted(strangers.items())
    )
    unknown = sorted(name for name in canary.packages if not origins.get(name))
    return tricks, (f"{unchecked}: {', '.join(unknown)}",) if unknown else ()


def _inside(path: str, root: str, environments: frozenset[str]) -> bool:
    if not PurePosixPath(path).is_relative_to(root):
        return False
    parts = PurePosixPath(path).relative_to(root).parts
    return not environments & set(parts) and "site-packages" not in parts
