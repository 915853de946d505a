"""Complexity, size and duplication of the code a candidate changed, counted by lizard."""

import io
import re
from collections.abc import Iterable
from contextlib import redirect_stderr
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import lizard
import msgspec

from flyball.core.model.measurement import Quality
from flyball.core.model.task import CodeLimits, Commit
from flyball.measures.sources import is_code, looks_like_test, text_of
from flyball.measures.tampering.protected import changed_paths
from flyball.ports import Trees

LARGEST = 512 * 1024
"""Bytes of a source that is still analysed: longer ones are generated."""
MOST_FILES = 300
_PASSED_OVER = re.compile(r"lizard[ \t]*forgive|generated[ \t]+code", re.IGNORECASE)
"""Comments by which a source has the library pass over a function, or all that follows."""
DUPLICATE_LINES = 6
"""Equal lines in a row that make a duplicate."""


class Function(msgspec.Struct, frozen=True):
    file: str
    name: str
    complexity: int
    lines: int
    parameters: int
    start: int
    body: str

    @property
    def where(self) -> str:
        return f"{self.file}:{self.start} {self.name}"


class ChangedCode(msgspec.Struct, frozen=True):
    """The product code a candidate changed since the base; `before` are those files' functions and sources in the base."""

    sources: dict[str, str]
    functions: tuple[Function, ...]
    changed: tuple[Function, ...]
    unmeasured: tuple[str, ...]
    before: tuple[Function, ...] = ()
    sources_before: dict[str, str] = {}


def changed_code(workspace: Trees, base: Commit, candidate: Commit) -> ChangedCode:
    """Read what differs between two commits; a function is changed if its text is not in the base's file."""
    sources: dict[str, str] = {}
    every: list[Function] = []
    changed: list[Function] = []
    unmeasured: list[str] = []
    earlier: list[Function] = []
    texts: dict[str, str] = {}
    for path in changed_paths(workspace, base, candidate):
        if not is_code(path) or looks_like_test(path):
            continue
        too_many = len(sources) + len(unmeasured) >= MOST_FILES
        source = b"" if too_many else workspace.read_file(candidate, path)
        if source is None:
            continue
        readable = not too_many and len(source) <= LARGEST and lizard.get_reader_for(path) is not None
        found = _functions(path, text_of(source)) if readable else None
        if found is None:
            unmeasured.append(path)
            continue
        sources[path], texts[path] = text_of(source), text_of(workspace.read_file(base, path))
        known = _functions(path, texts[path]) or ()
        old = {function.body for function in known}
        every += found
        earlier += known
        changed += [function for function in found if function.body not in old]
    return ChangedCode(sources, tuple(every), tuple(changed), tuple(unmeasured), tuple(earlier), texts)


def reader_trouble(workspace: Trees, commit: Commit) -> str:
    """Why no product code of a commit can be measured although there is a reader for it, or an empty string.

    One file of each language is read: that shows whether the reader works here.
    """
    tried: dict[str, str] = {}
    for path in workspace.list_files(commit):
        ending = PurePosixPath(path).suffix
        if ending in tried or not is_code(path) or looks_like_test(path) or lizard.get_reader_for(path) is None:
            continue
        source = workspace.read_file(commit, path) or b""
        if source.strip() and len(source) <= LARGEST:
            tried[ending] = path if _functions(path, text_of(source)) is None else ""
    failed = [path for path in tried.values() if path]
    return f"its reader fails on {', '.join(failed)}" if failed and len(failed) == len(tried) else ""


@lru_cache(maxsize=MOST_FILES)
def _functions(path: str, text: str) -> tuple[Function, ...] | None:
    """A file's functions, None where the library fails on it; most files are the same from one measurement to the next."""
    lines = text.splitlines()
    try:
        with redirect_stderr(io.StringIO()):
            analysed: Any = lizard.analyze_file.analyze_source_code(path, _PASSED_OVER.sub("remark", text))
    except Exception:  # noqa: BLE001 - its readers raise whatever an odd source makes them raise
        return None
    return tuple(
        Function(
            file=path,
            name=each.name,
            complexity=each.cyclomatic_complexity,
            lines=each.end_line - each.start_line + 1,
            parameters=each.parameter_count,
            start=each.start_line,
            body="\n".join(lines[each.start_line - 1 : each.end_line]),
        )
        for each in analysed.function_list
    )


def measure_quality(code: ChangedCode, limits: CodeLimits) -> Quality:
    """The numbers of the changed code, and which changed functions exceed the limits."""
    duplicated = duplicated_lines(code.sources.values())
    stood = duplicated_lines(code.sources_before.values())
    total = sum(len(_solid(text)) for text in code.sources.values())
    over = [
        f"{f.where}: {', '.join(numbers)}" for f in code.changed if (numbers := [*excesses(f, code, limits).values()])
    ]
    missing = f"not measured (too much, or no reader for the language): {', '.join(code.unmeasured[:5])}"
    return Quality(
        complexity_total=sum(f.complexity for f in code.functions),
        complexity_worst=max((f.complexity for f in code.changed), default=0),
        duplicated_lines=duplicated,
        duplication_percent=round(100 * max(duplicated - stood, 0) / total, 2) if total else 0.0,
        over_limit=tuple(over[:50]),
        unmeasured=missing if code.unmeasured else "",
    )


def excesses(function: Function, code: ChangedCode, limits: CodeLimits) -> dict[str, str]:
    """Which numbers of a changed function are beyond the limits, each with its words; what stood before is known.

    This is the one place that knows the boundaries: complexity must be under its limit (C50), the others within theirs.
    """
    over = {
        "complexity": (function.complexity >= limits.complexity, f"must be under {limits.complexity}"),
        "lines": (function.lines > limits.function_lines, f"limit {limits.function_lines}"),
        "parameters": (function.parameters > limits.parameters, f"limit {limits.parameters}"),
    }
    return {
        name: f"{name} {getattr(function, name)} ({words})"
        for name, (beyond, words) in over.items()
        if beyond and not _stood_before(name, function, code)
    }


def _stood_before(number: str, function: Function, code: ChangedCode) -> bool:
    """Whether a function of that name was as large before: of several, the largest are held against each other."""
    now, before = (
        sorted((getattr(f, number) for f in each if (f.file, f.name) == (function.file, function.name)), reverse=True)
        for each in (code.functions, code.before)
    )
    at = now.index(getattr(function, number))
    return at < len(before) and now[at] <= before[at]


def duplicated_lines(texts: Iterable[str]) -> int:
    """Lines that stand in a run of equal lines somewhere else, too; blank lines and comments do not count."""
    seen: set[tuple[str, ...]] = set()
    duplicated: set[tuple[int, int]] = set()
    for number, text in enumerate(texts):
        lines = _solid(text)
        for at in range(len(lines) - DUPLICATE_LINES + 1):
            window = tuple(lines[at : at + DUPLICATE_LINES])
            if window in seen:
                duplicated |= {(number, at + step) for step in range(DUPLICATE_LINES)}
            seen.add(window)
    return len(duplicated)


def _solid(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if len(line) > 2 and not line.startswith(("#", "//", "*", "/*", "import ", "from "))]
