"""Accepted tests in files whose name does not say that they are tests: the runner's reports say where they are."""

import ast
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

import msgspec

from flyball.core.model.measurement import Trick
from flyball.measures.sources import parse
from flyball.measures.tampering import definitions, weakening
from flyball.measures.tampering.plugins import values

Held = Mapping[str, frozenset[str]]
"""The names of the accepted tests that each file holds."""


def held(ids: Iterable[str]) -> Held:
    """Where tests are by their ids, which begin with the file where a report names one."""
    found: dict[str, set[str]] = {}
    for identifier in ids:
        file, _, rest = identifier.partition("::")
        found.setdefault(file, set()).add(rest.partition("[")[0].partition("::")[0])
    return {file: frozenset(names) for file, names in found.items()}


class ReportedFile(msgspec.Struct, frozen=True):
    """A file that holds accepted tests, its two versions, and the patterns by which the project calls files tests."""

    path: str
    before: bytes | None
    after: bytes | None
    names: frozenset[str]
    patterns: tuple[str, ...] = ()

    def compared(self, *, rewritable: bool, tests_may_grow: bool) -> tuple[Trick, ...]:
        """What the candidate takes from the tests; product code beside them may change, but not in a file of tests alone."""
        if not self.path.endswith(".py"):
            return self._other(rewritable=rewritable, tests_may_grow=tests_may_grow)
        old, new = (definitions.definitions(parse(source)) for source in (self.before, self.after))
        tests = sorted(self.names & set(old))
        if not tests:
            return ()
        tricks = (definitions.compare(self.path, name, old, new, rewritable=rewritable) for name in tests)
        found = tuple(trick for trick in tricks if trick)
        if found or not self._is_dedicated(old):
            return found
        return weakening.compare(
            self.path, self.before, self.after, rewritable=rewritable, tests_may_grow=tests_may_grow
        )

    def _is_dedicated(self, defined: definitions.Definitions) -> bool:
        """Whether the file is there for its tests: a name the project gives to tests, or nothing else defined in it."""
        if is_pattern_of(self.path, self.patterns):
            return True
        return not any(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and title not in self.names
            for title, nodes in defined.items()
            for node in nodes
        )

    def _other(self, *, rewritable: bool, tests_may_grow: bool) -> tuple[Trick, ...]:
        """A source of another language, which may hold product code as well: what is counted counts, not every change."""
        found = weakening.compare(
            self.path, self.before, self.after, rewritable=rewritable, tests_may_grow=tests_may_grow
        )
        return tuple(trick for trick in found if trick.kind in {"test-deleted", "test-weakened", "test-skipped"})


def patterns(texts: Iterable[str]) -> tuple[str, ...]:
    """The names that configurations or commands give to files of tests."""
    return tuple(word for text in texts for word in values("python_files", text))


def is_pattern_of(path: str, patterns: Iterable[str]) -> bool:
    """Whether a file has a name that the project gives to tests; a pattern that fits every file says nothing."""
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, each) for each in patterns if each.removesuffix(".py").strip("*?./"))
