"""Which tests get a planted failure: all that the task added or changed, and one of every older test file."""

import ast
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeGuard

import msgspec

from flyball.measures.gates.junit import Case
from flyball.measures.planting import other_sources, python_source
from flyball.measures.planting.python_source import Style
from flyball.measures.sources import LARGEST, Function, ending_with, functions, looks_like_test, parse, text_of

Place = tuple[str, str]
"""A file, and the name or number of the test in it."""


class Target(msgspec.Struct, frozen=True):
    """A test that is to fail: its file and name, the ids a report has for it, and where it is written.

    One that is `old` stands for its file, which the task has not touched.
    """

    file: str
    name: str
    places: tuple[Place, ...]
    ids: tuple[str, ...] = ()
    old: bool = False

    @property
    def shown(self) -> str:
        return f"{self.file}::{self.name}" if self.name else self.file


class Sources:
    """The sources of a tree, read once."""

    def __init__(self, tree: Path, files: Collection[str]) -> None:
        self.files = files
        self._tree = tree
        self._modules: dict[str, ast.Module | None] = {}
        self._read: dict[str, bytes] = {}

    def read(self, path: str) -> bytes:
        if path not in self._read:
            file = self._tree / path
            there = path in self.files and not file.is_symlink() and file.is_file() and file.stat().st_size <= LARGEST
            self._read[path] = file.read_bytes() if there else b""
        return self._read[path]

    def module(self, path: str) -> ast.Module | None:
        if path not in self._modules:
            self._modules[path] = parse(self.read(path))
        return self._modules[path]

    def defining(self, name: str) -> Iterator[Place]:
        for path in sorted(f for f in self.files if f.endswith(".py")):
            if f"def {name}(".encode() in self.read(path) and (module := self.module(path)):
                yield from ((path, each) for each in functions(module) if each.rpartition("::")[2] == name)


def mark_of(nonce: str, place: Place) -> str:
    """The word that the failure at a place carries; nobody can know it beforehand."""
    return "x" + hashlib.sha256(f"{nonce}\0{place[0]}\0{place[1]}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def hollow_mark(mark: str) -> str:
    """The word that a failure carries instead where the test's own assertions were found to be worth nothing."""
    return "h" + mark[1:]


def targets_by_report(
    cases: Mapping[str, Case], changed: Collection[str], sources: Sources
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """For a gate whose report says which tests passed and where: those to fail, and changed files of which none can."""
    passing = _ids_by_test(case for case in cases.values() if case.outcome == "passing")
    found: list[Target] = []
    for file, names in sorted(passing.items()):
        if file.endswith(".py") or not other_sources.language(file):
            found += _targets_in_file(file, names, sources, old=file not in changed)
    ids = [case.id for case in cases.values() if case.outcome == "passing"]
    for file in _other_test_files(sources, passing):
        found += _targets_in_other_language(file, ids, sources, old=file not in changed)
    reached = {target.file for target in found}
    return tuple(found), tuple(f for f in sorted(passing) if f in changed and f not in reached)


def muted_files(cases: Iterable[Case], sources: Sources) -> dict[str, bytes]:
    failing = _ids_by_test(cases)
    targets = [t for file, names in failing.items() for t in _targets_in_file(file, names, sources, old=False)]
    ids = [i for names in failing.values() for each in names.values() for i in each]
    for file in _other_test_files(sources, failing):
        targets += _targets_in_other_language(file, ids, sources, old=False)
    return planted_files(targets, sources, "", "mute")


def _ids_by_test(cases: Iterable[Case]) -> dict[str, dict[str, list[str]]]:
    """The ids of some tests by their files and by their names without parameters."""
    found: dict[str, dict[str, list[str]]] = {}
    for case in cases:
        name = case.id.partition("[")[0].removeprefix(f"{case.file}::")
        found.setdefault(case.file, {}).setdefault(name, []).append(case.id)
    return found


def _other_test_files(sources: Sources, reported: Collection[str]) -> list[str]:
    """The files of other languages that may hold the reported tests: a report need not name the file of a test."""
    every = (file for file in sorted(sources.files) if other_sources.language(file))
    return [file for file in every if looks_like_test(file) or file in reported]


def _targets_in_file(file: str, names: Mapping[str, list[str]], sources: Sources, *, old: bool) -> list[Target]:
    found: list[Target] = []
    for name, ids in names.items():
        places = _places(file, name, sources)
        if places:
            found.append(Target(file, name, places, tuple(ids), old))
            if old:
                break
    return found


def _places(file: str, name: str, sources: Sources) -> tuple[Place, ...]:
    """Where a reported test is written: in its file, in a class it inherits from, or as an example of a docstring."""
    module = sources.module(file) if file.endswith(".py") else None
    if module is None:
        text = PurePosixPath(file).name == name and b">>>" in sources.read(file)
        return ((file, ""),) if text else ()
    every, last = functions(module), name.rpartition("::")[2]
    if name in every:
        return ((file, name),)
    inside = tuple((file, each) for each in every if each.rpartition("::")[2] == last)
    if inside:
        return inside
    if last.isidentifier() and (elsewhere := tuple(sources.defining(last))):
        return elsewhere
    return ((file, name),) if "::" not in name and python_source.find_documented(module, name) else ()


def _targets_in_other_language(file: str, ids: Iterable[str], sources: Sources, *, old: bool) -> list[Target]:
    """The tests of a source in another language that a report has as passing, each place of one name apart."""
    found: list[Target] = []
    for number, site in enumerate(other_sources.sites(file, text_of(sources.read(file)))):
        wanted = ending_with(site.name)
        reported = tuple(i for i in ids if site.name and wanted.search(i))
        if reported:
            found.append(Target(file, site.name, ((file, str(number)),), reported, old))
            if old:
                break
    return found


def targets_by_source(changed: Collection[str], sources: Sources) -> tuple[Target, ...]:
    """For a gate that counts nothing: the tests as their sources have them; an old file is stood for by its first one."""
    found: list[Target] = []
    for file in sorted(f for f in sources.files if looks_like_test(f)):
        old = file not in changed
        if file.endswith(".py"):
            each = [Target(file, name, ((file, name),), old=old) for name in _tests(sources.module(file))]
        else:
            written = other_sources.sites(file, text_of(sources.read(file)))
            each = [Target(file, s.name, ((file, str(n)),), old=old) for n, s in enumerate(written)]
        found += each[:1] if old else each
    return tuple(found)


def _tests(module: ast.Module | None) -> list[str]:
    """The tests of a Python file that nothing skips: functions, and the methods of classes that inherit, as unittest wants them."""
    found = []
    for node in module.body if module else ():
        if isinstance(node, ast.ClassDef) and node.bases and not _is_skipped(node):
            found += [f"{node.name}::{each.name}" for each in node.body if _is_test(each)]
        elif _is_test(node):
            found.append(node.name)
    return found


def _is_test(node: ast.stmt) -> TypeGuard[Function]:
    return isinstance(node, Function) and node.name.startswith("test") and not _is_skipped(node)


def _is_skipped(node: ast.ClassDef | Function) -> bool:
    body = [] if isinstance(node, ast.ClassDef) else node.body
    return any("skip" in ast.unparse(each).lower() for each in (*node.decorator_list, *body))


def planted_files(
    targets: Iterable[Target], sources: Sources, nonce: str, style: Style, telling: Callable[[str], str] | None = None
) -> dict[str, bytes]:
    """The files that hold the targets, with their failures planted; the first test of Python tells where it was loaded from."""
    places: dict[str, list[str]] = {}
    for target in targets:
        for path, name in target.places:
            places.setdefault(path, []).append(name)
    modules = ((path, sources.module(path)) for path in places if telling and path.endswith(".py"))
    teller = next((p for p, m in modules if m and set(places[p]) & set(functions(m))), "")
    written: dict[str, bytes] = {}
    for path, names in places.items():
        marks = {name: mark_of(nonce, (path, name)) if style != "mute" else "" for name in names}
        planted = _plant(path, sources.read(path), marks, style, telling(path) if telling and path == teller else "")
        if planted is not None:
            written[path] = planted
    return written


def _plant(path: str, source: bytes, marks: Mapping[str, str], style: Style, telling: str) -> bytes | None:
    if path.endswith(".py"):
        return python_source.plant(source, marks, style, telling)
    if other_sources.language(path):
        text = text_of(source)
        sites = other_sources.sites(path, text)
        chosen = {sites[int(number)]: mark for number, mark in marks.items()}
        return other_sources.plant(path, text, chosen, plainly=style != "around").encode()
    return None if style == "mute" else source + f"\n\n>>> raise AssertionError({marks['']!r})\n".encode()
