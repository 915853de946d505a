"""Where tests failed, and whether tests and lines are there that an agent names; in paths of the project, wherever a gate ran."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from flyball.core.failures.masks import plain
from flyball.core.model.measurement import FailedTest
from flyball.core.model.task import Commit
from flyball.core.text.scrubbing import clean, one_line
from flyball.measures.gates.junit import Case, Outcome, TreeIndex
from flyball.measures.sources import text_of
from flyball.ports import Trees

MESSAGE = 300
_FRAME = re.compile(r"(?P<file>[\w@+~.\-/\[\]]+\.\w{1,8})(?:\", line |:|\()(?P<line>\d+)")
_FOREIGN = re.compile(r"site-packages|dist-packages|node_modules|/lib/python\d")


def failures(
    failing: Iterable[str], cases: Mapping[str, Case], index: TreeIndex, directory: Path
) -> Iterator[FailedTest]:
    """Why tests failed, in the first line of their message, and the frame of the project that is nearest to the failure."""
    for test in failing:
        case = cases.get(test)
        if case is not None and (case.message or case.text):
            frames = [*_frames(case.text or case.message, index)]
            # Python puts the call that failed last, the others put it first.
            file, line = (frames[-1] if frames[-1][0].endswith(".py") else frames[0]) if frames else ("", 0)
            said = plain(case.message or case.text).replace(f"{directory.resolve()}/", "").strip()
            yield FailedTest(test, clean(one_line(said.partition("\n")[0]), MESSAGE), file, line)


def look_up(named: Iterable[str], outcomes: Mapping[str, Outcome], files: Trees, tree: Commit) -> dict[str, str]:
    """What became of each test (by its id or name) and of each `file:line` that somebody names; empty where nothing has that name."""
    there = frozenset(files.list_files(tree))
    return {
        text: _ending(text, outcomes, lambda path: text_of(files.read_file(tree, path)) if path in there else None)
        for text in named
    }


def _ending(text: str, outcomes: Mapping[str, Outcome], read: Callable[[str], str | None]) -> str:
    ended = {
        outcome
        for test, outcome in outcomes.items()
        if text in {test, test.partition("[")[0]} or test.endswith(f"::{text}")
    }
    if ended:
        return next(iter(ended)) if len(ended) == 1 else "failing" if "failing" in ended else "there"
    if ", " in text:
        parts = {_ending(part, outcomes, read) for part in text.split(", ")}
        return "" if "" in parts else "failing" if "failing" in parts else "there"
    file, _, rest = text.partition("::")
    file, _, line = (file, "", "") if rest else text.partition(":")
    content = read(file.removeprefix("./"))
    if content is None:
        return ""
    last = rest.rpartition("::")[2].partition("[")[0]
    first, _, to = line.partition("-")
    return (
        "there"
        if last in content
        and int(to if to.isdecimal() else first if first.isdecimal() else 0) <= content.count("\n") + 1
        else ""
    )


def _frames(text: str, index: TreeIndex) -> Iterator[tuple[str, int]]:
    for found in _FRAME.finditer(text):
        path = "" if _FOREIGN.search(found["file"]) else index.path(found["file"].removeprefix("./"))
        if path:
            yield path, int(found["line"])
