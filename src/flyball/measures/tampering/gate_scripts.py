"""The files of a tree that gate commands are made of: what they execute or are configured by, and what that does in turn."""

import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath

import msgspec

from flyball.measures.sources import SCRIPT_ENDINGS, Read, imports, is_test_file, looks_like_test, text_of
from flyball.measures.tampering import gate_parts
from flyball.measures.tampering.command_reading import CODE, Reference, references
from flyball.measures.tampering.gate_parts import TOOLS, is_part
from flyball.measures.tampering.program_reading import TEXTS, imported_files, language, started_by
from flyball.measures.tampering.sections import is_sectioned

_BUILDERS = {
    "make": ("Makefile", "makefile", "GNUmakefile", "*.mk"),
    "just": ("justfile", ".justfile", "Justfile"),
    "task": ("Taskfile.y*ml",),
    "rake": ("Rakefile",),
    "tox": ("tox.ini",),
    "inv": ("tasks.py",),
    "invoke": ("tasks.py",),
    "doit": ("dodo.py",),
    "gradlew": ("gradle.properties", "gradle-wrapper.properties"),
    "ctest": ("CTestCustom.cmake", "CTestConfig.cmake"),
    "docker": ("compose*.y*ml", "docker-compose*.y*ml"),
}
_MAKE = re.compile(r"\bmake((?: +[^\s;&|]+)+)")
_PACKAGE_SCRIPTS = re.compile(r"\b(npm|pnpm|yarn|bun|run-s|run-p|npm-run-all)\b")
_BETWEEN = re.compile(r"[\s;&|()\"'`=<>,{}\[\]$]+")
_INCLUDED = re.compile(r"^\s*(?:-?include|sinclude|import|!include)\s+(.+)$", re.MULTILINE)
_SETTING = re.compile(r"^\w+\s*[:?]{0,2}=.*$", re.MULTILINE)
_RECIPE = re.compile(r"^(?:\t|[ ]{2,})(.*)$", re.MULTILINE)
_SETTINGS_OF_SCRIPTS = re.compile(
    r"(?:.*[./])?(?:jest|vitest|vite|babel|cypress|playwright|karma|ava|mocharc|eslint|babelrc|wdio|cucumber|nycrc)\b.*"
)
_KEYS = re.compile(
    r"""\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|testRunner|runner|reporters?|transform|resolver|snapshot\w*"""
    r"""|require|import|loader|presets?|plugins|extends|testSequencer|processor|setup)\b["']?\s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|[^,\n]*)"""
)
_ENDINGS = (*SCRIPT_ENDINGS, ".rb", ".php", ".lua")
_COMMANDS_OF_TOX = re.compile(r"^(?:commands\w*|set_?env)\s*=((?:.*\n(?:[ \t]+.*\n?)*))", re.MULTILINE)


def is_gate_file(path: str, commands: str, lint: str = "") -> bool:
    """Whether gate commands or the lint command are made of a file by its name, or a builder or a program reads it for them."""
    if path in _gate_files(commands, lint, frozenset({path}), {path: b""}.get):
        return not looks_like_test(path)
    return gate_parts.is_named_after(path, _programs(f"{commands} ; {lint}", frozenset()))


class GateMakings(msgspec.Struct, frozen=True):
    """What gates are made of: files of the tree, and the programs whose settings they heed, by their names."""

    files: frozenset[str]
    programs: frozenset[str]


def makings(commands: str, files: frozenset[str], read: Read, lint: str = "") -> GateMakings:
    """The files gates are made of, followed from their commands, and the programs that are started on the way."""
    waiting = _gate_files(commands, lint, files, read)
    if _PACKAGE_SCRIPTS.search(f"{commands} ; {lint}"):
        waiting |= {path for path in files if PurePosixPath(path).name == "package.json"}
    seen: set[str] = set()
    programs = set(_programs(f"{commands} ; {lint}", files))
    while waiting:
        path = waiting.pop()
        seen.add(path)
        found, shell = _started_by(path, text_of(read(path)), files, read, commands)
        waiting |= found - seen
        programs |= _programs(shell, files)
    kept = frozenset(path for path in seen if not is_sectioned(path) and not is_test_file(path, read(path)))
    return GateMakings(kept, frozenset(programs))


def _programs(text: str, files: frozenset[str]) -> frozenset[str]:
    return gate_parts.program_names((what for how, what in _references(text) if how in {"executes", "module"}), files)


@lru_cache(maxsize=64)
def _references(text: str) -> tuple[Reference, ...]:
    return tuple(references(text))


def _gate_files(commands: str, lint: str, files: frozenset[str], read: Read) -> set[str]:
    every = f"{commands} ; {lint}"
    found = set(_files_referred_to(_references(commands), "", files, read, reports="{junit}" in commands))
    found |= set(_files_referred_to(_references(lint), "", files, read, linter=True))
    patterns = [p for word, each in _BUILDERS.items() if re.search(rf"\b{word}\b", every) for p in each]
    # A file that has the name of a target is up to date, and nothing is run for it.
    for called in map(str.split, _MAKE.findall(every)):
        places = {"", *(f"{normpath(folder)}/" for option, folder in pairwise(called) if option == "-C")}
        found |= files & {f"{place}{target}" for place in places for target in called}
    return found | {path for path in files for p in patterns if fnmatchcase(path.rpartition("/")[2], p)}


def _files_referred_to(
    found: Iterable[Reference], beside: str, files: frozenset[str], read: Read, *, linter: bool = False,
    reports: bool = False, by_test: bool = False,
) -> Iterator[str]:  # fmt: skip
    inner = (each for how, what in found for each in (started_by(what, how) if how in CODE else ((how, what),)))
    for how, word in inner:
        for path in _files_of_word(word, how, beside, files):
            if how == "module" and "/" in path and not TOOLS.fullmatch(path):
                continue
            part = linter or how == "configures" or (how == "loads" and not by_test)
            if how == "executes" and not part:
                examined = by_test and not is_part(path, read)
                part = reports or not (examined or gate_parts.is_product(path, files, read))
            if part or is_part(path, read):
                yield path


def _files_of_word(word: str, how: str, beside: str, files: frozenset[str]) -> frozenset[str]:
    meant = _meant(word, how, beside)
    if how != "loads" and (how in {"module", "configures"} or "/" not in word):
        return files & meant
    return (files & meant) or files & {f"{each}{end}" for each in meant for end in _ENDINGS}


def _meant(word: str, how: str, beside: str) -> set[str]:
    """The paths a word may mean, from the root and from the folder of the file it stands in; variables before it are left out."""
    if how == "module":
        folder, slash, module = word.rpartition("/")
        place = module.replace(".", "/")
        inside = {f"{place}{end}" for end in (".py", "/__main__.py", "/__init__.py")}
        return {normpath(f"{folder}{slash}{path}") for path in inside}
    bare = re.sub(r"^(?:\$\([^)]*\)|\$\{[^}]*\}|\$\w+|[})\"'])+/?", "", word).lstrip("/") if word else ""
    return {normpath(each) for each in (word, bare, f"{beside}/{bare}" if beside else bare) if each}


def _started_by(path: str, text: str, files: frozenset[str], read: Read, commands: str) -> tuple[set[str], str]:
    """The files that a part of a gate leads to, and the shell text in it."""
    folder = str(PurePosixPath(path).parent).removeprefix(".")
    name = PurePosixPath(path).name
    shell, found = "", set[str]()
    kind = language(path, text)
    if name == "package.json":
        shell = _package_scripts(text, commands)
        found = {f for f in _in_keys(text, folder, files) if "jest" in text}
    elif name == "tox.ini":
        shell = "\n".join(_COMMANDS_OF_TOX.findall(text))
    elif kind == "script" or (name.endswith(("rc", ".json", ".yml", ".yaml")) and _SETTINGS_OF_SCRIPTS.fullmatch(name)):
        found = set(_beside_script(path, text, folder, files, read))
    elif kind == "python":
        modules = {
            f"{folder}/{each}{end}".lstrip("/") for each in imports(text.encode()) for end in (".py", "/__init__.py")
        }
        found = {f for f in files & (modules | _of_package(text, folder)) if is_part(f, read)}
    elif not kind:
        makefile = any(fnmatchcase(name, pattern) for each in _BUILDERS.values() for pattern in each)
        shell = "\n".join([*_SETTING.findall(text), *_RECIPE.findall(text)]) if makefile else text
        lines = _INCLUDED.findall(text) if makefile else ()
        found = set(files) & {each for line in lines for word in line.split() for each in _meant(word, "", folder)}
    started = (*_references(shell), *(started_by(text, kind) if kind else ()))
    by_test = looks_like_test(path) or gate_parts.is_a_test(path)
    return found | set(_files_referred_to(started, folder, files, read, by_test=by_test)), shell


def _beside_script(path: str, text: str, folder: str, files: frozenset[str], read: Read) -> Iterator[str]:
    """What a script has loaded: of settings everything, of a program what it only runs, and what asserts for it."""
    settings = _SETTINGS_OF_SCRIPTS.fullmatch(PurePosixPath(path).name) is not None
    for word, runs in imported_files(text):
        for each in _script_files(word, folder, files):
            near = str(PurePosixPath(each).parent).removeprefix(".") == folder
            if settings or (near and (runs or is_part(each, read))):
                yield each
    yield from _in_keys(text, folder, files) if settings else ()


def _of_package(text: str, folder: str) -> set[str]:
    """The modules beside a program that it imports by the name of their package."""
    package = re.escape(folder.replace("/", "."))
    dotted = re.findall(rf"^\s*(?:from|import)\s+(?:[\w.]*\.)?(?:{package})?\.(\w+)", text, re.MULTILINE)
    listed = re.findall(rf"^\s*from\s+(?:{package}|\.)\s+import\s+([\w, ]+)", text, re.MULTILINE)
    return {f"{folder}/{each}.py" for each in (*dotted, *(n.strip() for names in listed for n in names.split(",")))}


def _package_scripts(text: str, commands: str) -> str:
    try:
        scripts = json.loads(text).get("scripts") or {}
    except (ValueError, AttributeError, RecursionError):
        return text
    said, reached = commands, dict[str, str]()
    for _ in scripts:
        words = set(_BETWEEN.split(said))
        names = {
            n
            for n in scripts
            if re.fullmatch(r"(?:pre|post)?test", n) or n in words or re.sub(r"^(?:pre|post)", "", n) in words
        }
        fresh = {n: str(scripts[n]) for n in names if n not in reached}
        if not fresh:
            break
        reached |= fresh
        said = "\n".join(fresh.values())
    return "\n".join(reached.values())


def _in_keys(text: str, folder: str, files: frozenset[str]) -> Iterator[str]:
    """The files that settings of a runner have it load."""
    for value in _KEYS.findall(text):
        for word in TEXTS.findall(value) or [value.strip(" -")]:
            found = _script_files(word.replace("<rootDir>", "."), folder, files)
            yield from (each for each in found if not is_sectioned(each))


def _script_files(word: str, folder: str, files: frozenset[str]) -> set[str]:
    place = normpath(f"{folder}/{word}" if folder else word)
    return {f"{place}{end}" for end in _ENDINGS} & files
