"""Reads JUnit reports of any runner into test ids and outcomes."""

import copy
import posixpath
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal
from xml.etree import ElementTree as ET
from xml.parsers import expat

import msgspec

from flyball.folders import walk

Outcome = Literal["passing", "failing", "skipped", "xfailed", "declared"]
"""How a test ended; one that is `declared` stands in a source that was accepted before it could be built."""

LARGEST = 64 * 1024 * 1024
"""Bytes of a report that is still read; a hundred thousand tests take about twenty million."""
MOST = 20_000
"""Files of a report that is a folder: maven and gradle write one for each class."""
DEEPEST = 100
"""Elements within each other; runners that nest suites nest a few."""
DETAIL = 4000
_WORST_FIRST: tuple[Outcome, ...] = ("failing", "xfailed", "skipped", "passing")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
"""Some parameters carry a memory address, which the id of a test goes without."""
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_ILLEGAL_BYTES = re.compile(_ILLEGAL.pattern.encode())
_SIGN = "\ufffd"
"""What stands for a character that no XML may hold."""
_NODE = "test"
"""The class Node's own reporter gives to every test: only the suites around it, and its file if said, tell it from others."""


class ReportUnreadable(Exception):
    """A report is there but cannot be read as JUnit XML."""


class Case(msgspec.Struct, frozen=True):
    """One test of a report; `uncollected` is a file the runner could not even load."""

    id: str
    file: str
    outcome: Outcome
    message: str = ""
    text: str = ""
    uncollected: bool = False


_FOLDER = re.compile(r"(?:(?:^|[\s;&|(])cd|\s-C|--(?:prefix|rootdir|dir|cwd|project))[\s=]+[\"']?([\w.@+/-]+)")
"""Where a command says that it works."""


class TreeIndex:
    """Finds the file of a tree that a dotted name or a relative path of a report means."""

    folder: str = ""
    words: tuple[str, ...] = ()

    def __init__(self, files: Iterable[str]) -> None:
        self.files = frozenset(files)
        # As a report can have a name: pytest writes that of a test file as it is, control characters and all.
        self._real = {_ILLEGAL.sub(_SIGN, f): f for f in self.files}
        self._dotted = {
            f.removesuffix(".py").replace("/", "."): real for f, real in self._real.items() if f.endswith(".py")
        }
        self._by_name: dict[str, list[str]] = {}
        for file in self._real:
            self._by_name.setdefault(PurePosixPath(file).name, []).append(file)

    def near(self, command: str) -> "TreeIndex":
        """The same for the reports of a command: of files with the same name it means those in a folder that it names."""
        index, folders = copy.copy(self), set(_FOLDER.findall(command))
        index.folder = folders.pop() if len(folders) == 1 else ""
        words = () if folders else re.split(r"[\s=\"']+", command)
        index.words = tuple(f"{word.rstrip('/')}/" for word in words if word)
        return index

    def _in_folder(self, reported: str) -> str:
        return self._real.get(posixpath.normpath(posixpath.join(self.folder, reported)), "") if self.folder else ""

    def path(self, reported: str) -> str:
        """The tree's path for a reported one, which may be relative to a folder inside the tree, or absolute."""
        if found := self._in_folder(reported):
            return found
        if reported in self._real:
            return self._real[reported]
        alike = self._by_name.get(PurePosixPath(reported).name, ())
        if reported.startswith("/"):
            return self._real.get(max((f for f in alike if reported.endswith("/" + f)), key=len, default=""), "")
        ends = [f for f in alike if f.endswith("/" + reported)]
        if len(ends) > 1:
            ends = [f for f in ends if f.startswith(self.words)]
        return self._real[ends[0]] if len(ends) == 1 else ""

    def module(self, dotted: str) -> tuple[str, tuple[str, ...]]:
        """The Python file a dotted class name begins with, and the classes after it."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            name = ".".join(parts[:cut])
            path = name.replace(".", "/") + ".py"
            file = self._in_folder(path) or self._dotted.get(name) or self.path(path)
            if file:
                return file, tuple(parts[cut:])
        return "", ()


def read_report(path: Path, index: TreeIndex) -> dict[str, Case]:
    """The tests of a report, or of all reports in a folder, by id; of a test reported more than once the worst outcome stands."""
    files = _reports(path)
    if sum(file.lstat().st_size for file in files) > LARGEST:
        raise ReportUnreadable(f"the report is larger than {LARGEST // 1024 // 1024} MiB")
    try:
        reported = [case for file in files for case in _testcases(file)]
        cases = list(
            _number_duplicates((each.get("classname", ""), _case(each, suites, index)) for each, suites in reported)
        )
    except ReportUnreadable:
        raise
    except Exception as error:  # the XML libraries raise a different class for each way to be broken
        raise ReportUnreadable(f"the report is not JUnit XML: {error}") from error
    found: dict[str, Case] = {}
    for case in cases:
        before = found.get(case.id)
        if before is None or _WORST_FIRST.index(case.outcome) < _WORST_FIRST.index(before.outcome):
            found[case.id] = case
    return found


def check_shape(raw: bytes) -> None:
    """Refuse what takes more than linear time to read: suites within suites without end, and entities that grow."""
    parser = expat.ParserCreate()
    depth = 0

    def start(_tag: str, _given: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ReportUnreadable(f"the report nests more than {DEEPEST} elements")

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(*_declared: object) -> None:
        raise ReportUnreadable("the report declares entities, which it has no need of")

    parser.StartElementHandler, parser.EndElementHandler, parser.EntityDeclHandler = start, end, entity
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise ReportUnreadable(f"the report is not XML: {error}") from error


def _reports(path: Path) -> list[Path]:
    """The files of a report: itself, or every XML file below it where the command made it a folder."""
    if path.is_dir() and not path.is_symlink():
        files = [Path(above, name) for above, _, names in walk(path) for name in names if name.endswith(".xml")]
        if not files:
            raise ReportUnreadable("the run wrote no report into its folder")
    else:
        files = [path]
    if len(files) > MOST or not all(stat.S_ISREG(file.lstat().st_mode) for file in files):
        raise ReportUnreadable(
            f"there are more than {MOST} reports" if len(files) > MOST else "the report is not a regular file"
        )
    return sorted(files)


def _testcases(file: Path) -> Iterator[tuple[ET.Element, tuple[str, ...]]]:
    """Every test of the report in its order, wherever it stands, with the names of the suites around it."""
    raw = file.read_bytes()
    if not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raw = _ILLEGAL_BYTES.sub(_SIGN.encode(), raw)
    check_shape(raw)
    root = ET.fromstring(raw)  # noqa: S314 - entities were refused
    if root.tag not in {"testsuites", "testsuite"}:
        raise ReportUnreadable(f"the report is not JUnit XML: it begins with {root.tag}")
    waiting: list[tuple[ET.Element, tuple[str, ...]]] = [(root, ())]
    while waiting:
        element, suites = waiting.pop()
        if element.tag == "testcase":
            yield element, suites
            continue
        if element.tag == "testsuite":
            suites = (*suites, element.get("name") or "")
        waiting.extend((child, suites) for child in reversed(element))


def _case(each: ET.Element, suites: tuple[str, ...], index: TreeIndex) -> Case:
    name, classname, reported = each.get("name", ""), each.get("classname", ""), each.get("file", "")
    outcome, message, text = _outcome(each)
    if outcome == "failing" and _not_loaded(name, classname, message, index):
        file = index.module(name)[0] or index.path(reported) or index.path(name) or reported or name
        return Case(file, file, outcome, message, text, uncollected=True)
    file, classes = index.module(classname) if classname else ("", ())
    if file:
        return Case(_ADDRESS.sub("0x", "::".join((file, *classes, name))), file, outcome, message, text)
    file = index.path(reported) or index.path(classname) or reported
    around = suites if classname == _NODE else ()
    if classname == _NODE and name.startswith("/"):
        name = index.path(name) or name
    parts = [p for p in (file, "" if classname in {file, reported} else classname, *around, name) if p]
    return Case(_ADDRESS.sub("0x", "::".join(parts)), file, outcome, message, text)


def _number_duplicates(cases: Iterable[tuple[str, Case]]) -> Iterator[Case]:
    """Node reports no test twice, and may leave out the file: the second of two tests of one name has its number."""
    times: Counter[str] = Counter()
    for classname, case in cases:
        times[case.id] += classname == _NODE
        again = times[case.id]
        yield msgspec.structs.replace(case, id=f"{case.id} ({again})") if again > 1 else case


def _not_loaded(name: str, classname: str, message: str, index: TreeIndex) -> bool:
    """Whether a case stands for a whole file: pytest says so, unittest by a class, others by the file's own name."""
    if classname == _NODE:
        return bool(index.path(name))
    if classname:
        # vitest and jest-junit give the file's own name as both; jest-junit also says what it means.
        whole = classname == name and bool(index.path(name))
        return whole or classname.endswith(("unittest.loader._FailedTest", "Test suite failed to run"))
    file, classes = index.module(name)
    return "collection failure" in message or (bool(file) and not classes)


def _outcome(each: ET.Element) -> tuple[Outcome, str, str]:
    for result in each:
        if result.tag in {"failure", "error"}:
            return "failing", result.get("message", "")[:DETAIL], (result.text or "")[-DETAIL:]
    skipped = each.find("skipped")
    if skipped is None:
        return "passing", "", ""
    return "xfailed" if "xfail" in skipped.get("type", "") else "skipped", skipped.get("message", "")[:DETAIL], ""
