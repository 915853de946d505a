"""Type checks: mypy for Python where the project configures it, its own tsc for TypeScript; only errors that were not there before count."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SourceTree, is_product
from flyball.measures.evaluators.toolbox import Toolbox, ToolMissing

_TSC = re.compile(r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+),\d+\): error (?P<code>TS\d+): (?P<text>.*)$", re.MULTILINE)
_MISSING = frozenset({"import-not-found", "import-untyped", "import"})


def python_types(toolbox: Toolbox, tree: SourceTree, settings: Path) -> list[TrackDefect]:
    """What mypy says of the product's files with the settings of the project; a stub stands for its module."""
    written = [path for path in tree.product(*PYTHON) if not path.endswith("setup.py") and tree.text(path)]
    files = [path for path in written if f"{path}i" not in written]
    if not files:
        return []
    options = ("-O", "json", "--no-error-summary", "--cache-dir=/dev/null", "--config-file", str(settings))  # fmt: skip
    more = ("--explicit-package-bases", "--namespace-packages", "--follow-imports=silent")
    python = tree.root / ".venv" / "bin" / "python"
    named = ("--python-executable", str(python)) if python.exists() else ()
    roots = ":".join(str(tree.root / folder) for folder in ("src", "") if (tree.root / folder).is_dir())
    raw = toolbox.run("mypy", [*options, *more, *named, *files], cwd=tree.root, variables={"MYPYPATH": roots})
    found: dict[tuple[str, int, str], TrackDefect] = {}
    for line in raw.splitlines():
        if line.startswith(b"{"):
            said: dict[str, Any] = msgspec.json.decode(line)
            key = path, start, code = said["file"], int(said["line"]), str(said.get("code"))
            if said.get("severity") == "error" and code not in _MISSING and key not in found:
                last = int(said.get("end_line") or start)
                found[key] = tree.defect(f"mypy/{code}", str(said["message"]), path, start, end_line=last)
    return list(found.values())


def script_types(toolbox: Toolbox, tree: SourceTree) -> Iterator[TrackDefect]:
    program = tree.root / "node_modules" / ".bin" / "tsc"
    if not program.exists():
        raise ToolMissing("tsc is not installed (TypeScript types); get it with: npm install --save-dev typescript")
    raw = toolbox.run("tsc", ["--noEmit", "--pretty", "false"], cwd=tree.root, codes=(0, 1, 2), program=str(program))
    for each in _TSC.finditer(raw.decode("utf-8", "replace")):
        path = each["file"].removeprefix("./")
        if path in tree.files and is_product(path):
            yield tree.defect(f"tsc/{each['code']}", each["text"], path, int(each["line"]))
