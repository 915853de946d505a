"""The files of a tree that gate commands are made of: scripts they start, what those start in turn, and builders' files."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath

from flyball.measures.sources import imports, looks_like_test

_BUILDERS = {
    "make": ("Makefile", "makefile", "GNUmakefile", "*.mk"),
    "just": ("justfile", ".justfile", "Justfile"),
    "task": ("Taskfile.y*ml",),
    "rake": ("Rakefile",),
}
_PACKAGE_SCRIPTS = re.compile(r"\b(npm|pnpm|yarn|bun)\b")
_INTERPRETER = re.compile(
    r"python[0-9.]*|pypy[0-9.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua|Rscript|(ba|da|k|z)?sh|env|exec|time|run"
)
_TESTS = re.compile(r"test|check|ci\b|lint|verif|validat")
_PARTS = re.compile(r"[;&|()\n]+")
_BETWEEN = re.compile(r"[\s;&|()\"'`=<>,{}\[\]$]+")
_TOOLS = re.compile(r"(?:tools?|scripts?|ci|dev|hack)/")
_MODULE = re.compile(r"\s-m\s*([A-Za-z_][\w.]*)")

Read = Callable[[str], bytes | None]


def is_gate_file(path: str, commands: str, lint: str = "") -> bool:
    """Whether gate commands or the lint command start a file by its name, or a builder reads it for them."""
    return bool(_gate_files(commands, lint, frozenset({path})))


def _gate_files(commands: str, lint: str, files: frozenset[str]) -> set[str]:
    every = f"{commands} ; {lint}"
    named = files & {_bare(word) for word in (*_BETWEEN.split(every), *_modules(every))}
    found = {path for path in named if _is_script(path)}
    # What a linter starts is the linter, whatever its name; a gate may start the product.
    found |= files & (_started(_reporting(commands)) | _started(lint) | _modules(lint))
    patterns = [p for word, each in _BUILDERS.items() if re.search(rf"\b{word}\b", every) for p in each]
    return found | {path for path in files for p in patterns if fnmatchcase(path.rpartition("/")[2], p)}


def _is_script(path: str) -> bool:
    """Whether a file that is named is started: a product file named beside it is what is tested, not what tests."""
    named = path.endswith((".sh", ".bash")) or _TESTS.search(path) is not None
    return named and not looks_like_test(path)


def _bare(word: str) -> str:
    return word.removeprefix("./")


def _modules(commands: str) -> set[str]:
    """The files that `-m` may start in folders that hold tools and no product."""
    places = {name.replace(".", "/") for name in _MODULE.findall(commands)}
    inside = {f"{place}{end}" for place in places for end in (".py", "/__main__.py", "/__init__.py")}
    return {path for path in inside if _TOOLS.match(path)}


def _reporting(commands: str) -> str:
    """Those parts of the commands that write a report: they start a runner, whatever its name."""
    return "\n".join(part for part in _PARTS.split(commands) if "{junit}" in part)


def _started(commands: str) -> set[str]:
    """The files that commands start by themselves or by an interpreter."""
    found = set()
    for part in _PARTS.split(commands):
        words = [word.strip("\"'") for word in part.split()]
        words = [word for word in words if not word.startswith("-") and not re.match(r"\w+=", word)]
        started = pairwise(("sh", *words))
        found |= {_bare(word) for by, word in started if _INTERPRETER.fullmatch(PurePosixPath(by).name)}
    return {path for path in found if not looks_like_test(path)}


def started_within(commands: str, files: frozenset[str], read: Read, lint: str = "") -> frozenset[str]:
    """The scripts that gate files start in turn, however deep, and the modules beside them that they import."""
    waiting = _gate_files(commands, lint, files) | (files & {f"{name}.py" for name in _MODULE.findall(lint)})
    if _PACKAGE_SCRIPTS.search(f"{commands} ; {lint}"):
        waiting |= files & {"package.json"}
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        seen.add(path)
        waiting |= _started_by(path, read(path) or b"", files) - seen
    return frozenset(seen - {"package.json"})


def _started_by(path: str, source: bytes, files: frozenset[str]) -> set[str]:
    folder = str(PurePosixPath(path).parent)
    bare = {_bare(word) for word in _BETWEEN.split(source.decode("utf-8", "replace"))}
    beside = {f"{folder}/{word}" for word in bare} if folder != "." else set()
    found = {each for each in files & (bare | beside | {word.lstrip("/") for word in bare}) if _is_script(each)}
    if path.endswith(".py") and folder != ".":
        names = imports(source)
        found |= files & {f"{folder}/{name}{end}" for name in names for end in (".py", "/__init__.py")}
    return found
