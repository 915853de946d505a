"""Why a test fails: an assertion, a name the project does not have yet, or something that says nothing."""

import ast
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Literal

from flyball.measures.gates.junit import Case
from flyball.measures.sources import LARGEST, SCRIPT_ENDINGS, Function, is_code, looks_like_test, parse, top_names

Reason = Literal["assertion", "missing-name", "error"]

_RAISED = re.compile(
    r"(?:^|\bE\s+|\")((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failed|Warning|Exit|Interrupt|Failure)|Failed)\b:?\s*(.*)"
)
_ASSERTION = re.compile(r"(?:^|\.)(?:\w*Assertion\w*|Failed|ExpectationFailed\w*|ComparisonFailure)$")
_MODULE = re.compile(r"No module named '?([\w.]+)'?")
_IMPORT = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_MODULE_ATTRIBUTE = re.compile(r"(?:partially initialized )?module '([\w.]+)' has no attribute '(\w+)'")
_OBJECT_ATTRIBUTE = re.compile(r"(?:type object )?'(\w+)'(?: object)? has no attribute '(\w+)'")
_NAME = re.compile(r"name '(\w+)' is not defined")
_KEYWORD = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")
_FOREIGN_MISSING = re.compile(
    r"is not defined|Cannot find module|Failed to resolve import|does not provide an export|is not a (?:function|constructor)"
    r"|has no exported member|undefined: \w+|cannot find (?:function|value|type|struct|module|macro)|unresolved import"
    r"|cannot find symbol|undefined (?:method|local variable|function)|uninitialized constant|Call to undefined"
    r"|package [\w.]+ does not exist|no (?:method|function or associated item|variant)[\w ]* named|Class \"[^\"]+\" not found"
    r"|implicit declaration of function|undefined reference to|\bundeclared\b|does not exist in the current context"
    r"|does not contain a definition for|: (?:command )?not found\b|No such file or directory"
)
_FOREIGN_ASSERTION = re.compile(r"Assertion|\bexpect(?:ed)?\b|\bassert|\bwant\b|to (?:be|equal|match)", re.IGNORECASE)
_PLAIN_FAILURE = re.compile(r"^--- FAIL: |^\s*`.*' failed", re.MULTILINE)
"""Go and bats have no assertions: a test fails when it says so, or when one of its commands does."""
_PANIC = re.compile(r"^panic: |[Ss]yntax error", re.MULTILINE)


class Project:
    """What the product code of a tree defines, read without running it."""

    def __init__(self, tree: Path, files: Iterable[str]) -> None:
        self._tree = tree
        self._files = tuple(f for f in files if is_code(f) and not looks_like_test(f))

    @cached_property
    def modules(self) -> dict[str, ast.Module]:
        paths = {f: self._tree / f for f in self._files if f.endswith(".py")}
        there = {f: path for f, path in paths.items() if path.is_file() and not path.is_symlink()}
        return {f: module for f, path in there.items() if (module := parse(path.read_bytes()))}

    def text(self, file: str) -> str | None:
        """A file of the tree as text; None where there is none, or no small one, or where its name or a link leads out of the tree.

        The name stands in a report that tests may write: it may be none that a file can have, or that of a link that leads to itself.
        """
        try:
            path = (self._tree / file).resolve()
            small = path.is_file() and path.stat().st_size <= LARGEST
        except (OSError, RuntimeError, ValueError):
            return None
        return path.read_text("utf-8", "replace") if small and path.is_relative_to(self._tree.resolve()) else None

    def module(self, dotted: str) -> ast.Module | None:
        """The module of a dotted name, wherever in the tree its packages begin."""
        end = dotted.replace(".", "/")
        for file, module in self.modules.items():
            if any(file == e or file.endswith("/" + e) for e in (f"{end}.py", f"{end}/__init__.py")):
                return module
        return None

    def classes(self, name: str) -> list[ast.ClassDef]:
        return [n for m in self.modules.values() for n in ast.walk(m) if isinstance(n, ast.ClassDef) and n.name == name]

    def defines(self, name: str) -> bool:
        return any(name in top_names(module.body) for module in self.modules.values())

    def accepts(self, function: str, keyword: str) -> bool:
        for module in self.modules.values():
            for node in ast.walk(module):
                if isinstance(node, Function) and node.name == function:
                    arguments = node.args
                    if keyword in {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}:
                        return True
        return False


def reason(case: Case, project: Project) -> tuple[Reason, str]:
    if not case.file.endswith(".py"):
        told = f"{case.message}\n{case.text}"
        if _FOREIGN_MISSING.search(told):
            return "missing-name", _one_line(told)
        plain = _PLAIN_FAILURE.search(told) and not _PANIC.search(told)
        return ("assertion" if plain or _FOREIGN_ASSERTION.search(told) else "error"), _one_line(told)
    raised = _exception_of(case)
    if raised is None:
        return "error", _one_line(case.message or case.text)
    kind, said = raised
    line = f"{kind}: {said}".rstrip(": ")
    if _ASSERTION.search(kind):
        return ("error", line) if case.uncollected else ("assertion", line)
    return ("missing-name" if _is_missing(kind.rpartition(".")[2], said, project) else "error"), line


def _exception_of(case: Case) -> tuple[str, str] | None:
    """The exception a case ended with: the message's for a failure, the last `E` line's for an error."""
    lines = [line for line in case.text.splitlines() if line.startswith("E  ")]
    told = [case.message, *lines] if not case.uncollected and not case.message.startswith("failed on") else lines[::-1]
    if case.uncollected and not lines:
        told = [*case.text.splitlines()[::-1], case.message]
    for line in told:
        if found := _RAISED.search(line.strip()):
            return found[1], found[2].strip()
    if any(re.match(r"(?:E\s+)?assert\b", line.strip()) for line in told):
        return "AssertionError", _one_line(case.message)
    return None


def _is_missing(kind: str, said: str, project: Project) -> bool:
    """Whether the exception speaks of a name that the project really does not have."""
    if kind in {"ModuleNotFoundError", "ImportError"} and (found := _MODULE.search(said)):
        return project.module(found[1]) is None
    if kind == "ImportError" and (found := _IMPORT.search(said)):
        return _lacks(project.module(found[2]), found[1])
    if kind == "NameError" and (found := _NAME.search(said)):
        return not project.defines(found[1])
    if kind == "AttributeError":
        return _lacks_attribute(said, project)
    if kind == "TypeError" and (found := _KEYWORD.search(said)):
        return not project.accepts(found[1].rpartition(".")[2], found[2])
    return False


def _lacks(module: ast.Module | None, name: str) -> bool:
    return module is not None and name not in top_names(module.body)


def _lacks_attribute(said: str, project: Project) -> bool:
    if found := _MODULE_ATTRIBUTE.search(said):
        return _lacks(project.module(found[1]), found[2])
    if found := _OBJECT_ATTRIBUTE.search(said):
        classes = project.classes(found[1])
        return bool(classes) and not any(found[2] in top_names(c.body) for c in classes)
    return False


_SCRIPT_IMPORT = re.compile(
    r"""(?:\bimport\b|\bexport\b)(?P<names>[^;"'`]*?)\bfrom\s*["'](?P<path>\.{1,2}/[^"']+)["']"""
    r"""|(?:\bimport\b\s*\(?|\brequire\s*\()\s*["'](?P<bare>\.{1,2}/[^"']+)["']"""
)


def missing_import(file: str, source: str, read: Callable[[str], str | None]) -> str:
    """What a script imports from the tree and is not there: a module, or a name of one; for a report that says no reason."""
    for found in _SCRIPT_IMPORT.finditer(source):
        wanted = found["path"] or found["bare"]
        place = normpath(str(PurePosixPath(file).parent / wanted))
        # TypeScript's sources are imported by the names they will be compiled to.
        places = (place, re.sub(r"\.([cm]?)js(x?)$", r".\1ts\2", place))
        there = next(
            (text for each in places for end in SCRIPT_ENDINGS if (text := read(each + end)) is not None), None
        )
        if there is None:
            return f"Cannot find module {wanted}"
        inside = re.search(r"\{([^}]*)\}", found["names"] or "")
        names = (re.match(r"\s*(?:type\s+)?(\w+)", each) for each in (inside[1].split(",") if inside else ()))
        for name in (each[1] for each in names if each):
            if not re.search(rf"\b{name}\b|\bexport\s*\*", there):
                return f"{wanted} does not provide an export named {name}"
    return ""


def _one_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")
