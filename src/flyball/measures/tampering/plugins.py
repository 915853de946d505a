"""The modules of a tree that the test runner loads as plugins, because test configuration names them."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

from flyball.measures.sources import parse
from flyball.measures.tampering.modules import files_of

CONFIGURATION = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "tox.ini"})
_VALUE = r"\s*=(.*?)(?=^\s*[A-Za-z_]\w*\s*=|^\s*\[+[A-Za-z]|\Z)"
_OPTIONS = re.compile(rf"\baddopts{_VALUE}", re.DOTALL | re.MULTILINE)
_PYTEST = re.compile(r"\b(?:py\.test|pytest)\b((?:\\\n|[^;&|\n])*)")
_NAMED = re.compile(r"(?<![\w-])-p(?:[\s=\"',]|\\\n)*(?!no:)([A-Za-z_][\w.]*)")
_VARIABLE = re.compile(r"\bPYTEST_PLUGINS=[\"']?([\w.,]+)")
_PUBLISHED = re.compile(r"pytest11.*?(?=^\s*\[|\Z)", re.DOTALL | re.MULTILINE)
_MODULE = re.compile(r"=\s*[\"']?([A-Za-z_][\w.]*)")

Read = Callable[[str], bytes | None]


def plugin_files(commands: str, scripts: Iterable[str], files: frozenset[str], read: Read) -> frozenset[str]:
    """Plugins that a conftest, a gate, a script of it or the runner's configuration names, and those that plugins name.

    What the project itself publishes as a plugin is its product, not its tests' own.
    """
    texts = {path: _text(read(path)) for path in files if PurePosixPath(path).name in CONFIGURATION}
    started = (commands, *(_text(read(path)) for path in scripts), *texts.values())
    named = {name for text in started for name in _in_commands(text)}
    named |= {name for text in texts.values() for value in _OPTIONS.findall(text) for name in _NAMED.findall(value)}
    waiting = {file for name in named for file in files_of(name, files)}
    waiting |= {path for path in files if PurePosixPath(path).name == "conftest.py"}
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        found.add(path)
        names = _declared(parse(read(path)))
        waiting |= {file for name in names for file in files_of(name, files)} - found
    return frozenset(found - _published(texts, files, read))


def values(key: str, text: str) -> Iterator[str]:
    """The words a configuration gives for a key, in whatever format it is written."""
    for value in re.findall(rf"\b{key}{_VALUE}", text, re.DOTALL | re.MULTILINE):
        yield from re.findall(r"[^\s\"',\[\]]+", value)


def _in_commands(text: str) -> Iterator[str]:
    for rest in _PYTEST.findall(text):
        yield from _NAMED.findall(rest)
    for value in _VARIABLE.findall(text):
        yield from filter(None, value.split(","))


def _declared(module: ast.Module | None) -> Iterator[str]:
    """The names in a module's own `pytest_plugins`, wherever and however it is put together."""
    for node in ast.walk(module) if module else ():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id == "pytest_plugins" for t in targets):
                yield from _words(node.value)


def _words(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (word for word in node.value.split(",") if re.fullmatch(r"[A-Za-z_][\w.]*", word))


def _published(texts: dict[str, str], files: frozenset[str], read: Read) -> frozenset[str]:
    told = [*texts.values(), *(_text(read(path)) for path in files & {"setup.py"})]
    sections = (section for text in told for section in _PUBLISHED.findall(text))
    names = {name.rstrip(".") for section in sections for name in _MODULE.findall(section)}
    return frozenset(file for name in names for file in files_of(name, files))


def _text(source: bytes | None) -> str:
    return (source or b"").decode("utf-8", "replace")
