"""Tests, and what tests assert through, in files whose names do not say so."""

from collections.abc import Callable
from functools import cached_property
from pathlib import PurePosixPath

from flyball.core.model.measurement import Trick
from flyball.measures.sources import is_code, looks_like_test
from flyball.measures.tampering.assertion_helpers import Suite, weakened
from flyball.measures.tampering.plugins import CONFIGURATION
from flyball.measures.tampering.reported_files import Held, ReportedFile, is_pattern_of, patterns


class UnnamedTests:
    """What is known of an accepted tree's tests beyond their files' names, found out when it is first asked for."""

    def __init__(
        self,
        *,
        commands: str,
        held: Held,
        files: frozenset[str],
        plugins: frozenset[str],
        written: frozenset[str],
        read: Callable[[str], bytes | None],
    ) -> None:
        self._commands = commands
        self._held = held
        self._files = files
        self._plugins = plugins
        self._written = written
        self._read = read

    def compared(
        self, path: str, before: bytes | None, after: bytes | None, *, rewritable: bool, tests_may_grow: bool
    ) -> tuple[Trick, ...]:
        """What the candidate's version of a file takes from accepted tests, if anything."""
        found: tuple[Trick, ...] = ()
        if path in self._held and is_code(path):
            holder = ReportedFile(path, before, after, self._held[path], self._patterns)
            found = holder.compared(rewritable=rewritable, tests_may_grow=tests_may_grow)
        if not found and path.endswith(".py"):
            found = weakened(path, after, self._suite, rewritable=rewritable)
        return found

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        configured = (path for path in self._files if PurePosixPath(path).name in CONFIGURATION)
        texts = ((self._read(path) or b"").decode("utf-8", "replace") for path in configured)
        return patterns((self._commands, *texts))

    @cached_property
    def _suite(self) -> Suite:
        called = {path for path in self._held if is_pattern_of(path, self._patterns)}
        tests = {path for path in self._files if path.endswith(".py") and looks_like_test(path)}
        return Suite(self._files, self._plugins | (tests | called) & self._files, self._written, self._read)
