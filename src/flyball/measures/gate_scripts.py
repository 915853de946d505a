"""The files of a tree that gate commands are made of: scripts they start, what those start in turn, and builders' files."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath

from flyball.measures.sources import looks_like_test

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
_BETWEEN = re.compile(r"[\s;&|()\"'`=<>,{}\[\]$]+")
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)

Read = Callable[[str], bytes | None]


def is_gate_file(path: str, commands: str) -> bool:
    """Whether gate commands start a file by its name, or a builder reads it for them."""
    return bool(_gate_files(commands, frozenset({path})))


def _gate_files(commands: str, files: frozenset[str]) -> set[str]:
    named = files & {_bare(word) for word in _BETWEEN.split(commands)}
    found = {path for path in named if _is_script(path)} | (files & _reporting(commands))
    patterns = [p for word, each in _BUILDERS.items() if re.search(rf"\b{word}\b", commands) for p in each]
    return found | {path for path in files for p in patterns if fnmatchcase(path.rpartition("/")[2], p)}


def _is_script(path: str) -> bool:
    """Whether a file that is named is started: a product file named beside it is what is tested, not what tests."""
    named = path.endswith((".sh", ".bash")) or _TESTS.search(path) is not None
    return named and not looks_like_test(path)


def _bare(word: str) -> str:
    return word.removeprefix("./")


def _reporting(commands: str) -> set[str]:
    """The files started by those parts of the commands that write a report: a runner, whatever its name."""
    found = set()
    for part in re.split(r"[;&|()\n]+", commands):
        if "{junit}" in part:
            words = [word.strip("\"'") for word in part.split()]
            words = [word for word in words if not word.startswith("-") and not re.match(r"\w+=", word)]
            started = pairwise(("sh", *words))
            found |= {word for by, word in started if _INTERPRETER.fullmatch(PurePosixPath(by).name)}
    return {_bare(word) for word in found if not looks_like_test(_bare(word))}


def started_within(commands: str, files: frozenset[str], read: Read) -> frozenset[str]:
    """The scripts that gate files start in turn, however deep, and the modules beside them that they import."""
    waiting = _gate_files(commands, files)
    if _PACKAGE_SCRIPTS.search(commands):
        waiting |= files & {"package.json"}
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        seen.add(path)
        text = (read(path) or b"").decode("utf-8", "replace")
        waiting |= _started_by(path, text, files) - seen
    return frozenset(seen - {"package.json"})


def _started_by(path: str, text: str, files: frozenset[str]) -> set[str]:
    folder = str(PurePosixPath(path).parent)
    bare = {_bare(word) for word in _BETWEEN.split(text)}
    beside = {f"{folder}/{word}" for word in bare} if folder != "." else set()
    found = {each for each in files & (bare | beside | {word.lstrip("/") for word in bare}) if _is_script(each)}
    if path.endswith(".py") and folder != ".":
        found |= files & {f"{folder}/{name}.py" for name in _IMPORT.findall(text)}
    return found
