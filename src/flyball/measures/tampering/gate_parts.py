"""What belongs to a gate and what is examined by it: told from where a file lies, what it is called and whether it asserts."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from flyball.core.text.manifests import is_manifest
from flyball.measures.sources import Read, is_code, parse
from flyball.measures.tampering.weakening import is_for_tests

TOOLS = re.compile(r"(?:.*/)?(?:tools?|scripts?|ci|dev|hack|qa|testing|checks?|gates?|e2e|verification)/.*")
_WORDS = frozenset(
    "test tests testing check checks assert asserts assertion assertions expect harness spec specs helper helpers runner verify lint".split()
)
_ASSERTS = re.compile(
    rb"""(?:\brequire\s*\(|\bfrom|\bimport)\s*["'](?:node:)?(?:assert(?:/strict)?|test|chai|expect|vitest|@jest/\w+|tap|ava)["']"""
    rb"""|^\s*(?:import|from)\s+(?:unittest|pytest)\b""",
    re.MULTILINE,
)
_RUNS_TESTS = re.compile(r"test|check|verif|validat|lint|runner")
_OF_SETTINGS = r"(?:[._-]?(?:rc|config|conf|setup|settings|workspace|ignore|file))"
_SETTINGS = (
    rf"(?:\.{{0}}|[._]?{{0}}{_OF_SETTINGS}+(?:\.(?:[cm]?[jt]s|py|rb))?"
    rf"|[._]?{{0}}{_OF_SETTINGS}*\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|properties|xml)(?:\.dist)?)"
)
"""Names that files with settings of a program have."""
_ONLY_STARTS = frozenset({"python", "python3", "node", "sh", "bash", "env", "git", "echo", "test", "cd", "set", "exit"})
"""Programs that are asked for something else, and have no settings of their own in a tree."""


def is_part(path: str, read: Read) -> bool:
    """Whether a file that a gate's program uses is a part of the gate; what a gate examines may change."""
    if TOOLS.fullmatch(path):
        return True
    stem = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", PurePosixPath(path).name.partition(".")[0]).lower()
    if _WORDS & set(re.split(r"[^a-z0-9]+", stem)):
        return True
    source = read(path) or b""
    if _ASSERTS.search(source):
        return True
    module = parse(source) if path.endswith(".py") else None
    return module is not None and any(is_for_tests(node) for node in module.body)


def is_product(path: str, files: frozenset[str], read: Read) -> bool:
    """Whether what a command executes is what is tested, and may change: other code imports it, or there is no other."""
    stem = PurePosixPath(path).stem
    if not is_code(path) or TOOLS.fullmatch(path) or _RUNS_TESTS.search(path):
        return False
    wanted = re.compile(rf"\b(?:import|from|require)\b[^\n]*\b{re.escape(stem)}\b".encode())
    others = [file for file in files if file != path and is_code(file)]
    return not others or any(wanted.search(read(file) or b"") for file in others[:2000])


def is_a_test(path: str) -> bool:
    """Whether a script is called a test: what it runs is what it examines."""
    return bool({"test", "tests", "spec"} & set(re.split(r"[^a-z0-9]+", PurePosixPath(path).stem.lower())))


def is_named_after(path: str, programs: Iterable[str]) -> bool:
    """Whether a file has the name of a program and of settings, and so configures it; a manifest says more than that."""
    name = PurePosixPath(path).name.lower()
    if is_manifest(path):
        return False
    return any(re.fullmatch(_SETTINGS.replace("{0}", re.escape(each)), name) for each in programs if each in name)


def program_names(words: Iterable[str], files: frozenset[str]) -> frozenset[str]:
    """The programs among what is executed that the tree does not hold itself."""
    tops = {file.partition("/")[0].partition(".")[0].lower() for file in files if is_code(file)}
    names = {word.rpartition("/")[2].lower() for word in words if not word.startswith(("$", "./"))}
    return frozenset(name for name in names - tops - _ONLY_STARTS if re.fullmatch(r"[a-z][a-z0-9_-]+", name))
