"""Accepted tests, and what tests assert through, in files whose names do not say so: the runner's reports say where they are."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import PurePosixPath

import msgspec

from flyball.core.model.measurement import Trick
from flyball.measures.sources import Defined, Read, is_code, looks_like_test, parse, text_of
from flyball.measures.tampering import definitions, weakening
from flyball.measures.tampering.assertion_helpers import Suite, compare_helpers
from flyball.measures.tampering.plugins import CONFIGURATION, values

Held = Mapping[str, frozenset[str]]
"""The names of the accepted tests that each file holds."""


def held_by_file(ids: Iterable[str]) -> Held:
    """Where tests are by their ids, which begin with the file where a report names one."""
    found: dict[str, set[str]] = {}
    for identifier in ids:
        file, _, rest = identifier.partition("::")
        found.setdefault(file, set()).add(rest.partition("[")[0].partition("::")[0])
    return {file: frozenset(names) for file, names in found.items()}


class UnnamedTests(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is known of an accepted tree's tests beyond their files' names, found out when it is first asked for."""

    commands: str
    held: Held
    files: frozenset[str]
    plugins: frozenset[str]
    written: frozenset[str]
    read: Read

    def compare(
        self, path: str, before: bytes | None, after: bytes | None, *, rewritable: bool, tests_may_grow: bool
    ) -> tuple[Trick, ...]:
        """What the candidate's version of a file takes from accepted tests, if anything."""
        found: tuple[Trick, ...] = ()
        if path in self.held and is_code(path):
            holder = ReportedFile(path, before, after, self.held[path], self._patterns)
            found = holder.compare(rewritable=rewritable, tests_may_grow=tests_may_grow)
        if not found and path.endswith(".py"):
            found = compare_helpers(path, after, self._suite, rewritable=rewritable)
        return found

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        configured = (path for path in self.files if PurePosixPath(path).name in CONFIGURATION)
        return patterns((self.commands, *(text_of(self.read(path)) for path in configured)))

    @cached_property
    def _suite(self) -> Suite:
        called = {path for path in self.held if is_pattern_of(path, self._patterns)}
        tests = {path for path in self.files if path.endswith(".py") and looks_like_test(path)}
        return Suite(self.files, self.plugins | (tests | called) & self.files, self.written, self.read)


class ReportedFile(msgspec.Struct, frozen=True):
    """A file that holds accepted tests, its two versions, and the patterns by which the project calls files tests."""

    path: str
    before: bytes | None
    after: bytes | None
    names: frozenset[str]
    patterns: tuple[str, ...] = ()

    def compare(self, *, rewritable: bool, tests_may_grow: bool) -> tuple[Trick, ...]:
        """What the candidate takes from the tests; product code beside them may change, but not in a file of tests alone."""
        whole = partial(
            weakening.compare, self.path, self.before, self.after, rewritable=rewritable, tests_may_grow=tests_may_grow
        )
        if not self.path.endswith(".py"):
            # The source may hold product code as well: what is counted counts, not every change.
            return tuple(t for t in whole() if t.kind in {"test-deleted", "test-weakened", "test-skipped"})
        old, new = (definitions.definitions(parse(source)) for source in (self.before, self.after))
        tests = sorted(self.names & set(old))
        if not tests:
            return ()
        tricks = (definitions.compare(self.path, name, old, new, rewritable=rewritable) for name in tests)
        found = tuple(trick for trick in tricks if trick)
        return found if found or not self._is_dedicated(old) else whole()

    def _is_dedicated(self, defined: definitions.Definitions) -> bool:
        """Whether the file is there for its tests: a name the project gives to tests, or nothing else defined in it."""
        if is_pattern_of(self.path, self.patterns):
            return True
        return not any(
            isinstance(node, Defined) and title not in self.names for title, nodes in defined.items() for node in nodes
        )


def patterns(texts: Iterable[str]) -> tuple[str, ...]:
    """The names that configurations or commands give to files of tests."""
    return tuple(word for text in texts for word in values("python_files", text))


def is_pattern_of(path: str, patterns: Iterable[str]) -> bool:
    """Whether a file has a name that the project gives to tests; a pattern that fits every file says nothing."""
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, each) for each in patterns if each.removesuffix(".py").strip("*?./"))
