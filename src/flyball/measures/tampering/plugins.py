"""The modules of a tree that the test runner loads as plugins, because test configuration names them."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from flyball.measures.sources import Read, parse, text_of

CONFIGURATION = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "tox.ini"})
_VALUE = r"\s*=(.*?)(?=^\s*[A-Za-z_]\w*\s*=|^\s*\[+[A-Za-z]|\Z)"
_OPTIONS = re.compile(rf"\baddopts{_VALUE}", re.DOTALL | re.MULTILINE)
_PYTEST = re.compile(r"\b(?:py\.test|pytest)\b((?:\\\n|[^;&|\n])*)")
_NAMED = re.compile(r"(?<![\w-])-p(?:[\s=\"',]|\\\n)*(?!no:)([A-Za-z_][\w.]*)")
_VARIABLE = re.compile(r"\bPYTEST_PLUGINS=[\"']?([\w.,]+)")
_PUBLISHED = re.compile(r"pytest11.*?(?=^\s*\[|\Z)", re.DOTALL | re.MULTILINE)
_MODULE = re.compile(r"=\s*[\"']?([A-Za-z_][\w.]*)")


def plugin_files(commands: str, scripts: Iterable[str], files: frozenset[str], read: Read) -> frozenset[str]:
    """Plugins that a conftest, a gate, a script of it or the runner's configuration names, and those that plugins name.

    What the project itself publishes as a plugin is its product, not its tests' own.
    """
    texts = [text_of(read(path)) for path in files if PurePosixPath(path).name in CONFIGURATION]
    started = (commands, *(text_of(read(path)) for path in scripts), *texts)
    named = {name for text in started for name in _in_commands(text)}
    named |= {name for text in texts for value in _OPTIONS.findall(text) for name in _NAMED.findall(value)}
    waiting = {file for name in named for file in _files_of(name, files)}
    waiting |= {path for path in files if PurePosixPath(path).name == "conftest.py"}
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        found.add(path)
        names = _declared_plugins(parse(read(path)))
        waiting |= {file for name in names for file in _files_of(name, files)} - found
    told = [*texts, *(text_of(read(path)) for path in files & {"setup.py"})]
    sections = (section for text in told for section in _PUBLISHED.findall(text))
    published = {name.rstrip(".") for section in sections for name in _MODULE.findall(section)}
    return frozenset(found - {file for name in published for file in _files_of(name, files)})


def _files_of(dotted: str, files: frozenset[str]) -> Iterator[str]:
    path = dotted.replace(".", "/")
    for end in (f"{path}.py", f"{path}/__init__.py"):
        inner = (file for file in files if file.endswith(f"/{end}"))
        yield from (file for file in inner if f"{file[: -len(end)]}__init__.py" not in files)
        yield from files & {end}


def values(key: str, text: str) -> Iterator[str]:
    """The words a configuration gives for a key, in whatever format it is written."""
    for value in re.findall(rf"\b{key}{_VALUE}", text, re.DOTALL | re.MULTILINE):
        yield from re.findall(r"[^\s\"',\[\]]+", value)


def _in_commands(text: str) -> Iterator[str]:
    for rest in _PYTEST.findall(text):
        yield from _NAMED.findall(rest)
    for value in _VARIABLE.findall(text):
        yield from filter(None, value.split(","))


def _declared_plugins(module: ast.Module | None) -> Iterator[str]:
    """The names in a module's own `pytest_plugins`, wherever and however it is put together."""
    for node in ast.walk(module) if module else ():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id == "pytest_plugins" for t in targets):
                constants = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
                words = [word for text in constants if isinstance(text, str) for word in text.split(",")]
                yield from (word for word in words if re.fullmatch(r"[A-Za-z_][\w.]*", word))
