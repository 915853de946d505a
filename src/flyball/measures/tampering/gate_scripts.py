"""The files of a tree that gate commands are made of: what they execute or are configured by, and what that does in turn."""

import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath

from flyball.measures.sources import imports, is_code, looks_like_test
from flyball.measures.tampering.command_reading import references
from flyball.measures.tampering.sections import is_sectioned

_BUILDERS = {
    "make": ("Makefile", "makefile", "GNUmakefile", "*.mk"),
    "just": ("justfile", ".justfile", "Justfile"),
    "task": ("Taskfile.y*ml",),
    "rake": ("Rakefile",),
    "tox": ("tox.ini",),
}
_MAKE = re.compile(r"\bmake((?: +[^\s;&|]+)+)")
_PACKAGE_SCRIPTS = re.compile(r"\b(npm|pnpm|yarn|bun|run-s|run-p|npm-run-all)\b")
_BETWEEN = re.compile(r"[\s;&|()\"'`=<>,{}\[\]$]+")
_TOOLS = re.compile(r"(?:tools?|scripts?|ci|dev|hack)/")
_INCLUDED = re.compile(r"^\s*(?:-?include|sinclude|import|!include)\s+(.+)$", re.MULTILINE)
_SETTING = re.compile(r"^\w+\s*[:?]{0,2}=.*$", re.MULTILINE)
_RECIPE = re.compile(r"^(?:\t|[ ]{2,})(.*)$", re.MULTILINE)
_SCRIPT = re.compile(r".*\.[cm]?[jt]sx?")
_SETTINGS_OF_SCRIPTS = re.compile(
    r"(?:.*[./])?(?:jest|vitest|vite|babel|cypress|playwright|karma|ava|mocharc|eslint|babelrc|wdio|cucumber|nycrc)\b.*"
)
_KEYS = re.compile(
    r"""\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|testRunner|runner|reporters?|transform|resolver|snapshot\w*"""
    r"""|require|import|loader|presets?|plugins|extends|testSequencer|processor|setup)\b["']?\s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|[^,\n]*)"""
)
_TEXTS = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_IMPORTED = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["'](\.{1,2}/[^"']+)["']""")
_ENDINGS = (
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".mts",
    ".cts",
    ".jsx",
    ".tsx",
    ".json",
    "/index.js",
    "/index.ts",
    "/index.mjs",
)
_COMMANDS_OF_TOX = re.compile(r"^(?:commands\w*|set_?env)\s*=((?:.*\n(?:[ \t]+.*\n?)*))", re.MULTILINE)

Read = Callable[[str], bytes | None]


def is_gate_file(path: str, commands: str, lint: str = "") -> bool:
    """Whether gate commands or the lint command are made of a file by its name, or a builder reads it for them."""
    return path in _gate_files(commands, lint, frozenset({path}), {path: b""}.get)


def started_within(commands: str, files: frozenset[str], read: Read, lint: str = "") -> frozenset[str]:
    """What gate commands execute or are configured by, and what that executes or is configured by in turn, however deep."""
    waiting = _gate_files(commands, lint, files, read)
    if _PACKAGE_SCRIPTS.search(f"{commands} ; {lint}"):
        waiting |= {path for path in files if PurePosixPath(path).name == "package.json"}
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        seen.add(path)
        waiting |= _started_by(path, (read(path) or b"").decode("utf-8", "replace"), files, read, commands) - seen
    return frozenset(path for path in seen if not is_sectioned(path))


def _gate_files(commands: str, lint: str, files: frozenset[str], read: Read) -> set[str]:
    every = f"{commands} ; {lint}"
    found = set(_referred(commands, "", files, read)) | set(_referred(lint, "", files, read, linter=True))
    patterns = [p for word, each in _BUILDERS.items() if re.search(rf"\b{word}\b", every) for p in each]
    # A file that has the name of a target is up to date, and nothing is run for it.
    for called in map(str.split, _MAKE.findall(every)):
        places = {"", *(f"{normpath(folder)}/" for option, folder in pairwise(called) if option == "-C")}
        found |= files & {f"{place}{target}" for place in places for target in called}
    return found | {path for path in files for p in patterns if fnmatchcase(path.rpartition("/")[2], p)}


def _referred(text: str, beside: str, files: frozenset[str], read: Read, *, linter: bool = False) -> Iterator[str]:
    """The files a shell text executes or is configured by; a test is what is run, and a product may be run by its own gate."""
    for how, word in references(text):
        for path in files & _meant(word, how, beside, linter=linter):
            runs_product = how == "executes" and "{junit}" not in text and not linter and _is_product(path, files, read)
            if not looks_like_test(path) and not runs_product:
                yield path


def _meant(word: str, how: str, beside: str, *, linter: bool) -> set[str]:
    """The paths a word may mean, from the root and from the folder of the file it stands in; variables before it are left out."""
    if how == "module":
        folder, slash, module = word.rpartition("/")
        place = module.replace(".", "/")
        inside = {f"{place}{end}" for end in (".py", "/__main__.py", "/__init__.py")}
        return {
            normpath(f"{folder}{slash}{path}")
            for path in inside
            if _TOOLS.match(path) or (linter and "/" not in place and path.endswith(".py"))
        }
    bare = re.sub(r"^(?:\$\([^)]*\)|\$\{[^}]*\}|\$\w+|[})\"'])+/?", "", word).lstrip("/") if word else ""
    return {normpath(each) for each in (word, bare, f"{beside}/{bare}" if beside else bare) if each}


def _is_product(path: str, files: frozenset[str], read: Read) -> bool:
    """Whether what a command executes is what is tested, and may change: other code imports it, or there is no other."""
    stem = PurePosixPath(path).stem
    if not is_code(path) or _TOOLS.match(path) or re.search(r"test|check|verif|validat|lint|runner", path):
        return False
    wanted = re.compile(rf"\b(?:import|from|require)\b[^\n]*\b{re.escape(stem)}\b".encode())
    others = [file for file in files if file != path and is_code(file)]
    return not others or any(wanted.search(read(file) or b"") for file in others[:2000])


def _started_by(path: str, text: str, files: frozenset[str], read: Read, commands: str) -> set[str]:
    folder = str(PurePosixPath(path).parent).removeprefix(".")
    name = PurePosixPath(path).name
    if name == "package.json":
        shell = _package_scripts(text, commands)
        return set(_referred(shell, folder, files, read)) | {f for f in _in_keys(text, folder, files) if "jest" in text}
    if name == "tox.ini":
        return set(_referred("\n".join(_COMMANDS_OF_TOX.findall(text)), folder, files, read))
    if path.endswith(".py"):
        beside = {f"{folder}/{each}{end}" for each in imports(text.encode()) for end in (".py", "/__init__.py")}
        return set(files & (beside | _of_package(text, folder))) if folder else set()
    if _SCRIPT.fullmatch(path) or (
        name.endswith(("rc", ".json", ".yml", ".yaml")) and _SETTINGS_OF_SCRIPTS.fullmatch(name)
    ):
        settings = _SETTINGS_OF_SCRIPTS.fullmatch(name) is not None
        inside = {each for found in _IMPORTED.findall(text) for each in _resolved(found, folder, files)}
        # What a program imports beside itself belongs to it; from elsewhere it imports the product.
        inside = {each for each in inside if settings or str(PurePosixPath(each).parent).removeprefix(".") == folder}
        return inside | (set(_in_keys(text, folder, files)) if settings else set())
    makefile = any(fnmatchcase(name, pattern) for each in _BUILDERS.values() for pattern in each)
    shell = "\n".join([*_SETTING.findall(text), *_RECIPE.findall(text)]) if makefile else text
    included = {
        each
        for line in _INCLUDED.findall(text)
        if makefile
        for word in line.split()
        for each in _meant(word, "", folder, linter=False)
    }
    return set(_referred(shell, folder, files, read)) | (included & files)


def _of_package(text: str, folder: str) -> set[str]:
    """The modules beside a program that it imports by the name of their package."""
    package = re.escape(folder.replace("/", "."))
    dotted = re.findall(rf"^\s*(?:from|import)\s+(?:[\w.]*\.)?(?:{package})?\.(\w+)", text, re.MULTILINE)
    listed = re.findall(rf"^\s*from\s+(?:{package}|\.)\s+import\s+([\w, ]+)", text, re.MULTILINE)
    return {f"{folder}/{each}.py" for each in (*dotted, *(n.strip() for names in listed for n in names.split(",")))}


def _package_scripts(text: str, commands: str) -> str:
    """The scripts of a package that commands run, and those that these run in turn."""
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
        for word in _TEXTS.findall(value) or [value.strip(" -")]:
            yield from (
                each for each in _resolved(word.replace("<rootDir>", "."), folder, files) if not is_sectioned(each)
            )


def _resolved(word: str, folder: str, files: frozenset[str]) -> set[str]:
    place = normpath(f"{folder}/{word}" if folder else word)
    return {f"{place}{end}" for end in _ENDINGS} & files
