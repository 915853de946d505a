"""The core and the projections do no I/O: shown by what they import, what they call, and what an audit hook sees."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SRC = HERE.parents[1] / "src"
EXERCISES = sorted(HERE.glob("exercises*.py"))
PURE_ROOMS = ("core", "projections")

PURE_STDLIB = frozenset(
    """
    __future__ abc ast base64 binascii bisect collections copy dataclasses datetime decimal difflib enum fnmatch fractions
    functools graphlib hashlib heapq html itertools json keyword math numbers operator re shlex statistics string textwrap
    tokenize types typing unicodedata zlib
    """.split()
)
PURE_PACKAGES = frozenset({"markdown_it", "msgspec", "typing_extensions", "yaml"})
PURE_NAMES = {"pathlib": {"PurePath", "PurePosixPath", "PureWindowsPath"}, "io": {"StringIO"}}
IMPURE_CALLS = frozenset({"open", "print", "input", "exec", "eval", "__import__", "breakpoint"})
IMPURE_METHODS = frozenset({"now", "utcnow", "today", "read_text", "write_text", "read_bytes", "write_bytes"})


def impurities(source: str, room: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (f"import {alias.name}" for alias in names if not pure_module(alias.name, room))
            case ast.ImportFrom(module=str(module), names=names):
                allowed = PURE_NAMES.get(module, set())
                if not pure_module(module, room) and not {alias.name for alias in names} <= allowed:
                    yield f"from {module} import {', '.join(alias.name for alias in names)}"
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                yield f"{name}()"
            case ast.Call(func=ast.Attribute(attr=name)) if name in IMPURE_METHODS:
                yield f".{name}()"
            case ast.AsyncFunctionDef() | ast.Await():
                yield "async"


def pure_module(module: str, room: str) -> bool:
    top = module.partition(".")[0]
    if top == "flyball":
        inner = module.split(".")[1:2]
        return inner in (["core"], [room])
    return top in PURE_STDLIB or top in PURE_PACKAGES


@pytest.mark.parametrize("room", PURE_ROOMS)
def test_pure_rooms_import_and_call_nothing_that_touches_the_world(room: str) -> None:
    found = [
        f"{path.relative_to(SRC)}: {impurity}"
        for path in sorted((SRC / "flyball" / room).rglob("*.py"))
        for impurity in impurities(path.read_text(encoding="utf-8"), room)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import os", "import os"),
        ("import os.path as p", "import os.path"),
        ("from pathlib import Path", "from pathlib import Path"),
        ("from time import time", "from time import time"),
        ("from flyball.clock import SystemClock", "from flyball.clock import SystemClock"),
        ("from flyball.projections import report", "from flyball.projections import report"),
        ("def f():\n    import random", "import random"),
        ("open('x')", "open()"),
        ("datetime.now(UTC)", ".now()"),
        ("async def f(): ...", "async"),
    ],
)
def test_an_impure_line_in_the_core_is_found(source: str, told: str) -> None:
    assert list(impurities(source, "core")) == [told]


@pytest.mark.parametrize(
    "source",
    [
        "from pathlib import PurePosixPath",
        "import re",
        "from flyball.core.model.task import Task",
        "import msgspec.json",
    ],
)
def test_a_pure_line_in_the_core_is_let_through(source: str) -> None:
    assert list(impurities(source, "core")) == []


def audit(*files: Path) -> list[str]:
    command = [sys.executable, "-B", str(HERE / "audit.py"), *map(str, files)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return [line for line in ended.stdout.splitlines() if line]


def test_an_audit_hook_sees_no_input_or_output_while_the_core_works() -> None:
    modules, exercises, *seen = audit(*EXERCISES)
    assert int(modules.split()[1]) > 0
    assert int(exercises.split()[1]) > 0
    assert seen == []


def test_the_audit_hook_would_have_seen_it_and_takes_no_import_for_input_or_output(tmp_path: Path) -> None:
    bodies = {
        "file": "open(__file__).close()",
        "folder": "import os; os.listdir('.')",
        "socket": "import socket; socket.socket().close()",
        "program": "import subprocess; subprocess.run(['true'])",
        "import": "import colorsys",
    }
    exercise = tmp_path / "exercises_impure.py"
    source = "".join(f"def exercise_{name}():\n    {body}\n" for name, body in bodies.items())
    exercise.write_text(source, encoding="utf-8")
    _modules, _exercises, *seen = audit(exercise)
    expected = {"file open", "folder os.listdir", "socket socket.__new__", "program subprocess.Popen"}
    assert {f"exercise_{what}" for what in expected} <= set(seen)
    assert [line for line in seen if line.startswith("exercise_import ")] == []


KNOWN = frozenset({"State", "Lane", "Loop", "Turn", "Panel"})
"""What is known of a task: values that only the fold writes, and only into a copy of its own."""


_GIVEN = re.compile(rf":\s*({'|'.join(sorted(KNOWN))})\b")
"""A parameter annotated with one of them; to parse all sources takes seconds."""


def _written(path: Path) -> list[str]:
    """Where a function writes into a parameter that is part of what is known."""
    found: list[str] = []
    source = path.read_text()
    if not _GIVEN.search(source):
        return found
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {a.arg for a in function.args.args if a.annotation and ast.unparse(a.annotation) in KNOWN}
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [getattr(node, "target", None)]
            if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
                continue
            for target in targets:
                root = target
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name) and root.id in given and root is not target:
                    found.append(f"{path.name}:{node.lineno}")
    return found


def test_only_the_fold_writes_into_what_is_known() -> None:
    source = SRC / "flyball"
    writing = {p.relative_to(source).as_posix() for p in source.rglob("*.py") if _written(p)}
    assert writing
    assert {name for name in writing if "evolve" not in name and "fold" not in name} == set()
